"""``brandvane status | watch``: is the stack told as it is, and what cannot be read named?"""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from rich.live import Live

from brandvane.aws.client import Refused
from brandvane.cli.alarm_reader import Alarm, CloudWatchAlarms
from brandvane.cli.lookup import KnownPlatform
from brandvane.cli.overview import Recent
from brandvane.cli.overview_reading import recent_of
from brandvane.cli.overview_spending import Spending
from brandvane.cli.platform_view import PlatformFacts
from brandvane.cli.status_command import _screen, status, watch, watched
from brandvane.control import Control, Pause
from brandvane.messages import calls_queue
from brandvane.ports import Envelope, Unavailable
from brandvane.run import RunState
from brandvane.schedule import Day
from brandvane.simulation.memory_stores import MemoryStatStore
from brandvane.stat import Stat
from brandvane.task import Outcome, State
from builders import NOW, catalogue, platform, run_of
from operator_desk import Office, laid_out, office
from unit.aws_fakes import FakeClient, clients_with

GIVEN = catalogue(questions=10, platforms=(platform("openai"), platform("hunyuan")), time_zone="Asia/Shanghai")
ENDED = (Outcome.OK, Outcome.OK, Outcome.TIMEOUT, State.RUNNING)
MINUTE = int(NOW // 60)


def _office(*ended: Outcome | State, auto: bool = False, **fields: Any) -> Office:
    here = office(GIVEN, auto=auto)
    laid_out(here, run_of(GIVEN, "day", **fields), GIVEN, *ended)
    return here


def _lines(here: Office) -> list[str]:
    result = here.say(status)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_a_run_shows_its_results_and_when_it_will_be_through() -> None:
    lines = _lines(_office(*ENDED))

    # 17 are left; hunyuan has 10 in hand of 17: 10 tasks at 10 slots ÷ 40 s and 40 s for the last is 80 s from 16:53:20.
    assert lines[lines.index("runs") + 2].split() == [
        "day",
        "OPEN",
        "3/20",
        "15.0%",
        "16:54",
        "18:53",
        "1",
        "h",
        "59",
        "min",
    ]


def test_states_of_a_platform_are_counted_through_the_index() -> None:
    told = _office(*ENDED).json(status)["platforms"]

    assert [each["platform"] for each in told] == ["openai", "hunyuan"]
    assert told[0]["states"] == {"PENDING": 6, "DISPATCHED": 0, "PULLED": 0, "RUNNING": 1, "WRITEBACK": 0}
    assert told[1]["states"]["PENDING"] == 10
    assert told[0]["counts_are_at_least"] is False


def test_the_last_minutes_follow_from_what_workers_reported() -> None:
    stats = [
        Stat(platform="openai", minute=MINUTE, invocation="a", calls=4, answered=4, latencies=(1.0, 2.0, 3.0, 4.0)),
        Stat(
            platform="openai",
            minute=MINUTE - 1,
            invocation="b",
            calls=12,
            answered=9,
            failed=1,
            retried=2,
            latencies=(9.0,),
        ),
        Stat(platform="openai", minute=MINUTE - 5, invocation="c", calls=4, answered=3, failed=1),
        Stat(platform="openai", minute=MINUTE - 6, invocation="d", calls=100, answered=0),
    ]

    # 12 calls in the last two whole minutes; of 20 calls 16 were answered, 2 failed, 2 are tried again; of 5 latencies 3rd and 5th.
    assert recent_of(stats, NOW) == Recent(calls=20, answered=16, failed=2, retried=2, rate=0.1, p50=3.0, p95=9.0)
    assert (Recent(calls=20, answered=16, failed=4).success, Recent().success) == (0.8, None)


def test_a_platform_without_calls_shows_no_shares() -> None:
    told = _office().json(status)["platforms"][0]

    assert told["last_5_min"] == {
        "calls": 0,
        "success": None,
        "retries": None,
        "failures": {},
        "latency_p50_s": None,
        "latency_p95_s": None,
    }
    assert told["calls_a_second_allowed"] == 10.0


def test_a_pause_is_told_with_its_reason_and_the_run_will_not_be_through_by_itself() -> None:
    here = _office(*ENDED[:3])
    here.world.control.items["openai"] = Control("openai", 1, Pause("auth_error", "worker", NOW - 60))

    lines = _lines(here)

    assert (
        "  openai: paused by worker (auth_error) since 2025-10-09 16:52:20 Asia/Shanghai, until somebody resumes it"
        in lines
    )
    assert lines[1] == "1 run will miss the deadline"
    assert lines[lines.index("runs") + 2].split()[4:] == ["never", "18:53", "waits"]
    told = here.json(status)
    assert (told["runs"][0]["projected_finish"], told["runs"][0]["late_by_s"]) == ("never", None)


def test_a_lowered_rate_is_the_limit_that_is_shown() -> None:
    here = _office()
    here.world.control.items["openai"] = Control("openai", 1, factor=0.5)

    lines = _lines(here)

    assert next(line for line in lines if line.startswith("  openai")).split()[1] == "0.0/5"
    assert "  openai: lowered to 50% of its rate after refusals" in lines


def test_dead_letters_come_with_the_command_that_shows_them() -> None:
    here = _office()
    send = here.world.queue.send(f"{calls_queue('openai')}-dead", [Envelope("m", "lost")])
    asyncio.run(send)

    row = next(line for line in _lines(here) if line.startswith("  calls-openai"))

    assert row.split() == ["calls-openai", "0", "1", "brandvane", "dead-letters", "redrive", "calls-openai"]
    assert here.json(status)["queues"]["calls-openai"] == {"messages": 0, "dead": 1}


def test_what_the_scanner_has_not_seen_to_is_stuck() -> None:
    here = _office(State.RUNNING, State.RUNNING)
    tasks = here.world.tasks
    for task in [each for each in tasks.records.values() if each.state is State.RUNNING]:
        tasks.store_at_once(replace(task, act_at=NOW - 300))

    told = here.json(status)["stuck"]

    assert [(each["platform"], each["state"], each["tasks"], each["oldest_s"]) for each in told] == [
        ("openai", "RUNNING", 2, 300.0)
    ]
    assert told[0]["brand"] in ("Acme", "Zeta")
    assert _lines(here)[1] == "2 tasks stuck"


def test_alarms_that_ring_stand_at_the_top() -> None:
    here = _office()
    here.alarms.alarms = [
        Alarm("test-dead-letters", "ALARM", NOW - 600, "", "P0: dead letters\x1b[31m"),
        Alarm("test-backlog", "OK", NOW - 6000),
    ]

    lines = _lines(here)

    assert lines[1:4] == [
        "1 alarm in ALARM",
        "alarms: 1 of 2 in ALARM",
        "  test-dead-letters since 16:43: P0: dead letters\\x1b[31m",
    ]
    assert here.json(status)["alarms"]["ringing"][0]["since"] == "2025-10-09T08:43:20Z"


def test_a_part_that_cannot_be_read_is_named_and_the_others_are_told() -> None:
    here = _office(*ENDED[:3])
    here.alarms.refusal = Refused("AccessDenied", "not you", {})

    lines, told = _lines(here), here.json(status)

    assert lines[1] == "1 part could not be read"
    assert lines[2] == "  alarms: cannot be read: these credentials may not do this (a call): not you"
    assert "runs" in lines
    assert told["alarms"] is None
    assert [each["part"] for each in told["unread"]] == ["alarms"]


def test_nothing_that_can_be_read_at_all_is_an_error() -> None:
    here = office(GIVEN)
    here.alarms.refusal = Unavailable("CloudWatch")

    async def refuse(*_: Any, **__: Any) -> Any:
        raise Unavailable("all of it")

    for port in (here.world.catalogues, here.world.deployment, here.world.runs, here.world.queue):
        for name in ("current", "platforms", "unfinished", "depth"):
            if hasattr(port, name):
                setattr(port, name, refuse)

    result = here.say(status)

    assert result.exit_code == 1
    assert result.stderr == "brandvane: a service did not do its part: all of it. Try again\n"


def test_a_stack_before_its_first_catalogue_is_told_as_it_is() -> None:
    lines = _lines(office())

    assert lines[1:] == [
        "nothing rings, nothing is stuck",
        "alarms: the stack has none",
        "runs: there is none yet",
        "platforms: none is deployed, and no catalogue has been pushed",
        "queues: empty, no dead letters",
        "today: 0 calls, $0.00 spent",
    ]


def test_money_of_a_platform_with_a_budget_is_what_its_control_item_has_booked() -> None:
    given = catalogue(platforms=(platform("openai", day_budget_usd=5.0), platform("hunyuan")), day_budget_usd=20.0)
    here = office(given)
    here.world.control.items["openai"] = Control("openai", 1, day="2025-10-09", day_calls=7, day_microusd=1_250_000)
    asyncio.run(_stat(here, calls=7, answered=7, cost_microusd=1_100_000))  # one more is booked and not yet reported

    assert _lines(here)[-1] == "today: 7 calls, $1.25 of $20.00 spent"


def test_money_of_platforms_without_a_budget_is_what_their_workers_reported_today() -> None:
    here = office(GIVEN)
    # It is 16:53:20 in Shanghai.
    begin = NOW - 16 * 3600 - 53 * 60 - 20
    for minute, cost in ((begin // 60 - 1, 5_000_000), (begin // 60, 400_000), (MINUTE - 6, 30_000), (MINUTE, 2_000)):
        stat = Stat(platform="openai", minute=int(minute), invocation="i", cost_microusd=cost)
        asyncio.run(here.world.stats.put(stat))
    asyncio.run(
        here.world.stats.put(Stat(platform="hunyuan", minute=MINUTE - 5, invocation="i", cost_microusd=1_000_000))
    )

    lines, told = _lines(here), here.json(status)

    # 0.40 + 0.03 + 0.002 and 1.00; what the day before cost is not in it.
    assert lines[-1] == "today: 0 calls, $1.43 spent"
    assert told["today"] == {"calls": 0, "usd": 1.432, "budget_usd": None}
    assert [each["day_usd"] for each in told["platforms"]] == [0.432, 1.0]
    assert next(line for line in lines if line.startswith("  openai")).split()[-2:] == ["$0.4320", "asked"]


async def test_who_looks_again_reads_only_the_newest_minutes_and_comes_to_the_same_sum() -> None:
    stats, spending = MemoryStatStore(), Spending()
    facts = PlatformFacts(KnownPlatform("openai", platform("openai"), None), Control("openai", 1), "d", "UTC", NOW)
    day = Day("d", (MINUTE - 100) * 60.0, (MINUTE + 1340) * 60.0)
    asked: list[tuple[float, float]] = []

    async def looked(minute: int) -> float:
        newest = await stats.since("openai", (minute - 6) * 60, minute * 60)
        return await spending.usd(facts, day, _Asked(stats, asked), newest, minute - 5)

    for minute in (MINUTE - 100, MINUTE - 6, MINUTE - 5, MINUTE):
        await stats.put(Stat(platform="openai", minute=minute, invocation="i", cost_microusd=1_000_000))
    sums = [await looked(MINUTE), await looked(MINUTE), await looked(MINUTE + 1)]

    assert sums == [4.0, 4.0, 4.0]
    assert asked == [((MINUTE - 100) * 60, (MINUTE - 6) * 60), ((MINUTE - 5) * 60, (MINUTE - 5) * 60)]


async def test_a_new_day_begins_at_nothing() -> None:
    stats, spending = MemoryStatStore(), Spending()
    facts = PlatformFacts(KnownPlatform("openai", platform("openai"), None), Control("openai", 1), "d", "UTC", NOW)
    await stats.put(Stat(platform="openai", minute=MINUTE - 10, invocation="i", cost_microusd=1_000_000))
    yesterday, today = Day("a", NOW - 86_400, NOW - 120), Day("b", NOW - 120, NOW + 86_280)

    assert await spending.usd(facts, yesterday, stats, (), MINUTE - 5) == 1.0
    assert await spending.usd(facts, today, stats, (), MINUTE - 5) == 0.0


class _Asked:
    """Stats that note what they are asked for."""

    def __init__(self, stats: MemoryStatStore, asked: list[tuple[float, float]]) -> None:
        self._stats, self._asked = stats, asked

    async def put(self, stat: Stat) -> None:
        await self._stats.put(stat)

    async def since(self, platform: str, start: float, end: float) -> list[Stat]:
        self._asked.append((start, end))
        return await self._stats.since(platform, start, end)


class _Later:
    """A runs table whose run is reported when the clock says so."""

    def __init__(self, here: Office, at: float, put: dict[str, Any]) -> None:
        self._here, self._runs, self._at, self._put = here, here.world.runs, at, put

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    async def unfinished(self) -> Any:
        if self._put and self._here.world.clock.now() >= self._at:
            put, self._put = self._put, {}
            await self._runs.change("day", {}, put)
        return await self._runs.unfinished()


def test_watch_in_a_pipe_prints_a_line_a_change_and_ends_when_all_is_done() -> None:
    here = _office(*[Outcome.OK] * 20, auto=True)
    here.world.runs = _Later(here, NOW + 60, {"state": RunState.REPORTED})  # type: ignore[assignment]

    result = here.say(watch, "--until-done", "--interval", "10")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "2025-10-09 16:53:20 Asia/Shanghai day OPEN 20/20",
        "2025-10-09 16:54:20 Asia/Shanghai day REPORTED 20/20",
    ]


def test_watch_on_a_terminal_renews_the_screen() -> None:
    here = _office(*[Outcome.OK] * 20, auto=True)
    here.world.runs = _Later(here, NOW + 5, {"state": RunState.REPORTED})  # type: ignore[assignment]
    terminal = io.StringIO()
    desk = here.desk()

    with Live(console=Console(file=terminal, force_terminal=True, width=80), auto_refresh=False) as live:
        cancelled = desk.run(watched(desk, _screen(live, 5.0), 5.0, until_done=True))
    desk.close()

    assert cancelled == frozenset()
    shown = terminal.getvalue()
    assert ("day  OPEN" in shown, "day  REPORTED" in shown) == (True, True)
    assert shown.count("renewed every 5 s, Ctrl-C ends it") >= 2


def test_watch_of_a_run_that_is_cancelled_says_1() -> None:
    here = _office(auto=True)
    here.world.runs = _Later(here, NOW + 5, {"state": RunState.CANCELLED, "swept": True})  # type: ignore[assignment]

    result = here.say(watch, "--until-done")

    assert (result.exit_code, result.stderr) == (1, "brandvane: run day was cancelled\n")


def test_watch_as_json_is_a_document_a_look() -> None:
    here = _office(*[Outcome.OK] * 20, auto=True, state=RunState.REPORTED)

    looks = here.say(watch, "--until-done", "--json").stdout.splitlines()

    assert [json.loads(look)["runs"][0]["state"] for look in looks] == ["REPORTED"]


@pytest.mark.parametrize("interval", ["0", "0.5", "4000"])
def test_an_interval_out_of_range_is_wrong_usage(interval: str) -> None:
    assert _office().say(watch, "--interval", interval).exit_code == 2


def _row(name: str, state: str = "OK", **dimensions: str) -> dict[str, Any]:
    watched = [{"Name": each, "Value": value} for each, value in dimensions.items()]
    return {"AlarmName": name, "StateValue": state, **({"Dimensions": watched} if watched else {})}


async def _alarms_of(stack: str, *pages: dict[str, Any]) -> tuple[list[Alarm], FakeClient]:
    client = FakeClient(describe_alarms=[*pages])
    return await CloudWatchAlarms(clients=clients_with(cloudwatch=client), stack=stack).all(), client


async def test_alarms_are_read_page_by_page() -> None:
    metric = {"MetricAlarms": [_row("shop-openai-a", Stack="shop", Platform="openai")], "NextToken": "2"}
    composite = {"CompositeAlarms": [{**_row("shop-openai-platform-outage", "ALARM"), "StateReason": "two ring"}]}

    found, client = await _alarms_of("shop", metric, composite)

    assert found == [
        Alarm("shop-openai-a", "OK", 0.0),
        Alarm("shop-openai-platform-outage", "ALARM", 0.0, "two ring"),
    ]
    assert [sent.get("NextToken") for sent in client.sent("describe_alarms")] == [None, "2"]


async def test_alarms_of_a_stack_with_a_longer_name_are_left_out() -> None:
    page = {
        "MetricAlarms": [
            _row("shop-openai-a", Stack="shop", Platform="openai"),
            _row("shop-prod-openai-a", "ALARM", Stack="shop-prod", Platform="openai"),
        ],
        "CompositeAlarms": [
            _row("shop-openai-platform-outage"),
            _row("shop-prod-openai-platform-outage", "ALARM"),
            _row("shop-prod-platform-outage", "ALARM"),
        ],
    }

    found, _ = await _alarms_of("shop", page)

    assert [alarm.name for alarm in found] == ["shop-openai-a", "shop-openai-platform-outage"]


async def test_a_persons_own_alarm_that_only_begins_with_the_stacks_name_is_not_the_stacks() -> None:
    found, _ = await _alarms_of("shop", {"MetricAlarms": [_row("shop-website", "ALARM", FunctionName="website")]})

    assert found == []


async def _stat(here: Office, **fields: Any) -> None:
    await here.world.stats.put(Stat(platform="openai", minute=MINUTE - 1, invocation="i", **fields))


def test_calls_that_all_fail_are_said_first_beside_the_run_and_by_their_commonest_kind() -> None:
    here = _office(*ENDED)
    asyncio.run(_stat(here, calls=9, retried=9, kinds={"timeout": 8, "server_error": 1}))
    lines = _lines(here)
    assert lines[1].split(", ")[-1] == "no call is answered by openai"
    assert "OPEN, calls fail" in lines[lines.index("runs") + 2]
    assert (
        "  openai: not one of 9 calls of the last 5 minutes was answered, most often: timeout (no connection, or no answer"
        " in time); 'brandvane logs --platform openai --level warning'" in lines
    )


def test_one_answer_among_failures_is_no_outage() -> None:
    here = _office(*ENDED)
    asyncio.run(_stat(here, calls=9, answered=1, retried=8, kinds={"timeout": 8, "ok": 1}))
    assert "no call is answered by" not in _lines(here)[1]
