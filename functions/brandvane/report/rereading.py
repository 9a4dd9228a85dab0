"""What did another reading of the same run change? Figures of two passes compared, brand by brand and target by target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brandvane.mentions.cell import Cell
from brandvane.mentions.roles import Role
from brandvane.mentions.tally import Tally


@dataclass(frozen=True, slots=True)
class Changed:
    """A figure that the new reading changes: mentioned, answers and occurrences before and after."""

    role: Role
    target: str
    brand: str
    before: tuple[int, int, int]
    after: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Rereading:
    """A pass beside the one before: its number, the matchers' versions, and what differs."""

    pass_before: int
    parsers_before: Sequence[str]
    changed: Sequence[Changed]


def difference(before: Tally, after: Tally) -> tuple[Changed, ...]:
    """The figures that differ, by role, target and brand."""
    old, new = before.cells(), after.cells()
    keys: Iterable[tuple[Role, str, str]] = sorted({*old, *new}, key=lambda key: (list(Role).index(key[0]), *key[1:]))
    pairs = ((key, _figures(old.get(key, Cell())), _figures(new.get(key, Cell()))) for key in keys)
    return tuple(Changed(*key, was, now) for key, was, now in pairs if was != now)


def _figures(cell: Cell) -> tuple[int, int, int]:
    return cell.mentioned, cell.answers, cell.occurrences
