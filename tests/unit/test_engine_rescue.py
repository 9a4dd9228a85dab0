"""What the scanner does with a record whose time has come: every state, and nothing before its time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane.messages import WRITEBACK_QUEUE, WriteBackMessage
from brandvane.policy import ErrorKind
from brandvane.ports import Unavailable, Watched
from brandvane.task import Outcome, State, Task
from builders import NOW, failure, placed
from engine_rig import MemoryBench

HELD = [State.DISPATCHED, State.PULLED, State.RUNNING, State.WRITEBACK]


def overdue(bench: MemoryBench, state: State, **fields: Any) -> Task:
    """A record whose ``act_at`` passed 100 s ago."""
    (task,) = bench.waiting(1, state, **{"act_at": NOW - 100, "dispatch_no": 3, **fields})
    return task


def entry(task: Task, **fields: Any) -> Watched:
    """What the index says of it."""
    given = {name: getattr(task, name) for name in Watched.__dataclass_fields__}
    return Watched(**(given | fields))


async def acted(bench: MemoryBench, task: Task, **stale: Any) -> Task:
    """The scanner acts on an entry; the record after it."""
    bench.rescuer.begin()
    await bench.clock.run(bench.rescuer.act(entry(task, **stale)))
    return bench.record(task.task_id)


async def test_a_message_that_never_arrived_is_planned_anew_under_the_same_number() -> None:
    bench = MemoryBench.new()
    record = await acted(bench, overdue(bench, State.DISPATCHED))
    assert (record.state, record.dispatch_no, record.next_execute_time) == (State.PENDING, 3, NOW)
    assert (record.retry_count, record.give_backs) == (0, 0)


async def test_a_claimed_task_that_was_not_begun_is_given_back() -> None:
    bench = MemoryBench.new()
    record = await acted(bench, overdue(bench, State.PULLED, retry_count=1))
    assert (record.state, record.dispatch_no, record.give_backs, record.retry_count) == (State.PENDING, 4, 1, 1)


async def test_the_tenth_give_back_ends_the_task_as_poison() -> None:
    bench = MemoryBench.new()
    record = await acted(bench, overdue(bench, State.PULLED, give_backs=8))
    assert (record.state, record.give_backs) == (State.PENDING, 9)
    record = await acted(bench, overdue(bench, State.PULLED, give_backs=9))
    (row,) = bench.rows()
    assert (record.state, row.outcome, row.error_kind) == (State.FAILED, Outcome.POISON, "poison")


async def test_a_lost_lease_is_a_retry_and_is_counted_as_a_global_timeout() -> None:
    bench = MemoryBench.new()
    record = await acted(bench, overdue(bench, State.RUNNING, started_at=NOW - 175))
    assert (record.state, record.dispatch_no, record.retry_count, record.error_kind) == (State.PENDING, 4, 1, "timeout")
    assert NOW + 10 <= record.next_execute_time <= NOW + 15
    assert record.attempt_id == "planned-0"
    assert bench.telemetry.counts["GlobalTimeouts", None] == 1


async def test_the_last_lost_lease_ends_the_task_as_timeout() -> None:
    bench = MemoryBench.new()
    record = await acted(bench, overdue(bench, State.RUNNING, retry_count=3, started_at=NOW - 175, paid_calls=4))
    (row,) = bench.rows()
    assert (record.state, row.outcome, row.error_kind, row.paid_calls) == (State.FAILED, Outcome.TIMEOUT, "timeout", 4)


async def test_a_lease_lost_after_the_deadline_ends_the_task_as_expired() -> None:
    bench = MemoryBench.new(deadline=NOW - 10)
    await acted(bench, overdue(bench, State.RUNNING, started_at=NOW - 175))
    assert [row.outcome for row in bench.rows()] == [Outcome.EXPIRED]


async def test_a_lease_lost_in_a_cancelled_run_ends_the_task_as_cancelled() -> None:
    bench = MemoryBench.new(cancelled_at=NOW - 50)
    await acted(bench, overdue(bench, State.RUNNING, started_at=NOW - 175))
    assert [row.outcome for row in bench.rows()] == [Outcome.CANCELLED]
    assert bench.telemetry.counts["GlobalTimeouts", None] == 0


async def test_the_run_is_read_anew_before_a_lost_lease_ends_its_task() -> None:
    bench = MemoryBench.new(deadline=NOW - 10)
    await bench.reader.get(bench.run.run_id)
    bench.set_run(deadline=NOW + 3600)
    record = await acted(bench, overdue(bench, State.RUNNING, started_at=NOW - 175))
    assert record.state is State.PENDING


async def test_an_outcome_that_waits_for_its_row_is_put_on_the_queue_every_sweep() -> None:
    bench = MemoryBench.new()
    task = overdue(bench, State.WRITEBACK, answer=b"packed")
    record = await acted(bench, task)
    assert (record.state, record.act_at, record.write_backs) == (State.WRITEBACK, NOW + 20, 0)
    (message,) = await bench.queue.receive(WRITEBACK_QUEUE, 10)
    sent = WriteBackMessage.decode(message.body)
    assert (sent.task_id, sent.attempt_id, sent.carried) == (task.task_id, task.attempt_id, None)
    await bench.write_back.handle(sent)
    assert bench.states() == [State.DONE]


async def test_a_reminded_write_back_that_fails_waits_for_the_next_sweep_and_not_for_the_queue() -> None:
    bench = MemoryBench.new()
    task = overdue(bench, State.WRITEBACK)
    await acted(bench, task)
    faulty = bench.without(results={"put": [Unavailable("no")]})
    await faulty.write_backs()
    assert await bench.queue.depth(WRITEBACK_QUEUE) == 0
    assert bench.record(task.task_id).act_at == NOW + 20


@pytest.mark.parametrize("state", HELD)
async def test_nothing_is_done_before_act_at_has_passed_by_two_seconds(state: State) -> None:
    bench = MemoryBench.new()
    task = overdue(bench, state, act_at=NOW - 1.9)
    assert await acted(bench, task) == task
    await bench.clock.advance(0.1)
    assert await acted(bench, task) != task


@pytest.mark.parametrize("state", HELD)
async def test_an_entry_that_is_stale_does_nothing(state: State) -> None:
    bench = MemoryBench.new()
    task = overdue(bench, state)
    assert await acted(bench, task, act_at=NOW - 101) == task


@pytest.mark.parametrize("state", HELD)
async def test_a_record_that_moves_between_the_reading_and_the_move_is_left_alone(state: State) -> None:
    bench = MemoryBench.new()
    task = overdue(bench, state, started_at=NOW - 175)
    moved = replace(task, act_at=NOW + 60)
    get = bench.world.tasks.get

    async def then_it_moves(task_id: str) -> Task | None:
        found = await get(task_id)
        bench.put(moved)
        return found

    bench.world.tasks.get = then_it_moves  # type: ignore[method-assign]
    assert await acted(bench, task) == moved
    assert (bench.rows(), bench.telemetry.counts["GlobalTimeouts", None]) == ([], 0)
    assert await bench.queue.depth(WRITEBACK_QUEUE) == 0


@pytest.mark.parametrize("state", [State.PENDING, State.DONE, State.FAILED])
async def test_records_that_nobody_holds_are_left_alone(state: State) -> None:
    bench = MemoryBench.new()
    task = overdue(bench, state)
    bench.put(replace(task, act_at=NOW - 100))
    before = bench.record(task.task_id)
    assert await acted(bench, task, act_at=NOW - 100, watch="w") == before


async def test_a_record_that_is_gone_does_nothing() -> None:
    bench = MemoryBench.new()
    task = overdue(bench, State.RUNNING)
    bench.world.tasks.records.clear()
    await bench.clock.run(bench.rescuer.act(entry(task)))


async def waiting_answers(bench: MemoryBench) -> None:
    """Something is on the write-back queue."""
    await bench.write_back.remind(placed(overdue(bench, State.WRITEBACK), State.WRITEBACK), 1, 0)


async def test_while_answers_may_wait_in_the_write_back_queue_a_lease_runs_on() -> None:
    bench = MemoryBench.new()
    await waiting_answers(bench)
    record = await acted(bench, overdue(bench, State.RUNNING, started_at=NOW - 175))
    assert (record.state, record.act_at, record.retry_count) == (State.RUNNING, NOW + 60, 0)
    assert bench.telemetry.counts["GlobalTimeouts", None] == 0


@pytest.mark.parametrize(("started", "state"), [(1199, State.RUNNING), (1200, State.PENDING)])
async def test_but_not_for_more_than_15_minutes(started: float, state: State) -> None:
    bench = MemoryBench.new()
    await waiting_answers(bench)
    record = await acted(bench, overdue(bench, State.RUNNING, started_at=NOW - started))
    assert record.state is state


async def test_the_write_back_queue_is_asked_once_a_sweep() -> None:
    bench = MemoryBench.new()
    asked: list[str] = []
    depth = bench.world.queue.depth

    async def counting(queue: str, held_most: int | None = None) -> int:
        asked.append(queue)
        return await depth(queue, held_most)

    bench.world.queue.depth = counting  # type: ignore[method-assign]
    tasks = bench.waiting(3, State.RUNNING, act_at=NOW - 100, started_at=NOW - 175)
    bench.rescuer.begin()
    for task in tasks:
        await bench.clock.run(bench.rescuer.act(entry(task)))
    assert asked == [WRITEBACK_QUEUE]
    bench.rescuer.begin()
    (again,) = bench.waiting(1, State.RUNNING, act_at=NOW - 100, started_at=NOW - 175)
    await bench.clock.run(bench.rescuer.act(entry(again)))
    assert asked == [WRITEBACK_QUEUE] * 2


async def test_a_worker_that_fails_after_the_scanner_has_rescued_changes_nothing_more() -> None:
    bench = MemoryBench.new()
    task = overdue(bench, State.RUNNING, started_at=NOW - 175)
    rescued = await acted(bench, task)
    await bench.clock.run(bench.delivery.take(task, 0, failure(ErrorKind.CLIENT_ERROR)))
    assert bench.record(task.task_id) == rescued
    assert bench.rows() == []
