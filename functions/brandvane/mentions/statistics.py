"""What share of the answers is it, and how sure? Rates with their n and their interval, and what is left out of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt

from brandvane.task import ANSWERED, Outcome

Z_95 = 1.959963984540054  # the 97.5 % point of the standard normal distribution

UNREADABLE = "unreadable"
EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a share, both in 0 … 1."""

    low: float
    high: float


def wilson(hits: int, n: int, z: float = Z_95) -> Interval:
    """The score interval of a share (E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927).

    With p = hits / n the bounds are (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n).

    Raises:
        ValueError: ``n`` is not positive or ``hits`` not in 0 … n.
    """
    if n < 1 or not 0 <= hits <= n:
        raise ValueError(f"no interval for {hits} of {n}: needs n >= 1 and 0 <= hits <= n")
    share, square = hits / n, z * z
    centre = share + square / (2 * n)
    margin = z * sqrt(share * (1 - share) / n + square / (4 * n * n))
    scale = 1 + square / n
    # At the ends one bound is exact; rounding must not move it.
    low = 0.0 if hits == 0 else (centre - margin) / scale
    high = 1.0 if hits == n else (centre + margin) / scale
    return Interval(low, high)


@dataclass(frozen=True, slots=True)
class Cell:
    """One brand on one target under one role: ``mentioned`` of ``answers`` counted ones, and what was left out by reason.

    ``occurrences`` counts repeated mentions inside the counted answers; it is never part of a rate.
    """

    mentioned: int = 0
    answers: int = 0
    occurrences: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def rate(self) -> float | None:
        """Visibility, 0 … 1; None without a counted answer."""
        return self.mentioned / self.answers if self.answers else None

    @property
    def interval(self) -> Interval | None:
        """Its 95 % interval; None without a counted answer."""
        return wilson(self.mentioned, self.answers) if self.answers else None

    @property
    def left_out_total(self) -> int:
        """Answers and failures that are not in ``answers``."""
        return sum(self.left_out.values())

    def plus(self, other: Cell) -> Cell:
        """The two cells' answers as one."""
        left_out = self.left_out
        if other.left_out:  # seldom: most rows are counted
            left_out = dict(Counter(left_out) + Counter(other.left_out))
        return Cell(
            self.mentioned + other.mentioned,
            self.answers + other.answers,
            self.occurrences + other.occurrences,
            left_out,
        )


def why_left_out(outcome: Outcome, text: str | None, mentioned: bool) -> str | None:
    """Why an answer is not in the denominator for a brand; None when it is (DESIGN §9).

    Counted are ``ok`` answers, and truncated ones that mention the brand: what a cut answer does not say is unknown.
    ``text`` is None where no answer could be read. The reason is an outcome's name, ``unreadable`` or ``empty``.
    """
    if outcome not in ANSWERED or outcome in (Outcome.REFUSED, Outcome.FILTERED):
        return outcome.value
    if text is None:
        return UNREADABLE
    if not text.strip():
        return EMPTY
    if outcome is Outcome.TRUNCATED and not mentioned:
        return outcome.value
    return None
