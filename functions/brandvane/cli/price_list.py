"""What does AWS charge for a unit of each thing? The list in ``aws_prices.toml``: price, source, date."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

FILE = "aws_prices.toml"


@dataclass(frozen=True, slots=True)
class Price:
    """``usd`` for ``per`` units; ``source`` said so in the month ``dated``."""

    usd: float
    per: int
    unit: str
    source: str
    dated: str

    def of(self, number: float) -> float:
        """Dollars of so many units."""
        return self.usd * number / self.per


@dataclass(frozen=True, slots=True)
class PriceList:
    """One region's prices by name."""

    region: str
    compiled: str
    note: str
    prices: Mapping[str, Price]

    def of(self, name: str, number: float) -> float:
        """Dollars of so many units of one thing.

        Raises:
            KeyError: the list has no such price.
        """
        return self.prices[name].of(number)


@lru_cache(maxsize=1)
def price_list() -> PriceList:
    """The list that comes with the product."""
    return read(files("brandvane.cli").joinpath(FILE).read_text(encoding="utf-8"))


def read(text: str) -> PriceList:
    """A list from its TOML text."""
    told: dict[str, Any] = tomllib.loads(text)
    prices = {name: Price(**row) for name, row in told["prices"].items()}
    return PriceList(told["region"], told["compiled"], told["note"], prices)
