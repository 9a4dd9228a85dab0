"""``brandvane run status | watch | list``: is a run's standing told as it is?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from brandvane.cli.run_commands import run
from brandvane.control import Control, Pause
from brandvane.run import Run, RunState
from brandvane.task import Outcome, State
from builders import NOW, catalogue, platform, run_of
from operator_desk import Office, laid_out, office

GIVEN = catalogue(questions=10, platforms=(platform("openai"), platform("hunyuan")), time_zone="Europe/Berlin")
ENDED = (Outcome.OK, Outcome.OK, Outcome.TIMEOUT, Outcome.EXPIRED, State.RUNNING)


def _office(*ended: Outcome | State, auto: bool = False, **fields: Any) -> Office:
    here = office(GIVEN, auto=auto)
    laid_out(here, run_of(GIVEN, "day", **fields), GIVEN, *ended)
    return here


def test_status_of_an_open_run_says_what_ended_how_and_what_is_left() -> None:
    lines = _office(*ENDED).say(run, "status", "day").stdout.splitlines()

    assert lines[0] == "run day: OPEN, catalogue v1"
    assert lines[1] == "20 planned, 4 results: 2 done, 2 failed"
    assert lines[2].split() == ["platform", "planned", "done", "failed", "pending", "running", "through"]
    assert lines[3].split()[:6] == ["openai", "10", "2", "2", "5", "1"]
    assert lines[4].split()[:6] == ["hunyuan", "10", "0", "0", "10", "0"]
    assert lines[5] == "  openai failed: 1 timeout, 1 expired"
    assert lines[6] == "planned from 2025-10-09 10:53:20 Europe/Berlin to 2025-10-09 10:53:29 Europe/Berlin"
    assert lines[7] == "deadline 2025-10-09 12:53:20 Europe/Berlin (in 2 h 00 min)"
    # hunyuan: 10 tasks at 10 slots ÷ 40 s, and 40 s for the last
    assert lines[8] == "projected: through 2025-10-09 10:54:40 Europe/Berlin, 1 h 59 min before the deadline"


def test_status_as_json_counts_every_task_once() -> None:
    told = _office(*ENDED).json(run, "status", "day")

    openai = told["platforms"]["openai"]
    assert (told["planned"], told["results"], told["done"], told["failed"]) == (20, 4, 2, 2)
    assert told["unfinished"] == {"PENDING": 15, "RUNNING": 1}
    assert openai["failed"] == {"timeout": 1, "expired": 1}
    assert openai["planned"] == openai["results"] + sum(openai["unfinished"].values())
    assert (openai["first_planned"], openai["last_planned"]) == ("2025-10-09T08:53:20Z", "2025-10-09T08:53:29Z")
    assert (told["projected_finish"], told["late_by_s"], told["report"]) == ("2025-10-09T08:54:40Z", 0.0, None)


def test_status_without_a_name_is_the_latest_run() -> None:
    here = _office()
    laid_out(here, run_of(GIVEN, "newer", created_at=NOW - 5), GIVEN)

    assert here.json(run, "status")["run_id"] == "newer"


def test_a_paused_platform_is_what_its_tasks_wait_for() -> None:
    here = _office(*ENDED)
    here.world.control.items["openai"] = Control("openai", 1, Pause("auth_error", "worker", NOW - 60))

    shown, told = here.say(run, "status", "day").stdout, here.json(run, "status", "day")

    assert (
        "waits: 6 tasks of openai: paused by worker (auth_error) since 2025-10-09 10:52:20 Europe/Berlin,"
        " until 'brandvane platform resume openai'" in shown
    )
    assert "projected: some tasks wait for a person" in shown
    assert (told["projected_finish"], told["late_by_s"]) == ("never", None)
    assert told["platforms"]["openai"]["waits"] == [
        {
            "target": None,
            "tasks": 6,
            "why": "auth_error",
            "who": "worker",
            "since": "2025-10-09T08:52:20Z",
            "until": None,
        }
    ]


def test_a_spent_day_budget_is_what_tasks_wait_for() -> None:
    given = catalogue(questions=10, platforms=(platform("openai", day_calls=4),))
    here = office(given)
    laid_out(here, run_of(given, "day"), given)

    shown = here.say(run, "status", "day").stdout

    assert "waits: 6 tasks of openai: the day's budget is used up, until 2025-10-10 00:00 UTC" in shown


def test_a_projection_after_the_deadline_says_by_how_much() -> None:
    shown = _office(deadline=NOW + 20).say(run, "status", "day").stdout

    assert "60 s after the deadline" in shown


def test_a_run_past_its_deadline_is_being_ended() -> None:
    shown = _office(deadline=NOW - 120).say(run, "status", "day").stdout

    assert "(2 min ago: what is left ends as expired)" in shown
    assert "projected" not in shown


def test_a_plan_under_way_says_how_far_it_is() -> None:
    here = _office(plan_complete=False, chunks=5, chunks_done=frozenset({0, 1}))

    assert "still being planned: 2 of 5 chunks written" in here.say(run, "status", "day").stdout


def test_a_reported_run_says_where_its_report_is() -> None:
    here = _office(
        *([Outcome.OK] * 20),
        state=RunState.REPORTED,
        report_prefix="reports/day/pass-1/",
        finished_at=NOW - 60,
        pass_no=2,
    )

    shown, told = here.say(run, "status", "day").stdout.splitlines(), here.json(run, "status", "day")

    assert shown[0] == "run day: REPORTED, pass 2, catalogue v1"
    assert shown[-1] == "report: s3://data/reports/day/pass-1/report.html (brandvane run report day)"
    assert shown[3].split() == ["openai", "10", "10", "0", "yes"]
    assert told["report"] == "s3://data/reports/day/pass-1/report.html"


def test_a_cancelled_run_says_whether_all_has_ended() -> None:
    for swept, says in ((False, "what is left is being ended"), (True, "all its tasks have ended")):
        here = _office(state=RunState.CANCELLED, cancelled_at=NOW - 60, swept=swept)

        assert says in here.say(run, "status", "day").stdout


def test_a_run_that_does_not_exist_is_wrong_input() -> None:
    result = _office().say(run, "status", "night")

    assert result.exit_code == 2
    assert result.stderr == "brandvane: there is no run 'night': 'brandvane run list' shows those there are\n"


def test_status_before_the_first_run_says_how_to_start_one() -> None:
    result = office(GIVEN).say(run, "status")

    assert result.exit_code == 1
    assert "brandvane run start" in result.stderr


def test_runs_are_listed_newest_first() -> None:
    here = _office()
    laid_out(here, run_of(GIVEN, "newer", created_at=NOW - 5, state=RunState.REPORTED, report_prefix="r/"), GIVEN)

    shown, told = here.say(run, "list").stdout.splitlines(), here.json(run, "list")

    assert [line.split()[0] for line in shown] == ["run", "newer", "day"]
    assert shown[1].split()[1:3] == ["REPORTED", "20"]
    assert [(each["run_id"], each["state"]) for each in told] == [("newer", "REPORTED"), ("day", "OPEN")]


def test_an_empty_list_says_so() -> None:
    here = office(GIVEN)

    assert here.say(run, "list").stdout == "there is no run yet\n"
    assert here.json(run, "list") == []


class _Moving:
    """A runs table whose runs change by themselves, as time goes by."""

    def __init__(self, here: Office, changes: Mapping[float, Callable[[Run], Any]]) -> None:
        self._here = here
        self._runs = here.world.runs
        self._changes = dict(changes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    async def get(self, run_id: str) -> Run | None:
        now = self._here.world.clock.now()
        for at in sorted(at for at in self._changes if at <= now):
            put = self._changes.pop(at)(self._runs.runs[run_id])
            await self._runs.change(run_id, {}, put)
        return await self._runs.get(run_id)


def test_watch_in_a_pipe_prints_a_line_a_change_and_ends_with_the_report() -> None:
    here = _office(*ENDED[:4], *[Outcome.OK] * 16, auto=True)
    here.world.runs = _Moving(  # type: ignore[assignment]
        here,
        {
            NOW + 5: lambda _: {"state": RunState.SCORING},
            NOW + 60: lambda _: {"state": RunState.REPORTED, "report_prefix": "reports/day/pass-1/"},
        },
    )

    result = here.say(run, "watch", "day")

    assert result.exit_code == 0
    figures = "20/20 results, 18 done, 2 failed"
    assert result.stdout.splitlines() == [
        f"day OPEN: {figures}",
        f"day SCORING: {figures}",
        f"day REPORTED: {figures}",
        "report: s3://data/reports/day/pass-1/report.html (brandvane run report day)",
    ]


def test_watch_as_json_is_a_document_a_line() -> None:
    here = _office(*ENDED[:4], *[Outcome.OK] * 16, auto=True)
    here.world.runs = _Moving(  # type: ignore[assignment]
        here, {NOW + 5: lambda _: {"state": RunState.REPORTED, "report_prefix": "reports/day/pass-1/"}}
    )

    told = [json.loads(line) for line in here.say(run, "watch", "day", "--json").stdout.splitlines()]

    assert [(each["state"], each["results"]) for each in told] == [("OPEN", 20), ("REPORTED", 20)]


def test_watch_of_a_cancelled_run_ends_when_its_tasks_have_ended_and_says_1() -> None:
    here = _office(auto=True, state=RunState.CANCELLED, cancelled_at=NOW - 60)
    here.world.runs = _Moving(here, {NOW + 30: lambda _: {"swept": True}})  # type: ignore[assignment]

    result = here.say(run, "watch", "day")

    assert result.exit_code == 1
    assert result.stderr == "brandvane: run day was cancelled\n"
    assert result.stdout.splitlines()[0] == "day CANCELLED: 0/20 results, 0 done, 0 failed, pending 20"


def test_watch_reads_the_rows_less_often_than_it_looks() -> None:
    here = _office(*[Outcome.OK] * 20, auto=True)
    here.world.runs = _Moving(  # type: ignore[assignment]
        here, {NOW + 11: lambda _: {"state": RunState.REPORTED, "report_prefix": "r/"}}
    )
    reads = 0
    read = here.world.results.bucket

    def counted(run_id: str, bucket: int) -> Any:
        nonlocal reads
        reads += bucket == 0
        return read(run_id, bucket)

    here.world.results.bucket = counted  # type: ignore[method-assign]
    day = here.world.runs.runs["day"]
    here.world.runs.runs["day"] = replace(day, planned={"openai": 500, "hunyuan": 500})

    assert here.say(run, "watch", "day").exit_code == 0
    # 1,000 planned: every 10 s (NOW, NOW + 10), and once more at the end (NOW + 12).
    assert reads == 3


@pytest.mark.parametrize("command", ["status", "list"])
def test_what_a_script_gets_is_one_json_document(command: str) -> None:
    json.loads(_office(*ENDED).say(run, command, "--json").stdout)
