"""The scanner comes just when a live worker moves the same record: one of them has it, and nothing is counted twice."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from brandvane import moves
from brandvane.answer import unpack
from brandvane.messages import WRITEBACK_QUEUE
from brandvane.policy import ErrorKind
from brandvane.ports import Watched
from brandvane.task import Outcome, State, Task, Verdict
from builders import answer, failure, together
from engine_rig import Bench
from races.stage import Stage, at_some_moment, message

ROUNDS = 20


def entry(task: Task) -> Watched:
    """What the index says of a record."""
    return Watched(**{name: getattr(task, name) for name in Watched.__dataclass_fields__})


async def raced(scanner: Bench, tasks: list[Task], worker: list[Any]) -> list[Any]:
    """The scanner acts on each task at some moment, and the worker does its work; what came of the latter."""
    scanner.rescuer.begin()
    acts = [at_some_moment(scanner.rescuer.act(entry(task))) for task in tasks]
    done = await together(*acts, *(at_some_moment(work) for work in worker))
    return done[len(tasks) :]


async def test_an_answer_and_a_rescue_at_once_end_as_the_answer_in_either_order(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(ROUNDS, State.RUNNING)
    scanner, worker = stage.engine(), stage.engine()
    await raced(scanner, tasks, [worker.delivery.take(task, 0, answer()) for task in tasks])
    assert {record.state for record in await stage.records(tasks)} == {State.DONE}
    assert {row.outcome for row in await stage.rows()} == {Outcome.OK}
    assert (len(await stage.rows()), await stage.late()) == (ROUNDS, [])


async def test_an_answer_and_the_last_timeout_at_once_make_one_row_and_lose_no_answer(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(ROUNDS, State.RUNNING, retry_count=3)
    scanner, worker = stage.engine(), stage.engine()
    await raced(scanner, tasks, [worker.delivery.take(task, 0, answer()) for task in tasks])
    outcomes = Counter(row.outcome for row in await stage.rows())
    kept = {key.split("/")[2] for key in await stage.late()}
    assert outcomes[Outcome.OK] + outcomes[Outcome.TIMEOUT] == ROUNDS
    assert kept == {row.task_id for row in await stage.rows() if row.outcome is Outcome.TIMEOUT}
    assert all(unpack(row.answer or b"").text for row in await stage.rows() if row.outcome is Outcome.OK)


async def test_a_heartbeat_and_a_rescue_at_once_leave_one_of_them_in_charge(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(ROUNDS, State.RUNNING)
    scanner, worker = stage.engine(), stage.engine()
    now = worker.clock.now()
    beats = [worker.tasks.move(task.task_id, moves.heartbeat(task, 75.0, now)) for task in tasks]
    done = await raced(scanner, tasks, beats)
    for moved, record in zip(done, await stage.records(tasks), strict=True):
        if moved.verdict is Verdict.MOVED:
            assert (record.state, record.act_at, record.retry_count) == (State.RUNNING, now + 75.0, 0)
        else:
            assert (record.state, record.dispatch_no, record.retry_count) == (State.PENDING, 2, 1)


async def test_a_begin_and_a_give_back_at_once_leave_one_of_them_in_charge(stage: Stage) -> None:
    tasks = await stage.put(ROUNDS, State.PULLED)
    scanner, worker = stage.engine(), stage.engine()
    begins = [worker.tasks.move(t.task_id, moves.begin(t, 75.0, 0, worker.clock.now())) for t in tasks]
    done = await raced(scanner, tasks, begins)
    for moved, record in zip(done, await stage.records(tasks), strict=True):
        begun = (record.state, record.paid_calls, record.dispatch_no, record.give_backs) == (State.RUNNING, 1, 1, 0)
        given = (record.state, record.paid_calls, record.dispatch_no, record.give_backs) == (State.PENDING, 0, 2, 1)
        assert begun if moved.ours else given


async def test_a_release_and_a_give_back_at_once_put_the_task_back_once(stage: Stage) -> None:
    tasks = await stage.put(ROUNDS, State.PULLED)
    scanner, worker = stage.engine(), stage.engine()
    now = worker.clock.now()
    await raced(scanner, tasks, [worker.tasks.move(t.task_id, moves.release(t, now + 9, now)) for t in tasks])
    after = await stage.records(tasks)
    assert {(record.state, record.dispatch_no) for record in after} == {(State.PENDING, 2)}
    for record in after:
        assert record.give_backs == (record.next_execute_time != now + 9)


@pytest.mark.parametrize("kind", [ErrorKind.TIMEOUT, ErrorKind.SERVER_ERROR])
async def test_a_failure_and_a_rescue_at_once_count_as_one_retry(stage: Stage, kind: ErrorKind) -> None:
    await stage.open_run()
    tasks = await stage.put(ROUNDS, State.RUNNING)
    scanner, worker = stage.engine(), stage.engine()
    await raced(scanner, tasks, [worker.delivery.take(task, 0, failure(kind)) for task in tasks])
    after = await stage.records(tasks)
    assert {(record.dispatch_no, record.retry_count) for record in after} == {(2, 1)}
    assert {record.state for record in after} <= {State.PENDING, State.DISPATCHED}


async def test_a_final_failure_and_a_rescue_at_once_leave_one_of_them_in_charge(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(ROUNDS, State.RUNNING)
    scanner, worker = stage.engine(), stage.engine()
    await raced(scanner, tasks, [worker.delivery.take(t, 0, failure(ErrorKind.CLIENT_ERROR)) for t in tasks])
    rows = {row.task_id: row.outcome for row in await stage.rows()}
    for record in await stage.records(tasks):
        assert record.state is (State.FAILED if record.task_id in rows else State.PENDING)
    assert set(rows.values()) <= {Outcome.CLIENT_ERROR}


async def test_a_write_back_and_its_reminder_at_once_make_one_row(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(ROUNDS, State.WRITEBACK, outcome=Outcome.OK, answer=b"packed")
    scanner, worker = stage.engine(), stage.engine()
    await raced(scanner, tasks, [worker.write_back.settle(task) for task in tasks])
    while await worker.queue.depth(WRITEBACK_QUEUE):
        await worker.write_backs()
    assert {record.state for record in await stage.records(tasks)} == {State.DONE}
    assert len(await stage.rows()) == ROUNDS


async def test_a_claim_and_a_walk_of_a_cancelled_run_at_once_call_nobody_and_leave_nothing(stage: Stage) -> None:
    now = stage.engine().clock.now()
    stage.run = stage.run_now(cancelled_at=now, plan_complete=True, planned={"openai": ROUNDS})
    await stage.open_run()
    tasks = await stage.put(ROUNDS, State.DISPATCHED, act_at=now + 500)
    scanner, worker = stage.engine(), stage.engine()
    claims = [at_some_moment(worker.work([message(task)])) for task in tasks]
    await together(at_some_moment(scanner.sweep()), *claims)
    for _ in range(2):
        await scanner.sweep()
    assert stage.asked == []
    assert {row.outcome for row in await stage.rows()} == {Outcome.CANCELLED}
    assert len(await stage.rows()) == ROUNDS
    run = await scanner.runs.get(stage.run.run_id)
    assert run.swept


async def test_two_scanners_on_the_same_records_act_once_on_each(stage: Stage) -> None:
    await stage.open_run()
    running = await stage.put(8, State.RUNNING)
    pulled = await stage.put(8, State.PULLED, first=8)
    first, second = stage.engine(), stage.engine()
    # Without their lease: as when it ended under a sweep that took too long.
    first.rescuer.begin()
    second.rescuer.begin()
    tasks = [*running, *pulled]
    await together(*(at_some_moment(bench.rescuer.act(entry(t))) for t in tasks for bench in (first, second)))
    after = await stage.records(tasks)
    assert {(record.state, record.dispatch_no) for record in after} == {(State.PENDING, 2)}
    assert Counter(record.retry_count for record in after) == {1: 8, 0: 8}
    assert Counter(record.give_backs for record in after) == {0: 8, 1: 8}


async def test_of_two_sweeps_at_once_one_works(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(4, State.PULLED)
    sweeps = await together(stage.engine().sweep(), stage.engine().sweep())
    assert sorted(sweep.busy for sweep in sweeps) in ([False, True], [False, False])
    assert {record.give_backs for record in await stage.records(tasks)} == {1}
