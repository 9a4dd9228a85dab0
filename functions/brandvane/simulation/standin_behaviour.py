"""How does one simulated platform behave: which limits does it enforce, how slow and how faulty is it?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from brandvane.simulation.standin_dialects import DIALECTS, USUAL
from brandvane.simulation.standin_row import CallOutcome

SHARES = (
    CallOutcome.INJECTED_429,
    CallOutcome.ERROR_500,
    CallOutcome.ERROR_503,
    CallOutcome.HANG,
    CallOutcome.CUT,
    CallOutcome.EMPTY,
    CallOutcome.MALFORMED,
    CallOutcome.INSIDE_200,
    CallOutcome.NO_CREDIT,
    CallOutcome.BAD_KEY,
    CallOutcome.MODEL_GONE,
    CallOutcome.KEEP_ALIVE,
    CallOutcome.TRUNCATED,
    CallOutcome.FILTERED,
    CallOutcome.REFUSED,
)
_WHOLE = frozenset({"in_flight", "retry_after"})


class StandinFault(ValueError):
    """Wrong input for the stand-ins; the message names where, the field, the value and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One platform. ``rate``: calls in any sliding second (whole numbers; below 1: one call in any 1/rate seconds).

    Latency is lognormal: ``median`` seconds, ``sigma`` of its logarithm, never above ``cap`` seconds. Shares are of all
    admitted calls, together at most 1. ``retry_after``: whole seconds that an injected 429 asks for. ``protocol``: how it
    is spoken to; its answers and errors are worded as that platform's are.
    The default cap stays below the local call timeout of 8 s, so that only a hang runs into it.
    """

    rate: float = 10.0
    in_flight: int = 50
    median: float = 1.2
    sigma: float = 0.5
    cap: float = 6.0
    injected_429: float = 0.0
    error_500: float = 0.0
    error_503: float = 0.0
    hang: float = 0.0
    cut: float = 0.0
    empty: float = 0.0
    malformed: float = 0.0
    retry_after: int = 2
    inside_200: float = 0.0
    no_credit: float = 0.0
    bad_key: float = 0.0
    model_gone: float = 0.0
    keep_alive: float = 0.0
    truncated: float = 0.0
    filtered: float = 0.0
    refused: float = 0.0
    protocol: str = USUAL

    def share(self, outcome: CallOutcome) -> float:
        """Share of the calls that end so (``SHARES`` only)."""
        share: float = getattr(self, outcome.value)
        return share

    def document(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


FIELDS = tuple(field.name for field in fields(Behaviour))


def changed(base: Behaviour, values: Mapping[str, object], where: str) -> Behaviour:
    """``base`` with some fields set, from text (command line) or JSON numbers.

    Raises:
        StandinFault: unknown field, no number, out of range; the message begins with ``where``.
    """
    new: dict[str, Any] = {}
    for name, value in values.items():
        if name not in FIELDS:
            raise StandinFault(f"{where}: unknown field {name!r}; known are {', '.join(FIELDS)}")
        if name == "protocol":
            new[name] = _protocol(value, where)
            continue
        number = _number(name, value, where)
        new[name] = int(number) if name in _WHOLE else number
    behaviour = replace(base, **new)
    together = sum(behaviour.share(outcome) for outcome in SHARES)
    if together > 1 + 1e-9:
        raise StandinFault(f"{where}: the shares of faults sum to {together:g}; together they must not exceed 1")
    return behaviour


def _protocol(value: object, where: str) -> str:
    if not isinstance(value, str) or value not in DIALECTS:
        raise StandinFault(f"{where}: protocol={value!r} is not spoken; write one of {', '.join(DIALECTS)}")
    return value


def _number(name: str, value: object, where: str) -> float:
    try:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise StandinFault(f"{where}: {name}={value!r} is not a number") from None
    wrong = _wrong(name, number)
    if wrong:
        raise StandinFault(f"{where}: {name}={value} must be {wrong}")
    return number


def _wrong(name: str, number: float) -> str | None:
    if not math.isfinite(number):
        return "a finite number"
    if name == "rate":
        fits = 0 < number < 1 or (number >= 1 and number.is_integer())
        return None if fits else "a whole number of calls a second, or between 0 and 1"
    if name in _WHOLE:
        least = 1 if name == "in_flight" else 0
        return None if number >= least and number.is_integer() else f"a whole number of at least {least}"
    if name in {outcome.value for outcome in SHARES}:
        return None if 0 <= number <= 1 else "between 0 and 1"
    if name == "sigma":
        return None if 0 <= number <= 5 else "between 0 and 5"
    return None if 0 <= number <= 3600 else "between 0 and 3600 seconds"
