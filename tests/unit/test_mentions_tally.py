"""What an answer counts as for each brand, and what answers add up to."""

from __future__ import annotations

import json

import pytest

from brandvane.answer import Citation
from brandvane.catalogue import Brand, Catalogue, Question
from brandvane.mentions.cell import Cell
from brandvane.mentions.citations import SourceReader
from brandvane.mentions.matcher import Mention, Reading
from brandvane.mentions.roles import Role, Roles, Slice
from brandvane.mentions.statistics import Ratio
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
    assert tally.cell(Role.UNBRANDED, TARGET, "oolong") == Cell(
        mentioned=1, answers=1, occurrences=2, voice=Ratio(1, 1, 1, 1, 1, 1)
    )
    assert tally.cell(Role.UNBRANDED, TARGET, "sencha") == Cell(answers=1, voice=Ratio(0, 1, 1, 0, 0, 1))


def test_a_mention_in_an_answer_to_anothers_question_is_in_no_rate() -> None:
    tally = Tally()
    tally.add(row("x"), answer("x"), reading("kettle"), UNBRANDED)
    assert tally.cell(Role.ALSO, TARGET, "kettle").mentioned == 1
    assert tally.cell(Role.UNBRANDED, TARGET, "kettle") == Cell()


def test_a_truncated_answer_counts_for_the_brand_it_mentions_and_for_no_other() -> None:
    tally = Tally()
    tally.add(row("x", outcome=Outcome.TRUNCATED), answer("x"), reading("oolong"), UNBRANDED)
    assert tally.cell(Role.UNBRANDED, TARGET, "oolong").rate == 1.0
    assert tally.cell(Role.UNBRANDED, TARGET, "sencha") == Cell(left_out={"truncated": 1})


def test_a_mention_that_is_not_visible_is_not_counted() -> None:
    tally = Tally()
    tally.add(row("x"), answer("x"), reading("oolong", visible=False), UNBRANDED)
    assert tally.cell(Role.UNBRANDED, TARGET, "oolong") == Cell(answers=1)


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
    assert tally.cell(Role.UNBRANDED, TARGET, "oolong") == Cell(answers=1, left_out={"retries_used_up": 3})


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
    cell = forth.cell(Role.UNBRANDED, TARGET, "oolong")
    assert (cell.mentioned, cell.answers, cell.left_out) == (1, 1, {"truncated": 1, "timeout": 1})
    assert forth.targets[TARGET].served == {"a-1-0301": 1, "a-1": 1}


def test_scores_of_newer_code_are_refused() -> None:
    with pytest.raises(ValueError, match="format 3"):
        from_document({"v": 3, "targets": {}, "cells": {}})


def test_an_unknown_prompt_gives_no_brand_a_role() -> None:
    assert Roles(catalogue()).of(prompt_hash_of(OTHER), ("gone",)) == {}


def test_scores_of_the_first_release_read_as_one_slice() -> None:
    numbers = dict.fromkeys(
        ("rows", "unreadable", "blank", "minimal", "paid_calls", "retries", "throttles", "cost_microusd"), 1
    )
    stored = {"mentioned": 1, "answers": 2, "occurrences": 3, "left_out": {"timeout": 1}}
    tally = from_document(
        {
            "v": 1,
            "targets": {TARGET: {**numbers, "endings": {"ok": {"": 2}}, "served": {"a-1": 2}}},
            "cells": {"unbranded": {TARGET: {"oolong": stored}}},
        }
    )
    cell = tally.cell(Role.UNBRANDED, TARGET, "oolong")
    assert (cell.mentioned, cell.answers, cell.occurrences, cell.left_out) == (1, 2, 3, {"timeout": 1})


def test_counts_are_kept_apart_by_topic_and_language() -> None:
    tally = Tally()
    tally.add(row("x"), answer("x"), reading("oolong"), UNBRANDED, about=Slice("en", ("green", "hot")))
    tally.add(row("x"), answer("x"), reading(), UNBRANDED, about=Slice("en", ("hot",)))
    tally.add(row("x"), answer("x"), reading("oolong"), UNBRANDED, about=Slice("zh", ()))
    kept = from_document(json.loads(json.dumps(tally.to_document())))

    def figure(**part: str) -> tuple[int, int]:
        cell = kept.cell(Role.UNBRANDED, TARGET, "oolong", **part)
        return cell.mentioned, cell.answers

    assert figure() == (2, 3)
    assert figure(topic="hot") == (1, 2)
    assert figure(topic="green") == (1, 1)
    assert figure(language="en") == (1, 2)
    assert figure(topic="hot", language="zh") == (0, 0)


def test_a_brands_rank_is_that_of_its_first_ranked_mention() -> None:
    def mention(rank: int | None) -> Mention:
        return Mention("oolong", "Oolong", 0, 6, "", 0, rank=rank, order=1)

    tally = Tally()
    tally.add(row("x"), answer("x"), Reading((mention(None), mention(3), mention(1))), UNBRANDED)
    cell = tally.cell(Role.UNBRANDED, TARGET, "oolong")
    assert (cell.rank_sum, cell.ranked, cell.order_sum) == (3, 1, 1)


def test_sources_count_for_their_owner_and_for_its_competitors() -> None:
    brands = (
        Brand(id="oolong", name="Oolong", domains=("oolong.example",), competitors=("sencha",)),
        Brand(id="sencha", name="Sencha", domains=("sencha.example",)),
    )
    reader = SourceReader(brands)
    hosts = ("oolong.example", "shop.oolong.example", "sencha.example", "press.example")
    sources = reader.read(
        [Citation(f"https://{host}/") for host in hosts] + [Citation("https://x.example", kind="retrieved")]
    )
    tally = Tally()
    tally.add(row("x"), answer("x"), reading(), UNBRANDED, sources=sources, reader=reader)
    tally.add(row("y"), answer("y"), reading(), UNBRANDED, reader=reader)
    oolong = tally.cell(Role.UNBRANDED, TARGET, "oolong")
    assert (oolong.sources.hits, oolong.sources.total, oolong.sources.answers, oolong.rivals) == (2, 4, 1, 1)
    assert tally.cell(Role.UNBRANDED, TARGET, "sencha").rivals == 0  # it names no competitors
    target = tally.targets[TARGET]
    assert target.cited == {"oolong.example": 2, "sencha.example": 1, "press.example": 1}
    assert target.retrieved == {"x.example": 1}
    assert target.numbers["citing"] == 1


def test_a_correction_shows_in_the_brands_figures_and_in_everybodys_share_of_voice() -> None:
    tally = Tally()
    tally.add(row("x"), answer("x"), reading("oolong"), UNBRANDED, corrected=frozenset({"oolong"}))
    oolong, sencha = (tally.cell(Role.UNBRANDED, TARGET, brand) for brand in ("oolong", "sencha"))
    assert (oolong.corrected, oolong.voice_corrected) == (1, 1)
    assert (sencha.corrected, sencha.voice_corrected) == (0, 1)


def test_a_question_that_names_a_brand_in_plain_words_is_branded_for_it() -> None:
    roles = Roles(catalogue())
    assert roles.named(UNBRANDED, ["oolong", "kettle"]) == {"oolong": Role.BRANDED, "sencha": Role.UNBRANDED}
    assert roles.named(UNBRANDED, ["kettle"]) == UNBRANDED


def test_a_prompt_for_two_questions_has_the_topics_of_both() -> None:
    known = Catalogue(
        brands=(),
        questions=(
            Question(id="a", text="哪家好？", topics=("tea", "hot")),
            Question(id="b", text="哪家好？", language="zh-CN", topics=("cold",)),
        ),
        monitor=catalogue().monitor,
    )
    assert Roles(known).slice(("a", "b")) == Slice("zh", ("cold", "hot", "tea"))
    assert Roles(known).slice(("b",)) == Slice("zh-cn", ("cold",))
    assert Roles(known).slice(("gone",)) == Slice()


def test_a_brand_that_the_question_names_is_no_voice_beside_the_others() -> None:
    def mention(brand: str, *, echo: bool = False) -> Mention:
        return Mention(brand, brand, 0, 6, "", 0, order=1, echo=echo)

    tally = Tally()
    said = Reading((mention("oolong", echo=True), mention("sencha"), mention("kettle")))
    tally.add(row("x"), answer("x"), said, {"oolong": Role.BRANDED, "sencha": Role.UNBRANDED})
    sencha, oolong = tally.cell(Role.UNBRANDED, TARGET, "sencha"), tally.cell(Role.BRANDED, TARGET, "oolong")
    assert (sencha.voice.hits, sencha.voice.total) == (1, 2)
    assert (oolong.voice.hits, oolong.voice.total) == (1, 3)
