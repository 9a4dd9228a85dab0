"""What share is it, and how sure? Rates with their n and their 95 % interval, and how many answers a width takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

Z_95 = 1.959963984540054  # the 97.5 % point of the standard normal distribution


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a share, both in 0 … 1."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """High minus low, in 0 … 1."""
        return self.high - self.low


def wilson(hits: int, n: int, z: float = Z_95) -> Interval:
    """The score interval of a share (E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927).

    With p = hits / n the bounds are (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n). No continuity correction: its exact
    coverage over p = 0.02 … 0.98 is tested for n = 10 … 500 (decision 0012).

    Raises:
        ValueError: ``n`` is not positive or ``hits`` not in 0 … n.
    """
    if n < 1 or not 0 <= hits <= n:
        raise ValueError(f"no interval for {hits} of {n}: needs n >= 1 and 0 <= hits <= n")
    return score_interval(hits / n, n, z)


def score_interval(share: float, n: float, z: float = Z_95) -> Interval:
    """Wilson's interval of a share in 0 … 1 that rests on ``n`` > 0 independent observations, whole or (effective) not."""
    square = z * z
    centre = share + square / (2 * n)
    margin = z * sqrt(share * (1 - share) / n + square / (4 * n * n))
    scale = 1 + square / n
    # At the ends one bound is exact; rounding must not move it.
    low = 0.0 if share <= 0 else (centre - margin) / scale
    high = 1.0 if share >= 1 else (centre + margin) / scale
    return Interval(low, high)


@dataclass(slots=True)
class Ratio:
    """A share of things that come several to an answer: ``hits`` of ``total`` in ``answers`` answers that have any.

    Voices of one answer are no independent draws, so the interval must not take ``total`` for n. The sums of squares and
    products over answers give the variance of the ratio (W. G. Cochran, Sampling Techniques, 3rd ed. 1977, §6.3), that an
    effective n, and that a Wilson interval (N. Dean, M. Pagano, Evaluating confidence interval methods for binomial
    proportions in clustered surveys, 2015). All are whole numbers: sums are exact in any order.
    """

    hits: int = 0
    total: int = 0
    answers: int = 0
    hits_squared: int = 0
    product: int = 0
    total_squared: int = 0

    def take(self, hits: int, total: int) -> None:
        """One answer's part: ``hits`` of its ``total``; nothing where it has none."""
        if total:
            self.hits += hits
            self.total += total
            self.answers += 1
            self.hits_squared += hits * hits
            self.product += hits * total
            self.total_squared += total * total

    def merge(self, other: Ratio) -> None:
        """Add another's answers."""
        self.hits += other.hits
        self.total += other.total
        self.answers += other.answers
        self.hits_squared += other.hits_squared
        self.product += other.product
        self.total_squared += other.total_squared

    def numbers(self) -> list[int]:
        """The stored form: the six numbers in the order of the fields."""
        return [self.hits, self.total, self.answers, self.hits_squared, self.product, self.total_squared]

    @property
    def share(self) -> float | None:
        """hits / total, 0 … 1; None without a total."""
        return self.hits / self.total if self.total else None

    @property
    def effective_n(self) -> float:
        """As many independent draws would be as sure: between 1 and ``total``; 0 without a total."""
        share = self.share
        if share is None:
            return 0.0
        spread = self.hits_squared - 2 * share * self.product + share * share * self.total_squared
        if self.answers < 2 or spread <= 0 or share in (0.0, 1.0):
            return float(self.answers)  # no spread is seen: each answer counts as one draw, and no more
        variance = spread / (self.total * self.total) * self.answers / (self.answers - 1)
        return min(max(share * (1 - share) / variance, 1.0), float(self.total))

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval; None without a total."""
        share = self.share
        return None if share is None else score_interval(share, self.effective_n)


def answers_for(width: float, share: float = 0.5) -> int:
    """The fewest counted answers whose 95 % interval is at most ``width`` wide when the share is ``share``.

    At a half, the widest case, Wilson's interval is z / √(n + z²) wide.

    Raises:
        ValueError: ``width`` or ``share`` is not between 0 and 1.
    """
    if not 0 < width < 1 or not 0 <= share <= 1:
        raise ValueError(f"no n for width {width} and share {share}: needs 0 < width < 1 and 0 <= share <= 1")
    low, high = 0, max(1, ceil((Z_95 / width) ** 2))  # at a half that many suffice, elsewhere fewer
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if score_interval(share, middle).width <= width else (middle, high)
    return high


def samples_for(width: float, questions: int, share: float = 0.5) -> int:
    """How often each of ``questions`` must be asked of a target, so that their figure is at most ``width`` wide.

    Raises:
        ValueError: as ``answers_for``, or there is no question.
    """
    if questions < 1:
        raise ValueError(f"no samples for {questions} questions: needs at least one")
    return ceil(answers_for(width, share) / questions)
