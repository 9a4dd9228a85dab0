"""One sweep: overdue records of every platform, final runs walked to their end, gauges, lowered rates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from brandvane.control import Control
from brandvane.engine.sweep import LEASE, Sweep
from brandvane.ports import Unavailable, Watched
from brandvane.run import RunState
from brandvane.task import Outcome, State, Task
from builders import NOW, catalogue, placed, platform, tasks_of, together
from engine_rig import MemoryBench

OPEN_STATES = [State.PENDING, State.DISPATCHED, State.PULLED]


async def swept(bench: MemoryBench) -> Sweep:
    """One sweep on the minute."""
    done: Sweep = await bench.clock.run(bench.sweep())
    return done


def each_state(bench: MemoryBench, **fields: Any) -> dict[State, Task]:
    """One record in every unfinished state."""
    states = [state for state in State if state not in (State.DONE, State.FAILED)]
    made = zip(states, tasks_of(bench.run, bench.catalogue), strict=False)
    found: dict[State, Task] = {state: placed(task, state, **fields) for state, task in made}
    bench.put(*found.values())
    return found


async def test_every_overdue_record_is_acted_on() -> None:
    bench = MemoryBench.new()
    made = each_state(bench)
    done = await swept(bench)
    assert done.acted == {"resent": 1, "given_back": 1, "rescued": 1, "reminded": 1}
    after = {state: bench.record(task.task_id).state for state, task in made.items()}
    assert after == {
        State.PENDING: State.PENDING,
        State.DISPATCHED: State.PENDING,
        State.PULLED: State.PENDING,
        State.RUNNING: State.PENDING,
        State.WRITEBACK: State.WRITEBACK,
    }


async def test_what_is_not_overdue_is_left_alone() -> None:
    bench = MemoryBench.new()
    made = each_state(bench, act_at=NOW + 30)
    assert (await swept(bench)).acted == {}
    assert all(bench.record(task.task_id) == task for task in made.values())


async def test_records_of_a_platform_whose_worker_is_gone_are_acted_on_too() -> None:
    bench = MemoryBench.new(catalogue(5, platforms=(platform("kimi"), platform())))
    bench.deployment.deployed = bench.deployment.deployed[1:]
    gone = next(task for task in tasks_of(bench.run, bench.catalogue) if task.platform == "kimi")
    bench.put(placed(gone, State.RUNNING))
    assert (await swept(bench)).acted == {"rescued": 1}


async def test_only_one_scanner_works_at_a_time() -> None:
    bench = MemoryBench.new()
    each_state(bench)
    sweeps = await bench.clock.run(together(bench.sweep(), bench.without().sweep()))
    assert sorted(sweep.busy for sweep in sweeps) == [False, True]
    assert bench.world.control.leases == {}


async def test_the_lease_of_a_scanner_that_died_ends_after_45_seconds() -> None:
    bench = MemoryBench.new()
    await bench.controls.acquire(LEASE, "dead", NOW, 45.0)
    assert (await swept(bench)).busy
    await bench.clock.advance(45)
    assert not (await swept(bench)).busy


@pytest.mark.parametrize("fault", [Unavailable("no"), ValueError("cannot be read")])
async def test_one_record_that_cannot_be_read_does_not_keep_the_others_from_it(fault: Exception) -> None:
    bench = MemoryBench.new()
    bench.waiting(3, State.PULLED, act_at=NOW - 100)
    done = await bench.clock.run(bench.without(tasks={"get": [fault]}).sweep())
    assert done.acted == {"given_back": 2}
    assert len(bench.telemetry.named("record_not_swept")) == 1


async def test_when_its_time_is_over_a_sweep_leaves_the_rest_to_the_next() -> None:
    bench = MemoryBench.new()
    bench.waiting(3, State.PULLED, act_at=NOW - 100)
    await bench.clock.run(bench.scanner.sweep(stop_at=NOW, on_the_minute=True))
    assert bench.states() == [State.PULLED] * 3


async def test_acting_on_records_leaves_time_to_say_how_all_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = MemoryBench.new(catalogue(40))
    bench.waiting(40, State.PULLED, act_at=NOW - 100)
    acted: list[str] = []

    async def slowly(entry: Watched) -> None:
        acted.append(entry.task_id)
        await bench.clock.sleep(10)

    monkeypatch.setattr(bench.scanner._rescuer, "act", slowly)
    await bench.clock.run(bench.scanner.sweep(stop_at=NOW + 50, on_the_minute=True))
    # Eight at once, each for 10 s, none after 30 of the 50 s.
    assert len(acted) == 24
    assert bench.telemetry.counts["ScannerHeartbeat", None] == 1


@pytest.mark.parametrize(
    ("final", "outcome"),
    [
        ({"deadline": NOW - 1}, Outcome.EXPIRED),
        ({"deadline": NOW + 50, "cancelled_at": NOW - 1, "state": RunState.CANCELLED}, Outcome.CANCELLED),
    ],
)
async def test_a_final_run_is_walked_and_what_has_not_begun_ends(final: dict[str, Any], outcome: Outcome) -> None:
    bench = MemoryBench.new(**final)
    made = each_state(bench, act_at=NOW + 300)
    await swept(bench)
    rows = {row.task_id: row.outcome for row in bench.rows()}
    assert rows == {made[state].task_id: outcome for state in OPEN_STATES}
    assert bench.record(made[State.RUNNING].task_id) == made[State.RUNNING]
    assert bench.record(made[State.WRITEBACK].task_id) == made[State.WRITEBACK]


async def test_a_running_task_of_a_final_run_ends_once_its_lease_is_over() -> None:
    bench = MemoryBench.new(deadline=NOW - 1)
    (task,) = bench.waiting(1, State.RUNNING, act_at=NOW + 30, started_at=NOW)
    await swept(bench)
    assert bench.states() == [State.RUNNING]
    await bench.clock.advance(32)
    await swept(bench)
    assert [(row.task_id, row.outcome) for row in bench.rows()] == [(task.task_id, Outcome.EXPIRED)]


async def test_the_records_of_other_runs_are_left_alone() -> None:
    bench = MemoryBench.new(deadline=NOW - 1)
    (mine, other) = bench.waiting(2, State.PENDING)
    bench.put(replace(other, run_id="another"))
    await swept(bench)
    assert (bench.record(mine.task_id).state, bench.record(other.task_id).state) == (State.FAILED, State.PENDING)


async def test_a_final_run_is_walked_until_none_of_it_is_left() -> None:
    bench = MemoryBench.new(catalogue(2), deadline=NOW - 1)
    bench.waiting(1, State.RUNNING, act_at=NOW + 30, started_at=NOW)
    rest = placed(tasks_of(bench.run, bench.catalogue)[1], State.PENDING)
    bench.put(rest)
    found = []
    for _ in range(4):
        await swept(bench)
        found.append(bench.world.runs.runs[bench.run.run_id].swept)
        await bench.clock.advance(30)
    assert found == [False, False, True, True]
    assert bench.states() == [State.FAILED, State.FAILED]


async def test_a_run_that_is_not_planned_to_its_end_is_not_done_with() -> None:
    bench = MemoryBench.new(catalogue(2), deadline=NOW - 1, plan_complete=False)
    bench.waiting(1, State.PENDING)
    await swept(bench)
    await swept(bench)
    assert not bench.world.runs.runs[bench.run.run_id].swept
    late = placed(tasks_of(bench.run, bench.catalogue)[1], State.PENDING)
    bench.put(late)
    bench.set_run(plan_complete=True)
    await swept(bench)
    await swept(bench)
    assert bench.world.runs.runs[bench.run.run_id].swept
    assert len(bench.rows()) == 2


async def test_a_task_that_goes_back_behind_the_walk_is_found_by_the_next() -> None:
    bench = MemoryBench.new(catalogue(1), deadline=NOW - 1)
    (task,) = bench.waiting(1, State.PULLED, act_at=NOW + 40)
    page = bench.world.tasks.page

    async def released(watch: str, after: Any, limit: int) -> Any:
        # A worker gives the task back after PENDING has been walked and before PULLED is.
        if watch.endswith("#DISPATCHED") and bench.record(task.task_id).state is State.PULLED:
            bench.put(placed(task, State.PENDING, dispatch_no=2))
        return await page(watch, after, limit)

    bench.world.tasks.page = released  # type: ignore[method-assign]
    await swept(bench)
    assert (bench.states(), bench.world.runs.runs[bench.run.run_id].swept) == ([State.PENDING], False)
    await swept(bench)
    assert [row.outcome for row in bench.rows()] == [Outcome.EXPIRED]


async def test_a_deadline_that_is_moved_during_the_walk_ends_no_more_tasks() -> None:
    bench = MemoryBench.new(catalogue(1), deadline=NOW - 1)
    bench.waiting(1, State.PENDING)
    page = bench.world.tasks.page
    moves: Iterator[float] = iter([NOW + 3600])

    async def moved(watch: str, after: Any, limit: int) -> Any:
        for deadline in moves:
            bench.set_run(deadline=deadline)
        return await page(watch, after, limit)

    bench.world.tasks.page = moved  # type: ignore[method-assign]
    await swept(bench)
    assert (bench.states(), bench.rows()) == ([State.PENDING], [])
    assert not bench.world.runs.runs[bench.run.run_id].swept


async def test_a_walk_takes_a_partition_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brandvane.engine.sweep.PAGE", 3)
    bench = MemoryBench.new(catalogue(20), deadline=NOW - 1)
    bench.waiting(20, State.DISPATCHED)
    await swept(bench)
    assert len(bench.rows()) == 20


async def test_gauges_are_published_every_sweep_with_their_zeros() -> None:
    bench = MemoryBench.new(catalogue(20, platforms=(platform(), platform("kimi"))))
    bench.waiting(4, State.PENDING, act_at=NOW + 500)
    bench.put(*[replace(task, act_at=NOW) for task in bench.waiting(2, State.PENDING)])
    each = bench.waiting(20)[10:13]
    bench.put(*[placed(task, State.RUNNING, act_at=NOW + 70) for task in each])
    await bench.queue.send("calls-openai", [])
    done = await swept(bench)
    told = {(name, of): number for (name, of), number in bench.telemetry.counts.items()}
    assert told["Dispatched", "openai"] == 17
    assert told["Running", "openai"] == 3
    assert (told["Pulled", "openai"], told["Writeback", "openai"], told["Pending", "kimi"]) == (0, 0, 0)
    assert told["ScannerHeartbeat", None] == 1
    assert done.in_hand == {"openai": 20, "kimi": 0}


async def test_backlog_is_what_is_due_and_not_started() -> None:
    bench = MemoryBench.new()
    due = placed(tasks_of(bench.run, bench.catalogue)[0], State.PENDING, act_at=NOW)
    tonight = placed(tasks_of(bench.run, bench.catalogue)[1], State.PENDING, act_at=NOW + 9999)
    bench.put(due, tonight)
    await swept(bench)
    assert (bench.telemetry.counts["Backlog", "openai"], bench.telemetry.counts["Pending", "openai"]) == (1, 2)


async def test_an_answer_on_the_write_back_queue_is_pending_whatever_the_number_of_platforms() -> None:
    bench = MemoryBench.new(catalogue(1, platforms=(platform(), platform("kimi"), platform("qwen"))))
    await bench.write_back.remind(bench.waiting(1, State.WRITEBACK, act_at=NOW + 20)[0], 1, 0)
    await swept(bench)
    assert bench.telemetry.counts["WritebackPending", None] == 1


async def test_a_queue_that_cannot_be_asked_does_not_keep_a_run_from_its_end() -> None:
    bench = MemoryBench.new(catalogue(1))
    (task,) = bench.waiting(1, State.WRITEBACK, act_at=NOW + 20)
    await bench.write_back.settle(task)
    done = await bench.clock.run(bench.without(queue={"depth": [RuntimeError("no such queue")] * 9}).sweep())
    assert done.runs == {bench.run.run_id: RunState.SCORING}


async def test_a_lowered_rate_comes_back_by_five_percent_on_the_minute_only() -> None:
    bench = MemoryBench.new()
    bench.world.control.items["openai"] = Control("openai", factor=0.5)
    await bench.clock.run(bench.scanner.sweep(stop_at=NOW + 50, on_the_minute=False))
    assert bench.control().factor == 0.5
    await swept(bench)
    assert bench.control().factor == pytest.approx(0.55)


async def test_a_full_rate_is_not_written_again() -> None:
    bench = MemoryBench.new()
    await swept(bench)
    assert "openai" not in bench.world.control.items


async def test_a_partition_that_is_refused_does_not_keep_the_others_from_it() -> None:
    bench = MemoryBench.new()
    each_state(bench)
    done = await bench.clock.run(bench.without(tasks={"due": [Unavailable("hot partition")]}).sweep())
    assert done.acted == {"given_back": 1, "rescued": 1, "reminded": 1}
    assert len(bench.telemetry.named("partition_not_swept")) == 1


async def test_a_partition_that_is_refused_leaves_a_final_run_to_the_next_walk() -> None:
    bench = MemoryBench.new(catalogue(1), deadline=NOW - 1)
    bench.waiting(1, State.PULLED, act_at=NOW + 30)
    await bench.clock.run(bench.without(tasks={"page": [Unavailable("hot partition")]}).sweep())
    assert [row.outcome for row in bench.rows()] == [Outcome.EXPIRED]
    assert not bench.world.runs.runs[bench.run.run_id].swept


async def test_a_run_that_cannot_be_read_is_ended_by_the_next_sweep_and_the_others_by_this_one() -> None:
    bench = MemoryBench.new(catalogue(1), deadline=NOW - 1)
    other = replace(bench.run, run_id="other", created_at=NOW - 50)
    bench.world.runs.runs["other"] = other
    mine = bench.waiting(1, State.PENDING)[0]
    bench.put(replace(mine, task_id="f" * 32, run_id="other"))
    await bench.clock.run(bench.without(runs={"get": [Unavailable("no")]}).sweep())
    assert [row.run_id for row in bench.rows()] == ["other"]
    await swept(bench)
    assert {row.run_id for row in bench.rows()} == {"other", bench.run.run_id}


async def test_a_task_that_cannot_be_ended_does_not_keep_the_others_from_it() -> None:
    bench = MemoryBench.new(catalogue(3), deadline=NOW - 1)
    bench.waiting(3, State.PENDING)
    await bench.clock.run(bench.without(tasks={"get": [ValueError("cannot be read")]}).sweep())
    assert sorted(bench.states()) == ["FAILED", "FAILED", "PENDING"]


async def test_a_minute_whose_event_comes_twice_restores_once() -> None:
    bench = MemoryBench.new()
    bench.world.control.items["openai"] = Control("openai", factor=0.5)
    await swept(bench)
    await bench.clock.advance(1)
    await swept(bench)
    assert bench.control().factor == pytest.approx(0.55)
    await bench.clock.advance(60)
    await swept(bench)
    assert bench.control().factor == pytest.approx(0.60)
