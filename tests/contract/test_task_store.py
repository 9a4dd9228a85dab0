"""Tasks: creating, reading, the index of who must act, and reopening, in every world."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from brandvane.ports import Watched
from brandvane.result import ResultRow
from brandvane.run import Run, RunState
from brandvane.task import PENDING_SHARDS, Outcome, State, Task, bucket_of, watches
from contract.samples import CHANGES, NOW, row, run, task
from contract.worlds import World

# Times whose shortest decimals are long, and the extremes of what is stored.
TIMES = (1_760_000_000.1234567, 0.1 + 0.2, 1e-07, 5e15 + 0.5, 1_760_000_000.0, 2**-20, 123456789.000001)


def watched(record: Task) -> Watched:
    assert record.watch is not None
    assert record.act_at is not None
    return Watched(
        task_id=record.task_id,
        run_id=record.run_id,
        model=record.model,
        watch=record.watch,
        act_at=record.act_at,
        dispatch_no=record.dispatch_no,
        attempt_id=record.attempt_id,
        next_execute_time=record.next_execute_time,
    )


async def several(world: World, *act_at: float) -> list[Task]:
    """Records of one partition with these times, created in this order."""
    first = task(State.RUNNING)
    records = [
        replace(first, task_id=f"{place:02d}{first.task_id}", act_at=instant) for place, instant in enumerate(act_at)
    ]
    assert await world.tasks.create(records) == len(records)
    return records


async def test_a_created_task_reads_back_as_it_was(world: World) -> None:
    record = task(State.RUNNING, started_at=NOW, heartbeat_at=NOW + 0.5, slot_epoch=4, error_kind="timeout")
    assert await world.tasks.create([record]) == 1
    assert await world.tasks.get(record.task_id) == record


async def test_a_task_that_is_not_there_reads_as_none(world: World) -> None:
    assert await world.tasks.get("none-such") is None


async def test_creating_twice_makes_nothing_new_and_resets_nothing(world: World) -> None:
    planned, other = task(), task()
    assert await world.tasks.create([planned]) == 1
    moved = await world.tasks.move(planned.task_id, CHANGES["claim"](planned))
    assert await world.tasks.create([planned, other]) == 1
    assert await world.tasks.get(planned.task_id) == moved.task


async def test_creating_nothing_makes_nothing(world: World) -> None:
    assert await world.tasks.create([]) == 0


async def test_two_planners_at_once_make_each_task_once(world: World) -> None:
    records = [task() for _ in range(40)]
    made = await asyncio.gather(world.tasks.create(records), world.tasks.create(records))
    assert sum(made) == 40


@pytest.mark.parametrize("instant", TIMES)
async def test_times_are_kept_to_the_last_bit(world: World, instant: float) -> None:
    record = task(State.RUNNING, act_at=instant, planned_time=instant, started_at=instant)
    await world.tasks.create([record])
    assert await world.tasks.get(record.task_id) == record
    assert (await world.tasks.due(record.watch or "", instant, 1))[0].act_at == instant


async def test_due_entries_come_earliest_first_up_to_the_limit_and_not_before_their_time(world: World) -> None:
    third, first, late, second = await several(world, NOW + 3, NOW + 1, NOW + 3.001, NOW + 2)
    watch = first.watch or ""
    assert await world.tasks.due(watch, NOW + 3, 10) == [watched(first), watched(second), watched(third)]
    assert await world.tasks.due(watch, NOW + 3, 2) == [watched(first), watched(second)]
    assert await world.tasks.due(watch, NOW + 0.999, 10) == []
    assert watched(late) in await world.tasks.due(watch, NOW + 4, 10)


async def test_partitions_of_the_index_do_not_mix(world: World) -> None:
    running, waiting = task(State.RUNNING), task(State.WRITEBACK)
    await world.tasks.create([running, waiting])
    assert await world.tasks.due(running.watch or "", NOW, 10) == [watched(running)]
    assert await world.tasks.due(waiting.watch or "", NOW, 10) == [watched(waiting)]


async def test_a_partition_is_walked_page_by_page_from_where_the_last_page_ended(world: World) -> None:
    records = await several(world, *(NOW + place for place in range(7)))
    watch = records[0].watch or ""
    seen: list[Watched] = []
    after: Watched | None = None
    while page := await world.tasks.page(watch, after, 3):
        seen += page
        after = page[-1]
    assert seen == [watched(record) for record in records]


async def test_entries_of_the_same_instant_are_each_seen_once_by_a_walk(world: World) -> None:
    records = await several(world, *([NOW] * 5), NOW + 1)
    watch = records[0].watch or ""
    seen: list[str] = []
    after: Watched | None = None
    while page := await world.tasks.page(watch, after, 2):
        seen += [entry.task_id for entry in page]
        after = page[-1]
    assert sorted(seen) == sorted(record.task_id for record in records)


async def test_a_walk_goes_on_after_an_entry_that_has_left_the_partition(world: World) -> None:
    first, second, third = await several(world, NOW - 30, NOW - 20, NOW - 10)
    watch = first.watch or ""
    page = await world.tasks.page(watch, None, 2)
    await world.tasks.move(second.task_id, CHANGES["answer"](second))
    assert await world.tasks.page(watch, page[-1], 2) == [watched(third)]


async def test_counting_due_entries_stops_at_the_cap(world: World) -> None:
    records = await several(world, *(NOW + place for place in range(5)))
    watch = records[0].watch or ""
    assert await world.tasks.count_due(watch, NOW + 3, 100) == 4
    assert await world.tasks.count_due(watch, NOW + 3, 2) == 2
    assert await world.tasks.count_due(watch, NOW - 1, 100) == 0


async def test_a_moved_record_leaves_its_partition_for_the_new_one(world: World) -> None:
    record = task(State.PENDING)
    await world.tasks.create([record])
    moved = (await world.tasks.move(record.task_id, CHANGES["claim"](record))).task
    assert moved is not None
    assert await world.tasks.due(record.watch or "", NOW + 1000, 10) == []
    assert await world.tasks.due(f"{record.platform}#PULLED", NOW + 1000, 10) == [watched(moved)]


async def test_a_finished_record_is_in_no_partition(world: World) -> None:
    record = task(State.WRITEBACK)
    await world.tasks.create([record])
    moved = (await world.tasks.move(record.task_id, CHANGES["finish"](record))).task
    assert moved is not None
    assert (moved.watch, moved.act_at, moved.answer) == (None, None, None)
    found = [await world.tasks.page(watch, None, 10) for watch in watches(record.platform)]
    assert found == [[]] * (3 * PENDING_SHARDS + 4)


async def failed_task(world: World, **run_fields: object) -> tuple[Task, ResultRow, Run]:
    """A failed task with its counted row, in a run that is done with it."""
    record = task(State.FAILED, retry_count=3, paid_calls=4, error_kind="timeout")
    of = run(record.run_id, state=RunState.REPORTED, counted=5, finished_at=NOW - 50, scored=frozenset({1, 2}))
    of = replace(of, **run_fields)  # type: ignore[arg-type]
    result = row(replace(record, outcome=Outcome.TIMEOUT))
    await world.tasks.create([record])
    await world.runs.create(of)
    assert await world.results.put(result)
    return record, result, of


async def test_reopening_a_failed_task_changes_record_row_and_run_together(world: World) -> None:
    record, result, of = await failed_task(world)
    change = CHANGES["retry_failed"](record)
    assert await world.tasks.reopen(record, change, result.pk, result.sk, of.run_id, NOW + 9000, NOW)

    again = await world.tasks.get(record.task_id)
    assert again is not None
    assert (again.state, again.round, again.dispatch_no, again.attempt_id) == (State.PENDING, 2, 3, "attempt-3")
    assert (again.retry_count, again.paid_calls, again.outcome, again.expires_at) == (0, 4, None, None)
    assert [entry.task_id for entry in await world.tasks.due(again.watch or "", NOW + 2, 10)] == [record.task_id]

    assert await world.results.count(of.run_id) == 0
    assert [each async for each in world.results.bucket(of.run_id, bucket_of(result.prompt_hash))] == [result]

    opened = await world.runs.get(of.run_id)
    assert opened == replace(
        of,
        state=RunState.OPEN,
        pass_no=2,
        deadline=NOW + 9000,
        counted=4,
        not_counted_before=NOW + 60,
        finished_at=None,
        scored=frozenset(),
    )
    assert of.run_id in [each.run_id for each in await world.runs.unfinished()]


async def test_a_reopened_tasks_old_row_that_is_written_late_does_not_count_again(world: World) -> None:
    record, result, of = await failed_task(world)
    change = CHANGES["retry_failed"](record)
    assert await world.tasks.reopen(record, change, result.pk, result.sk, of.run_id, NOW, NOW)
    assert not await world.results.put(result)
    assert await world.results.count(of.run_id) == 0
    assert await world.results.put(replace(result, round=2, attempt_id="attempt-2"))
    assert await world.results.count(of.run_id) == 1


async def test_reopening_never_brings_a_deadline_forward(world: World) -> None:
    record, result, of = await failed_task(world)
    change = CHANGES["retry_failed"](record)
    assert await world.tasks.reopen(record, change, result.pk, result.sk, of.run_id, NOW, NOW)
    opened = await world.runs.get(of.run_id)
    assert opened is not None
    assert opened.deadline == of.deadline


async def test_reopening_twice_is_ours_and_opens_one_pass(world: World) -> None:
    record, result, of = await failed_task(world)
    change = CHANGES["retry_failed"](record)
    assert await world.tasks.reopen(record, change, result.pk, result.sk, of.run_id, NOW, NOW)
    assert await world.tasks.reopen(record, change, result.pk, result.sk, of.run_id, NOW, NOW)
    opened = await world.runs.get(of.run_id)
    assert opened is not None
    assert opened.pass_no == 2


async def test_reopening_is_refused_while_a_cancelled_run_has_unfinished_tasks(world: World) -> None:
    record, result, of = await failed_task(world, state=RunState.CANCELLED, cancelled_at=NOW - 10)
    change = CHANGES["retry_failed"](record)
    assert not await world.tasks.reopen(record, change, result.pk, result.sk, of.run_id, NOW, NOW)
    assert await world.tasks.get(record.task_id) == record
    assert await world.runs.get(of.run_id) == of
    assert await world.results.count(of.run_id) == 1


async def test_a_cancelled_run_that_has_been_swept_is_opened_again(world: World) -> None:
    record, result, of = await failed_task(world, state=RunState.CANCELLED, cancelled_at=NOW - 10, swept=True)
    change = CHANGES["retry_failed"](record)
    assert await world.tasks.reopen(record, change, result.pk, result.sk, of.run_id, NOW, NOW)
    opened = await world.runs.get(of.run_id)
    assert opened is not None
    assert (opened.state, opened.cancelled_at, opened.swept) == (RunState.OPEN, None, False)


async def test_reopening_a_task_that_is_not_failed_changes_nothing(world: World) -> None:
    record, result, of = await failed_task(world)
    change = CHANGES["retry_failed"](record)
    stale = replace(change, same={**change.same, "round": 7}, proof={**change.proof, "round": 8})
    assert not await world.tasks.reopen(record, stale, result.pk, result.sk, of.run_id, NOW, NOW)
    assert await world.tasks.get(record.task_id) == record
    assert await world.runs.get(of.run_id) == of
    assert await world.results.count(of.run_id) == 1


async def test_reopening_without_a_row_or_a_run_changes_nothing(world: World) -> None:
    record, result, of = await failed_task(world)
    change = CHANGES["retry_failed"](record)
    assert not await world.tasks.reopen(record, change, result.pk, "no-such-row", of.run_id, NOW, NOW)
    assert not await world.tasks.reopen(record, change, result.pk, result.sk, "no-such-run", NOW, NOW)
    assert await world.tasks.get(record.task_id) == record
    assert await world.runs.get(of.run_id) == of


async def test_tasks_of_one_run_are_reopened_at_once_each_in_a_pass_of_its_own(world: World) -> None:
    first, result, of = await failed_task(world)
    others = [replace(first, task_id=f"{n:02d}{first.task_id}", sample=n) for n in (1, 2, 3)]
    await world.tasks.create(others)
    rows = [result, *(replace(result, task_id=other.task_id, sample=other.sample) for other in others)]
    for each in rows[1:]:
        assert await world.results.put(each)
    done = await asyncio.gather(
        *(
            world.tasks.reopen(record, CHANGES["retry_failed"](record), each.pk, each.sk, of.run_id, NOW, NOW)
            for record, each in zip([first, *others], rows, strict=True)
        )
    )
    assert done == [True] * 4
    opened = await world.runs.get(of.run_id)
    assert opened is not None
    assert (opened.pass_no, opened.counted) == (5, 1)
    assert await world.results.count(of.run_id) == 0
