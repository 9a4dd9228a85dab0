"""What must hold of every plan: all of it, once, even, fair, within rate and slots, and in time by every clock in the world."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from brandvane.catalogue import Brand, Catalogue, Monitor, Prompt, Question, Schedule, Selection
from brandvane.control import Control
from brandvane.dispatch_window import window
from brandvane.engine.plan import CannotStart, StartRequest
from brandvane.expansion import Expansion, interleaved, planned_ids
from brandvane.messages import PLAN_QUEUE, PlanMessage
from brandvane.ports import Deployed
from brandvane.run import Run
from brandvane.schedule import instants, occurrence
from brandvane.simulation.memory_world import StatedDeployment
from brandvane.stat import Stat
from brandvane.task import Task
from builders import platform, schedule
from engine_rig import MemoryBench

MS = 0.0011  # planned times are whole milliseconds
HOUR = 3600.0
# Changes of an hour, of half an hour and of two; at midnight, around Ramadan, south of the equator; and none.
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "America/Havana",
    "America/Santiago",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Beirut",
    "Asia/Shanghai",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Pacific/Chatham",
    "UTC",
)
Days = st.dates(date(2024, 1, 1), date(2032, 12, 31))
Minutes = st.integers(0, 1439)


def clock(minutes: int) -> str:
    """``HH:MM``."""
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


Platforms = st.tuples(
    st.sampled_from([0.05, 0.5, 1.0, 7.0, 20.0]),  # rate
    st.integers(1, 60),  # in flight
    st.integers(1, 2),  # models
    st.integers(1, 10),  # concurrency of its worker
    st.integers(1, 10),  # batch size
)


def planned_catalogue(
    shares: list[int], platforms: list[tuple[float, int, int, int, int]], samples: int, hold: float
) -> Catalogue:
    """A brand for each share, with so many questions of its own."""
    brands = tuple(Brand(f"b{n}", f"Brand {n}") for n in range(len(shares)))
    questions = tuple(
        Question(f"q{n}-{m}", f"What of {n}, {m}?", brands=(f"b{n}",))
        for n, share in enumerate(shares)
        for m in range(share)
    )
    settings = tuple(
        platform(f"p{n}", rate=rate, in_flight=in_flight, models=tuple(f"m{m}" for m in range(models)))
        for n, (rate, in_flight, models, _, _) in enumerate(platforms)
    )
    monitor = Monitor(platforms=settings, schedules=(schedule(),), samples=samples, expected_hold_s=hold)
    return Catalogue(brands=brands, questions=questions, monitor=monitor, version="v1")


async def plan(bench: MemoryBench, request: StartRequest) -> tuple[Run, list[Task]]:
    """Start the run and write all its chunks."""
    started = await bench.clock.run(bench.planner.start(request))
    while messages := await bench.queue.receive(PLAN_QUEUE, 10):
        for message in messages:
            await bench.clock.run(bench.planner.chunk(PlanMessage.decode(message.body)))
            await bench.queue.delete(PLAN_QUEUE, message.receipt)
    return bench.world.runs.runs[started.run.run_id], list(bench.world.tasks.records.values())


@given(
    shares=st.lists(st.integers(0, 12), min_size=1, max_size=4).filter(any),
    platforms=st.lists(Platforms, min_size=1, max_size=3),
    samples=st.integers(1, 3),
    hold=st.floats(0.5, 60),
    measured=st.none() | st.floats(0.5, 60),
    override=st.none() | st.sampled_from([0.2, 3.0]),
    late=st.floats(-4 * HOUR, 6 * HOUR - 1),
    label=st.none() | st.just("again"),
)
def test_a_plan_is_whole_even_within_rate_and_slots_and_says_what_does_not_fit(
    shares: list[int],
    platforms: list[tuple[float, int, int, int, int]],
    samples: int,
    hold: float,
    measured: float | None,
    override: float | None,
    late: float,
    label: str | None,
) -> None:
    given_ = planned_catalogue(shares, platforms, samples, hold)
    bench = MemoryBench.new(given_, plan=False)
    workers = [Deployed(f"p{n}", concurrency, batch, 60) for n, (_, _, _, concurrency, batch) in enumerate(platforms)]
    bench.deployment = StatedDeployment(*workers)
    bench.world.control.items["p0"] = Control("p0", hold_s=measured, rate_override=override)
    start = datetime(2025, 10, 10, 8, tzinfo=UTC).timestamp()
    asyncio.run(bench.clock.advance_to(start + late))
    now = bench.clock.now()
    run, tasks = asyncio.run(plan(bench, StartRequest("core", "2025-10-10", label=label)))

    expansion = Expansion(given_, run.selection, run.priority, run.seed)
    assert Counter(task.task_id for task in tasks) == Counter(planned_ids(run.run_id, expansion))
    assert run.plan_complete
    assert run.total == len(tasks) == sum(shares) * samples * sum(models for _, _, models, _, _ in platforms)
    length = 6 * HOUR
    assert run.deadline == (start + length if label is None else now + length)
    assert run.window_start == max(start if label is None else now, now + 20)
    for number, (rate, in_flight, _, concurrency, batch) in enumerate(platforms):
        name = f"p{number}"
        if number == 0:
            rate, held = override or rate, measured or hold
        else:
            held = hold
        due = sorted(task.planned_time for task in tasks if task.platform == name)
        most = 0.9 * min(rate, min(concurrency * batch, in_flight) / held)
        spacing = run.spacing[name]
        assert spacing >= 1 / most - 1e-9
        assert abs(due[0] - run.window_start) <= MS
        assert all(abs(after - before - spacing) <= MS for before, after in pairwise(due))
        # In flight at any time: those that began within the last hold time.
        assert math.floor(held / spacing) <= 0.9 * min(concurrency * batch, in_flight) + 1e-6
        last = run.window_start + (len(due) - 1) * spacing
        if label is None and len(due) / most <= run.window_end - run.window_start:
            assert abs(last + spacing - run.window_end) <= MS  # the whole window is used
        else:
            assert spacing == pytest.approx(1 / most)
        assert run.late_by.get(name, 0.0) == pytest.approx(max(0.0, round(last - run.deadline, 1)), abs=0.11)


@given(late=st.floats(6 * HOUR, 30 * HOUR))
def test_a_run_whose_deadline_has_passed_is_not_begun(late: float) -> None:
    bench = MemoryBench.new(planned_catalogue([1], [(1.0, 1, 1, 1, 1)], 1, 1.0), plan=False)
    bench.deployment = StatedDeployment(Deployed("p0", 1, 1, 60))
    start = datetime(2025, 10, 9, 8, tzinfo=UTC).timestamp()
    asyncio.run(bench.clock.advance_to(start + late))
    with pytest.raises(CannotStart, match="was due until 2025-10-09 14:00 UTC"):
        asyncio.run(plan(bench, StartRequest("core", "2025-10-09")))
    assert bench.world.runs.runs == {}


Shares = st.lists(st.integers(1, 40), min_size=1, max_size=8)


def prompts_of(shares: list[int]) -> list[Prompt]:
    """So many prompts of each brand, brand after brand."""
    return [
        Prompt(f"{n} of {brand}", f"{n:08x}{brand}", "", (f"q{n}",), f"b{brand}", "normal")
        for brand, share in enumerate(shares)
        for n in range(share)
    ]


@given(shares=Shares, seed=st.integers(0, 99))
def test_wherever_a_plan_is_cut_off_every_brand_has_had_its_share(shares: list[int], seed: int) -> None:
    order = interleaved(prompts_of(shares), seed)
    assert Counter(order) == Counter(prompts_of(shares))
    had: Counter[str] = Counter()
    for asked, prompt in enumerate(order, 1):
        had[prompt.brand_group] += 1
        for brand, share in enumerate(shares):
            # Half a prompt for its own rounding, and its part of everybody's.
            most = 0.5 + (len(shares) / 2 + 1) * share / len(order)
            assert abs(had[f"b{brand}"] - asked * share / len(order)) <= most + 1e-9


@given(
    questions=st.integers(1, 30), models=st.lists(st.integers(1, 3), min_size=1, max_size=4), limit=st.integers(1, 300)
)
def test_a_limit_is_shared_out_evenly_between_platforms_and_keeps_each_ones_order(
    questions: int, models: list[int], limit: int
) -> None:
    given_ = planned_catalogue([questions], [(1.0, 1, number, 1, 1) for number in models], 1, 1.0)
    whole = Expansion(given_, Selection(), "normal", 7)
    cut = Expansion(given_, Selection(limit=limit), "normal", 7)
    assert sum(cut.planned.values()) == min(limit, sum(whole.planned.values()))
    short = [count for name, count in cut.planned.items() if count < whole.planned[name]]
    assert all(abs(count - other) <= 1 for count in short for other in short)
    assert all(count <= min(short, default=count) + 1 for count in cut.planned.values())
    of = defaultdict(list)
    for planned in whole:
        of[planned.platform].append(planned)
    assert list(cut) == [planned for name, rows in of.items() for planned in rows[: cut.planned[name]]]


def local(instant: float, zone: str) -> datetime:
    """What a clock on a wall there shows."""
    return datetime.fromtimestamp(instant, ZoneInfo(zone)).replace(tzinfo=None)


def exists(wall: datetime, zone: str) -> bool:
    """Does a clock there ever show that?"""
    return wall.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) == wall


def made(zone: str, start: int, length: int, rest: int) -> Schedule:
    """A schedule as catalogues allow it: a window of ``length`` minutes, a deadline ``rest`` minutes after it."""
    return schedule(
        start=clock(start), end=clock(start + length), deadline=clock(start + length + rest), time_zone=zone
    )


@given(zone=st.sampled_from(ZONES), day=Days, start=Minutes, length=st.integers(1, 1200), rest=st.integers(1, 720))
@example(zone="Asia/Beirut", day=date(2026, 3, 28), start=23 * 60, length=60, rest=30)
@example(zone="Antarctica/Troll", day=date(2026, 3, 29), start=60, length=30, rest=30)
def test_no_clock_in_the_world_turns_a_schedule_around_or_passes_its_promised_hour(
    zone: str, day: date, start: int, length: int, rest: int
) -> None:
    assume(length + rest < 1440)
    found = instants(made(zone, start, length, rest), day.isoformat())
    assert found.start < found.end < found.deadline
    midnight = datetime.combine(day, time(0))
    for instant, minutes in (
        (found.start, start),
        (found.end, start + length),
        (found.deadline, start + length + rest),
    ):
        wished = midnight + timedelta(minutes=minutes)
        if exists(wished, zone):
            assert local(instant, zone) == wished
            assert local(instant - 2 * HOUR, zone) < wished  # its first showing: two hours before, it was yet to come
        else:
            assert wished < local(instant, zone) <= wished + timedelta(hours=2, minutes=length + rest)
    assert abs((found.deadline - found.start) / 60 - length - rest) <= 120


@given(zone=st.sampled_from(ZONES), day=Days, start=Minutes, early=st.floats(0, 60), late=st.floats(0, 21 * HOUR))
def test_every_local_day_has_one_run_which_any_tick_of_its_own_finds(
    zone: str, day: date, start: int, early: float, late: float
) -> None:
    daily = made(zone, start, 60, 60)
    today, tomorrow = (instants(daily, (day + timedelta(days=n)).isoformat()).start for n in (0, 1))
    assert 22 * HOUR <= tomorrow - today <= 26 * HOUR
    assert occurrence(daily, today + late) == day.isoformat()
    # A tick that comes a little before its time means that time: the planner looks a minute ahead.
    assert occurrence(daily, today - early + 60) == day.isoformat()
    assert occurrence(daily, today - 0.001) == (day - timedelta(days=1)).isoformat()


def reported(minute: int, calls: int, bad: int = 0, wait: float = 0.0) -> Stat:
    """A batch's report."""
    kinds = {"timeout": min(bad, calls)}
    return Stat(platform="p", minute=minute, invocation="i", calls=calls, kinds=kinds, queue_wait_s=wait)


Reports = st.lists(
    st.builds(
        reported,
        st.integers(1, 3),
        st.integers(0, 500),
        st.integers(0, 500),
        st.floats(0, 60),
    ),
    max_size=6,
)


@given(reports=Reports, rate=st.floats(0.1, 50), slots=st.integers(1, 800), ahead=st.floats(1, 120))
def test_the_window_lets_every_slot_have_a_message_and_never_more_than_the_rate_serves(
    reports: list[Stat], rate: float, slots: int, ahead: float
) -> None:
    most = math.ceil(rate * ahead) + slots
    found = window(reports, rate, slots, 5, ahead)
    assert slots <= found <= most
    fine = [reported(report.minute, report.calls) for report in reports]
    assert window(fine, rate, slots, 5, ahead) == window([], rate, slots, 5, ahead) == most
