"""Which answers stand behind a number, and how their words are marked."""

from __future__ import annotations

from brandvane.mentions.cell import Cell
from brandvane.mentions.roles import Role, Slice
from brandvane.mentions.tally import Tally
from brandvane.report.examples import CLIP, Examples, Piece, Span, marked, shown
from brandvane.task import Outcome
from unit.scored_samples import TARGET, answer, row

KEY = (Role.UNBRANDED, TARGET, "oolong")


def span(brand: str = "oolong", role: Role = Role.UNBRANDED) -> Span:
    """A mention in the first six code points."""
    return Span(brand, role, 0, 6)


def tally_of(cells: int) -> Tally:
    """A tally with so many cells that have a mention."""
    tally = Tally()
    tally.groups = {(Role.UNBRANDED, TARGET, Slice()): {f"b{number}": Cell(9, 9) for number in range(cells)}}
    return tally


def test_the_words_of_a_brand_are_marked_where_they_stand() -> None:
    pieces, before, after = marked("Try Ash or Ash.", [(4, 7), (11, 14)])
    assert pieces == (Piece("Try "), Piece("Ash", True), Piece(" or "), Piece("Ash", True), Piece("."))
    assert (before, after) == (False, False)


def test_a_long_answer_is_cut_around_the_first_mention() -> None:
    text = "x" * 5000 + "Ash" + "y" * 5000
    pieces, before, after = marked(text, [(5000, 5003)])
    assert pieces == (Piece("x" * 300), Piece("Ash", True), Piece("y" * (CLIP - 303)))
    assert (before, after) == (True, True)


def test_a_mention_beyond_the_cut_is_left_out_of_the_marks() -> None:
    text = "Ash" + "y" * 5000 + "Ash"
    pieces, _, after = marked(text, [(0, 3), (5003, 5006)])
    assert pieces == (Piece("Ash", True), Piece("y" * (CLIP - 3)))
    assert after


def test_spans_that_cannot_be_are_passed_over() -> None:
    assert marked("Ash", [(2, 1), (1, 99)])[0] == (Piece("Ash"),)


def test_controls_are_shown_as_replacement_characters() -> None:
    assert shown("a\x00b\r\nc\x1b[31m\ud83d\tz") == "a\ufffdb\nc\ufffd[31m\ufffd\tz"


def test_a_cell_takes_five_answers_at_most_and_each_once() -> None:
    examples = Examples(tally_of(3))
    for number in range(9):
        examples.offer(row("x", sample=number), answer("Oolong"), "q", [span(), Span("oolong", Role.UNBRANDED, 0, 6)])
    assert [example.sample for example in examples.of(KEY)] == [0, 1, 2, 3, 4]
    assert examples.total == 5


def test_on_a_crowded_page_a_cell_takes_one_answer_and_mentions_in_no_rate_none() -> None:
    examples = Examples(tally_of(2000))
    for number in range(3):
        examples.offer(row("x", sample=number), answer("Oolong"), "q", [span(), span("kettle", Role.ALSO)])
    assert len(examples.of(KEY)) == 1
    assert examples.of((Role.ALSO, TARGET, "kettle")) == []


def test_an_answer_that_was_not_counted_is_no_example() -> None:
    examples = Examples(tally_of(1))
    examples.offer(row("x", outcome=Outcome.REFUSED), answer("Oolong"), "q", [span()])
    assert examples.of(KEY) == ()


def test_an_example_shows_the_sentence_of_the_first_mention_with_its_words_marked() -> None:
    text = "Well. I like Oolong, and Oolong likes me. More Oolong."
    spans = [
        Span("oolong", Role.UNBRANDED, 13, 19, 6, 41),
        Span("oolong", Role.UNBRANDED, 25, 31, 6, 41),
        Span("oolong", Role.UNBRANDED, 47, 53, 42, 54),
    ]
    examples = Examples(tally_of(1))
    examples.offer(row("x"), answer(text), "q", spans)
    assert examples.of(KEY)[0].quote == (
        Piece("I like "),
        Piece("Oolong", True),
        Piece(", and "),
        Piece("Oolong", True),
        Piece(" likes me."),
    )


def test_an_example_tells_its_rank_and_whether_a_person_or_a_doubt_stands_behind_it() -> None:
    spans = [
        Span("oolong", Role.UNBRANDED, 0, 6, 0, 6, doubtful=True),
        Span("oolong", Role.UNBRANDED, 0, 6, 0, 6, rank=4, corrected=True, doubtful=True),
    ]
    examples = Examples(tally_of(1))
    examples.offer(row("x"), answer("Oolong"), "q", spans)
    its = examples.of(KEY)[0]
    assert (its.rank, its.corrected, its.doubtful) == (4, True, True)
