"""An answer that comes after a rescue counts until somebody else has claimed the task; afterwards it is kept as late."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brandvane import moves
from brandvane.answer import pack, unpack
from brandvane.messages import Carried, WriteBackMessage
from brandvane.policy import ErrorKind
from brandvane.task import Outcome, State
from builders import PLATFORM, answer, failure, together
from races.stage import Stage, at_some_moment, message

ROUNDS = 20
NEW = "abcd" * 8


@pytest.mark.parametrize("state", [State.PENDING, State.DISPATCHED])
async def test_an_answer_after_a_rescue_becomes_the_row(stage: Stage, state: State) -> None:
    await stage.open_run()
    running = await stage.put(4, State.RUNNING)
    scanner, worker = stage.engine(), stage.engine()
    await scanner.sweep()
    rescued = await stage.records(running)
    assert {(record.state, record.dispatch_no, record.retry_count) for record in rescued} == {(State.PENDING, 2, 1)}
    if state is State.DISPATCHED:
        now = worker.clock.now()
        for task in rescued:
            await scanner.tasks.move(task.task_id, moves.dispatched(PLATFORM, 2, now, now))
    await together(*(worker.delivery.take(task, 0, answer()) for task in running))
    assert {record.state for record in await stage.records(running)} == {State.DONE}
    assert {row.outcome for row in await stage.rows()} == {Outcome.OK}
    # The message of the rescue comes after all: nobody is called again.
    await worker.work([message(task) for task in rescued])
    assert (stage.asked, await stage.late()) == ([], [])


async def test_an_answer_after_a_new_claim_is_kept_and_the_new_call_makes_the_row(stage: Stage) -> None:
    await stage.open_run()
    running = await stage.put(4, State.RUNNING)
    scanner, slow, other = stage.engine(), stage.engine(), stage.engine(lambda *_: answer("second"))
    await scanner.sweep()
    rescued = await stage.records(running)
    now = scanner.clock.now()
    claimed = [
        (await other.tasks.move(t.task_id, moves.claim(PLATFORM, 2, f"new-{t.task_id}", now))).task for t in rescued
    ]
    await together(*(slow.delivery.take(task, 0, answer("first")) for task in running))
    assert await stage.late() == sorted(f"late/{t.run_id}/{t.task_id}/{t.attempt_id}" for t in running)
    assert {record.state for record in await stage.records(running)} == {State.PULLED}
    for task in claimed:
        begun = (await other.tasks.move(task.task_id, moves.begin(task, 75, 0, now))).task
        await other.delivery.take(begun, 0, answer("second"))
    assert {unpack(row.answer or b"").text for row in await stage.rows()} == {"second"}
    assert {unpack(await other.blobs.get(key)).text for key in await stage.late()} == {"first"}


async def test_an_answer_and_a_new_claim_at_once_leave_one_of_them_in_charge(stage: Stage) -> None:
    await stage.open_run()
    first = await stage.put(ROUNDS, State.PENDING, dispatch_no=2, paid_calls=1, started_at=1.0)
    slow, other = stage.engine(), stage.engine(lambda *_: answer("second"), takes=0.02)
    late = [at_some_moment(slow.delivery.take(task, 0, answer("first")), 0.04) for task in first]
    await together(*late, *(at_some_moment(other.work([message(task)]), 0.04) for task in first))
    rows = {row.task_id: unpack(row.answer or b"").text for row in await stage.rows()}
    kept = {key.split("/")[2] for key in await stage.late()}
    called = set(stage.asked)
    assert set(rows) == {task.task_id for task in first}
    # Either the answer counted and nobody was called, or the claim came first and the answer is kept as late.
    assert {task_id for task_id, text in rows.items() if text == "second"} == called == kept
    assert len(stage.asked) == len(called)


async def test_an_answer_by_message_and_a_new_claim_at_once_leave_one_of_them_in_charge(stage: Stage) -> None:
    await stage.open_run()
    first = await stage.put(ROUNDS, State.PENDING, dispatch_no=2, paid_calls=1, started_at=1.0)
    taking_in, other = stage.engine(), stage.engine(lambda *_: answer("second"), takes=0.02)
    carried = Carried(Outcome.OK, None, pack(answer("first")), None)
    messages = [WriteBackMessage(t.task_id, t.run_id, t.attempt_id, 0, carried) for t in first]
    arriving = [at_some_moment(taking_in.write_back.handle(each)) for each in messages]
    await together(*arriving, *(at_some_moment(other.work([message(task)]), 0.05) for task in first))
    rows = {row.task_id: unpack(row.answer or b"").text for row in await stage.rows()}
    kept = {key.split("/")[2] for key in await stage.late()}
    assert set(rows) == {task.task_id for task in first}
    assert {task_id for task_id, text in rows.items() if text == "second"} == set(stage.asked) == kept


async def test_the_same_answer_by_both_ways_at_once_makes_one_row_and_nothing_late(stage: Stage) -> None:
    await stage.open_run()
    running = await stage.put(ROUNDS, State.RUNNING)
    reply = answer()
    carried = Carried(Outcome.OK, None, pack(reply), None)
    worker, taking_in = stage.engine(), stage.engine()
    messages = [WriteBackMessage(t.task_id, t.run_id, t.attempt_id, 0, carried) for t in running]
    by_message = [at_some_moment(taking_in.write_back.handle(each)) for each in messages]
    await together(*(at_some_moment(worker.delivery.take(task, 0, reply)) for task in running), *by_message)
    assert {record.state for record in await stage.records(running)} == {State.DONE}
    assert (len(await stage.rows()), await stage.late()) == (ROUNDS, [])


async def test_a_failure_after_a_rescue_counts_once_only(stage: Stage) -> None:
    await stage.open_run()
    running = await stage.put(4, State.RUNNING)
    scanner, worker = stage.engine(), stage.engine()
    await together(scanner.sweep(), *(worker.delivery.take(t, 0, failure(ErrorKind.TIMEOUT)) for t in running))
    after = await stage.records(running)
    assert {(record.dispatch_no, record.retry_count) for record in after} == {(2, 1)}
    assert {record.state for record in after} <= {State.PENDING, State.DISPATCHED}


async def test_two_that_write_back_at_once_make_one_row(stage: Stage) -> None:
    await stage.open_run()
    waiting = await stage.put(ROUNDS, State.WRITEBACK, outcome=Outcome.OK, answer=pack(answer()))
    first, second = stage.engine(), stage.engine()
    done = await together(*(bench.write_back.settle(task) for task in waiting for bench in (first, second)))
    assert all(done)
    assert {record.state for record in await stage.records(waiting)} == {State.DONE}
    assert len(await stage.rows()) == ROUNDS


async def test_a_stalled_workers_moves_are_all_refused_after_a_new_claim(stage: Stage) -> None:
    (task,) = await stage.put(1, State.RUNNING)
    bench = stage.engine()
    claimed = replace(task, state=State.PULLED, attempt_id="new", watch=f"{PLATFORM}#PULLED")
    await bench.tasks.create([replace(claimed, task_id=NEW)])
    stalled, now = replace(task, task_id=NEW), bench.clock.now()
    changes = [
        moves.begin(stalled, 75, 0, now),
        moves.heartbeat(stalled, 75, now),
        moves.release(stalled, now, now),
        moves.retry(stalled, now, now, "retry_count", "timeout"),
        moves.answered(stalled, Outcome.OK, now, answer=b"a", answer_key=None),
        moves.failed(stalled, Outcome.EMPTY, now, error_kind="empty"),
    ]
    done = await together(*(bench.tasks.move(NEW, change) for change in changes))
    assert {moved.verdict for moved in done} == {"lost"}
    assert await bench.tasks.get(NEW) == replace(claimed, task_id=NEW)
