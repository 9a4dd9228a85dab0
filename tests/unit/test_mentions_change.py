"""Two shares compared: the test, the interval of the difference, the verdict, and many comparisons at once."""

from __future__ import annotations

from math import erfc, sqrt

import pytest

from brandvane.mentions.change import Verdict, beyond_chance, compared, difference_interval, two_proportions


def test_the_test_is_the_n_minus_1_chi_squared_one() -> None:
    # 1/10 and 9/10: χ² = 19 · (1·1 − 9·9)² / (10·10·10·10) = 12.16.
    assert two_proportions((1, 10), (9, 10)) == pytest.approx(erfc(sqrt(12.16 / 2)), abs=1e-15)
    # 10/100 and 20/100: χ² = 199 · (10·80 − 20·90)² / (100·100·30·170) = 3.90196.
    assert two_proportions((10, 100), (20, 100)) == pytest.approx(erfc(sqrt(199e6 / 5.1e7 / 2)), abs=1e-15)


def test_with_an_expected_count_below_1_it_is_fishers() -> None:
    # 0/2 and 3/3 mentioned: expected 2·2/5 = 0.8; the tables with these margins have 1, 6 and 3 ways of 10, this one 1.
    assert two_proportions((0, 2), (3, 3)) == pytest.approx(0.1, abs=1e-15)


def test_equal_shares_do_not_differ() -> None:
    assert two_proportions((0, 10), (0, 20)) == 1.0
    assert two_proportions((10, 10), (5, 5)) == 1.0
    assert two_proportions((5, 10), (10, 20)) == 1.0


@pytest.mark.parametrize(("before", "now"), [((0, 0), (1, 2)), ((1, 2), (3, 2)), ((-1, 2), (1, 2))])
def test_impossible_counts_are_refused(before: tuple[int, int], now: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no comparison"):
        two_proportions(before, now)


def test_the_interval_of_a_difference_is_newcombes() -> None:
    # His example (1998, table II a): 56/70 − 48/80 is 0.2000, method 10 gives 0.0524 to 0.3339.
    interval = difference_interval((48, 80), (56, 70))
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.0524, 0.3339)


def test_a_rise_beyond_chance_is_up_and_a_fall_is_down() -> None:
    assert compared((10, 100), (20, 100)).verdict is Verdict.UP
    assert compared((20, 100), (10, 100)).verdict is Verdict.DOWN


def test_a_small_difference_of_many_answers_is_noise() -> None:
    assert compared((500, 1000), (510, 1000)).verdict is Verdict.NOISE


def test_a_difference_that_few_answers_cannot_show_says_that_n_is_too_small() -> None:
    change = compared((3, 10), (5, 10))
    assert change.verdict is Verdict.FEW
    assert change.difference == pytest.approx(0.2)


def test_of_many_p_values_those_stand_that_the_false_discovery_rate_allows() -> None:
    # Benjamini and Hochberg's rule at 5 %: thresholds 0.01, 0.02, 0.03, 0.04, 0.05 for the five in order.
    assert beyond_chance([0.021, 0.3, 0.005, 0.012, 0.9]) == {2, 3, 0}
    assert beyond_chance([0.04, 0.2, 0.3]) == frozenset()
    assert beyond_chance([]) == frozenset()


def test_a_larger_p_value_below_its_threshold_carries_the_smaller_ones() -> None:
    assert beyond_chance([0.04, 0.045]) == {0, 1}
