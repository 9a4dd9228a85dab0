"""What people put right: how a correction changes a reading, and when it does not hold."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from brandvane.mentions.corrections import (
    Correction,
    Wrong,
    by_task,
    corrected,
    from_document,
    standing,
    to_document,
)
from brandvane.mentions.mention import Kind, Mention, Reading

TEXT = "Ash is a tree. Birch is good. Ash again."
ASH_1 = Mention("ash", "Ash", 0, 3, "Ash is a tree.", 0, order=1)
BIRCH = Mention("birch", "Birch", 15, 20, "Birch is good.", 15, order=2)
ASH_2 = Mention("ash", "Ash", 30, 33, "Ash again.", 30, order=1)
READING = Reading((ASH_1, BIRCH, ASH_2))


def correction(wrong: Wrong, brand: str, start: int, end: int, *, name: str = "c1", **changes: str) -> Correction:
    """A correction of the text above."""
    made = Correction(
        id=name,
        task_id="t1",
        brand=brand,
        wrong=wrong,
        start=start,
        end=end,
        quote=TEXT[start:end],
        by="Kim",
        reason="the tree",
        at=1.0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # fields of a correction


def test_a_false_mention_goes_and_the_others_stay() -> None:
    after = corrected(READING, TEXT, [correction(Wrong.FALSE, "ash", 0, 3)])
    assert [(m.brand, m.start, m.order) for m in after.reading.mentions] == [("birch", 15, 1), ("ash", 30, 2)]
    assert after.removed == ((ASH_1, "c1"),)
    assert after.reading.rejected == (ASH_1,)
    assert after.brands == {"ash"}


def test_a_missing_mention_comes_with_its_sentence() -> None:
    after = corrected(READING, TEXT, [correction(Wrong.MISSING, "tree", 9, 13)])
    made = after.reading.of("tree")[0]
    assert (made.alias, made.start, made.end, made.sentence, made.order) == ("tree", 9, 13, "Ash is a tree.", 2)
    assert after.made == {made: "c1"}
    assert [m.order for m in after.reading.mentions] == [1, 2, 3, 1]


def test_a_missing_mention_that_a_later_matcher_finds_changes_nothing() -> None:
    after = corrected(READING, TEXT, [correction(Wrong.MISSING, "ash", 0, 3)])
    assert after.reading == READING
    assert after.brands == frozenset()


def test_a_missing_mention_makes_one_visible_that_was_not() -> None:
    unseen = Reading((replace(ASH_1, visible=False),))
    after = corrected(unseen, TEXT, [correction(Wrong.MISSING, "ash", 0, 3)])
    assert [m.visible for m in after.reading.mentions] == [True]


def test_a_false_mention_goes_also_where_a_later_matcher_finds_more_of_it() -> None:
    wider = Reading((replace(ASH_1, alias="Ash is", end=6),))
    assert corrected(wider, TEXT, [correction(Wrong.FALSE, "ash", 0, 3)]).reading.mentions == ()


def test_the_later_of_two_corrections_of_one_place_holds() -> None:
    both = [correction(Wrong.FALSE, "ash", 0, 3), correction(Wrong.MISSING, "ash", 0, 3, name="c2")]
    after = corrected(READING, TEXT, both)
    assert [(m.brand, m.start) for m in after.reading.mentions] == [("ash", 0), ("birch", 15), ("ash", 30)]
    assert list(after.made.values()) == ["c2"]


def test_a_correction_of_other_words_does_not_hold() -> None:
    after = corrected(READING, "Oak is a tree.", [correction(Wrong.FALSE, "ash", 0, 3)])
    assert after.unfit == ("c1",)
    assert after.reading == READING


def test_a_correction_that_was_taken_back_stands_no_more() -> None:
    first = correction(Wrong.FALSE, "ash", 0, 3)
    back = correction(Wrong.WITHDRAWN, "ash", 0, 0, name="c2", withdraws="c1")
    other = correction(Wrong.FALSE, "ash", 30, 33, name="c3", task_id="t2")
    assert standing([first, back, other]) == (other,)
    assert by_task([first, back, other]) == {"t2": (other,)}


def test_the_stored_form_reads_back() -> None:
    listed = (correction(Wrong.FALSE, "ash", 0, 3), correction(Wrong.MISSING, "birch", 15, 20, name="c2"))
    document = json.loads(json.dumps(to_document(2, listed)))
    document["corrections"][0]["new"] = "a field of a newer release"
    assert from_document(document) == listed


def test_corrections_of_newer_code_are_refused() -> None:
    with pytest.raises(ValueError, match="format 2"):
        from_document({"v": 2, "corrections": []})


def test_a_missing_mention_in_a_list_has_its_rank() -> None:
    text = "The best:\n1. Oak\n2. Elmm\n3. Ash"
    oak = Mention("oak", "Oak", 13, 16, "1. Oak", 10, order=1, rank=1)
    ash = Mention("ash", "Ash", 28, 31, "3. Ash", 25, order=2, rank=3)
    missing = correction(Wrong.MISSING, "elm", 20, 24, quote="Elmm")
    after = corrected(Reading((oak, ash)), text, [missing])
    assert [(m.brand, m.rank, m.order, m.kind) for m in after.reading.mentions] == [
        ("oak", 1, 1, Kind.PROSE),
        ("elm", 2, 2, Kind.LIST_ITEM),
        ("ash", 3, 3, Kind.PROSE),
    ]
