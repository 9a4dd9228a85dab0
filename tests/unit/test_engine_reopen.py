"""Which failed tasks of a run can be asked again, and what does that change?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from brandvane.engine.refusal import NoSuchRun, Refusal
from brandvane.engine.reopen_failed import Ending, FailedTasks, Finding, Reopened, Wanted
from brandvane.ports import Unavailable
from brandvane.result import ResultRow, row_of
from brandvane.run import Run, RunState
from brandvane.simulation.memory_world import ManualClock, MemoryWorld
from brandvane.task import RECORD_VERSION, Outcome, State, Task, bucket_of
from builders import NOW, Faulty, Lost, catalogue, placed, platform, run_of, tasks_of

GIVEN = catalogue(questions=3, platforms=(platform("openai"), platform("hunyuan")))


async def _world(*ended: Outcome | State, run: Run | None = None) -> tuple[MemoryWorld, list[Task]]:
    """A run of six tasks, three a platform, the first ones ended as given; the others are DONE."""
    world = MemoryWorld(clock=ManualClock(NOW))
    made = run or run_of(GIVEN, "day", state=RunState.REPORTED, finished_at=NOW - 50, counted=6)
    tasks = [placed(task, State.DONE) for task in tasks_of(made, GIVEN)]
    for number, given in enumerate(ended):
        if isinstance(given, State):
            tasks[number] = placed(tasks[number], given)
        else:
            tasks[number] = placed(
                tasks[number], State.FAILED, outcome=given, error_kind="told", retry_count=3, paid_calls=4
            )
    await world.runs.create(made)
    await world.tasks.create(tasks)
    for task in tasks:
        if task.state in (State.DONE, State.FAILED):
            await world.results.put(row_of(task, NOW - 110))
    return world, tasks


def _failed_tasks(world: MemoryWorld, **ports: object) -> FailedTasks:
    return FailedTasks(
        **{
            "tasks": world.tasks,
            "results": world.results,
            "runs": world.runs,
            "functions": world.functions,
            "clock": world.clock,
            "chance": world.chance,
            "telemetry": world.telemetry,
            **ports,
        }  # type: ignore[arg-type]
    )


async def test_all_failed_tasks_are_found_and_no_answered_one() -> None:
    world, tasks = await _world(Outcome.TIMEOUT, Outcome.EXPIRED)

    found = await _failed_tasks(world).find("day", Wanted())

    assert {each.task_id for each in found.ready} == {tasks[0].task_id, tasks[1].task_id}
    assert found.others == ()


async def test_filters_by_outcome_platform_and_task_hold_together() -> None:
    world, tasks = await _world(Outcome.TIMEOUT, Outcome.EXPIRED, Outcome.TIMEOUT, Outcome.TIMEOUT)
    use = _failed_tasks(world)

    timeouts = await use.find("day", Wanted(outcomes=frozenset({Outcome.TIMEOUT})))
    of_openai = await use.find("day", Wanted((), frozenset({Outcome.TIMEOUT}), frozenset({"openai"})))
    one = await use.find("day", Wanted((tasks[1].task_id,)))

    assert len(timeouts.ready) == 3
    assert {each.task_id for each in of_openai.ready} == {tasks[0].task_id, tasks[2].task_id}
    assert [each.task_id for each in one.ready] == [tasks[1].task_id]


async def test_a_task_whose_record_is_gone_is_said_to_be_gone() -> None:
    world, tasks = await _world(Outcome.TIMEOUT, Outcome.TIMEOUT)
    del world.tasks.records[tasks[0].task_id]

    found = await _failed_tasks(world).find("day", Wanted())

    assert [each.task_id for each in found.ready] == [tasks[1].task_id]
    assert [(each.task_id, each.finding) for each in found.others] == [(tasks[0].task_id, Finding.GONE)]


async def test_a_task_that_was_named_and_has_an_answer_or_is_unfinished_or_unknown_is_left_out_with_the_reason() -> (
    None
):
    world, tasks = await _world(Outcome.TIMEOUT, State.RUNNING)
    named = (tasks[1].task_id, tasks[2].task_id, "f" * 32)

    found = await _failed_tasks(world).find("day", Wanted(named))

    assert found.ready == ()
    assert [(each.task_id, each.finding) for each in found.others] == [
        (tasks[1].task_id, Finding.UNFINISHED),
        (tasks[2].task_id, Finding.ANSWERED),
        ("f" * 32, Finding.UNKNOWN),
    ]


async def test_a_task_that_was_named_is_found_by_its_record_and_no_row_is_read() -> None:
    world, tasks = await _world(Outcome.TIMEOUT)

    class Unread(Faulty):
        def bucket(self, run_id: str, bucket: int) -> AsyncIterator[ResultRow]:
            raise AssertionError("rows were read")

    use = _failed_tasks(world, results=Unread(world.results, {}))
    found = await use.find("day", Wanted((tasks[0].task_id,)))

    assert await use.reopen(found) == Reopened(world.runs.runs["day"], {tasks[0].task_id: Ending.REOPENED})


async def test_what_failed_calls_brought_is_not_kept_while_tasks_are_looked_for() -> None:
    world, tasks = await _world(Outcome.TIMEOUT)
    row = row_of(tasks[0], NOW)
    world.results.rows[row.pk, row.sk] = replace(row, answer=b"packed")

    found = await _failed_tasks(world).find("day", Wanted())

    assert [each.row.answer for each in found.ready if each.row is not None] == [None]


async def test_a_failed_task_of_another_run_is_unknown_here() -> None:
    world, _ = await _world()
    other = placed(tasks_of(run_of(GIVEN, "other"), GIVEN)[0], State.FAILED)
    await world.tasks.create([other])

    found = await _failed_tasks(world).find("day", Wanted((other.task_id,)))

    assert [each.finding for each in found.others] == [Finding.UNKNOWN]


async def test_a_record_of_a_newer_release_is_left_to_it() -> None:
    world, tasks = await _world(Outcome.TIMEOUT)
    world.tasks.records[tasks[0].task_id] = replace(tasks[0], v=RECORD_VERSION + 1)

    found = await _failed_tasks(world).find("day", Wanted())

    assert [each.finding for each in found.others] == [Finding.NEWER]


async def test_reopening_gives_a_task_a_new_round_its_counts_at_zero_and_its_paid_calls_kept() -> None:
    world, tasks = await _world(Outcome.TIMEOUT)
    use = _failed_tasks(world)

    done = await use.reopen(await use.find("day", Wanted()))

    again = world.tasks.records[tasks[0].task_id]
    assert done.endings == {again.task_id: Ending.REOPENED}
    assert (again.state, again.round, again.dispatch_no) == (State.PENDING, 2, 2)
    assert (again.retry_count, again.paid_calls, again.outcome, again.expires_at) == (0, 4, None, None)
    assert (again.act_at, again.next_execute_time) == (NOW, NOW)
    assert again.attempt_id != tasks[0].attempt_id


async def test_the_row_of_a_reopened_task_stays_readable_and_is_not_counted() -> None:
    world, tasks = await _world(Outcome.TIMEOUT)
    use = _failed_tasks(world)

    await use.reopen(await use.find("day", Wanted()))

    rows = [row async for row in world.results.bucket("day", bucket_of(tasks[0].prompt_hash))]
    assert tasks[0].task_id in {row.task_id for row in rows}
    assert await world.results.count("day") == 5


async def test_the_run_goes_to_its_next_pass_and_has_two_hours_at_least() -> None:
    world, _ = await _world(
        Outcome.TIMEOUT, run=run_of(GIVEN, "day", state=RunState.REPORTED, deadline=NOW - 1000, counted=6)
    )
    use = _failed_tasks(world)

    done = await use.reopen(await use.find("day", Wanted()))

    assert done.run == world.runs.runs["day"]
    assert (done.run.state, done.run.pass_no, done.run.deadline) == (RunState.OPEN, 2, NOW + 7200)
    assert done.run.not_counted_before == NOW + 60


async def test_a_deadline_that_is_given_holds_unless_the_runs_own_is_later() -> None:
    for given, becomes in ((NOW + 600, NOW + 7200), (NOW + 9000, NOW + 9000)):
        world, _ = await _world(Outcome.TIMEOUT)
        use = _failed_tasks(world)

        done = await use.reopen(await use.find("day", Wanted()), given)

        assert done.run.deadline == becomes


async def test_a_past_deadline_is_refused_and_nothing_changes() -> None:
    world, tasks = await _world(Outcome.TIMEOUT)
    use = _failed_tasks(world)
    found = await use.find("day", Wanted())

    with pytest.raises(Refusal, match="past"):
        await use.reopen(found, NOW)
    assert world.tasks.records[tasks[0].task_id] == tasks[0]


async def test_the_dispatcher_is_woken_once_and_only_when_something_was_reopened() -> None:
    world, _ = await _world(Outcome.TIMEOUT, Outcome.TIMEOUT)
    use = _failed_tasks(world)
    found = await use.find("day", Wanted())

    await use.reopen(found)
    assert world.functions.take() == [("dispatcher", {"new_tasks": True})]
    await use.reopen(found)
    assert world.functions.take() == []


async def test_a_task_that_somebody_else_reopened_first_is_reported_and_not_reopened_twice() -> None:
    world, tasks = await _world(Outcome.TIMEOUT)
    use = _failed_tasks(world)
    found = await use.find("day", Wanted())
    await use.reopen(found)

    done = await use.reopen(found)

    assert done.endings == {tasks[0].task_id: Ending.CHANGED}
    assert (done.count, world.tasks.records[tasks[0].task_id].round) == (0, 2)


async def test_a_table_that_does_not_answer_leaves_one_task_unsure_and_the_others_go_on() -> None:
    world, _ = await _world(Outcome.TIMEOUT, Outcome.TIMEOUT, Outcome.TIMEOUT)
    tasks = Faulty(world.tasks, {"reopen": [None, Lost(Unavailable("no reply"))]})
    use = _failed_tasks(world, tasks=tasks)

    done = await use.reopen(await use.find("day", Wanted()))

    assert list(done.endings.values()) == [Ending.REOPENED, Ending.UNSURE, Ending.REOPENED]


async def test_a_cancelled_run_with_unfinished_tasks_is_refused() -> None:
    run = run_of(GIVEN, "day", state=RunState.CANCELLED, cancelled_at=NOW - 10)
    world, _ = await _world(Outcome.CANCELLED, run=run)

    with pytest.raises(Refusal, match="some of its tasks have not ended yet"):
        await _failed_tasks(world).find("day", Wanted())


async def test_a_cancelled_run_that_has_been_swept_can_be_asked_again() -> None:
    run = run_of(GIVEN, "day", state=RunState.CANCELLED, cancelled_at=NOW - 100, swept=True)
    world, _ = await _world(Outcome.CANCELLED, run=run)
    use = _failed_tasks(world)

    done = await use.reopen(await use.find("day", Wanted()))

    assert done.count == 1
    assert (done.run.state, done.run.cancelled_at, done.run.swept) == (RunState.OPEN, None, False)


async def test_a_run_that_does_not_exist_is_named() -> None:
    world, _ = await _world()

    with pytest.raises(NoSuchRun, match="no run 'night'"):
        await _failed_tasks(world).find("night", Wanted())
