"""One brand on one target: what is counted, what is left out, and what the counts mean."""

from __future__ import annotations

import json

import pytest

from brandvane.mentions.cell import Around, Cell, Seen, cell_of, why_left_out
from brandvane.mentions.statistics import Ratio, wilson
from brandvane.task import ANSWERED, Outcome


def filled() -> Cell:
    """Three counted answers, two of which mention the brand, and one that was left out."""
    cell = Cell()
    cell.count(Seen(3, rank=2, order=1), Around(voices=2, sources=4, own=1, rivals=2))
    cell.count(Seen(1, order=4, doubtful=True, self_named=True), Around(voices=4, corrected=True, voice_corrected=True))
    cell.count(None, Around(voices=3, sources=1))
    cell.leave_out("timeout")
    return cell


def test_a_cell_without_answers_has_neither_rate_nor_interval() -> None:
    cell = Cell(left_out={"timeout": 2})
    assert (cell.rate, cell.interval, cell.average_rank, cell.average_order) == (None, None, None, None)
    assert cell.left_out_total == 2


def test_a_cell_has_the_rate_of_its_counted_answers() -> None:
    cell = filled()
    assert (cell.mentioned, cell.answers, cell.occurrences) == (2, 3, 4)
    assert cell.rate == 2 / 3
    assert cell.interval == wilson(2, 3)


def test_average_rank_is_over_the_answers_that_have_a_rank() -> None:
    assert filled().average_rank == 2.0


def test_average_place_is_over_the_answers_that_mention_the_brand() -> None:
    assert filled().average_order == 2.5


def test_voice_is_the_brands_part_of_all_brands_mentioned() -> None:
    assert filled().voice.share == 2 / 9


def test_sources_are_those_of_answers_that_cite_any() -> None:
    assert filled().sources == Ratio(1, 5, 2, 1, 4, 17)
    assert filled().rivals == 2


def test_flags_count_answers() -> None:
    cell = filled()
    assert (cell.doubtful, cell.self_named, cell.corrected, cell.voice_corrected) == (1, 1, 1, 1)


def test_cells_add_up_reason_by_reason() -> None:
    whole = filled()
    whole.merge(filled())
    assert (whole.mentioned, whole.answers, whole.left_out) == (4, 6, {"timeout": 2})
    assert whole.voice.total == 18


def test_the_stored_form_reads_back_and_leaves_out_what_is_zero() -> None:
    assert cell_of(json.loads(json.dumps(filled().to_document()))) == filled()
    assert Cell().to_document() == {}


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
