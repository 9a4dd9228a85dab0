"""What is on the screens? A made-up night: one run late, a platform paused, letters dead, names in Chinese and in English."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from brandvane.alarms import ALARMS
from brandvane.catalogue import PlatformSettings
from brandvane.cli.alarm_reader import Alarm
from brandvane.cli.lookup import KnownPlatform
from brandvane.cli.overview import Overview, PlatformGlance, QueueDepth, Recent, RunGlance, Stuck
from brandvane.cli.platform_view import PlatformFacts
from brandvane.control import Control, Pause
from brandvane.engine.projection import Wait
from brandvane.ports import Deployed
from brandvane.run import Run, RunState
from brandvane.task import State

ZONE = "Asia/Shanghai"
DAY = "2026-11-29"


def at(clock: str) -> float:
    """The instant at which clocks in Shanghai show this on the day."""
    return datetime.fromisoformat(f"{DAY}T{clock}").replace(tzinfo=ZoneInfo(ZONE)).timestamp()


NOW = at("06:30:12")


def _run(run_id: str, planned: dict[str, int], deadline: str, **fields: object) -> Run:
    made = Run(
        run_id=run_id,
        schedule_id=run_id.partition("-")[0],
        catalogue_version="20261128T160000Z-1f2e3d4c",
        window_start=at("00:30"),
        window_end=at("07:30"),
        deadline=at(deadline),
        created_at=at("00:29"),
        seed=1,
        planned=planned,
        chunks=20,
        plan_complete=True,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def _platform(
    name: str, rate: float, slots: int, states: tuple[int, int, int, int, int], recent: Recent, **control: object
) -> PlatformGlance:
    settings = PlatformSettings(
        name=name, protocol="openai_chat", base_url="https://platform.example/v1", models=("m1",), rate=rate,
        in_flight=slots, day_budget_usd=40.0,
    )  # fmt: skip
    spent = Control(name, day=DAY, day_calls=8_412, day_microusd=12_340_000)
    facts = PlatformFacts(
        KnownPlatform(name, settings, Deployed(name, slots // 10 or 2, 10, 60)),
        replace(spent, **control),  # type: ignore[arg-type]
        DAY,
        ZONE,
        NOW,
    )
    order = (State.PENDING, State.DISPATCHED, State.PULLED, State.RUNNING, State.WRITEBACK)
    return PlatformGlance(facts, dict(zip(order, states, strict=True)), 12, max(states) >= 2_000, recent, facts.day_usd)


def _alarm(name: str, platform: str | None, state: str, since: str) -> Alarm:
    row = ALARMS[name]
    return Alarm(row.name("brandvane-prod", platform), state, at(since), "", row.description)


def busy() -> Overview:
    """Much is wrong."""
    core = _run("核心品牌-2026-11-29", {"openai": 4_000, "腾讯混元": 4_000}, "06:00", finished_at=at("05:41"))
    others = _run("others-2026-11-29", {"openai": 10_000, "腾讯混元": 10_000, "豆包": 10_000}, "08:00")
    paused = Pause("auth_error", "worker", at("06:12"))
    wait = Wait("豆包", None, "auth_error", "worker", at("06:12"), None, 3_211)
    return Overview(
        stack="brandvane-prod",
        at=NOW,
        time_zone=ZONE,
        runs=(
            RunGlance(replace(core, state=RunState.SCORING), 8_000),
            RunGlance(others, 21_377, at("08:41"), (wait,)),
        ),
        platforms=(
            _platform("openai", 10.0, 200, (4_103, 610, 3, 171, 2), Recent(2_710, 2_652, 17, 41, 9.1, 21.4, 44.8)),
            _platform("腾讯混元", 5.0, 100, (1_309, 300, 0, 96, 0), Recent(1_350, 1_050, 140, 160, 2.3, 24.9, 58.2), factor=0.5),
            _platform("豆包", 5.0, 100, (3_211, 0, 0, 0, 0), Recent(220, 3, 217, 0, 0.0, None, None), paused=paused),
        ),
        queues=(
            QueueDepth("calls-openai", 613, 0),
            QueueDepth("calls-腾讯混元", 301, 2),
            QueueDepth("calls-豆包", 0, 0),
            QueueDepth("plan", 0, 0),
            QueueDepth("writeback", 4, 0),
            QueueDepth("sweep", 1, 0),
            QueueDepth("schedules", 0, 0),
        ),
        stuck=(Stuck("腾讯混元", State.RUNNING, 3, 265.0, "5f0c2b7e9a1d4c38b6e2f47a90d3c815", "海尔智家"),),
        alarms=(
            _alarm("dead-letters", None, "ALARM", "06:21"),
            _alarm("platform-paused", "豆包", "ALARM", "06:13"),
            _alarm("scanner-heartbeat", None, "OK", "00:10"),
        ),
        budget_usd=100.0,
    )  # fmt: skip


def quiet() -> Overview:
    """The same morning, when all is well."""
    there = busy()
    assert there.platforms is not None
    assert there.alarms is not None
    others = _run("others-2026-11-29", {"openai": 10_000, "腾讯混元": 10_000, "豆包": 10_000}, "08:00")
    good = Recent(1_480, 1_472, 2, 6, 4.9, 22.0, 41.3)
    return replace(
        there,
        runs=(RunGlance(others, 27_118, at("07:31")),),
        platforms=tuple(
            _platform(name, 10.0, 100, (840, 300, 0, 94, 1), good) for name in ("openai", "腾讯混元", "豆包")
        ),
        queues=tuple(replace(each, dead=0) for each in there.queues or ()),
        stuck=(),
        alarms=tuple(replace(each, state="OK") for each in there.alarms),
    )
