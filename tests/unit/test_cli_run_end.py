"""``brandvane run cancel | deadline``: is it said what that means before it is done?"""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.cli.run_commands import run
from brandvane.run import RunState
from brandvane.task import Outcome, State
from builders import NOW, catalogue, platform, run_of
from operator_desk import Office, laid_out, office

GIVEN = catalogue(
    questions=10,
    platforms=(platform("openai", price_output=10.0), platform("hunyuan", price_output=1.0)),
    time_zone="Europe/Berlin",
)


def _office(*ended: Outcome | State, interactive: bool = False, **fields: Any) -> Office:
    here = office(GIVEN, interactive=interactive)
    laid_out(here, run_of(GIVEN, "day", **fields), GIVEN, *ended)
    return here


def test_cancelling_says_how_many_tasks_and_what_they_would_cost_and_asks() -> None:
    here = _office(Outcome.OK, Outcome.OK, Outcome.TIMEOUT, State.RUNNING, interactive=True)

    result = here.say(run, "cancel", "day", stdin="n\n")

    # 7 × 800 × 10 / 1e6 + 10 × 800 × 1 / 1e6 dollars
    assert "Cancel day? 17 tasks of 20 have not ended; their calls would cost about $0.0640 (estimate" in result.stderr
    assert result.exit_code == 1
    assert here.world.runs.runs["day"].state is RunState.OPEN


def test_a_yes_cancels() -> None:
    here = _office(interactive=True)

    result = here.say(run, "cancel", "day", stdin="y\n")

    assert result.exit_code == 0
    assert "run day is cancelled: 20 tasks not asked, about $0.0880 not spent" in result.stdout
    assert here.world.runs.runs["day"].state is RunState.CANCELLED


def test_where_nobody_can_be_asked_cancelling_needs_yes() -> None:
    here = _office()

    refused = here.say(run, "cancel", "day")
    done = here.json(run, "cancel", "day", "--yes")

    assert refused.exit_code == 2
    assert (done["state"], done["already_cancelled"], done["tasks_left"]) == ("CANCELLED", False, 20)
    assert done["estimate"]["usd"] == 0.088


def test_a_dry_run_tells_what_would_be_cancelled_and_cancels_nothing() -> None:
    here = _office()

    result = here.say(run, "cancel", "day", "--dry-run")
    told = here.json(run, "cancel", "day", "--dry-run")

    assert result.exit_code == 0
    assert result.stdout.startswith(
        "would cancel day: 20 tasks of 20 have not ended; their calls would cost about $0.0880"
    )
    assert (told["dry_run"], told["state"], told["tasks_left"]) == (True, "OPEN", 20)
    assert here.world.runs.runs["day"].state is RunState.OPEN


def test_a_dry_run_of_a_run_that_has_ended_says_so() -> None:
    result = _office(state=RunState.REPORTED).say(run, "cancel", "day", "--dry-run")

    assert result.exit_code == 1
    assert "run day is REPORTED: there is nothing to cancel" in result.stderr


def test_a_run_that_is_cancelled_already_is_said_to_be() -> None:
    here = _office(state=RunState.CANCELLED, cancelled_at=NOW - 60)

    result = here.say(run, "cancel", "day")

    assert result.exit_code == 0
    assert "has been cancelled before" in result.stdout


def test_a_finished_run_cannot_be_cancelled() -> None:
    result = _office(state=RunState.REPORTED).say(run, "cancel", "day", "--yes")

    assert result.exit_code == 1
    assert "run day is REPORTED: all its tasks have ended" in result.stderr


@pytest.mark.parametrize("words", [("cancel", "night", "--yes"), ("deadline", "night", "+1h")])
def test_a_run_that_does_not_exist_is_wrong_input(words: tuple[str, ...]) -> None:
    result = _office().say(run, *words)

    assert result.exit_code == 2
    assert "there is no run 'night'" in result.stderr


@pytest.mark.parametrize(
    ("when", "at"),
    [("12:00", "2025-10-09T10:00:00Z"), ("+3h", "2025-10-09T11:53:20Z"), ("2025-10-10T06:00Z", "2025-10-10T06:00:00Z")],
)
def test_a_deadline_may_be_a_time_of_the_monitors_zone_an_iso_time_or_one_from_now(when: str, at: str) -> None:
    here = _office()

    assert here.json(run, "deadline", "day", when)["deadline"] == at


def test_a_moved_deadline_is_told_with_the_one_before() -> None:
    result = _office().say(run, "deadline", "day", "12:00")

    assert result.stdout == (
        "run day: deadline 2025-10-09 12:00 Europe/Berlin (in 1 h 07 min), was 2025-10-09 12:53:20 Europe/Berlin\n"
    )


def test_a_deadline_before_the_last_planned_task_says_so() -> None:
    result = _office(spacing={"openai": 100.0, "hunyuan": 1.0}).say(run, "deadline", "day", "+10m")

    assert "its last task is planned for 2025-10-09 11:08:20 Europe/Berlin" in result.stdout


def test_a_deadline_moved_after_it_had_passed_says_how_to_ask_expired_tasks_again() -> None:
    result = _office(deadline=NOW - 60, swept=True).say(run, "deadline", "day", "+1h")

    assert "brandvane run retry-failed day --outcome expired" in result.stdout


@pytest.mark.parametrize(
    ("when", "says"), [("soon", "WHEN: 'soon' is no time"), ("2025-10-09T08:00Z", "WHEN: '2025-10-09T08:00Z' is past")]
)
def test_a_deadline_that_is_none_or_past_is_wrong_input(when: str, says: str) -> None:
    here = _office()

    result = here.say(run, "deadline", "day", when)

    assert result.exit_code == 2
    assert says in result.stderr
    assert here.world.runs.runs["day"].deadline == NOW + 7200


def test_the_deadline_of_a_finished_run_stays() -> None:
    result = _office(state=RunState.REPORTED).say(run, "deadline", "day", "+1h")

    assert result.exit_code == 1
    assert "its deadline decides nothing any more" in result.stderr
