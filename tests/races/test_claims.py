"""Several copies of a message, old ones among them, and a mark that comes late: one claim, one call, one row."""

from __future__ import annotations

from dataclasses import replace

from brandvane import moves
from brandvane.messages import calls_queue
from brandvane.task import State, Verdict
from builders import PLATFORM, together
from races.stage import Stage, message

ROUNDS = 12


async def test_copies_of_a_message_at_several_workers_make_one_call_and_one_row(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(ROUNDS, State.DISPATCHED)
    workers = [stage.engine(takes=0.05) for _ in range(4)]
    batches = [[message(task, f"copy-{place}") for task in tasks] for place in range(4)]
    await together(*(worker.work(batch) for worker, batch in zip(workers, batches, strict=True)))
    assert sorted(stage.asked) == sorted(task.task_id for task in tasks)
    rows = await stage.rows()
    assert sorted(row.task_id for row in rows) == sorted(task.task_id for task in tasks)
    assert {(row.outcome, row.paid_calls) for row in rows} == {("ok", 1)}
    assert {record.state for record in await stage.records(tasks)} == {State.DONE}


async def test_a_message_of_an_earlier_wait_never_takes_the_task_from_the_present_one(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(ROUNDS, State.DISPATCHED, dispatch_no=2)
    old, new = stage.engine(takes=0.05), stage.engine(takes=0.05)
    stale = [message(task, "stale", dispatch_no=1) for task in tasks]
    fresh = [message(task, "fresh") for task in tasks]
    await together(old.work(stale), new.work(fresh))
    assert stage.calls[0].asked == []
    assert sorted(stage.asked) == sorted(task.task_id for task in tasks)
    assert len(await stage.rows()) == ROUNDS


async def test_a_message_of_a_later_wait_than_the_records_is_not_believed_either(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(2, State.DISPATCHED, dispatch_no=2)
    await stage.engine().work([message(task, dispatch_no=3) for task in tasks])
    assert stage.asked == []
    assert await stage.records(tasks) == tasks


async def test_a_lost_message_found_again_counts_whichever_copy_comes_first(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(ROUNDS, State.DISPATCHED)
    scanner, late, other = stage.engine(), stage.engine(takes=0.05), stage.engine(takes=0.05)
    copies = [message(task, "late") for task in tasks]
    # The scanner plans them anew just when the late messages arrive, and a second copy is sent under the same number.
    await together(scanner.sweep(), late.work(copies))
    await other.work([message(task, "anew") for task in await stage.records(tasks)])
    assert sorted(stage.asked) == sorted(task.task_id for task in tasks)
    assert len(await stage.rows()) == ROUNDS


async def test_a_mark_that_comes_when_the_task_has_been_claimed_changes_nothing(stage: Stage) -> None:
    tasks = await stage.put(ROUNDS, State.PENDING)
    dispatcher, worker = stage.engine(), stage.engine()
    now = worker.clock.now()
    marks = [dispatcher.tasks.move(t.task_id, moves.dispatched(PLATFORM, 1, now, now)) for t in tasks]
    claims = [worker.tasks.move(t.task_id, moves.claim(PLATFORM, 1, f"claim-{t.task_id}", now)) for t in tasks]
    done = await together(*(each for pair in zip(marks, claims, strict=True) for each in pair))
    assert {moved.verdict for moved in done[1::2]} == {Verdict.MOVED}
    after = await stage.records(tasks)
    assert {record.state for record in after} == {State.PULLED}
    assert [record.attempt_id for record in after] == [f"claim-{task.task_id}" for task in tasks]
    assert [record.dispatch_no for record in after] == [1] * ROUNDS


async def test_a_mark_of_a_wait_that_is_over_changes_nothing(stage: Stage) -> None:
    (task,) = await stage.put(1, State.PENDING)
    bench = stage.engine()
    now = bench.clock.now()
    moved = await bench.tasks.move(task.task_id, moves.claim(PLATFORM, 1, "claim", now))
    released = await bench.tasks.move(task.task_id, moves.release(moved.task, now, now))
    late = await bench.tasks.move(task.task_id, moves.dispatched(PLATFORM, 1, now, now))
    assert (late.verdict, late.task) == (Verdict.LOST, released.task)
    assert (released.task.state, released.task.dispatch_no) == (State.PENDING, 2)


async def test_two_that_dispatch_the_same_tasks_at_once_cost_a_message_and_no_call(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(8, State.PENDING)
    # Without the dispatchers' lease: as when it ended under a tick that took too long.
    first, second = stage.engine(), stage.engine(takes=0.05)
    due = await second.tasks.page(tasks[0].watch or "", None, 1)
    assert due
    entries = [
        entry for shard in range(4) for entry in await first.tasks.due(f"{PLATFORM}#PENDING#normal#{shard}", 1e11, 99)
    ]
    await together(first.dispatcher._send(PLATFORM, entries), second.dispatcher._send(PLATFORM, entries))
    queue = calls_queue(PLATFORM)
    batches = [await bench.queue.receive(queue, 10) for bench in (first, second)]
    assert sum(map(len, batches)) == 16
    await together(first.work(batches[0]), second.work(batches[1]))
    assert sorted(stage.asked) == sorted(task.task_id for task in tasks)
    assert len(await stage.rows()) == 8


async def test_of_workers_that_claim_at_once_one_has_the_task(stage: Stage) -> None:
    (task,) = await stage.put(1, State.DISPATCHED)
    benches = [stage.engine() for _ in range(4)]
    now = benches[0].clock.now()
    for round_no in range(10):
        fresh = replace(task, dispatch_no=round_no + 1)
        claims = [(f"a{place}-{round_no}", bench) for place, bench in enumerate(benches)]
        done = await together(
            *(b.tasks.move(task.task_id, moves.claim(PLATFORM, fresh.dispatch_no, a, now)) for a, b in claims)
        )
        won = [name for (name, _), moved in zip(claims, done, strict=True) if moved.ours]
        (record,) = await stage.records([task])
        assert won == [record.attempt_id]
        await benches[0].tasks.move(task.task_id, moves.release(record, now, now))
