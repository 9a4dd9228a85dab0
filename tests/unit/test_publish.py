"""Publishing a scored run: the three files, the pointer to them, and the lease that guards it."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Mapping
from typing import Any

import pytest

from brandvane.engine.scored_objects import scores_key
from brandvane.run import Run, RunState
from brandvane.task import Outcome
from unit.scored_samples import OTHER, RUN_ID, START, Case, row

PREFIX = f"reports/{RUN_ID}/pass-1/"
ROWS = [
    row("Try Oolong.", sample=1),
    row("Nothing.", sample=2),
    row("Kettle Works and Oolong", prompt=OTHER, questions=("kettles",), target="beta/b-1"),
    row(None, sample=3, outcome=Outcome.TIMEOUT, error_kind="timeout"),
]


def files(case: Case) -> dict[str, bytes]:
    """The published files by name."""
    objects = case.world.blobs.objects
    return {key.removeprefix(PREFIX): body for key, body in objects.items() if key.startswith("reports/")}


def lines(case: Case) -> list[dict[str, Any]]:
    """The rows of results.jsonl.gz."""
    return [json.loads(line) for line in gzip.decompress(files(case)["results.jsonl.gz"]).splitlines()]


async def test_the_report_and_both_files_are_written_and_the_run_points_to_them() -> None:
    case = Case()
    await case.scored(ROWS)
    published = await case.publish()
    assert published is not None
    assert (published.prefix, published.rows) == (PREFIX, 4)
    assert sorted(files(case)) == ["counts.json.gz", "figures.csv", "report.html", "results.csv", "results.jsonl.gz"]
    run = await case.run()
    assert (run.state, run.report_prefix, run.reported_at) == (RunState.REPORTED, PREFIX, case.world.clock.now())
    assert (run.lease_owner, run.lease_until) == ("", 0.0)


async def test_every_row_is_a_line_with_its_answer_and_the_brands_it_mentions() -> None:
    case = Case()
    await case.scored(ROWS)
    await case.publish()
    found = {(line["question_ids"][0], line["sample"]): line for line in lines(case)}
    assert len(found) == 4
    assert found["tea", 1]["brands"] == ["oolong"]
    assert found["tea", 1]["answer"]["text"] == "Try Oolong."
    assert found["tea", 1]["question"] == "Which tea should I buy?"
    assert found["kettles", 1]["brands"] == ["kettle", "oolong"]
    assert found["tea", 3]["answer"] is None
    assert (found["tea", 3]["outcome"], found["tea", 3]["error_kind"]) == ("timeout", "timeout")


async def test_the_table_has_a_line_for_every_row() -> None:
    case = Case()
    await case.scored(ROWS)
    await case.publish()
    table = list(csv.DictReader(io.StringIO(files(case)["results.csv"].decode("utf-8-sig"))))
    assert sorted(line["outcome"] for line in table) == ["ok", "ok", "ok", "timeout"]
    assert {line["brands"] for line in table} == {"oolong", "", "kettle oolong"}


async def test_the_page_shows_totals_and_rates() -> None:
    case = Case()
    await case.scored(ROWS)
    await case.publish()
    page = files(case)["report.html"].decode()
    assert "All 4 planned questions have a result: 3 answered, 1 failed." in page
    assert "1 of 2" in page
    assert "Try <mark>Oolong</mark>." in page


async def test_two_reporters_write_the_same_bytes() -> None:
    first, second = Case(), Case()
    await first.scored(ROWS)
    await second.scored(ROWS[::-1])
    await second.world.clock.advance(1000)
    await first.publish("one")
    await second.publish("two")
    assert files(first) == files(second)


async def test_a_reporter_leaves_a_run_alone_while_another_has_the_lease() -> None:
    case = Case()
    await case.scored(ROWS)
    lease = {"lease_owner": "other", "lease_until": case.world.clock.now() + 1}
    await case.world.runs.change(RUN_ID, {}, lease)
    assert await case.publish() is None
    assert files(case) == {}


async def test_a_lease_that_is_over_can_be_taken() -> None:
    case = Case()
    await case.scored(ROWS)
    await case.world.runs.change(RUN_ID, {}, {"lease_owner": "other", "lease_until": case.world.clock.now()})
    assert await case.publish() is not None


async def test_a_reporter_whose_lease_was_taken_does_not_move_the_run() -> None:
    case = Case()
    await case.scored(ROWS)
    put = case.world.blobs.put

    async def put_and_lose(key: str, body: bytes, content_type: str) -> None:
        await put(key, body, content_type)
        await case.world.runs.change(RUN_ID, {}, {"lease_owner": "other"})

    case.world.blobs.put = put_and_lose  # type: ignore[method-assign]
    assert await case.publish() is None
    run = await case.run()
    assert (run.state, run.lease_owner, run.report_prefix) == (RunState.REPORTING, "other", None)


async def test_a_lost_reply_of_the_last_write_is_not_taken_for_a_refusal() -> None:
    case = Case()
    await case.scored(ROWS)
    change = case.world.runs.change

    async def lose_reply(run_id: str, require: Mapping[str, Any], put: Mapping[str, Any]) -> Run | None:
        done = await change(run_id, require, put)
        return None if "lease_until" in put else done

    case.world.runs.change = lose_reply  # type: ignore[method-assign]
    assert await case.publish() is not None
    assert (await case.run()).state is RunState.REPORTED


@pytest.mark.parametrize("state", [RunState.OPEN, RunState.SCORING, RunState.REPORTED, RunState.CANCELLED])
async def test_only_a_run_in_reporting_is_published(state: RunState) -> None:
    case = Case()
    await case.scored(ROWS)
    await case.world.runs.change(RUN_ID, {}, {"state": state})
    assert await case.publish() is None
    assert files(case) == {}


async def test_a_pass_that_is_over_is_not_published() -> None:
    case = Case()
    await case.scored(ROWS)
    await case.world.runs.change(RUN_ID, {}, {"pass_no": 2})
    assert await case.publish() is None


async def test_a_run_that_is_not_wholly_scored_is_not_published() -> None:
    case = Case()
    await case.scored(ROWS)
    await case.world.runs.change(RUN_ID, {}, {"scored": frozenset(range(15))})
    assert await case.publish() is None


async def test_scores_that_are_gone_are_named() -> None:
    case = Case()
    await case.scored(ROWS)
    del case.world.blobs.objects[scores_key(RUN_ID, 1, 3)]
    with pytest.raises(LookupError, match=r"bucket-03\.json"):
        await case.publish()
    assert (await case.run()).state is RunState.REPORTING


async def test_a_result_that_is_missing_makes_the_page_say_so() -> None:
    case = Case()
    await case.scored(ROWS)
    await case.world.runs.change(RUN_ID, {}, {"planned": {"alpha": 4, "beta": 1}})
    await case.publish()
    page = files(case)["report.html"].decode()
    assert "5 questions were planned, but 4 results are there (3 answered, 1 failed)." in page


async def test_instants_are_told_in_utc() -> None:
    case = Case()
    await case.scored([row("x")])
    await case.publish()
    assert START + 1 == 1_772_427_601.0
    assert lines(case)[0]["started_at"] == "2026-03-02T05:00:01.000Z"


async def test_mentions_of_a_scorer_of_the_release_before_are_read_as_well() -> None:
    case = Case()
    await case.scored(ROWS)
    for key, body in list(case.world.blobs.objects.items()):
        if key.startswith("mentions/") and key.endswith(".jsonl.gz"):
            told = ("brand", "role", "start", "end", "sentence", "visible", "task_id")
            old = [{name: json.loads(line)[name] for name in told} for line in gzip.decompress(body).splitlines()]
            case.world.blobs.objects[key] = gzip.compress("\n".join(map(json.dumps, old)).encode())
    await case.publish()
    assert "Try <mark>Oolong</mark>." in files(case)["report.html"].decode()
