"""One tick of the dispatcher: what is due soon goes on its queue, in its second, and no more than can be served."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from brandvane.control import Control, Pause
from brandvane.engine.dispatch import LEASE, Tick
from brandvane.engine.send import delay_until
from brandvane.ports import Envelope, Unavailable
from brandvane.run import RunState
from brandvane.task import State, Task
from builders import NOW, catalogue, placed, platform, schedule, tasks_of, together
from engine_rig import MemoryBench

QUEUE = "calls-openai"


def pending(bench: MemoryBench, number: int, *, every: float = 0.0, start: float = 0.0, **fields: Any) -> list[Task]:
    """The run's first tasks, planned ``every`` seconds from ``start`` on."""
    made = []
    for place, task in enumerate(tasks_of(bench.run, bench.catalogue)[:number]):
        due = NOW + start + place * every
        made.append(placed(task, State.PENDING, next_execute_time=due, planned_time=due, act_at=due, **fields))
    bench.put(*made)
    return made


async def ticked(bench: MemoryBench) -> Tick:
    """One tick."""
    tick: Tick = await bench.clock.run(bench.dispatcher.tick())
    return tick


async def test_what_is_due_within_75_seconds_is_sent_for_its_second_and_marked() -> None:
    bench = MemoryBench.new()
    made = pending(bench, 5, every=25.0)
    tick = await ticked(bench)
    assert tick.sent == {"openai": 4}
    assert [bench.record(task.task_id).state for task in made] == [State.DISPATCHED] * 4 + [State.PENDING]
    assert bench.record(made[3].task_id).act_at == NOW + 75 + 600
    assert sorted(m.visible_at - NOW for m in bench.queue._queue(QUEUE).messages.values()) == [0, 24, 49, 74]


async def test_a_message_says_task_number_and_instant() -> None:
    bench = MemoryBench.new()
    (task,) = pending(bench, 1, start=0.75, dispatch_no=4)
    await ticked(bench)
    (message,) = bench.queue._queue(QUEUE).messages.values()
    assert json.loads(message.body) == {
        "v": 1,
        "task_id": task.task_id,
        "run_id": task.run_id,
        "dispatch_no": 4,
        "due": NOW + 0.75,
    }


@pytest.mark.parametrize(("ahead", "delay"), [(-5, 0), (1.99, 0), (2.0, 1), (61.7, 60), (901, 900), (5000, 900)])
def test_a_message_comes_one_to_two_seconds_early_and_never_late(ahead: float, delay: int) -> None:
    assert delay_until(NOW + ahead, NOW) == delay


async def test_nothing_is_marked_before_the_queue_has_confirmed_it() -> None:
    bench = MemoryBench.new()
    made = pending(bench, 3)

    class Half:
        """Confirms the first of each batch."""

        async def send(self, queue: str, envelopes: list[Any]) -> frozenset[str]:
            """What a batch that failed in part says."""
            return frozenset([envelopes[0].id])

        async def depth(self, _queue: str, held_most: int | None = None) -> int:
            """Nothing there."""
            return 0

    bench.queue = Half()
    assert (await ticked(bench)).sent == {"openai": 1}
    assert Counter(bench.record(task.task_id).state for task in made) == {State.PENDING: 2, State.DISPATCHED: 1}
    assert bench.telemetry.counts["NotSent", "openai"] == 2


async def test_a_queue_that_refuses_leaves_all_pending() -> None:
    bench = MemoryBench.new()
    pending(bench, 3)
    tick = await bench.clock.run(bench.without(queue={"send": [Unavailable("no")]}).dispatcher.tick())
    assert (tick.sent, set(bench.states())) == ({"openai": 0}, {State.PENDING})


async def test_a_mark_that_cannot_be_written_leaves_the_record_pending_and_the_message_counts() -> None:
    bench = MemoryBench.new()
    pending(bench, 1)
    await bench.clock.run(bench.without(tasks={"move": [Unavailable("no")]}).dispatcher.tick())
    assert bench.states() == [State.PENDING]
    records = await bench.queue.receive(QUEUE, 1)
    await bench.clock.run(bench.work(records))
    assert bench.states() == [State.DONE]


async def test_no_more_is_sent_than_can_be_served_until_the_next_tick() -> None:
    given = catalogue(200, platforms=(platform(rate=1.0),))
    bench = MemoryBench.new(given)
    pending(bench, 200)
    assert (await ticked(bench)).sent == {"openai": 75 + 20}  # 75 s at one a second, and 2 x 10 slots
    assert (await ticked(bench)).sent == {"openai": 0}
    (message, *_) = await bench.queue.receive(QUEUE, 1)
    await bench.queue.delete(QUEUE, message.receipt)
    assert (await ticked(bench)).sent == {"openai": 1}


async def test_an_operators_rate_says_how_much_can_be_served() -> None:
    bench = MemoryBench.new(catalogue(200))
    bench.set_control(rate_override=0.1)
    pending(bench, 200)
    assert (await ticked(bench)).sent == {"openai": 8 + 20}


@pytest.mark.parametrize(("factor", "ahead"), [(0.45, 38), (0.05, 8), (1.0, 75)])
async def test_a_rate_that_a_429_has_lowered_is_sent_no_more_than_it_serves(factor: float, ahead: int) -> None:
    bench = MemoryBench.new(catalogue(200, platforms=(platform(rate=1.0),)))
    bench.set_control(factor=factor)
    pending(bench, 200)
    assert (await ticked(bench)).sent == {
        "openai": ahead + 20
    }  # 75 s at what the next minute restores (5 %), and 2 x 10 slots


async def priorities(**numbers: int) -> Counter[str]:
    """What of so many due tasks of each priority a tick sends that has room for 95."""
    bench = MemoryBench.new(catalogue(400, platforms=(platform(rate=1.0),)))
    made = tasks_of(bench.run, bench.catalogue)
    place = 0
    for priority, number in numbers.items():
        for task in made[place : place + number]:
            bench.put(placed(task, State.PENDING, priority=priority))
        place += number
    await ticked(bench)
    sent = [task for task in bench.world.tasks.records.values() if task.state is State.DISPATCHED]
    return Counter(task.priority for task in sent)


async def test_high_priority_goes_first_and_low_gets_a_tenth() -> None:
    assert await priorities(high=100, normal=100, low=100) == {"high": 85, "low": 10}


async def test_what_high_leaves_goes_to_normal_and_then_to_low() -> None:
    assert await priorities(high=50, normal=20, low=100) == {"high": 50, "normal": 20, "low": 25}


async def test_without_low_ones_nothing_is_kept_for_them() -> None:
    assert await priorities(high=10, normal=200) == {"high": 10, "normal": 85}


async def test_of_one_priority_the_earliest_go_first() -> None:
    bench = MemoryBench.new(catalogue(200, platforms=(platform(rate=1.0),)))
    made = pending(bench, 200, every=-1.0)
    await ticked(bench)
    assert {bench.record(task.task_id).state for task in made[105:]} == {State.DISPATCHED}
    assert {bench.record(task.task_id).state for task in made[:105]} == {State.PENDING}


async def test_a_paused_platform_gets_nothing_and_the_others_theirs() -> None:
    given = catalogue(5, platforms=(platform(), platform("kimi")))
    bench = MemoryBench.new(given)
    pending(bench, 10)
    bench.world.control.items["openai"] = Control("openai", paused=Pause("auth_error", "worker", NOW))
    assert (await ticked(bench)).sent == {"openai": 0, "kimi": 5}


async def test_a_pause_that_is_over_pauses_nobody() -> None:
    bench = MemoryBench.new()
    pending(bench, 1)
    bench.set_control(paused=Pause("quota_exhausted", "worker", NOW - 60, NOW))
    assert (await ticked(bench)).sent == {"openai": 1}


async def test_a_paused_target_waits_and_does_not_keep_the_other_from_its_turn() -> None:
    given = catalogue(300, platforms=(platform(rate=0.1, models=("m1", "m2")),))
    bench = MemoryBench.new(given)
    made = pending(bench, 600)
    # Far more tasks of the paused model are due, and for longer, than a tick has room for.
    bench.put(*(replace(task, act_at=NOW - 500) for task in made if task.model == "m1"))
    bench.set_control(targets={"openai/m1": Pause("model_gone", "worker", NOW)})
    assert (await ticked(bench)).sent == {"openai": 28}
    sent = [task for task in bench.world.tasks.records.values() if task.state is State.DISPATCHED]
    assert {task.model for task in sent} == {"m2"}


@pytest.mark.parametrize("final", [{"deadline": NOW}, {"cancelled_at": NOW - 1}])
async def test_a_final_run_is_left_alone(final: dict[str, Any]) -> None:
    bench = MemoryBench.new(**final)
    pending(bench, 3)
    assert (await ticked(bench)).sent == {"openai": 0}


async def test_only_one_dispatcher_works_at_a_time() -> None:
    bench = MemoryBench.new()
    made = pending(bench, 10)
    other = bench.without()
    ticks = await bench.clock.run(together(bench.dispatcher.tick(), other.dispatcher.tick()))
    assert sorted(tick.busy for tick in ticks) == [False, True]
    assert await bench.queue.depth(QUEUE) == len(made)


async def test_the_lease_is_given_back_also_after_a_fault() -> None:
    bench = MemoryBench.new()
    with pytest.raises(Unavailable):
        await bench.clock.run(bench.without(catalogues={"current": [Unavailable("no")]}).dispatcher.tick())
    assert bench.world.control.leases == {}


async def test_a_lease_of_a_dispatcher_that_died_ends_after_50_seconds() -> None:
    bench = MemoryBench.new()
    await bench.controls.acquire(LEASE, "dead", NOW, 50.0)
    assert (await ticked(bench)).busy
    await bench.clock.advance(50)
    assert not (await ticked(bench)).busy


@pytest.mark.parametrize("fault", [Unavailable("no"), RuntimeError("no such queue")])
async def test_a_platform_that_cannot_be_served_does_not_keep_the_others_from_it(fault: Exception) -> None:
    given = catalogue(5, platforms=(platform(), platform("kimi")))
    bench = MemoryBench.new(given)
    pending(bench, 10)
    tick = await bench.clock.run(bench.without(queue={"depth": [fault]}).dispatcher.tick())
    assert sorted(tick.sent.values()) == [0, 5]
    assert len(bench.telemetry.named("platform_not_dispatched")) == 1


async def test_a_platform_that_the_catalogue_has_no_more_is_served_still() -> None:
    bench = MemoryBench.new(catalogue(5, platforms=(platform(), platform("kimi"))))
    pending(bench, 10)
    bench.catalogues.push(catalogue(5, version="v2"))
    assert (await ticked(bench)).sent == {"openai": 5, "kimi": 5}


async def test_without_a_catalogue_there_is_nothing_to_start() -> None:
    bench = MemoryBench.new()
    bench.catalogues.current_version = None
    assert await ticked(bench) == Tick({"openai": 0})


async def test_a_run_that_is_due_for_two_minutes_and_has_no_item_is_given_to_the_planner() -> None:
    bench = MemoryBench.new(plan=False)
    tick = await ticked(bench)
    event = {"start": {"schedule_id": "core", "date": "2025-10-09"}}
    assert tick.started == ("core-2025-10-09",)
    assert bench.functions.take() == [("planner", event)]


@pytest.mark.parametrize(("start", "deadline"), [("08:52", "14:00"), ("08:00", "08:53"), ("09:00", "14:00")])
async def test_a_run_is_not_started_before_two_minutes_nor_after_its_deadline(start: str, deadline: str) -> None:
    given = schedule(start=start, end="12:00" if deadline == "14:00" else "08:30", deadline=deadline)
    bench = MemoryBench.new(catalogue(schedules=(given,)), plan=False)
    assert (await ticked(bench)).started == ()


async def test_a_run_that_is_there_is_not_started_again() -> None:
    bench = MemoryBench.new()
    assert (await ticked(bench)).started == ()


@pytest.mark.parametrize("state", [RunState.OPEN, RunState.CANCELLED])
async def test_a_plan_that_stands_still_for_two_minutes_is_resumed(state: RunState) -> None:
    bench = MemoryBench.new(plan_complete=False, plan_progress_at=NOW - 120, state=state)
    tick = await ticked(bench)
    assert tick.resumed == ("core-2025-10-09",)
    assert bench.functions.take() == [("planner", {"resume": "core-2025-10-09"})]


@pytest.mark.parametrize(
    "fields", [{"plan_progress_at": NOW - 119}, {"plan_complete": True, "plan_progress_at": NOW - 500}]
)
async def test_a_plan_that_moves_or_is_complete_is_not_resumed(fields: dict[str, Any]) -> None:
    bench = MemoryBench.new(**{"plan_complete": False, **fields})
    assert (await ticked(bench)).resumed == ()


async def test_more_than_ten_are_sent_in_tens() -> None:
    bench = MemoryBench.new()
    sizes: list[int] = []
    send = bench.world.queue.send

    async def counting(queue: str, envelopes: Any) -> frozenset[str]:
        sizes.append(len(envelopes))
        return await send(queue, envelopes)

    bench.world.queue.send = counting  # type: ignore[method-assign]
    pending(bench, 20)
    assert (await ticked(bench)).sent == {"openai": 20}
    assert sizes == [10, 10]


async def test_a_partition_that_is_refused_does_not_keep_the_others_from_their_turn() -> None:
    bench = MemoryBench.new()
    made = pending(bench, 20)
    one = sum(1 for task in made if task.watch == "openai#PENDING#normal#0")
    faults = [None] * 4 + [Unavailable("hot partition")]  # the four of high, then the first of normal
    tick = await bench.clock.run(bench.without(tasks={"due": faults}).dispatcher.tick())
    assert tick.sent == {"openai": 20 - one}


async def test_one_who_knows_of_new_tasks_waits_for_the_dispatcher_at_work() -> None:
    bench = MemoryBench.new()
    pending(bench, 1)
    await bench.world.control.acquire("dispatcher", "another", NOW, 5.0)
    tick = await bench.clock.run(bench.dispatcher.tick(20.0))
    assert (tick.busy, tick.sent) == (False, {"openai": 1})
    assert bench.clock.now() == NOW + 5


async def test_messages_of_workers_that_died_take_no_room() -> None:
    bench = MemoryBench.new()
    pending(bench, 5)
    await bench.queue.send(QUEUE, [Envelope(str(n), "{}") for n in range(10)] * 90)
    while await bench.queue.receive(QUEUE, 10):
        pass
    assert (await ticked(bench)).sent == {"openai": 5}
