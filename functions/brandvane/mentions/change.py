"""Has a share changed, or is it chance? Two runs' counts compared, with a test and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb, erfc, hypot, sqrt

from brandvane.mentions.statistics import Interval, wilson

LEVEL = 0.05
FEW_POINTS = 0.10  # a change of ten points that could hide in the noise means that n is too small
_EXPECTED_MIN = 1.0  # below it in any field of the table the chi-squared test does not hold


class Verdict(StrEnum):
    """What may be said of a change."""

    UP = "up"  # beyond chance
    DOWN = "down"  # beyond chance
    NOISE = "noise"  # within chance
    FEW = "few"  # within chance, but n is too small to see a change of ten points
    MANY = "many"  # would be beyond chance by itself, not as one of so many comparisons
    BROKEN = "broken"  # not comparable: what was asked, or who answered, has changed


@dataclass(frozen=True, slots=True)
class Change:
    """A share before and now. ``difference`` and ``interval`` are now − before, in −1 … 1; ``p`` is two-sided."""

    before: tuple[int, int]  # hits, n
    now: tuple[int, int]
    p: float
    interval: Interval
    verdict: Verdict

    @property
    def difference(self) -> float:
        """Now minus before, in −1 … 1."""
        return self.now[0] / self.now[1] - self.before[0] / self.before[1]


def compared(before: tuple[int, int], now: tuple[int, int]) -> Change:
    """Compare two shares, each (hits, n), as independent samples.

    Raises:
        ValueError: an n is not positive or hits are not in 0 … n.
    """
    p = two_proportions(before, now)
    interval = difference_interval(before, now)
    if p < LEVEL:
        verdict = Verdict.UP if now[0] * before[1] > before[0] * now[1] else Verdict.DOWN
    else:
        verdict = Verdict.FEW if interval.width / 2 > FEW_POINTS else Verdict.NOISE
    return Change(before, now, p, interval, verdict)


def two_proportions(before: tuple[int, int], now: tuple[int, int]) -> float:
    """The two-sided p of "both shares are one", each share (hits, n).

    The "N − 1" chi-squared test while every expected count is at least 1, else Fisher's exact test (I. Campbell,
    Chi-squared and Fisher–Irwin tests of two-by-two tables with small sample recommendations, 2007).

    Raises:
        ValueError: an n is not positive or hits are not in 0 … n.
    """
    for hits, n in (before, now):
        if n < 1 or not 0 <= hits <= n:
            raise ValueError(f"no comparison with {hits} of {n}: needs n >= 1 and 0 <= hits <= n")
    (a, m), (b, n) = before, now
    hits, total = a + b, m + n
    misses = total - hits
    if not hits or not misses:
        return 1.0
    if min(m, n) * min(hits, misses) / total < _EXPECTED_MIN:
        return _fisher(a, m, b, n)
    chi_squared = (total - 1) * (a * (n - b) - b * (m - a)) ** 2 / (m * n * hits * misses)
    return erfc(sqrt(chi_squared / 2))


def _fisher(a: int, m: int, b: int, n: int) -> float:
    """All tables with these margins that are no likelier than this one, as a share of all."""
    hits = a + b
    ways = [comb(m, k) * comb(n, hits - k) for k in range(max(0, hits - n), min(m, hits) + 1)]
    seen, whole = comb(m, a) * comb(n, b), comb(m + n, hits)
    return sum(each for each in ways if each <= seen) / whole  # whole numbers: ties are exact


def difference_interval(before: tuple[int, int], now: tuple[int, int]) -> Interval:
    """95 % interval of now − before, −1 … 1, from both Wilson intervals (R. G. Newcombe, Interval estimation for the
    difference between independent proportions, 1998, method 10).

    Raises:
        ValueError: an n is not positive or hits are not in 0 … n.
    """
    old, new = wilson(*before), wilson(*now)
    was, now_is = before[0] / before[1], now[0] / now[1]
    middle = now_is - was
    low = middle - hypot(now_is - new.low, old.high - was)
    high = middle + hypot(new.high - now_is, was - old.low)
    return Interval(low, high)


def beyond_chance(p_values: Sequence[float], level: float = LEVEL) -> frozenset[int]:
    """Places of the p values that stand although there are many: of those named, ``level`` at most are false in the mean
    (Y. Benjamini, Y. Hochberg, Controlling the false discovery rate, 1995).
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    last = max((rank for rank, place in enumerate(order, 1) if p_values[place] <= level * rank / len(order)), default=0)
    return frozenset(order[:last])
