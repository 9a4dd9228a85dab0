"""Shares and their intervals, and what is left out of a rate."""

from __future__ import annotations

import pytest

from brandvane.mentions.statistics import Cell, Interval, why_left_out, wilson
from brandvane.task import ANSWERED, Outcome

# The roots of (1 + z²/n) p² − (2k/n + z²/n) p + (k/n)² = 0, solved with 40 digits.
BOUNDS = [
    (0, 10, 0.0, 0.277532799863),
    (1, 10, 0.017876213095, 0.404150026795),
    (5, 10, 0.236593090513, 0.763406909487),
    (10, 10, 0.722467200137, 1.0),
    (6, 27, 0.106072394524, 0.407569288666),
    (500, 1000, 0.469069600368, 0.530930399632),
]


@pytest.mark.parametrize(("hits", "n", "low", "high"), BOUNDS)
def test_the_interval_has_the_bounds_of_the_quadratic_equation(hits: int, n: int, low: float, high: float) -> None:
    assert wilson(hits, n).low == pytest.approx(low, abs=1e-9)
    assert wilson(hits, n).high == pytest.approx(high, abs=1e-9)


def test_no_hit_and_only_hits_have_exact_ends() -> None:
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


@pytest.mark.parametrize(("hits", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_an_impossible_share_has_no_interval(hits: int, n: int) -> None:
    with pytest.raises(ValueError, match="no interval"):
        wilson(hits, n)


def test_a_cell_without_answers_has_neither_rate_nor_interval() -> None:
    cell = Cell(left_out={"timeout": 2})
    assert cell.rate is None
    assert cell.interval is None
    assert cell.left_out_total == 2


def test_a_cell_has_the_rate_of_its_counted_answers() -> None:
    cell = Cell(mentioned=5, answers=10, occurrences=9)
    assert cell.rate == 0.5
    assert cell.interval == Interval(wilson(5, 10).low, wilson(5, 10).high)


def test_cells_add_up_reason_by_reason() -> None:
    one = Cell(1, 2, 3, {"timeout": 1, "refused": 1})
    two = Cell(2, 3, 4, {"timeout": 2})
    assert one.plus(two) == Cell(3, 5, 7, {"timeout": 3, "refused": 1})


def test_a_complete_answer_counts_whether_it_mentions_or_not() -> None:
    assert why_left_out(Outcome.OK, "text", mentioned=True) is None
    assert why_left_out(Outcome.OK, "text", mentioned=False) is None


def test_a_truncated_answer_counts_only_where_it_mentions() -> None:
    assert why_left_out(Outcome.TRUNCATED, "text", mentioned=True) is None
    assert why_left_out(Outcome.TRUNCATED, "text", mentioned=False) == "truncated"


@pytest.mark.parametrize("outcome", [Outcome.REFUSED, Outcome.FILTERED, *sorted(set(Outcome) - ANSWERED)])
def test_every_other_ending_is_left_out_under_its_own_name(outcome: Outcome) -> None:
    assert why_left_out(outcome, "text", mentioned=True) == outcome.value


def test_an_answer_that_cannot_be_read_is_not_a_missing_mention() -> None:
    assert why_left_out(Outcome.OK, None, mentioned=False) == "unreadable"


def test_a_blank_answer_is_not_a_missing_mention() -> None:
    assert why_left_out(Outcome.OK, " \n\u3000", mentioned=False) == "empty"
