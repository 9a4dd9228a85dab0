"""``brandvane task``: is the whole life of a task shown, and are tasks asked again by their ids alone?"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from brandvane.answer import late_key, pack
from brandvane.cli.task_commands import task as command
from brandvane.result import row_of
from brandvane.run import RunState
from brandvane.task import Outcome, State, Task
from builders import NOW, answer, catalogue, placed, platform, run_of
from operator_desk import Office, as_ended, laid_out, lay_out, office

GIVEN = catalogue(questions=3, platforms=(platform("openai", price_output=10.0),), time_zone="Europe/Berlin")


def _office(*ended: Outcome | State, interactive: bool = False, **fields: Any) -> tuple[Office, list[Task]]:
    here = office(GIVEN, interactive=interactive)
    made = run_of(GIVEN, "day", **({"state": RunState.REPORTED} | fields))
    return here, laid_out(here, made, GIVEN, *ended)


def _with_a_second_round() -> tuple[Office, Task]:
    """Timed out in the first round, answered in the second; a late answer of the first."""
    here, tasks = _office(Outcome.TIMEOUT)
    again = placed(tasks[0], State.DONE, round=2, paid_calls=5, attempt_id="attempt-2", expires_at=int(NOW) + 3600)
    again = replace(again, started_at=NOW - 130)
    here.world.tasks.records[again.task_id] = again
    row = replace(row_of(again, NOW - 5), answer=pack(answer(served_model="m1-2025", latency_s=2.5)))

    async def put() -> None:
        await here.world.results.put(row)
        await here.world.blobs.put(late_key("day", again.task_id, "attempt-1"), b"packed", "text/plain")

    asyncio.run(put())
    return here, again


def test_a_task_is_shown_with_its_record_every_rounds_result_late_answers_and_the_log_command() -> None:
    here, again = _with_a_second_round()
    second = (
        "result of round 2: ok, called 2025-10-09 10:51:10 Europe/Berlin, written 2025-10-09 10:53:15 Europe/Berlin,"
        " 5 calls, 0 retries, served by m1-2025 in 2.5 s, $0.0000"
    )

    assert here.say(command, "show", again.task_id).stdout.splitlines() == [
        f"task {again.task_id} of run day, openai/m1, sample 1",
        f"asks {again.question_ids[0]}: Which maker is number {again.question_ids[0][1:]}?",
        "record: DONE (ok), round 2, wait 1, priority normal",
        "  5 calls made; 0 of 3 retries, 0 throttles, given back 0 times, 0 failed write-backs",
        "  planned 2025-10-09 10:53:20 Europe/Berlin, deadline 2025-10-09 12:53:20 Europe/Berlin",
        "  last call began 2025-10-09 10:51:10 Europe/Berlin",
        "  the record may be removed from 2025-10-09 11:53:20 Europe/Berlin",
        "result of round 1: timeout, written 2025-10-09 10:51:30 Europe/Berlin, 0 calls, 0 retries",
        second,
        f"an answer that came too late to count: s3://data/late/day/{again.task_id}/attempt-1",
        f"brandvane logs --task {again.task_id} --since 2025-10-09T08:52:20Z",
    ]


def test_a_task_as_json_has_every_round_and_no_answers_text() -> None:
    here, again = _with_a_second_round()

    told = here.json(command, "show", again.task_id)

    assert [(each["round"], each["outcome"], each["served_model"]) for each in told["results"]] == [
        (1, "timeout", None),
        (2, "ok", "m1-2025"),
    ]
    assert (told["record"]["state"], told["record"]["paid_calls"]) == ("DONE", 5)
    assert told["late"] == [f"s3://data/late/day/{again.task_id}/attempt-1"]
    assert "Acme" not in str(told)


def test_a_task_under_way_shows_its_lease_and_has_no_result_yet() -> None:
    here, tasks = _office(State.RUNNING, state=RunState.OPEN, deadline=NOW + 9000)

    shown = here.say(command, "show", tasks[0].task_id).stdout

    assert "  its lease ends 2025-10-09 10:51:40 Europe/Berlin (attempt planned-0)" in shown
    assert "next try 2025-10-09 10:53:20 Europe/Berlin, deadline 2025-10-09 13:23:20 Europe/Berlin" in shown
    assert "it has no result row yet" in shown


def test_a_task_whose_record_is_gone_says_that_its_run_must_be_named() -> None:
    here, tasks = _office(Outcome.OK)
    del here.world.tasks.records[tasks[0].task_id]

    for words in (("show", tasks[0].task_id), ("retry", tasks[0].task_id, "--yes")):
        result = here.say(command, *words)
        assert result.exit_code == 2
        assert f"there is no record of task '{tasks[0].task_id}'" in result.stderr
        assert "name its run with --run" in result.stderr


def test_with_its_run_a_task_whose_record_is_gone_is_shown_by_its_row() -> None:
    here, tasks = _office(Outcome.OK)
    del here.world.tasks.records[tasks[0].task_id]

    lines = here.say(command, "show", tasks[0].task_id, "--run", "day").stdout.splitlines()

    assert lines[2] == "its record has been removed (finished records are kept for some days only)"
    assert lines[3].startswith("result of round 1: ok, written 2025-10-09 10:51:30")


def test_a_task_that_is_not_there_or_of_another_run_is_wrong_input() -> None:
    here, tasks = _office(Outcome.OK)
    lay_out(here.world, run_of(GIVEN, "other"), [])

    unknown = here.say(command, "show", "f" * 32, "--run", "day")
    elsewhere = here.say(command, "show", tasks[0].task_id, "--run", "other")
    no_run = here.say(command, "show", tasks[0].task_id, "--run", "night")

    assert (unknown.exit_code, elsewhere.exit_code, no_run.exit_code) == (2, 2, 2)
    assert f"run day has no task '{'f' * 32}'" in unknown.stderr
    assert "is one of run day, not of other" in elsewhere.stderr
    assert "there is no run 'night'" in no_run.stderr


def test_a_failed_task_is_asked_again_without_its_run_being_named() -> None:
    here, tasks = _office(Outcome.TIMEOUT, Outcome.TIMEOUT, Outcome.OK)

    result = here.say(command, "retry", tasks[0].task_id, "--yes")

    assert result.exit_code == 0
    assert [here.world.tasks.records[each.task_id].state for each in tasks[:2]] == [State.PENDING, State.FAILED]
    assert "1 task of day will be asked again" in result.stdout


def test_tasks_of_two_runs_are_told_in_one_question_and_asked_again() -> None:
    here, tasks = _office(Outcome.TIMEOUT, interactive=True)
    other = run_of(GIVEN, "other", state=RunState.REPORTED)
    (failed,) = as_ended([replace(tasks[1], run_id="other", task_id="0123" * 8)], Outcome.EXPIRED)
    lay_out(here.world, other, [failed])

    result = here.say(command, "retry", tasks[0].task_id, failed.task_id, stdin="y\n")

    assert "Ask 1 task of day again (1 timeout), about $0.0080" in result.stderr
    assert "and 1 task of other again (1 expired), about $0.0080" in result.stderr
    assert here.world.tasks.records[failed.task_id].state is State.PENDING


def test_a_dry_run_reopens_nothing() -> None:
    here, tasks = _office(Outcome.TIMEOUT)

    result = here.say(command, "retry", tasks[0].task_id, "--dry-run")

    assert result.exit_code == 0
    assert result.stdout.startswith("would ask 1 task of day again (1 timeout), about $0.0080")
    assert here.world.tasks.records[tasks[0].task_id].state is State.FAILED


def test_an_answered_task_is_not_asked_again_and_that_is_said() -> None:
    here, tasks = _office(Outcome.OK)

    result = here.say(command, "retry", tasks[0].task_id, "--yes")

    assert result.exit_code == 1
    assert f"{tasks[0].task_id}: has an answer" in result.stderr


def test_where_nobody_can_be_asked_a_retry_needs_yes() -> None:
    here, tasks = _office(Outcome.TIMEOUT)

    assert here.say(command, "retry", tasks[0].task_id).exit_code == 2
    assert here.world.tasks.records[tasks[0].task_id].state is State.FAILED
