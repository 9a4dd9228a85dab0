"""A safe outcome becomes a row, and then the record is finished; retried until both hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane.messages import WRITEBACK_QUEUE, WriteBackMessage
from brandvane.ports import Envelope, Unavailable
from brandvane.result import row_of
from brandvane.task import Outcome, State, Task
from builders import NOW, Lost
from engine_rig import MemoryBench

NO = Unavailable("no")


def waiting(bench: MemoryBench, **fields: Any) -> Task:
    """A record whose answer is safe and not written yet."""
    (task,) = bench.waiting(1, State.WRITEBACK, act_at=NOW + 20, answer=b"packed", finished_at=NOW, **fields)
    return task


async def handled(bench: MemoryBench, task: Task, tries: int = 0) -> None:
    """The message that asks for its row."""
    await bench.write_back.handle(WriteBackMessage(task.task_id, task.run_id, task.attempt_id, tries))


async def test_the_row_is_written_before_the_record_is_finished() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    states: list[State] = []
    put = bench.world.results.put

    async def looking(row: Any) -> bool:
        states.append(bench.record(task.task_id).state)
        return await put(row)

    bench.world.results.put = looking  # type: ignore[method-assign]
    assert await bench.write_back.settle(task)
    assert (states, bench.states()) == ([State.WRITEBACK], [State.DONE])


async def test_a_row_says_everything_about_its_task() -> None:
    bench = MemoryBench.new()
    task = waiting(bench, retry_count=2, throttle_count=1, give_backs=3, paid_calls=4, started_at=NOW - 9)
    await bench.write_back.settle(task)
    (row,) = bench.rows()
    assert row == row_of(task, NOW)
    assert (row.retry_count, row.throttle_count, row.give_backs, row.paid_calls) == (2, 1, 3, 4)
    assert (row.answer, row.planned_time, row.started_at, row.finished_at) == (b"packed", NOW, NOW - 9, NOW)
    assert (row.question_ids, row.brand_group, row.round) == (task.question_ids, task.brand_group, 1)


async def test_a_finished_record_is_kept_for_its_time_and_has_no_answer_any_more() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    await bench.write_back.settle(task)
    record = bench.record(task.task_id)
    assert (record.answer, record.expires_at, record.outcome) == (None, int(NOW) + 86_400, Outcome.OK)


@pytest.mark.parametrize(("tries", "wait"), [(0, 1), (1, 2), (2, 4), (3, 8)])
async def test_a_refused_row_is_tried_again_after_1_2_4_8_seconds(tries: int, wait: int) -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    assert not await bench.without(results={"put": [NO]}).write_back.settle(task, tries)
    assert bench.queue.next_visible(WRITEBACK_QUEUE) == NOW + wait
    await bench.clock.advance(wait)
    (message,) = await bench.queue.receive(WRITEBACK_QUEUE, 1)
    assert WriteBackMessage.decode(message.body).tries == tries + 1
    record = bench.record(task.task_id)
    assert (record.state, record.act_at, record.write_backs) == (State.WRITEBACK, NOW + wait + 20, 0)


async def test_after_four_retries_the_scanner_is_left_to_come() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    await bench.without(results={"put": [NO]}).write_back.settle(task, 4)
    assert await bench.queue.depth(WRITEBACK_QUEUE) == 0
    assert bench.record(task.task_id).act_at == NOW + 20


async def test_a_refused_finish_is_tried_again_and_the_row_stays_one() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    assert not await bench.without(tasks={"move": [NO]}).write_back.settle(task)
    assert (bench.states(), len(bench.rows())) == ([State.WRITEBACK], 1)
    await bench.clock.advance(1)
    await bench.write_backs()
    assert (bench.states(), len(bench.rows())) == ([State.DONE], 1)


async def test_a_lost_reply_of_the_finish_finds_the_record_finished() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    assert not await bench.without(tasks={"move": [Lost(NO)]}).write_back.settle(task)
    assert bench.states() == [State.DONE]
    await bench.clock.advance(1)
    assert await bench.write_backs() == frozenset()
    assert (bench.states(), len(bench.rows())) == ([State.DONE], 1)


async def test_only_faults_that_are_no_refusals_are_counted() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    await bench.without(results={"put": [RuntimeError("cannot be stored")]}).write_back.settle(task)
    assert bench.record(task.task_id).write_backs == 1
    await bench.without(results={"put": [NO]}).write_back.settle(bench.record(task.task_id))
    assert bench.record(task.task_id).write_backs == 1


async def test_after_ten_faults_the_answer_goes_to_s3_and_a_minimal_row_is_written() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    faulty = bench.without(results={"put": [ValueError("cannot be stored")] * 10})
    for tries in range(10):
        await faulty.write_back.settle(bench.record(task.task_id), tries)
    assert bench.record(task.task_id).write_backs == 10
    assert await faulty.write_back.settle(bench.record(task.task_id), 99)
    (row,) = bench.rows()
    key = f"answers/{task.run_id}/{task.task_id}/{task.attempt_id}"
    assert (row.minimal, row.answer, row.answer_key, row.outcome) == (True, None, key, Outcome.OK)
    assert bench.world.blobs.objects[key] == b"packed"
    assert bench.states() == [State.DONE]


async def test_a_minimal_row_keeps_the_key_of_an_answer_that_is_in_s3_already() -> None:
    bench = MemoryBench.new()
    task = waiting(bench, write_backs=10)
    task = replace(task, answer=None, answer_key="answers/x")
    bench.put(task)
    await bench.write_back.settle(task)
    (row,) = bench.rows()
    assert (row.minimal, row.answer_key, bench.world.blobs.objects) == (True, "answers/x", {})


async def test_while_s3_refuses_even_the_minimal_row_waits() -> None:
    bench = MemoryBench.new()
    task = waiting(bench, write_backs=10)
    assert not await bench.without(blobs={"put": [NO]}).write_back.settle(task)
    assert (bench.states(), bench.rows()) == ([State.WRITEBACK], [])


async def test_a_failure_without_an_answer_has_a_minimal_row_without_a_key() -> None:
    bench = MemoryBench.new()
    task = replace(waiting(bench, write_backs=10), answer=None, outcome=Outcome.TIMEOUT)
    bench.put(task)
    await bench.write_back.settle(task)
    (row,) = bench.rows()
    assert (row.outcome, row.answer_key, bench.states()) == (Outcome.TIMEOUT, None, [State.FAILED])


async def test_a_message_for_another_attempt_changes_nothing() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    await handled(bench, replace(task, attempt_id="another"))
    assert (bench.record(task.task_id), bench.rows()) == (task, [])


@pytest.mark.parametrize("state", [state for state in State if state is not State.WRITEBACK])
async def test_a_message_for_a_task_that_has_nothing_to_write_changes_nothing(state: State) -> None:
    bench = MemoryBench.new()
    (task,) = bench.waiting(1, state)
    before = bench.record(task.task_id)
    await handled(bench, task)
    assert (bench.record(task.task_id), bench.rows()) == (before, [])


async def test_a_message_without_a_record_is_done_with() -> None:
    bench = MemoryBench.new()
    await bench.write_back.handle(WriteBackMessage("gone", "r1", "a1"))
    assert len(bench.telemetry.named("write_back_without_record")) == 1


async def test_authority_lost_over_a_record_is_told_and_not_forced() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    bench.put(replace(task, attempt_id="another"))
    assert not await bench.write_back.settle(task)
    assert bench.states() == [State.WRITEBACK]
    assert [event["move"] for event in bench.telemetry.named("authority_lost")] == ["finish"]


async def test_a_row_of_a_later_round_is_not_overwritten() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    later = row_of(replace(task, round=2, attempt_id="later"), NOW)
    await bench.results.put(later)
    await bench.write_back.settle(task)
    assert bench.rows() == [later]
    assert len(bench.telemetry.named("row_superseded")) == 1


async def test_an_earlier_rounds_row_goes_to_history() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    await bench.write_back.settle(task)
    second = replace(task, round=2, attempt_id="second", outcome=Outcome.TRUNCATED)
    bench.put(second)
    await bench.write_back.settle(second)
    (row,) = bench.rows()
    history = [kept for (pk, _), kept in bench.world.results.rows.items() if pk.startswith("history#")]
    assert (row.round, row.outcome) == (2, Outcome.TRUNCATED)
    assert [(kept.round, kept.outcome) for kept in history] == [(1, Outcome.OK)]


async def test_a_reminder_that_the_queue_refuses_is_left_to_the_scanner() -> None:
    bench = MemoryBench.new()
    task = waiting(bench)
    faulty = bench.without(results={"put": [NO]}, queue={"send": [NO]})
    assert not await faulty.write_back.settle(task)
    assert len(bench.telemetry.named("reminder_not_sent")) == 1
    assert bench.record(task.task_id).act_at == NOW + 21


async def test_each_write_back_message_stands_for_itself() -> None:
    bench = MemoryBench.new()
    good = waiting(bench)
    message = WriteBackMessage(good.task_id, good.run_id, good.attempt_id)
    bodies = ["no json", '{"v": 9}', message.encode()]
    await bench.queue.send(WRITEBACK_QUEUE, [Envelope(str(n), body) for n, body in enumerate(bodies)])
    again = await bench.write_backs()
    assert len(again) == 2
    assert (bench.states(), await bench.queue.depth(WRITEBACK_QUEUE)) == ([State.DONE], 2)
    assert bench.queue.next_visible(WRITEBACK_QUEUE) == NOW + 1


async def test_a_queue_that_refuses_to_postpone_does_not_end_the_batch() -> None:
    bench = MemoryBench.new()
    good = waiting(bench)
    bodies = ["no json", "no json", WriteBackMessage(good.task_id, good.run_id, good.attempt_id).encode()]
    await bench.queue.send(WRITEBACK_QUEUE, [Envelope(str(n), body) for n, body in enumerate(bodies)])
    again = await bench.without(queue={"postpone": [NO, RuntimeError("refused for good")]}).write_backs()
    assert (len(again), bench.states()) == (2, [State.DONE])
