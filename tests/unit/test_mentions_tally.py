"""What an answer counts as for each brand, and what answers add up to."""

from __future__ import annotations

import json

import pytest

from brandvane.catalogue import Brand, Catalogue, Question
from brandvane.mentions.matcher import Mention, Reading
from brandvane.mentions.roles import Role, Roles
from brandvane.mentions.statistics import Cell
from brandvane.mentions.tally import Tally, from_document
from brandvane.task import Outcome, prompt_hash_of
from unit.scored_samples import BRANDED, GENERIC, OTHER, TARGET, answer, catalogue, row

UNBRANDED = {"oolong": Role.UNBRANDED, "sencha": Role.UNBRANDED}


def reading(*brands: str, visible: bool = True) -> Reading:
    """A reading that mentions each of the brands once per time it is named."""
    return Reading(tuple(Mention(brand, brand, 0, 1, "", 0, visible) for brand in brands))


def test_a_question_without_a_name_is_unbranded_for_the_brands_that_track_it() -> None:
    assert Roles(catalogue()).of(prompt_hash_of(GENERIC), ("tea",)) == UNBRANDED


def test_a_question_with_a_name_is_branded_for_the_brand_it_was_asked_for() -> None:
    asked = prompt_hash_of("Is Oolong & Co good?")
    assert Roles(catalogue()).of(asked, ("good",)) == {"oolong": Role.BRANDED}


def test_a_prompt_that_is_also_branded_for_a_brand_is_nothing_else_for_it() -> None:
    both = Catalogue(
        brands=(Brand(id="a", name="Ash"), Brand(id="b", name="Birch")),
        questions=(
            Question(id="plain", text="Is Ash good?", brands=("a", "b")),
            Question(id="named", text=BRANDED, brands=("a",)),
        ),
        monitor=catalogue().monitor,
    )
    roles = Roles(both).of(prompt_hash_of("Is Ash good?"), ("plain", "named"))
    assert roles == {"a": Role.BRANDED, "b": Role.UNBRANDED}


def test_the_text_of_a_prompt_is_known_by_its_hash() -> None:
    roles = Roles(catalogue())
    assert roles.text(prompt_hash_of("Is Oolong & Co good?")) == "Is Oolong & Co good?"
    assert roles.text("0" * 24) == ""


def test_an_answer_counts_once_however_often_it_mentions_a_brand() -> None:
    tally = Tally()
    tally.add(row("x"), answer("x"), reading("oolong", "oolong"), UNBRANDED)
    assert tally.cell(Role.UNBRANDED, TARGET, "oolong") == Cell(mentioned=1, answers=1, occurrences=2)
    assert tally.cell(Role.UNBRANDED, TARGET, "sencha") == Cell(mentioned=0, answers=1)


def test_a_mention_in_an_answer_to_anothers_question_is_in_no_rate() -> None:
    tally = Tally()
    tally.add(row("x"), answer("x"), reading("kettle"), UNBRANDED)
    assert tally.cell(Role.ALSO, TARGET, "kettle").mentioned == 1
    assert tally.cell(Role.UNBRANDED, TARGET, "kettle") == Cell()


def test_a_truncated_answer_counts_for_the_brand_it_mentions_and_for_no_other() -> None:
    tally = Tally()
    tally.add(row("x", outcome=Outcome.TRUNCATED), answer("x"), reading("oolong"), UNBRANDED)
    assert tally.cell(Role.UNBRANDED, TARGET, "oolong") == Cell(1, 1, 1)
    assert tally.cell(Role.UNBRANDED, TARGET, "sencha") == Cell(left_out={"truncated": 1})


def test_a_mention_that_is_not_visible_is_not_counted() -> None:
    tally = Tally()
    tally.add(row("x"), answer("x"), reading("oolong", visible=False), UNBRANDED)
    assert tally.cell(Role.UNBRANDED, TARGET, "oolong") == Cell(mentioned=0, answers=1)


def test_a_mention_in_a_refusal_is_not_even_also_mentioned() -> None:
    tally = Tally()
    tally.add(row("x", outcome=Outcome.REFUSED), answer("x"), reading("oolong", "kettle"), UNBRANDED)
    assert tally.cell(Role.UNBRANDED, TARGET, "oolong") == Cell(left_out={"refused": 1})
    assert tally.cell(Role.ALSO, TARGET, "kettle") == Cell()


def test_endings_are_counted_by_outcome_and_error_kind() -> None:
    tally = Tally()
    for kind in ("rate_limited", "rate_limited", "server_error"):
        tally.add(row(None, outcome=Outcome.RETRIES_USED_UP, error_kind=kind), None, Reading(), UNBRANDED)
    tally.add(row("x"), answer("x"), Reading(), UNBRANDED)
    target = tally.targets[TARGET]
    assert target.endings == {"retries_used_up": {"rate_limited": 2, "server_error": 1}, "ok": {"": 1}}
    assert target.ended(Outcome.RETRIES_USED_UP) == 3
    assert target.numbers["rows"] == 4
    assert target.numbers["cost_microusd"] == 250
    assert tally.cell(Role.UNBRANDED, TARGET, "oolong") == Cell(0, 1, 0, {"retries_used_up": 3})


def test_the_stored_form_reads_back_and_sums_do_not_depend_on_order() -> None:
    one, two = Tally(), Tally()
    one.add(row("x"), answer("x", served="a-1-0301"), reading("oolong"), UNBRANDED)
    two.add(row("y", outcome=Outcome.TRUNCATED), answer("y"), reading("kettle"), UNBRANDED)
    two.add(row(None, outcome=Outcome.TIMEOUT, error_kind="timeout"), None, Reading(), UNBRANDED)
    forth, back = Tally(), Tally()
    for tally in (one, two):
        forth.merge(from_document(json.loads(json.dumps(tally.to_document()))))
    for tally in (two, one):
        back.merge(tally)
    assert forth.to_document() == back.to_document()
    assert forth.cell(Role.UNBRANDED, TARGET, "oolong") == Cell(1, 1, 1, {"truncated": 1, "timeout": 1})
    assert forth.targets[TARGET].served == {"a-1-0301": 1, "a-1": 1}


def test_scores_of_newer_code_are_refused() -> None:
    with pytest.raises(ValueError, match="format 2"):
        from_document({"v": 2, "targets": {}, "cells": {}})


def test_an_unknown_prompt_gives_no_brand_a_role() -> None:
    assert Roles(catalogue()).of(prompt_hash_of(OTHER), ("gone",)) == {}
