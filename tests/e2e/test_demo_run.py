"""From a catalogue to a report on the deployed stack, every permission enforced, platforms that fail now and then."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json

from brandvane.run import RunState
from e2e.asked import QUESTIONS, RUN_ID, Asked


def test_every_planned_task_is_answered_and_reported(asked: Asked) -> None:
    run, summary = asyncio.run(asked.reported())

    assert run.state is RunState.REPORTED
    assert summary.complaints == ()
    assert summary.planned == QUESTIONS * 3
    assert (summary.results, summary.lost, summary.done + summary.failed) == (60, 0, 60)
    assert (summary.repeated_calls, summary.repeated_by_prompt) == (0, 0)
    assert sum(summary.retries.values()) == 60
    assert summary.calls >= 60

    page = asked.object(f"{run.report_prefix}report.html")
    assert page is not None
    assert b"Acme" in page
    packed = asked.object(f"{run.report_prefix}results.jsonl.gz")
    assert packed is not None
    lines = [json.loads(line) for line in gzip.decompress(packed).splitlines()]
    assert len({line["task_id"] for line in lines}) == 60
    table = asked.object(f"{run.report_prefix}results.csv")
    assert table is not None
    assert len(list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))) == 60


def test_asking_for_a_label_that_has_run_reports_the_run_that_is_there(asked: Asked) -> None:
    asyncio.run(asked.reported())
    again = asked.deployed.brandvane("run", "start", "--label", RUN_ID, "--yes")
    assert again["run_id"] == RUN_ID
    assert asked.deployed.run(RUN_ID).state is RunState.REPORTED
    assert len(asked.deployed.task_ids(RUN_ID)) == QUESTIONS * 3
