"""A failed task is opened again while its earlier round is not quite over: the new round wins, the old one is history."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from brandvane import moves
from brandvane.answer import pack, unpack
from brandvane.messages import Carried, WriteBackMessage
from brandvane.result import row_of
from brandvane.run import RunState
from brandvane.task import Outcome, State, Task
from builders import answer, together
from engine_rig import Bench
from races.stage import Stage, at_some_moment, message

ROUNDS = 10


async def failed(stage: Stage, number: int) -> list[Task]:
    """Tasks that failed, with their rows."""
    await stage.open_run()
    waiting = await stage.put(number, State.WRITEBACK, outcome=Outcome.TIMEOUT, paid_calls=4, retry_count=3)
    bench = stage.engine()
    await together(*(bench.write_back.settle(task) for task in waiting))
    return await stage.records(waiting)


async def opened(bench: Bench, task: Task, attempt_id: str) -> bool:
    """One operator's retry."""
    now = bench.clock.now()
    row = row_of(task, now)
    change = moves.retried(task, now, attempt_id, now)
    done: bool = await bench.tasks.reopen(task, change, row.pk, row.sk, task.run_id, now + 7200, now)
    return done


async def test_two_operators_open_a_task_once(stage: Stage) -> None:
    tasks = await failed(stage, 4)
    benches = [stage.engine(), stage.engine()]
    for task in tasks:
        done = await together(*(opened(bench, task, f"operator-{n}") for n, bench in enumerate(benches)))
        assert sorted(done) == [False, True]
    after = await stage.records(tasks)
    assert {(record.state, record.round, record.dispatch_no) for record in after} == {(State.PENDING, 2, 2)}
    run = await benches[0].runs.get(stage.run.run_id)
    assert (run.state, run.pass_no) == (RunState.OPEN, 5)


async def test_tasks_of_one_run_opened_at_once_are_all_opened(stage: Stage) -> None:
    tasks = await failed(stage, 4)
    bench = stage.engine()
    done = await together(*(opened(stage.engine(), task, f"new-{task.task_id}") for task in tasks))
    assert all(done)
    run = await bench.runs.get(stage.run.run_id)
    assert run.pass_no == 5
    assert await bench.results.count(stage.run.run_id) == 0


async def test_the_new_rounds_row_replaces_the_old_one_which_becomes_history(stage: Stage) -> None:
    tasks = await failed(stage, 2)
    bench = stage.engine()
    for task in tasks:
        assert await opened(bench, task, f"new-{task.task_id}")
    await bench.work([message(task) for task in await stage.records(tasks)])
    rows = await stage.rows()
    assert {(row.round, row.outcome, row.paid_calls, row.retry_count) for row in rows} == {(2, Outcome.OK, 5, 0)}
    assert await bench.results.count(stage.run.run_id) == 2
    assert [call.request_id.split("/")[1] for client in stage.calls for call in client.asked] == ["5", "5"]


async def test_the_old_rounds_answer_is_late_whenever_it_comes(stage: Stage) -> None:
    tasks = await failed(stage, ROUNDS)
    old, operator = stage.engine(), stage.engine()
    running = [replace(task, state=State.RUNNING) for task in tasks]
    answers = [at_some_moment(old.delivery.take(task, 0, answer("old"))) for task in running]
    opens = [at_some_moment(opened(operator, task, f"new-{task.task_id}")) for task in tasks]
    done = await together(*answers, *opens)
    assert all(done[ROUNDS:])
    assert {(r.state, r.round, r.attempt_id[:4]) for r in await stage.records(tasks)} == {(State.PENDING, 2, "new-")}
    assert len(await stage.late()) == ROUNDS


async def test_the_old_rounds_messages_change_nothing_in_the_new_one(stage: Stage) -> None:
    tasks = await failed(stage, 4)
    bench = stage.engine()
    for task in tasks:
        await opened(bench, task, f"new-{task.task_id}")
    before = await stage.records(tasks)
    carried = Carried(Outcome.OK, None, pack(answer("old")), None)
    await together(
        bench.work([message(task) for task in tasks]),
        *(bench.write_back.handle(WriteBackMessage(t.task_id, t.run_id, t.attempt_id, 0, carried)) for t in tasks),
        *(bench.write_back.handle(WriteBackMessage(t.task_id, t.run_id, t.attempt_id, 3)) for t in tasks),
    )
    assert await stage.records(tasks) == before
    assert (stage.asked, len(await stage.late())) == ([], 4)


async def test_rows_of_two_rounds_written_at_once_leave_the_newer_in_charge(stage: Stage) -> None:
    tasks = await failed(stage, ROUNDS)
    first, second = stage.engine(), stage.engine()

    def row(task: Task, number: int) -> Any:
        made = replace(
            task, round=number, attempt_id=f"round-{number}", outcome=Outcome.OK, answer=pack(answer(str(number)))
        )
        return row_of(made, first.clock.now())

    puts = [at_some_moment(bench.results.put(row(t, n))) for t in tasks for n, bench in ((2, first), (3, second))]
    done = await together(*puts)
    assert all(done[1::2])
    rows = await stage.rows()
    assert {(kept.round, unpack(kept.answer or b"").text) for kept in rows} == {(3, "3")}
    assert await first.results.count(stage.run.run_id) == ROUNDS


async def test_a_reopening_and_a_count_at_once_do_not_finish_the_run(stage: Stage) -> None:
    stage.run = stage.run_now(planned={"openai": 4}, counted_at=0.0)
    tasks = await failed(stage, 4)
    scanner, operator = stage.engine(), stage.engine()
    run = await scanner.runs.get(stage.run.run_id)
    await together(scanner.advance.step(run, 0), opened(operator, tasks[0], "new"))
    after = await scanner.runs.get(stage.run.run_id)
    assert (after.state, after.pass_no) == (RunState.OPEN, 2)
    again = await scanner.advance.step(after, 0)
    assert again.state is RunState.OPEN  # not counted for a minute, and its row does not count
    (record,) = await stage.records(tasks[:1])
    assert (record.state, record.round) == (State.PENDING, 2)
