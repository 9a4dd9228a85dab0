"""Shares and their intervals, shares of things that come several to an answer, and how many answers a width takes."""

from __future__ import annotations

from math import comb, fsum

import pytest

from brandvane.mentions.statistics import Interval, Ratio, answers_for, samples_for, score_interval, wilson

# The roots of (1 + z²/n) p² − (2k/n + z²/n) p + (k/n)² = 0 with z = 1.959963984540054, solved with 50 digits. Those of 81/263
# and 15/148 are Newcombe's examples (1998, table I: 0.2553–0.3662 and 0.0624–0.1605).
BOUNDS = [
    (1, 1, 0.2065493143772, 1.0),
    (0, 10, 0.0, 0.2775327998629),
    (1, 10, 0.0178762130951, 0.4041500267952),
    (5, 10, 0.2365930905126, 0.7634069094874),
    (10, 10, 0.7224672001371, 1.0),
    (3, 20, 0.0523687458962, 0.3604188647408),
    (6, 27, 0.1060723945236, 0.4075692886663),
    (2, 50, 0.0110388843276, 0.1346009068751),
    (15, 148, 0.0623863995307, 0.1604872417233),
    (198, 200, 0.9642782382838, 0.9972533418665),
    (81, 263, 0.2552885198783, 0.3662095769828),
    (0, 500, 0.0, 0.0076243404616),
    (500, 1000, 0.4690696003681, 0.5309303996319),
]


@pytest.mark.parametrize(("hits", "n", "low", "high"), BOUNDS)
def test_the_interval_has_the_bounds_of_the_quadratic_equation(hits: int, n: int, low: float, high: float) -> None:
    assert wilson(hits, n).low == pytest.approx(low, abs=1e-9)
    assert wilson(hits, n).high == pytest.approx(high, abs=1e-9)


@pytest.mark.parametrize("n", [10, 20, 30, 50, 100, 200, 500])
def test_the_interval_covers_the_true_share_as_often_as_it_says(n: int) -> None:
    bounds = [wilson(hits, n) for hits in range(n + 1)]

    def coverage(p: float) -> float:
        """The chance that the interval of a sample of n holds p: a sum of binomial probabilities."""
        return fsum(
            comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if bounds[k].low <= p <= bounds[k].high
        )

    covered = [coverage(percent / 100) for percent in range(2, 99)]
    assert 0.945 <= fsum(covered) / len(covered) <= 0.960
    assert min(covered) >= 0.89


def test_no_hit_and_only_hits_have_exact_ends() -> None:
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


@pytest.mark.parametrize(("hits", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_an_impossible_share_has_no_interval(hits: int, n: int) -> None:
    with pytest.raises(ValueError, match="no interval"):
        wilson(hits, n)


def ratio(*answers: tuple[int, int]) -> Ratio:
    """Answers, each (hits, total)."""
    made = Ratio()
    for hits, total in answers:
        made.take(hits, total)
    return made


def test_a_ratio_is_hits_of_total_and_passes_over_answers_without_any() -> None:
    made = ratio((1, 2), (0, 3), (0, 0), (1, 1), (0, 2))
    assert made == Ratio(hits=2, total=8, answers=4, hits_squared=2, product=3, total_squared=18)
    assert made.share == 0.25


def test_the_effective_n_of_a_ratio_follows_from_its_spread_over_answers() -> None:
    # Residuals h − t/4: ½, −¾, ¾, −½; squares sum to 13/8; variance 13/8 / 64 · 4/3 = 13/384; n = 3/16 · 384/13 = 72/13.
    made = ratio((1, 2), (0, 3), (1, 1), (0, 2))
    assert made.effective_n == pytest.approx(72 / 13, abs=1e-12)
    assert made.interval == score_interval(0.25, made.effective_n)


def test_things_that_come_together_are_no_more_than_one_draw_an_answer() -> None:
    # All four sources of an answer are the brand's, or none is: residuals ±2, variance 4 · 4 / 256 · 4/3 = 1/12, n = 3.
    assert ratio((4, 4), (0, 4), (4, 4), (0, 4)).effective_n == pytest.approx(3.0, abs=1e-12)


def test_without_spread_each_answer_is_one_draw() -> None:
    assert ratio((0, 5), (0, 5), (0, 5)).effective_n == 3.0
    assert ratio((0, 5), (0, 5), (0, 5)).interval == wilson(0, 3)
    assert ratio((2, 4)).effective_n == 1.0


def test_a_ratio_of_nothing_has_no_share() -> None:
    assert Ratio().share is None
    assert Ratio().interval is None


def test_ratios_add_up_in_any_order() -> None:
    forth, back = ratio((1, 2)), ratio((0, 3), (1, 1))
    forth.merge(ratio((0, 3), (1, 1)))
    back.merge(ratio((1, 2)))
    assert forth == back == ratio((1, 2), (0, 3), (1, 1))


# At a half the width is z / √(n + z²), so n = z² (1/w² − 1): 380.3, 92.2, 1532.7; at a share of 0 it is z² / (n + z²): 34.6.
@pytest.mark.parametrize(
    ("width", "share", "answers"), [(0.10, 0.5, 381), (0.20, 0.5, 93), (0.05, 0.5, 1533), (0.10, 0.0, 35)]
)
def test_a_width_takes_so_many_answers_and_not_one_fewer(width: float, share: float, answers: int) -> None:
    assert answers_for(width, share) == answers
    assert score_interval(share, answers).width <= width < score_interval(share, answers - 1).width


def test_samples_are_the_answers_shared_among_the_questions() -> None:
    assert samples_for(0.10, 30) == 13  # 381 / 30 = 12.7
    assert samples_for(0.10, 381) == 1


@pytest.mark.parametrize(("width", "share"), [(0.0, 0.5), (1.0, 0.5), (0.1, 1.5)])
def test_an_impossible_width_takes_no_number_of_answers(width: float, share: float) -> None:
    with pytest.raises(ValueError, match="no n for width"):
        answers_for(width, share)


def test_no_question_takes_no_number_of_samples() -> None:
    with pytest.raises(ValueError, match="at least one"):
        samples_for(0.1, 0)


def test_the_width_of_an_interval_is_its_high_end_minus_its_low_one() -> None:
    assert Interval(0.25, 0.75).width == 0.5
