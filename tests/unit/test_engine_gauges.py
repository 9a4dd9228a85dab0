"""What one sweep publishes: names, dimensions and values, with every port read as seldom as it can be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane.control import Control, Pause
from brandvane.engine.gauges import COUNT_ANEW_S
from brandvane.gauges import FAR_S
from brandvane.metrics import METRICS, When
from brandvane.moves import DISPATCH_OVERDUE_S
from brandvane.ports import Deployed, Envelope, Unavailable
from brandvane.run import RunState
from brandvane.stat import Stat
from brandvane.task import State
from builders import NOW, catalogue, placed, platform, schedule, tasks_of
from engine_rig import MemoryBench

MINUTE = int(NOW // 60)


async def told(bench: MemoryBench) -> dict[tuple[str, str | None], float]:
    """What a sweep publishes."""
    bench.telemetry.published.clear()
    bench.telemetry.counts.clear()
    await bench.clock.run(bench.sweep())
    return dict(bench.telemetry.counts)


def two() -> MemoryBench:
    """Two platforms and a run of twenty tasks on each."""
    return MemoryBench.new(catalogue(20, platforms=(platform(), platform("kimi"))))


async def reported(bench: MemoryBench, minute: int = MINUTE, **fields: Any) -> None:
    """A worker of openai has put an item."""
    await bench.stats.put(Stat(platform="openai", minute=minute, invocation=f"i{len(fields)}-{minute}", **fields))


async def test_every_metric_that_is_always_there_is_published_with_its_dimensions_and_unit() -> None:
    bench = two()
    await told(bench)
    found = {(name, of, unit) for name, _, of, unit in bench.telemetry.published}
    expected: set[tuple[str, str | None, str]] = set()
    for metric in METRICS.values():
        if metric.when is When.ALWAYS:
            expected |= {(metric.name, None, metric.unit)} if metric.on_stack else set()
            expected |= {(metric.name, of, metric.unit) for of in ("openai", "kimi") if metric.on_platform}
    assert expected <= found
    assert {name for name, *_ in found} <= METRICS.keys()


async def test_a_sweep_without_work_publishes_zeros() -> None:
    bench = MemoryBench.new(
        catalogue(2, schedules=(schedule(start="23:00", end="23:30", deadline="23:50"),)), plan=False
    )
    values = await told(bench)
    assert values.pop(("ScannerHeartbeat", None)) == 1
    assert set(values.values()) == {0}
    assert ("ProjectedLateness", None) not in values
    assert ("SuccessRate", "openai") not in values


async def test_the_total_of_the_backlog_has_no_platform() -> None:
    bench = two()
    made = tasks_of(bench.run, bench.catalogue)
    bench.put(*[placed(task, State.PENDING, act_at=NOW - 5) for task in made])
    values = await told(bench)
    assert (values["Backlog", "openai"], values["Backlog", "kimi"], values["Backlog", None]) == (20, 20, 40)


async def test_pulled_for_more_than_thirty_seconds_is_a_share_of_what_workers_have_in_hand() -> None:
    bench = MemoryBench.new(catalogue(30))
    made = tasks_of(bench.run, bench.catalogue)
    long_ago = [placed(task, State.PULLED, act_at=NOW + 29) for task in made[:5]]
    just_now = [placed(task, State.PULLED, act_at=NOW + 31) for task in made[5:10]]
    running = [placed(task, State.RUNNING, act_at=NOW + 60) for task in made[10:20]]
    waiting = [placed(task, State.DISPATCHED, act_at=NOW + 600) for task in made[20:]]
    bench.put(*long_ago, *just_now, *running, *waiting)
    assert (await told(bench))["PulledNotStartedShare", "openai"] == 25.0  # 5 of 20


async def test_nineteen_tasks_in_hand_are_too_few_to_judge_by() -> None:
    bench = MemoryBench.new(catalogue(19))
    bench.put(*[placed(task, State.PULLED, act_at=NOW + 10) for task in tasks_of(bench.run, bench.catalogue)])
    assert (await told(bench))["PulledNotStartedShare", "openai"] == 0.0


async def test_a_lease_that_ran_out_is_a_global_timeout_of_the_stack() -> None:
    bench = MemoryBench.new()
    bench.waiting(1, State.RUNNING, act_at=NOW - 100)
    assert (await told(bench))["GlobalTimeouts", None] == 1


async def test_tasks_that_expire_are_counted_whoever_ends_them() -> None:
    bench = MemoryBench.new(catalogue(3), deadline=NOW - 1)
    bench.waiting(3, State.PENDING)
    await reported(bench, calls=4, failed=4, expired=4)
    assert (await told(bench))["TasksExpired", None] == 7


async def test_what_workers_reported_becomes_rates_shares_and_latencies() -> None:
    bench = MemoryBench.new()
    seconds = NOW - (MINUTE - 4) * 60
    latencies = tuple(float(n) for n in range(1, 101))
    counts = {"calls": 100, "answered": 40, "failed": 10, "retried": 45, "again": 45, "used_up": 5}
    await reported(bench, **counts, latencies=latencies, queue_wait_s=12.5)
    values = await told(bench)
    assert values["SuccessRate", "openai"] == 80.0
    assert values["RetryStormShare", "openai"] == 45.0
    assert values["RetriesUsedUpShare", "openai"] == 10.0
    assert [values[f"LatencyP{n}", "openai"] for n in (50, 95, 99)] == [50.0, 95.0, 99.0]
    assert values["QueueAge", "openai"] == 12.5
    assert values["CallsPerSecond", "openai"] == pytest.approx(100 / seconds)
    assert values["RateUsed", "openai"] == pytest.approx(100 * (100 / seconds) / 10.0)


async def test_one_query_of_the_stats_serves_a_platform_at_each_sweep() -> None:
    bench = two()
    await told(bench)
    asked: list[str] = []
    since = bench.world.stats.since

    async def counted(platform: str, start: float, end: float) -> list[Stat]:
        asked.append(platform)
        return await since(platform, start, end)

    bench.world.stats.since = counted  # type: ignore[method-assign]
    await told(bench)
    assert sorted(asked) == ["kimi", "openai"]


async def test_dead_letters_of_all_queues_are_one_number() -> None:
    bench = two()
    for queue in ("calls-openai-dead", "writeback-dead", "plan-dead", "sweep-dead", "schedules-dead"):
        await bench.queue.send(queue, [Envelope("a", "{}")])
    assert (await told(bench))["DeadLetters", None] == 5


async def test_a_pause_an_open_breaker_and_a_paused_target_count() -> None:
    bench = two()
    pause = Pause("auth_error", "worker", NOW - 9)
    bench.world.control.items["openai"] = Control("openai", paused=pause, targets={"openai/m1": pause})
    bench.world.control.items["kimi"] = Control("kimi", breaker_wait_s=60.0, breaker_at=NOW + 50)
    values = await told(bench)
    assert (values["PlatformPaused", "openai"], values["PlatformPaused", "kimi"]) == (2, 1)


async def test_spend_is_the_sum_of_all_platforms_and_its_share_the_highest_of_a_budget() -> None:
    given = (platform(day_budget_usd=10.0), platform("kimi", day_budget_usd=2.0), platform("qwen"))
    bench = MemoryBench.new(catalogue(2, platforms=given))
    for name, microusd in (("openai", 5_000_000), ("kimi", 1_600_000)):
        bench.world.control.items[name] = Control(name, day="2025-10-09", day_microusd=microusd)
    for ago in (0, 7):  # of qwen, that has no budget, its workers' reports are summed: NOW is 533 minutes into the day
        await bench.stats.put(Stat(platform="qwen", minute=MINUTE - ago * 70, invocation="i", cost_microusd=200_000))
    values = await told(bench)
    assert [values["SpendToday", None], values["SpendShare", None]] == pytest.approx([7.0, 80.0])


async def test_a_due_run_without_an_item_is_not_planned_ten_minutes_after_its_start() -> None:
    # NOW is 08:53:20 UTC.
    bench = MemoryBench.new(catalogue(2, schedules=(schedule(start="08:43", end="09:30"),)), plan=False)
    assert (await told(bench))["RunNotPlanned", None] == 1
    bench = MemoryBench.new(catalogue(2, schedules=(schedule(start="08:44", end="09:30"),)), plan=False)
    assert (await told(bench))["RunNotPlanned", None] == 0


async def test_a_run_whose_plan_stands_still_counts_once() -> None:
    bench = MemoryBench.new(
        catalogue(2, schedules=(schedule(start="08:43", end="09:30"),)), plan_complete=False, window_start=NOW - 620
    )
    assert (await told(bench))["RunNotPlanned", None] == 1


async def test_a_finished_run_without_a_report_is_told_after_half_an_hour() -> None:
    bench = MemoryBench.new(state=RunState.REPORTING, finished_at=NOW - 1801, step_until=NOW + 99)
    values = await told(bench)
    assert (values["ReportMissing", None], values["RunProgress", None]) == (1, 100.0)


async def test_the_projected_end_is_the_slowest_platforms_against_the_deadline() -> None:
    # openai: 20 slots held for 10 s each; kimi: one call in 40 s. Both still have their 20 tasks.
    given = (platform(rate=10.0, in_flight=20), platform("kimi", rate=0.05, in_flight=20))
    bench = MemoryBench.new(catalogue(20, platforms=given), deadline=NOW + 300)
    for name in ("openai", "kimi"):
        bench.world.control.items[name] = Control(name, hold_s=10.0)
    bench.put(*[placed(task, State.PENDING, act_at=NOW) for task in tasks_of(bench.run, bench.catalogue)])
    bench.set_run(spacing={"openai": 0.0, "kimi": 0.0})
    kimi_s = 20 / (0.05 * 0.97) + 10.0
    assert (await told(bench))["ProjectedLateness", None] == pytest.approx(kimi_s - 300)


async def test_far_pending_records_are_counted_anew_only_now_and_then_while_they_are_many() -> None:
    bench = MemoryBench.new(catalogue(250))
    bench.put(*[placed(task, State.PENDING, act_at=NOW + 9e5) for task in tasks_of(bench.run, bench.catalogue)])
    assert (await told(bench))["Pending", "openai"] == 250
    for made in list(bench.world.tasks.records.values()):
        if made.state is State.PENDING:
            bench.put(placed(made, State.DISPATCHED, act_at=NOW + 9e5))
    assert (await told(bench))["Pending", "openai"] == 250
    await bench.clock.advance(COUNT_ANEW_S)
    assert (await told(bench))["Pending", "openai"] == 0


async def test_few_pending_records_are_counted_at_every_sweep() -> None:
    bench = MemoryBench.new(catalogue(20))
    made = bench.waiting(20, State.PENDING, act_at=NOW + 9e5)
    assert (await told(bench))["Pending", "openai"] == 20
    bench.put(*[placed(task, State.DISPATCHED, act_at=NOW + 9e5) for task in made])
    assert (await told(bench))["Pending", "openai"] == 0


@pytest.mark.parametrize("port", ["tasks", "controls", "stats", "queue", "catalogues"])
async def test_a_sweep_that_could_not_read_everything_has_no_heartbeat(port: str) -> None:
    method = {"tasks": "count_due", "controls": "read", "stats": "since", "queue": "depth", "catalogues": "current"}
    bench = two()
    broken = bench.without(**{port: {method[port]: [Unavailable("no")] * 999}})
    await bench.clock.run(broken.scanner.sweep(stop_at=NOW + 50, on_the_minute=False))
    assert ("ScannerHeartbeat", None) not in bench.telemetry.counts
    assert bench.telemetry.named("gauges_not_published")


async def test_the_sweep_after_it_has_one_again() -> None:
    bench = two()
    broken = bench.without(controls={"read": [Unavailable("no")]})
    await bench.clock.run(broken.scanner.sweep(stop_at=NOW + 50, on_the_minute=False))
    await bench.clock.run(broken.scanner.sweep(stop_at=NOW + 50, on_the_minute=False))
    assert bench.telemetry.counts["ScannerHeartbeat", None] == 1


async def test_the_age_of_a_queue_that_nobody_consumes_is_its_oldest_due_tasks() -> None:
    bench = MemoryBench.new(catalogue(2))
    made = bench.waiting(2, State.PENDING)
    bench.put(
        *[
            placed(t, State.DISPATCHED, act_at=NOW - late + DISPATCH_OVERDUE_S)
            for t, late in zip(made, (90, 30), strict=False)
        ]
    )
    assert (await told(bench))["QueueAge", "openai"] == 90


async def test_tasks_that_no_worker_can_take_make_the_run_late_without_end() -> None:
    bench = MemoryBench.new(catalogue(20), deadline=NOW + 300)
    bench.put(*[placed(task, State.PENDING, act_at=NOW) for task in tasks_of(bench.run, bench.catalogue)])
    bench.deployment.deployed = (Deployed("openai", 0, 10, 60),)
    assert (await told(bench))["ProjectedLateness", None] == FAR_S


async def test_a_platform_that_cannot_be_read_does_not_hide_the_others() -> None:
    bench = two()
    bench.put(*[replace(t, act_at=NOW) for t in bench.waiting(3, State.PENDING)])
    broken = bench.without(controls={"read": [Unavailable("no")]})
    await bench.clock.run(broken.scanner.sweep(stop_at=NOW + 50, on_the_minute=False))
    paused = [of for name, _, of, _ in bench.telemetry.published if name == "PlatformPaused"]
    assert len(paused) == 1
