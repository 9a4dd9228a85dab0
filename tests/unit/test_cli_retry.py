"""``brandvane run retry-failed``, and ``retry``, its former name: is it said what will be asked again, and what cannot be?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from brandvane.cli.retry_command import retry
from brandvane.cli.run_commands import run
from brandvane.run import RunState
from brandvane.task import Outcome, State, Task
from builders import NOW, catalogue, platform, run_of
from operator_desk import Office, laid_out, office

GIVEN = catalogue(
    questions=4, platforms=(platform("openai", price_output=10.0), platform("hunyuan")), time_zone="Europe/Berlin"
)
ENDED = (Outcome.OK, Outcome.TIMEOUT, Outcome.EXPIRED, Outcome.EXPIRED)


def _office(*ended: Outcome | State, interactive: bool = False, **fields: Any) -> tuple[Office, list[Task]]:
    here = office(GIVEN, interactive=interactive)
    made = run_of(GIVEN, "day", **({"state": RunState.REPORTED} | fields))
    return here, laid_out(here, made, GIVEN, *(ended or (*ENDED, *[Outcome.OK] * 4)))


def _states(here: Office, tasks: list[Task]) -> list[State]:
    return [here.world.tasks.records[task.task_id].state for task in tasks]


def test_retry_says_how_many_and_what_cost_and_asks() -> None:
    here, tasks = _office(interactive=True)

    result = here.say(retry, "day", stdin="n\n")

    # three answers of 800 tokens at 10 dollars a million
    assert "Ask 3 tasks of day again (2 expired, 1 timeout), about $0.0240 (estimate" in result.stderr
    assert result.exit_code == 1
    assert _states(here, tasks[1:4]) == [State.FAILED] * 3


def test_a_dry_run_says_the_same_and_reopens_nothing() -> None:
    here, tasks = _office()

    result = here.say(run, "retry-failed", "day", "--dry-run")
    told = here.json(run, "retry-failed", "day", "--dry-run", "--outcome", "expired")

    assert result.exit_code == 0
    assert result.stdout.startswith("would ask 3 tasks of day again (2 expired, 1 timeout), about $0.0240 (estimate")
    assert (told["dry_run"], told["found"], told["reopened"], told["pass"]) == (True, 2, 0, 1)
    assert _states(here, tasks[1:4]) == [State.FAILED] * 3


def test_the_command_of_the_run_and_its_former_name_do_the_same() -> None:
    here, tasks = _office()

    told = here.json(run, "retry-failed", "day", "--outcome", "timeout", "--yes")

    assert told["tasks"] == {tasks[1].task_id: "reopened"}
    assert retry.hidden
    assert [each.opts for each in retry.params] == [each.opts for each in run.commands["retry-failed"].params]


def test_a_yes_reopens_every_failed_task() -> None:
    here, tasks = _office(interactive=True)

    result = here.say(retry, "day", stdin="y\n")

    assert result.exit_code == 0
    assert _states(here, tasks) == [State.DONE, *[State.PENDING] * 3, *[State.DONE] * 4]
    assert "3 tasks of day will be asked again, deadline 2025-10-09 12:53:20 Europe/Berlin" in result.stdout
    assert here.world.runs.runs["day"].pass_no == 4  # one a task


def test_where_nobody_can_be_asked_it_needs_yes() -> None:
    here, tasks = _office()

    assert here.say(retry, "day").exit_code == 2
    assert _states(here, tasks[1:4]) == [State.FAILED] * 3


def test_filters_choose_by_outcome_platform_and_task() -> None:
    here, tasks = _office()

    told = here.json(retry, "day", "--yes", "--outcome", "expired", "--task", tasks[2].task_id, "--platform", "openai")

    assert (told["found"], told["reopened"]) == (1, 1)
    assert told["tasks"] == {tasks[2].task_id: "reopened"}


def test_a_deadline_is_taken_in_the_monitors_time_zone() -> None:
    here, _ = _office()

    assert here.json(retry, "day", "--yes", "--deadline", "14:00")["deadline"] == "2025-10-09T12:00:00Z"


def test_a_task_whose_record_is_gone_is_named_and_the_others_are_asked() -> None:
    here, tasks = _office()
    del here.world.tasks.records[tasks[1].task_id]

    result = here.say(retry, "day", "--yes")

    assert result.exit_code == 0
    assert f"{tasks[1].task_id}: its record is gone (finished records are kept for some days only)" in result.stderr
    assert _states(here, tasks[2:4]) == [State.PENDING] * 2


def test_a_task_that_was_named_and_cannot_be_asked_again_ends_with_1() -> None:
    here, tasks = _office()
    del here.world.tasks.records[tasks[1].task_id]

    gone = here.say(retry, "day", "--yes", "--task", tasks[1].task_id)
    answered = here.say(retry, "day", "--yes", "--task", tasks[0].task_id, "--task", tasks[2].task_id)

    assert (gone.exit_code, answered.exit_code) == (1, 1)
    assert "its record is gone" in gone.stderr
    assert f"{tasks[0].task_id}: has an answer" in answered.stderr
    assert _states(here, [tasks[2]]) == [State.PENDING]


def test_a_second_retry_finds_nothing_to_do_and_says_so() -> None:
    here, _ = _office()
    here.say(retry, "day", "--yes")

    again = here.say(retry, "day", "--yes")

    assert again.exit_code == 0
    assert "is not finished, or is being asked again already" in again.stderr
    assert "run day has no failed task that can be asked again" in again.stdout


def test_many_that_cannot_be_asked_again_are_counted_not_listed() -> None:
    given = catalogue(questions=30)
    here = office(given)
    tasks = laid_out(here, run_of(given, "day", state=RunState.REPORTED), given, *[Outcome.EXPIRED] * 30)
    for task in tasks:
        del here.world.tasks.records[task.task_id]

    result = here.say(retry, "day", "--yes")

    assert len(result.stderr.splitlines()) == 21
    assert result.stderr.splitlines()[-1].startswith("10 more tasks: its record is gone")


def test_json_names_what_was_left_out_and_why() -> None:
    here, tasks = _office()
    del here.world.tasks.records[tasks[1].task_id]

    told = json.loads(here.say(retry, "day", "--yes", "--json").stdout)

    assert told["left_out"] == {tasks[1].task_id: "gone"}
    assert (told["reopened"], told["state"], told["estimate"]["usd"]) == (2, "OPEN", 0.016)


def test_a_cancelled_run_that_is_still_being_ended_is_refused() -> None:
    here, _ = _office(*ENDED, *[State.PENDING] * 4, state=RunState.CANCELLED, cancelled_at=NOW - 5)

    result = here.say(retry, "day", "--yes")

    assert result.exit_code == 1
    assert "some of its tasks have not ended yet" in result.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("night",), "there is no run 'night'"),
        (("day", "--outcome", "ok"), "'ok' is not one of"),
        (("day", "--platform", "openia"), "run day asks no platform 'openia'; did you mean openai?"),
        (("day", "--deadline", "soon"), "--deadline: 'soon' is no time"),
        (("day", "--deadline", "2025-10-09T08:00Z"), "is past"),
    ],
)
def test_wrong_input_ends_with_2(words: tuple[str, ...], says: str) -> None:
    here, _ = _office()

    result = here.say(retry, *words, "--yes")

    assert result.exit_code == 2
    assert says in result.stderr
