"""Scoring buckets of a run: the files it writes, and what it does with answers that cannot be read."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from brandvane.answer import Citation, pack
from brandvane.catalogue import Brand, Question
from brandvane.engine.answer_reader import Reader
from brandvane.engine.answers import ReadRow
from brandvane.engine.buckets import plan_buckets
from brandvane.engine.json_bytes import json_bytes
from brandvane.engine.score import score, score_bucket
from brandvane.engine.scored_objects import mentions_key, mentions_table_key, scores_key
from brandvane.mentions.matcher import BrandMatcher, Reading
from brandvane.mentions.roles import Role
from brandvane.ports import Unavailable
from brandvane.run import RunState
from brandvane.task import BUCKETS, Outcome, bucket_of, prompt_hash_of
from unit.scored_samples import GENERIC, RUN_ID, TARGET, Case, answer, catalogue, row

BUCKET = bucket_of(prompt_hash_of(GENERIC))
TEXT = "Try Oolong. Oolong & Co is fine, 煎茶屋 too."


def mentions(case: Case, bucket: int = BUCKET) -> list[dict[str, Any]]:
    """The lines of a bucket's mentions file."""
    packed = case.world.blobs.objects[mentions_key(RUN_ID, 1, bucket)]
    return [json.loads(line) for line in gzip.decompress(packed).splitlines()]


def counts(case: Case, bucket: int = BUCKET) -> dict[str, Any]:
    """A bucket's scores file."""
    document: dict[str, Any] = json.loads(case.world.blobs.objects[scores_key(RUN_ID, 1, bucket)])
    return document


async def test_every_mention_is_a_line_with_its_span_sentence_and_parser_version() -> None:
    case = Case()
    await case.begin([row(TEXT)])
    await case.score()
    lines = mentions(case)
    assert [(line["brand"], line["alias"], line["start"], line["end"]) for line in lines] == [
        ("oolong", "Oolong", 4, 10),
        ("oolong", "Oolong & Co", 12, 23),
        ("sencha", "煎茶屋", 33, 36),
    ]
    assert {
        key: lines[0][key] for key in ("sentence", "parser_version", "question_ids", "target", "role", "task_id")
    } == {
        "sentence": "Try Oolong.",
        "parser_version": BrandMatcher.version,
        "question_ids": ["tea"],
        "target": TARGET,
        "role": "unbranded",
        "task_id": row(TEXT).task_id,
    }


async def test_the_counts_of_a_bucket_can_be_summed() -> None:
    case = Case()
    await case.begin([row(TEXT), row("Nothing here.", sample=2)])
    await case.score()
    document = counts(case)
    assert document["rows"] == 2
    assert document["mentions"] == 3
    assert document["slices"] == [{"language": "en", "topics": []}]
    both = {"mentioned": 1, "answers": 2, "voice": [1, 2, 1, 1, 2, 4]}
    cells = document["cells"]["unbranded"][TARGET]["0"]
    assert {brand: {name: cell[name] for name in both} for brand, cell in cells.items()} == {
        "oolong": both,
        "sencha": both,
    }
    assert (cells["oolong"]["occurrences"], cells["sencha"]["occurrences"]) == (2, 1)


async def test_every_bucket_is_marked_also_an_empty_one() -> None:
    case = Case()
    await case.begin([row(TEXT)])
    done = await case.score()
    assert done.buckets == tuple(range(16))
    assert done.rows == 1
    assert (await case.run()).scored == frozenset(range(16))
    assert counts(case, (BUCKET + 1) % 16)["rows"] == 0


async def test_two_scorers_write_the_same_bytes() -> None:
    first, second = Case(), Case()
    rows = [row(TEXT, sample=number) for number in range(1, 6)]
    await first.begin(rows)
    await second.begin(rows[::-1])
    await first.score()
    await second.score([BUCKET])
    for key in (mentions_key(RUN_ID, 1, BUCKET), mentions_table_key(RUN_ID, 1, BUCKET), scores_key(RUN_ID, 1, BUCKET)):
        assert first.world.blobs.objects[key] == second.world.blobs.objects[key]


async def test_a_bucket_that_is_scored_is_not_scored_again() -> None:
    case = Case()
    await case.begin([row(TEXT)])
    await case.score()
    case.world.blobs.objects.clear()
    assert (await case.score()).buckets == ()
    assert case.world.blobs.objects == {}


async def test_a_pass_that_is_over_ends_quietly() -> None:
    case = Case()
    await case.begin([row(TEXT)])
    assert (await case.score(pass_no=2)).over
    assert case.world.blobs.objects == {}


@pytest.mark.parametrize("state", [RunState.OPEN, RunState.CANCELLED])
async def test_a_run_that_is_open_or_cancelled_is_not_scored(state: RunState) -> None:
    case = Case()
    await case.begin([row(TEXT)], state)
    assert (await case.score()).over
    assert case.world.blobs.objects == {}


async def test_an_unknown_run_ends_quietly() -> None:
    assert (await Case().score()).over


async def test_a_pass_that_ends_during_the_work_is_not_marked() -> None:
    case = Case()
    await case.begin([row(TEXT)])

    class Reopening(BrandMatcher):
        """An operator opens the run again while its answers are read."""

        def read(self, text: str, *, prompt: str = "", platform: str = "") -> Reading:
            runs = case.world.runs.runs
            runs[RUN_ID] = replace(runs[RUN_ID], pass_no=2)
            return super().read(text, prompt=prompt, platform=platform)

    w = case.world
    done = await score(
        RUN_ID,
        1,
        [BUCKET],
        runs=w.runs,
        results=w.results,
        blobs=w.blobs,
        catalogues=w.catalogues,
        clock=w.clock,
        telemetry=w.telemetry,
        make_matcher=Reopening,
    )
    assert done.over
    assert (await case.run()).scored == frozenset()


async def test_a_large_answer_is_read_from_the_bucket() -> None:
    case = Case()
    await case.begin([row(None, answer_key="answers/large")])
    await case.world.blobs.put("answers/large", pack(answer(TEXT)), "application/octet-stream")
    await case.score()
    assert len(mentions(case)) == 3


async def test_answers_that_cannot_be_read_are_recorded_and_stop_nothing() -> None:
    case = Case()
    rows = [
        row(None, sample=1, stored=b"not an answer"),
        row(None, sample=2, answer_key="answers/gone"),
        row(None, sample=3),
        row(None, sample=4, answer_key="answers/raw", minimal=True),
        row(TEXT, sample=5),
    ]
    await case.begin(rows)
    await case.world.blobs.put("answers/raw", b"<html>", "application/octet-stream")
    done = await case.score()
    assert (done.rows, done.unreadable) == (5, 4)
    assert [item["reason"] for item in counts(case)["unreadable"]] == [
        "ValueError while unpacking",
        "no answer at answers/gone",
        "the row has no answer",
        "ValueError while unpacking",
    ]
    oolong = counts(case)["cells"]["unbranded"][TARGET]["0"]["oolong"]
    assert (oolong["mentioned"], oolong["answers"], oolong["left_out"]) == (1, 1, {"unreadable": 4})
    assert counts(case)["targets"][TARGET]["minimal"] == 1
    assert len(case.world.telemetry.named("answer_unreadable")) == 4


async def test_a_minimal_row_whose_answer_can_be_read_counts() -> None:
    case = Case()
    await case.begin([row(None, answer_key="answers/raw", minimal=True)])
    await case.world.blobs.put("answers/raw", pack(answer(TEXT)), "application/octet-stream")
    assert (await case.score()).unreadable == 0
    assert counts(case)["cells"]["unbranded"][TARGET]["0"]["oolong"]["answers"] == 1


async def test_an_answer_that_a_matcher_stumbles_over_is_recorded() -> None:
    class Stumbling(BrandMatcher):
        """Reads all texts but one."""

        def read(self, text: str, *, prompt: str = "", platform: str = "") -> Reading:
            if text == "stone":
                raise IndexError("oops")
            return super().read(text, prompt=prompt, platform=platform)

    case = Case()
    await case.begin([row("stone"), row(TEXT, sample=2)])

    def make(brands: Iterable[Brand]) -> Stumbling:
        return Stumbling(brands)

    reader = Reader.of(catalogue(), make)
    result = await score_bucket(RUN_ID, BUCKET, reader, case.world.results, case.world.blobs)
    assert [item.reason for item in result.unreadable] == ["IndexError in matcher " + BrandMatcher.version]
    assert result.mention_count == 3


async def test_an_answer_with_a_hostile_citation_is_read_like_any_other() -> None:
    hostile = replace(answer(TEXT), citations=(Citation("https://www.google.com/url?q=https://[sony"),))
    case = Case()
    await case.begin([row(None, stored=pack(hostile)), row(TEXT, sample=2)])
    done = await case.score()
    assert (done.rows, done.mentions, done.unreadable) == (2, 6, 0)


async def test_an_answer_whose_citations_cannot_be_read_is_recorded_and_the_others_go_on() -> None:
    broken = replace(answer(TEXT), citations=(Citation(7),))  # type: ignore[arg-type]  # as somebody else may have stored it
    case = Case()
    await case.begin([row(None, stored=pack(broken)), row(TEXT, sample=2)])
    result = await score_bucket(RUN_ID, BUCKET, Reader.of(catalogue()), case.world.results, case.world.blobs)
    assert [item.reason for item in result.unreadable] == ["TypeError in the answer's citations"]
    assert (result.rows, result.mention_count) == (2, 3)


@pytest.mark.parametrize("wrong", [{"served_model": ["a-1"]}, {"cost_microusd": "250"}, {"latency_s": None}])
async def test_an_answer_that_cannot_be_counted_is_recorded_and_the_others_go_on(wrong: dict[str, Any]) -> None:
    case = Case()
    await case.begin([row(None, stored=pack(replace(answer(TEXT), **wrong))), row(TEXT, sample=2)])
    result = await score_bucket(RUN_ID, BUCKET, Reader.of(catalogue()), case.world.results, case.world.blobs)
    assert [item.reason for item in result.unreadable] == ["its model or its numbers are none"]
    assert (result.rows, result.mention_count) == (2, 3)


async def test_a_store_that_refuses_is_not_taken_for_an_unreadable_answer() -> None:
    case = Case()
    await case.begin([row(None, answer_key="answers/large")])

    async def refuse(key: str) -> bytes | None:
        raise Unavailable(key)

    case.world.blobs.get = refuse  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        await case.score()
    assert BUCKET not in (await case.run()).scored


async def test_failed_results_count_among_what_is_left_out() -> None:
    case = Case()
    await case.begin([row(None, outcome=Outcome.TIMEOUT, error_kind="timeout")])
    assert (await case.score()).unreadable == 0
    cell = counts(case)["cells"]["unbranded"][TARGET]["0"]["sencha"]
    assert cell == {"left_out": {"timeout": 1}}


def test_half_a_surrogate_pair_is_written_as_its_escape() -> None:
    assert json_bytes({"b": "\ud83d", "a": "煎"}) == b'{"a":"\xe7\x85\x8e","b":"\\ud83d"}'


def test_a_small_run_is_scored_by_one_invocation() -> None:
    assert plan_buckets(600) == (tuple(range(16)),)
    assert plan_buckets(0) == (tuple(range(16)),)
    assert plan_buckets(5_000) == (tuple(range(16)),)


def test_a_larger_run_is_spread_evenly() -> None:
    assert plan_buckets(5_001) == (tuple(range(8)), tuple(range(8, 16)))
    assert plan_buckets(150_000) == tuple((bucket,) for bucket in range(16))


@pytest.mark.parametrize("total", [0, 1, 7_000, 33_333, 10**7])
def test_every_bucket_is_taken_exactly_once(total: int) -> None:
    taken = [bucket for group in plan_buckets(total) for bucket in group]
    assert sorted(taken) == list(range(BUCKETS))


async def test_a_mention_says_what_it_is_and_the_table_says_the_same() -> None:
    case = Case()
    await case.begin([row("Best teas:\n1. Oolong\n2. Sencha House")])
    await case.score()
    second = mentions(case)[1]
    assert {key: second[key] for key in ("kind", "rank", "order", "stance", "doubtful", "echo", "self_mention")} == {
        "kind": "list_item",
        "rank": 2,
        "order": 2,
        "stance": "neutral",
        "doubtful": False,
        "echo": False,
        "self_mention": False,
    }
    packed = case.world.blobs.objects[mentions_table_key(RUN_ID, 1, BUCKET)]
    table = list(csv.DictReader(io.StringIO(gzip.decompress(packed).decode("utf-8-sig"), newline="")))
    assert [(each["brand"], each["rank"], each["kind"], each["parser_version"]) for each in table] == [
        ("oolong", "1", "list_item", BrandMatcher.version),
        ("sencha", "2", "list_item", BrandMatcher.version),
    ]


async def test_an_answer_to_a_question_that_names_the_brand_in_plain_words_is_branded() -> None:
    case = Case()
    known = catalogue()
    asked = Question(id="plain", text="Is Oolong & Co good?", brands=("oolong", "sencha"))
    await case.begin([row(TEXT, prompt=asked.text, questions=("plain",))])
    case.world.catalogues.push(replace(known, questions=(*known.questions, asked)))
    await case.score()
    cells = counts(case, bucket_of(prompt_hash_of(asked.text)))["cells"]
    assert {role: sorted(by_target[TARGET]["0"]) for role, by_target in cells.items()} == {
        "branded": ["oolong"],
        "unbranded": ["sencha"],
    }


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("小米好还是华为好？", {"xiaomi"}),
        ("联想好还是华为好？", {"lenovo"}),
        ("Apple or Samsung?", {"apple"}),
        ("Target or Walmart: where to shop?", {"target"}),
        ("小米粥怎么煮？", set()),
        ("Which target audience buys apple pie?", set()),
    ],
)
def test_a_question_names_a_brand_unless_the_matcher_rejects_its_name(question: str, named: set[str]) -> None:
    brands = (
        Brand(id="xiaomi", name="小米"),
        Brand(id="lenovo", name="联想"),
        Brand(id="apple", name="Apple"),
        Brand(id="target", name="Target"),
    )
    ids = tuple(brand.id for brand in brands)
    known = replace(catalogue(), brands=brands, questions=(Question(id="q", text=question, brands=ids),))
    case = row(None, prompt=question, questions=("q",))
    said = Reader.of(known).read(ReadRow(case, answer("x")))
    assert {brand for brand, role in said.roles.items() if role is Role.BRANDED} == named
