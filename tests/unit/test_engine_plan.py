"""A run comes to be, and its tasks get into the table: planning twice plans once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane.catalogue import Catalogue, Selection
from brandvane.engine.plan import CannotStart, Started, StartRequest, describe
from brandvane.messages import PLAN_QUEUE, PlanMessage
from brandvane.ports import Unavailable
from brandvane.run import Run
from brandvane.simulation.memory_world import StatedDeployment
from brandvane.task import State
from builders import NOW, catalogue, platform, schedule, tasks_of, together
from engine_rig import MemoryBench

HOUR = 3600.0
MORNING = NOW - 53 * 60 - 20  # 08:00 UTC; NOW is 08:53:20


def fresh(given: Catalogue | None = None) -> MemoryBench:
    """A world with a catalogue and no run."""
    return MemoryBench.new(given, plan=False)


async def started(bench: MemoryBench, **request: object) -> Started:
    """A start."""
    done: Started = await bench.clock.run(bench.planner.start(StartRequest(**request)))  # type: ignore[arg-type]
    return done


async def written(bench: MemoryBench) -> Run:
    """All chunks that are asked for, written; the one run after it."""
    for message in await bench.queue.receive(PLAN_QUEUE, 100):
        await bench.clock.run(bench.planner.chunk(PlanMessage.decode(message.body)))
        await bench.queue.delete(PLAN_QUEUE, message.receipt)
    (run,) = bench.world.runs.runs.values()
    return run


async def test_a_start_puts_the_run_and_asks_for_its_chunks() -> None:
    bench = fresh(catalogue(1200))
    done = await started(bench, schedule_id="core")
    assert (done.created, done.run.run_id, done.run.schedule_id) == (True, "core-2025-10-09", "core")
    assert (done.run.planned, done.run.chunks, done.run.plan_complete) == ({"openai": 1200}, 3, False)
    messages = [PlanMessage.decode(m.body) for m in await bench.queue.receive(PLAN_QUEUE, 10)]
    assert messages == [PlanMessage("core-2025-10-09", chunk) for chunk in range(3)]
    assert bench.world.tasks.records == {}


async def test_a_run_is_pinned_to_the_schedules_instants_and_the_current_catalogue() -> None:
    done = await started(fresh(), schedule_id="core")
    run = done.run
    assert (run.window_end, run.deadline) == (MORNING + 4 * HOUR, MORNING + 6 * HOUR)
    assert run.window_start == NOW + 20  # planning takes a moment
    assert (run.catalogue_version, run.priority, run.created_at) == ("v1", "normal", NOW)


async def test_a_start_before_the_window_waits_for_it() -> None:
    bench = fresh(catalogue(schedules=(schedule(start="10:00"),)))
    done = await started(bench, schedule_id="core", date="2025-10-09")
    assert done.run.window_start == MORNING + 2 * HOUR


async def test_a_tick_a_moment_before_its_time_means_that_time() -> None:
    done = await started(fresh(), schedule_id="core", at=MORNING - 30)
    assert done.run.run_id == "core-2025-10-09"


async def test_a_tick_means_the_day_of_its_own_time_and_not_of_now() -> None:
    bench = fresh(catalogue(schedules=(schedule(start="23:30", end="06:00", deadline="12:00"),)))
    done = await started(bench, schedule_id="core", at=MORNING - 8.5 * HOUR)
    assert done.run.run_id == "core-2025-10-08"


async def test_a_second_start_reports_the_run_that_is_there() -> None:
    bench = fresh()
    first = await started(bench, schedule_id="core")
    await written(bench)
    second = await started(bench, schedule_id="core")
    assert (second.created, second.run.run_id) == (False, first.run.run_id)
    assert await bench.queue.depth(PLAN_QUEUE) == 0


async def test_two_starts_at_once_make_one_run() -> None:
    bench = fresh(catalogue(30))
    request = StartRequest(schedule_id="core")
    both = await bench.clock.run(together(bench.planner.start(request), bench.planner.start(request)))
    assert sorted(done.created for done in both) == [False, True]
    assert both[0].run.run_id == both[1].run.run_id
    await written(bench)
    assert len(bench.world.tasks.records) == 30


async def test_planning_writes_exactly_the_planned_tasks() -> None:
    bench = fresh(catalogue(700, platforms=(platform(), platform("kimi"))))
    await started(bench, schedule_id="core")
    run = await written(bench)
    assert run.plan_complete
    wanted = {task.task_id for task in tasks_of(run, bench.catalogue)}
    assert set(bench.world.tasks.records) == wanted
    assert len(wanted) == run.total == 1400
    assert set(bench.states()) == {State.PENDING}


async def test_planning_a_chunk_twice_plans_once_and_resets_no_record() -> None:
    bench = fresh(catalogue(30))
    await started(bench, schedule_id="core")
    run = await written(bench)
    claimed = replace(next(iter(bench.world.tasks.records.values())), state=State.PULLED, dispatch_no=4)
    bench.put(claimed)
    bench.set_run(chunks_done=frozenset())
    await bench.clock.run(bench.planner.chunk(PlanMessage(run.run_id, 0)))
    assert len(bench.world.tasks.records) == 30
    assert bench.record(claimed.task_id) == claimed


async def test_a_chunk_that_is_done_is_not_written_again() -> None:
    bench = fresh(catalogue(30))
    await started(bench, schedule_id="core")
    run = await written(bench)
    bench.world.tasks.records.clear()
    await bench.clock.run(bench.planner.chunk(PlanMessage(run.run_id, 0)))
    assert bench.world.tasks.records == {}


async def test_tasks_are_spread_evenly_over_what_is_left_of_the_window() -> None:
    bench = fresh(catalogue(100))
    await started(bench, schedule_id="core")
    run = await written(bench)
    due = sorted(task.planned_time for task in bench.world.tasks.records.values())
    spacing = (MORNING + 4 * HOUR - NOW - 20) / 100
    assert run.spacing == {"openai": pytest.approx(spacing)}
    assert due[0] == NOW + 20
    assert due[-1] == pytest.approx(NOW + 20 + 99 * spacing, abs=1e-3)


async def test_a_plan_that_cannot_end_in_time_says_by_how_much_and_drops_nothing() -> None:
    # Two slots and calls of 40 s: 90 % of one call in 20 s, 22.2 s apart.
    given = catalogue(1000, platforms=(platform(in_flight=2),))
    done = await started(fresh(given), schedule_id="core")
    last = NOW + 20 + 999 * 20 / 0.9
    assert done.run.planned == {"openai": 1000}
    assert done.run.late_by == {"openai": pytest.approx(last - (MORNING + 6 * HOUR), abs=0.1)}
    assert describe(done)["late_by_s"] == done.run.late_by


async def test_the_measured_hold_time_and_an_operators_rate_plan_the_next_run() -> None:
    bench = fresh(catalogue(1000))
    bench.set_control(hold_s=0.5, rate_override=1.0)
    bench.world.clock._now = MORNING + 4 * HOUR  # the window is over: as fast as allowed
    done = await started(bench, schedule_id="core")
    assert done.run.spacing == {"openai": pytest.approx(1 / 0.9)}


async def test_a_labelled_run_begins_now_and_does_not_stand_in_for_the_day() -> None:
    bench = fresh(catalogue(10))
    done = await started(bench, label="try", selection=Selection(limit=5))
    assert (done.run.run_id, done.run.schedule_id, done.run.total) == ("try", None, 5)
    assert (done.run.window_start, done.run.deadline) == (NOW + 20, NOW + 6 * HOUR)
    assert done.run.spacing == {"openai": pytest.approx(1 / (0.9 * 0.25))}  # ten slots, 40 s a call
    assert (await started(bench, schedule_id="core")).created


async def test_a_filtered_run_without_a_label_is_named_after_the_time() -> None:
    done = await started(fresh(), selection=Selection(limit=3))
    assert done.run.run_id == "adhoc-20251009t085320z"


async def test_a_schedules_brands_are_the_runs() -> None:
    given = catalogue(4, schedules=(schedule(brands=("acme",), priority="high"),))
    done = await started(fresh(given), schedule_id="core")
    assert (done.run.selection.brands, done.run.priority) == (("acme",), "high")


@pytest.mark.parametrize(
    ("given", "request_fields", "message"),
    [
        (None, {"schedule_id": "core"}, "no catalogue has been pushed yet"),
        (catalogue(schedules=()), {}, "the monitor has no schedule"),
        (catalogue(), {"schedule_id": "nightly"}, "there is no schedule 'nightly'; the catalogue has: core"),
        (catalogue(), {"selection": Selection(questions=("none",))}, "nothing to ask"),
        (
            catalogue(),
            {"schedule_id": "core", "date": "2025-10-08"},
            "run core-2025-10-08 was due until 2025-10-08 14:00 UTC",
        ),
    ],
)
async def test_what_cannot_be_started_says_why(
    given: Catalogue | None, request_fields: dict[str, object], message: str
) -> None:
    bench = fresh(given)
    if given is None:
        bench.catalogues.current_version = None
    with pytest.raises(CannotStart, match=message):
        await started(bench, **request_fields)
    assert bench.world.runs.runs == {}


async def test_a_platform_without_a_worker_cannot_be_asked() -> None:
    bench = fresh()
    bench.deployment = StatedDeployment()
    with pytest.raises(CannotStart, match="platform 'openai' has no deployed worker"):
        await started(bench, schedule_id="core")


async def test_a_start_after_a_refused_one_plans_the_catalogue_that_was_pushed_meanwhile() -> None:
    bench = fresh(catalogue(10))
    deployed, bench.deployment.deployed = bench.deployment.deployed, ()
    with pytest.raises(CannotStart):
        await started(bench, schedule_id="core")
    bench.deployment.deployed = deployed
    bench.catalogues.push(catalogue(25, version="v2"))
    done = await started(bench, schedule_id="core")
    assert (done.run.catalogue_version, done.run.total) == ("v2", 25)


async def test_a_queue_that_refuses_leaves_the_chunks_to_the_dispatcher() -> None:
    bench = fresh(catalogue(6000))
    done = await bench.clock.run(
        bench.without(queue={"send": [Unavailable("no")]}).planner.start(StartRequest(schedule_id="core"))
    )
    assert (done.created, done.run.chunks) == (True, 12)
    assert await bench.queue.depth(PLAN_QUEUE) == 2  # the second ten were still asked for


async def test_a_resumed_plan_asks_for_what_is_missing_only() -> None:
    bench = MemoryBench.new(plan_complete=False, chunks=5, chunks_done=frozenset({0, 3}))
    await bench.planner.resume(bench.run.run_id)
    messages = [PlanMessage.decode(m.body).chunk for m in await bench.queue.receive(PLAN_QUEUE, 10)]
    assert messages == [1, 2, 4]
    assert bench.world.runs.runs[bench.run.run_id].plan_progress_at == NOW


async def test_two_resumes_at_once_ask_once() -> None:
    bench = MemoryBench.new(plan_complete=False, chunks=5)
    await bench.clock.run(together(bench.planner.resume(bench.run.run_id), bench.planner.resume(bench.run.run_id)))
    assert await bench.queue.depth(PLAN_QUEUE) == 5


async def test_a_plan_whose_last_mark_was_its_planners_last_deed_is_completed() -> None:
    bench = MemoryBench.new(plan_complete=False, chunks=2, chunks_done=frozenset({0, 1}))
    await bench.planner.resume(bench.run.run_id)
    assert bench.world.runs.runs[bench.run.run_id].plan_complete


async def test_a_complete_plan_or_an_unknown_run_is_not_resumed() -> None:
    bench = MemoryBench.new()
    await bench.planner.resume(bench.run.run_id)
    await bench.planner.resume("unknown")
    assert await bench.queue.depth(PLAN_QUEUE) == 0


async def test_a_cancelled_run_is_still_planned_to_its_end() -> None:
    bench = fresh(catalogue(30))
    await started(bench, schedule_id="core")
    bench.run = next(iter(bench.world.runs.runs.values()))
    bench.set_run(cancelled_at=NOW)
    assert (await written(bench)).plan_complete
    assert len(bench.world.tasks.records) == 30


async def test_tasks_due_at_once_call_the_dispatcher_and_later_ones_do_not() -> None:
    soon, late = fresh(catalogue(30)), fresh(catalogue(30, schedules=(schedule(start="10:00"),)))
    for bench in (soon, late):
        await started(bench, schedule_id="core", date="2025-10-09")
        await written(bench)
    assert soon.functions.take() == [("dispatcher", {"new_tasks": True})]
    assert late.functions.take() == []


async def test_a_dispatcher_that_cannot_be_called_does_not_leave_the_plan_incomplete() -> None:
    bench = fresh(catalogue(30))
    await started(bench, schedule_id="core")
    with pytest.raises(Unavailable):
        await bench.clock.run(
            bench.without(functions={"invoke": [Unavailable("no")]}).planner.chunk(PlanMessage("core-2025-10-09", 0))
        )
    assert next(iter(bench.world.runs.runs.values())).plan_complete


async def test_a_chunk_is_written_no_faster_than_150_puts_a_second_and_platform() -> None:
    bench = fresh(catalogue(300, schedules=(schedule(start="10:00"),)))
    await started(bench, schedule_id="core", date="2025-10-09")
    began = bench.clock.now()
    await written(bench)
    assert bench.clock.now() - began == pytest.approx(2.0)


async def test_a_table_that_refuses_brings_the_chunk_again() -> None:
    bench = fresh(catalogue(30))
    await started(bench, schedule_id="core")
    refusing = bench.without(tasks={"create": [Unavailable("no")] * 91})  # all 30, then each three times
    with pytest.raises(Unavailable):
        await bench.clock.run(refusing.planner.chunk(PlanMessage("core-2025-10-09", 0)))
    assert not next(iter(bench.world.runs.runs.values())).chunks_done


async def test_a_put_that_fails_is_tried_again_by_itself() -> None:
    bench = fresh(catalogue(30))
    await started(bench, schedule_id="core")
    failing = bench.without(
        tasks={"create": [Unavailable("no"), None, Unavailable("no")]}
    )  # all 30, and the second of them
    await bench.clock.run(failing.planner.chunk(PlanMessage("core-2025-10-09", 0)))
    assert next(iter(bench.world.runs.runs.values())).chunks_done == {0}
    assert len(bench.world.tasks.records) == 30


async def test_a_chunk_of_an_unknown_run_is_done_with() -> None:
    bench = fresh()
    await bench.planner.chunk(PlanMessage("unknown", 0))
    assert bench.world.tasks.records == {}


async def test_a_run_of_its_own_ends_its_window_with_its_last_task() -> None:
    bench = MemoryBench.new(plan=False)
    started = await bench.clock.run(bench.planner.start(StartRequest(label="now")))
    run = started.run
    assert run.window_start == NOW + 20
    last = max((run.planned[name] - 1) * run.spacing[name] for name in run.planned)
    assert run.window_end == pytest.approx(run.window_start + last)


async def test_a_chunk_is_marked_though_a_person_has_begun_another_pass_meanwhile() -> None:
    bench = fresh(catalogue(30))
    await started(bench, schedule_id="core")
    name = next(iter(bench.world.runs.runs))
    put = bench.world.tasks.create

    async def opened_meanwhile(tasks: Any) -> int:
        new = await put(tasks)
        run = bench.world.runs.runs[name]
        bench.world.runs.runs[name] = replace(run, pass_no=run.pass_no + 1)
        return new

    bench.world.tasks.create = opened_meanwhile  # type: ignore[method-assign]
    await bench.clock.run(bench.planner.chunk(PlanMessage(name, 0)))
    assert bench.world.runs.runs[name].chunks_done == {0}
