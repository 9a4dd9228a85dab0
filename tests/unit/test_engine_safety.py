"""A paid answer's two ways to safety, and what becomes of one that comes too late."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from brandvane.answer import unpack
from brandvane.engine.safety import RECORD_WAITS_S, AnswerNotSafe
from brandvane.messages import WRITEBACK_QUEUE, Carried, NewerMessage, WriteBackMessage
from brandvane.ports import Delivered, Unavailable
from brandvane.task import Outcome, State, Task
from builders import NOW, Lost, answer, placed
from engine_rig import MemoryBench

NO = Unavailable("no")
LARGE = random.Random(1).randbytes(9_000).hex()  # more than 8 KB, however it is packed


def running(bench: MemoryBench, **fields: Any) -> Task:
    """A task whose call is under way."""
    (task,) = bench.waiting(1, State.RUNNING, started_at=NOW - 5, act_at=NOW + 70, paid_calls=1, **fields)
    return task


async def delivered(bench: MemoryBench, task: Task, text: str = "Acme.") -> None:
    """Its answer arrives."""
    manual = bench.world.clock
    await manual.run(bench.delivery.take(task, 0, answer(text)))


async def queued(bench: MemoryBench) -> list[WriteBackMessage]:
    """What is on the write-back queue."""
    return [WriteBackMessage.decode(m.body) for m in await bench.world.queue.receive(WRITEBACK_QUEUE, 10)]


def late(bench: MemoryBench) -> dict[str, bytes]:
    """What is kept under late/."""
    return {key: body for key, body in bench.world.blobs.objects.items() if key.startswith("late/")}


async def test_a_small_answer_lives_in_record_and_row() -> None:
    bench = MemoryBench.new()
    await delivered(bench, running(bench))
    (row,) = bench.rows()
    assert row.answer_key is None
    assert unpack(row.answer or b"").text == "Acme."
    assert bench.world.blobs.objects == {}


async def test_an_answer_above_8_kb_goes_to_s3_first_and_record_and_row_carry_its_key() -> None:
    bench = MemoryBench.new()
    task = running(bench)
    seen: list[tuple[State, list[str]]] = []
    put = bench.world.results.put

    async def looking(row: Any) -> bool:
        seen.append((bench.record(task.task_id).state, sorted(bench.world.blobs.objects)))
        return await put(row)

    bench.world.results.put = looking  # type: ignore[method-assign]
    await delivered(bench, task, LARGE)
    (row,) = bench.rows()
    key = f"answers/{task.run_id}/{task.task_id}/{task.attempt_id}"
    assert (row.answer, row.answer_key) == (None, key)
    assert unpack(bench.world.blobs.objects[key]).text == LARGE
    assert seen == [(State.WRITEBACK, [key])]


async def test_while_s3_refuses_a_large_answer_is_kept_in_the_record() -> None:
    bench = MemoryBench.new()
    await delivered(bench.without(blobs={"put": [NO] * 9}), running(bench), LARGE)
    (row,) = bench.rows()
    assert unpack(row.answer or b"").text == LARGE


async def test_a_table_that_refuses_for_a_moment_is_asked_again() -> None:
    bench = MemoryBench.new()
    await delivered(bench.without(tasks={"move": [NO] * len(RECORD_WAITS_S)}), running(bench))
    assert (bench.states(), len(bench.rows()), await queued(bench)) == ([State.DONE], 1, [])


async def test_a_table_that_goes_on_refusing_makes_a_message_carry_the_answer() -> None:
    bench = MemoryBench.new()
    task = running(bench)
    await delivered(bench.without(tasks={"move": [NO] * 6}), task)
    assert bench.states() == [State.RUNNING]
    (message,) = await queued(bench)
    assert (message.task_id, message.attempt_id, message.tries) == (task.task_id, task.attempt_id, 0)
    assert message.carried is not None
    assert (message.carried.outcome, message.carried.answer_key) == (Outcome.OK, None)
    assert unpack(message.carried.answer or b"").text == "Acme."


async def test_a_fault_of_the_table_that_is_no_refusal_takes_the_other_way_at_once() -> None:
    bench = MemoryBench.new()
    await delivered(bench.without(tasks={"move": [RuntimeError("broken")]}), running(bench))
    assert (bench.clock.now(), len(await queued(bench))) == (NOW, 1)


async def test_a_table_that_does_not_answer_at_all_leaves_time_for_the_other_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("brandvane.engine.safety.RECORD_WAY_S", 0.05)
    bench = MemoryBench.new()
    task = running(bench)

    class Hanging:
        """A table whose replies never come."""

        async def move(self, *_: Any) -> None:
            """Waits for ever."""
            await asyncio.Event().wait()

    bench.tasks = Hanging()
    await bench.delivery.take(task, 0, answer())
    assert len(await queued(bench)) == 1


async def test_when_both_ways_fail_the_answer_is_not_safe() -> None:
    bench = MemoryBench.new()
    faulty = bench.without(tasks={"move": [NO] * 6}, queue={"send": [NO]})
    with pytest.raises(AnswerNotSafe):
        await delivered(faulty, running(bench))


async def test_when_both_ways_fail_the_message_of_the_call_comes_again() -> None:
    bench = MemoryBench.new()
    records: list[Delivered] = await bench.delivered(1)
    faulty = bench.without(tasks={"move": [None, None, *[NO] * 6]}, queue={"send": [NO]})
    again = await bench.clock.run(faulty.work(records))
    assert again == {records[0].message_id}
    assert bench.states() == [State.RUNNING]


async def test_an_unconfirmed_send_is_not_safe_either() -> None:
    bench = MemoryBench.new()

    class Silent:
        """A queue that confirms nothing."""

        async def send(self, *_: Any) -> frozenset[str]:
            """Perhaps sent, perhaps not."""
            return frozenset()

    faulty = bench.without(tasks={"move": [NO] * 6})
    faulty.queue = Silent()
    with pytest.raises(AnswerNotSafe):
        await delivered(faulty, running(bench))


async def test_a_lost_reply_is_found_to_have_been_ones_own() -> None:
    bench = MemoryBench.new()
    await delivered(bench.without(tasks={"move": [Lost(NO)]}), running(bench))
    assert (bench.states(), len(bench.rows()), late(bench)) == ([State.DONE], 1, {})


@pytest.mark.parametrize("state", [State.PENDING, State.DISPATCHED])
async def test_an_answer_counts_after_a_rescue_until_somebody_else_has_claimed(state: State) -> None:
    bench = MemoryBench.new()
    task = running(bench)
    bench.put(placed(task, state, dispatch_no=2, retry_count=1))
    await delivered(bench, task)
    assert (bench.states(), [row.outcome for row in bench.rows()]) == ([State.DONE], [Outcome.OK])


@pytest.mark.parametrize("state", [State.PULLED, State.RUNNING, State.WRITEBACK, State.DONE])
async def test_an_answer_after_a_new_claim_is_kept_as_late_and_counted(state: State) -> None:
    bench = MemoryBench.new()
    task = running(bench)
    after = placed(task, state, attempt_id="another")
    bench.put(after)
    await delivered(bench, task)
    assert bench.record(task.task_id) == after
    ((key, kept),) = late(bench).items()
    assert key == f"late/{task.run_id}/{task.task_id}/{task.attempt_id}"
    assert unpack(kept).text == "Acme."
    assert bench.telemetry.counts["LateAnswers", "openai"] == 1


async def test_an_answer_after_another_outcome_was_recorded_is_kept_as_late() -> None:
    bench = MemoryBench.new()
    task = running(bench)
    bench.put(placed(task, State.WRITEBACK, outcome=Outcome.TIMEOUT))
    await delivered(bench, task)
    assert (bench.states(), len(late(bench))) == ([State.WRITEBACK], 1)


async def test_a_late_answer_that_s3_refuses_goes_by_message_until_it_is_kept() -> None:
    bench = MemoryBench.new()
    task = running(bench)
    bench.put(placed(task, State.PULLED, attempt_id="another"))
    await delivered(bench.without(blobs={"put": [NO]}), task)
    assert late(bench) == {}
    assert await bench.write_backs() == frozenset()
    assert len(late(bench)) == 1


async def test_an_answer_carried_by_a_message_becomes_its_row() -> None:
    bench = MemoryBench.new()
    await delivered(bench.without(tasks={"move": [NO] * 6}), running(bench))
    assert await bench.write_backs() == frozenset()
    assert bench.states() == [State.DONE]
    (row,) = bench.rows()
    assert unpack(row.answer or b"").text == "Acme."
    assert await bench.queue.depth(WRITEBACK_QUEUE) == 0


async def test_a_carried_answer_that_cannot_be_taken_in_comes_again() -> None:
    bench = MemoryBench.new()
    await delivered(bench.without(tasks={"move": [NO] * 6}), running(bench))
    again = await bench.without(tasks={"move": [NO]}).write_backs()
    assert len(again) == 1
    assert bench.queue.next_visible(WRITEBACK_QUEUE) == bench.clock.now() + 15
    assert bench.states() == [State.RUNNING]


async def test_a_carried_answer_delivered_twice_makes_one_row_and_nothing_late() -> None:
    bench = MemoryBench.new()
    await delivered(bench.without(tasks={"move": [NO] * 6}), running(bench))
    (message,) = await queued(bench)
    await bench.write_back.handle(message)
    await bench.write_back.handle(message)
    assert (bench.states(), len(bench.rows()), late(bench)) == ([State.DONE], 1, {})


async def test_a_carried_answer_whose_record_is_gone_is_kept() -> None:
    bench = MemoryBench.new()
    carried = Carried(Outcome.OK, None, b"packed", None)
    await bench.write_back.handle(WriteBackMessage("t-gone", "r1", "a1", 0, carried))
    assert late(bench) == {"late/r1/t-gone/a1": b"packed"}


async def test_a_carried_answer_for_a_record_of_newer_code_is_left_to_newer_code() -> None:
    bench = MemoryBench.new()
    task = running(bench, v=2)
    carried = Carried(Outcome.OK, None, b"packed", None)
    message = WriteBackMessage(task.task_id, task.run_id, task.attempt_id, 0, carried)
    with pytest.raises(NewerMessage):
        await bench.write_back.handle(message)
    assert (bench.record(task.task_id), late(bench)) == (task, {})


@pytest.mark.parametrize("state", [State.PENDING, State.DISPATCHED])
async def test_a_carried_failure_does_not_count_after_a_rescue(state: State) -> None:
    bench = MemoryBench.new()
    task = running(bench)
    after = placed(task, state)
    bench.put(after)
    carried = Carried(Outcome.CLIENT_ERROR, "client_error", None, None)
    await bench.write_back.handle(WriteBackMessage(task.task_id, task.run_id, task.attempt_id, 0, carried))
    assert (bench.record(task.task_id), bench.rows()) == (after, [])
