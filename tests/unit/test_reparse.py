"""Reading a reported run anew: a further pass, the same code, and what it changed."""

from __future__ import annotations

import asyncio
import json

import pytest

from brandvane.cli.reparse_command import reparse
from brandvane.engine.counted import counted
from brandvane.engine.refusal import Refusal
from brandvane.engine.reparse import begin, rehearsed
from brandvane.engine.scored_objects import mentions_key, scores_key
from brandvane.gauges import NO_REPORT_S, report_missing
from brandvane.mentions.matcher import matcher_for
from brandvane.mentions.roles import Role
from brandvane.report.rereading import Changed, difference
from brandvane.run import RunState
from operator_desk import Office
from unit.scored_samples import RUN_ID, TARGET, Case, Fleet, catalogue, row

ROWS = [row("Try Oolong.", sample=1), row("Nothing.", sample=2)]


async def reported() -> Case:
    """A case with its report."""
    case = Case()
    await case.reported(ROWS)
    return case


def forget_a_mention(case: Case) -> None:
    """Make the first pass's scores say that nothing was mentioned, as an older matcher might have."""
    for bucket in range(16):
        key = scores_key(RUN_ID, 1, bucket)
        document = json.loads(case.world.blobs.objects[key])
        document["parser_version"] = "older-1"
        for cells in document["cells"].get("unbranded", {}).get(TARGET, {}).values():
            cells["oolong"] |= {"mentioned": 0, "occurrences": 0}
        case.world.blobs.objects[key] = json.dumps(document).encode()


async def test_a_reported_run_is_scored_and_reported_in_a_further_pass_and_nobody_is_asked() -> None:
    case = await reported()
    before = await case.run()
    await begin(before, runs=case.world.runs, functions=case.world.functions, clock=case.world.clock)
    after = await case.run()
    assert (after.state, after.pass_no, after.reread_at) == (RunState.REPORTED, 2, case.world.clock.now())
    assert after.report_prefix == f"reports/{RUN_ID}/pass-2/"
    assert isinstance(case.world.functions, Fleet)
    assert [event["buckets"] for event in case.world.functions.asked] == [list(range(16))]


async def test_the_earlier_pass_stays_and_the_same_matcher_writes_the_same_bytes() -> None:
    case = await reported()
    await begin(await case.run(), runs=case.world.runs, functions=case.world.functions, clock=case.world.clock)
    objects = case.world.blobs.objects
    for bucket in range(16):
        assert objects[mentions_key(RUN_ID, 1, bucket)] == objects[mentions_key(RUN_ID, 2, bucket)]


@pytest.mark.parametrize(
    "state", [RunState.OPEN, RunState.FINISHED, RunState.SCORING, RunState.REPORTING, RunState.CANCELLED]
)
async def test_only_a_reported_run_is_read_anew(state: RunState) -> None:
    case = await reported()
    await case.world.runs.change(RUN_ID, {}, {"state": state})
    with pytest.raises(Refusal, match=f"{RUN_ID} is {state}"):
        await begin(await case.run(), runs=case.world.runs, functions=case.world.functions, clock=case.world.clock)


async def test_of_two_at_once_one_is_refused() -> None:
    case = await reported()
    seen = await case.run()
    await case.world.runs.change(RUN_ID, {}, {"pass_no": 2})
    with pytest.raises(Refusal, match="by somebody else"):
        await begin(seen, runs=case.world.runs, functions=case.world.functions, clock=case.world.clock)


async def test_what_changed_is_told_by_brand_and_target() -> None:
    case = await reported()
    forget_a_mention(case)
    before = await counted(RUN_ID, 1, case.world.blobs)
    after = await rehearsed(await case.run(), catalogue(), results=case.world.results, blobs=case.world.blobs)
    assert difference(before.tally, after.tally) == (
        Changed(Role.UNBRANDED, TARGET, "oolong", before=(0, 2, 0), after=(1, 2, 1)),
    )
    assert (before.parsers, after.parsers) == (("older-1",), (case_parser(),))


def case_parser() -> str:
    """The version of the matcher that runs are scored with."""
    return matcher_for(()).version


async def test_a_rehearsal_writes_nothing() -> None:
    case = await reported()
    objects = dict(case.world.blobs.objects)
    await rehearsed(await case.run(), catalogue(), results=case.world.results, blobs=case.world.blobs)
    assert case.world.blobs.objects == objects
    assert (await case.run()).pass_no == 1


async def test_a_run_read_anew_is_not_missing_its_report_before_half_an_hour() -> None:
    case = await reported()
    await case.world.runs.change(RUN_ID, {}, {"state": RunState.SCORING, "reread_at": 9e9})
    run = await case.run()
    assert not report_missing(run, 9e9 + NO_REPORT_S - 1)
    assert report_missing(run, 9e9 + NO_REPORT_S)


def office_of(case: Case) -> Office:
    """A desk on the case's world."""
    return Office(case.world)


def test_the_command_reads_anew_waits_and_tells_what_changed() -> None:
    case = asyncio.run(reported())
    forget_a_mention(case)
    result = office_of(case).say(reparse, RUN_ID)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == f"matcher older-1 → {case_parser()}; mentions 1 → 1; 1 figure differs"
    assert lines[2].split() == ["oolong", TARGET, "unbranded", "0", "of", "2", "→", "1", "of", "2", "0", "→", "1"]


def test_a_dry_run_tells_the_same_and_leaves_the_run_alone() -> None:
    case = asyncio.run(reported())
    forget_a_mention(case)
    told = office_of(case).json(reparse, RUN_ID, "--dry-run")
    assert (told["pass_before"], told["pass_after"], told["dry_run"]) == (1, 1, True)
    assert told["changed"] == [
        {
            "role": "unbranded",
            "target": TARGET,
            "brand": "oolong",
            "before": {"mentioned": 0, "answers": 2, "occurrences": 0},
            "after": {"mentioned": 1, "answers": 2, "occurrences": 1},
        }
    ]
    assert asyncio.run(case.run()).pass_no == 1


def test_a_run_that_has_no_report_yet_is_told_so() -> None:
    case = asyncio.run(reported())
    asyncio.run(case.world.runs.change(RUN_ID, {}, {"state": RunState.OPEN}))
    result = office_of(case).say(reparse, RUN_ID)
    assert result.exit_code == 1
    assert result.stderr == f"brandvane: run {RUN_ID} is OPEN: only a run that has been REPORTED can be read anew\n"


def test_an_unknown_run_is_wrong_input() -> None:
    result = office_of(asyncio.run(reported())).say(reparse, "gone")
    assert result.exit_code == 2
    assert "there is no run 'gone'" in result.stderr


def test_scores_that_were_removed_end_in_one_sentence() -> None:
    case = asyncio.run(reported())
    del case.world.blobs.objects[scores_key(RUN_ID, 1, 3)]
    result = office_of(case).say(reparse, RUN_ID)
    assert result.exit_code == 1
    assert "bucket-03.json" in result.stderr
    assert asyncio.run(case.run()).pass_no == 1
