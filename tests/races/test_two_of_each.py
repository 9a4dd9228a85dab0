"""Two planners, two dispatchers, a fleet of workers at one limit: as if there were one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from brandvane.engine.plan import StartRequest
from brandvane.expansion import Expansion, planned_ids
from brandvane.messages import PLAN_QUEUE, PlanMessage, calls_queue
from brandvane.pacing import Grant, Limits, Want
from brandvane.task import State
from builders import PLATFORM, together
from races.stage import Stage, at_some_moment


async def chunks(stage: Stage) -> list[PlanMessage]:
    """What is on the plan queue."""
    bench = stage.engine()
    found = await bench.queue.receive(PLAN_QUEUE, 100)
    return [PlanMessage.decode(each.body) for each in found]


async def test_two_planners_at_once_plan_one_run(stage: Stage) -> None:
    planners = [stage.engine(), stage.engine(), stage.engine()]
    done = await together(*(bench.planner.start(StartRequest(label="one")) for bench in planners))
    assert sorted(each.created for each in done) == [False, False, True]
    assert len({(each.run.run_id, each.run.created_at, each.run.seed) for each in done}) == 1
    (message,) = await chunks(stage)
    # Both write the chunk at once; a third one does it once more.
    await together(planners[0].planner.chunk(message), planners[1].planner.chunk(message))
    await planners[2].planner.chunk(message)
    run = done[0].run
    wanted = set(planned_ids("one", Expansion(stage.catalogue, run.selection, run.priority, run.seed)))
    found = [
        e for shard in range(4) for e in await planners[0].tasks.due(f"{PLATFORM}#PENDING#normal#{shard}", 1e11, 99)
    ]
    assert Counter(entry.task_id for entry in found) == Counter(wanted)
    run = await planners[0].runs.get("one")
    assert (run.plan_complete, run.total, run.chunks_done) == (True, len(wanted), frozenset({0}))


async def test_a_planner_that_died_half_way_is_taken_over_without_a_task_lost_or_doubled(stage: Stage) -> None:
    first, second = stage.engine(), stage.engine()
    done = await first.planner.start(StartRequest(label="one"))
    (message,) = await chunks(stage)
    tasks = first.planner._tasks_of(done.run, stage.catalogue, 0)
    await first.tasks.create(tasks[:11])  # then it died: 0 < records < planned
    first_records = {task.task_id: task for task in tasks[:11]}
    claimed = next(iter(first_records.values()))
    await stage.engine().sender.send_one(claimed)
    await second.runs.change("one", {}, {"plan_progress_at": 0.0})
    tick = await second.dispatcher.tick()
    assert tick.resumed == ("one",)
    assert second.functions.take() == [("planner", {"resume": "one"})]
    await second.planner.resume("one")
    await second.planner.chunk(message)
    records = await stage.records(tasks)
    assert len(records) == done.run.total == len(tasks)
    assert {r.attempt_id for r in records if r.task_id in first_records} == {
        t.attempt_id for t in first_records.values()
    }
    assert (await second.runs.get("one")).plan_complete


async def test_two_dispatchers_at_once_send_each_task_once(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(20, State.PENDING)
    ticks = await together(*(bench.dispatcher.tick() for bench in (stage.engine(), stage.engine(), stage.engine())))
    sent = sum(tick.sent.get(PLATFORM, 0) for tick in ticks)
    assert sent == 20
    assert sum(not tick.busy for tick in ticks) >= 1
    assert {record.state for record in await stage.records(tasks)} == {State.DISPATCHED}
    assert await stage.engine().queue.depth(calls_queue(PLATFORM)) == 20


@pytest.mark.parametrize("rate", [20.0, 200.0])
async def test_a_fleet_that_reserves_at_once_gets_slots_an_interval_apart(stage: Stage, rate: float) -> None:
    fleet = [stage.engine() for _ in range(4)]
    limits = Limits(rate=rate)
    now = fleet[0].clock.now()

    async def batches(number: int) -> list[float]:
        starts: list[float] = []
        for _ in range(4):
            wants = [Want(now, now + 900)] * 3
            granted = await at_some_moment(
                fleet[number].limiter.reserve(PLATFORM, limits, wants, f"{PLATFORM}/m1"), 0.01
            )
            assert isinstance(granted, Grant)
            starts += granted.starts
        return starts

    starts = sorted(start for each in await together(*(batches(n) for n in range(4))) for start in each)
    interval = 1 / (rate * 0.97)
    assert len(starts) == 4 * 4 * 3
    assert min(after - before for before, after in pairwise(starts)) >= interval - 1e-6  # what a float holds of a time
    control = await fleet[0].limiter.read(PLATFORM)
    assert control.clock == pytest.approx(starts[-1] + interval)
    assert control.day_calls == 48


async def test_429s_of_one_epoch_at_many_workers_halve_the_rate_once(stage: Stage) -> None:
    fleet = [stage.engine() for _ in range(4)]
    await together(*(bench.limiter.push(PLATFORM, 1000.0 + n, 0) for n, bench in enumerate(fleet)))
    control = await fleet[0].limiter.read(PLATFORM)
    assert (control.clock, control.epoch, control.factor) == (1003.0, 1, 0.5)


async def test_a_lease_has_one_holder(stage: Stage) -> None:
    fleet = [stage.engine() for _ in range(4)]
    now = fleet[0].clock.now()
    for number in range(8):
        got = await together(
            *(b.controls.acquire(f"lease-{number}", f"owner-{n}", now, 50) for n, b in enumerate(fleet))
        )
        assert sum(got) == 1
        again = await together(
            *(b.controls.acquire(f"lease-{number}", f"owner-{n}", now, 50) for n, b in enumerate(fleet))
        )
        assert again == got


async def test_a_run_is_finished_once_by_all_who_count_it(stage: Stage) -> None:
    stage.run = stage.run_now(planned={PLATFORM: 3})
    await stage.open_run()
    waiting = await stage.put(3, State.WRITEBACK, outcome="ok")
    fleet = [stage.engine() for _ in range(3)]
    await together(*(fleet[0].write_back.settle(task) for task in waiting))
    run = await fleet[0].runs.get(stage.run.run_id)
    await together(*(bench.advance.step(run, 0) for bench in fleet))
    asked = [name for bench in fleet for name, _ in bench.functions.take()]
    assert asked == ["scorer"]
