"""How does a run stand?"""

from __future__ import annotations

import math
from typing import Any

from brandvane.control import Control, Pause
from brandvane.engine.projection import Wait
from brandvane.engine.standing import Onlooker
from brandvane.ports import Deployed
from brandvane.result import row_of
from brandvane.run import Run, RunState
from brandvane.simulation.memory_world import ManualClock, MemoryWorld, StatedDeployment
from brandvane.task import Outcome, State, Task, watches
from builders import NOW, Faulty, catalogue, placed, platform, run_of, tasks_of

# Ten tasks a platform, a second apart, deadline in 2 h. Expected hold 40 s, ten slots: a call every 4 s.
GIVEN = catalogue(questions=10, platforms=(platform("openai"), platform("hunyuan")))
PACE = 0.25


async def _world(run: Run, *ended: Outcome | State, **control: Any) -> tuple[MemoryWorld, list[Task]]:
    """The run's first tasks (all of openai) stand as given, all others are PENDING."""
    world = MemoryWorld(
        clock=ManualClock(NOW), deployment=StatedDeployment(Deployed("openai", 5, 2, 60), Deployed("hunyuan", 5, 2, 60))
    )
    world.catalogues.push(GIVEN)
    tasks = tasks_of(run, GIVEN)
    for number, given in enumerate(ended):
        if isinstance(given, State):
            tasks[number] = placed(tasks[number], given)
        else:
            state = State.DONE if given is Outcome.OK else State.FAILED
            tasks[number] = placed(tasks[number], state, outcome=given)
    await world.runs.create(run)
    await world.tasks.create(tasks)
    for task in tasks:
        if task.state in (State.DONE, State.FAILED):
            await world.results.put(row_of(task, NOW - 110))
    if control:
        world.control.items["openai"] = Control("openai", **control)
    return world, tasks


def _onlooker(world: MemoryWorld, **ports: object) -> Onlooker:
    return Onlooker(
        **{
            "tasks": world.tasks,
            "results": world.results,
            "runs": world.runs,
            "controls": world.control,
            "catalogues": world.catalogues,
            "deployment": world.deployment,
            "clock": world.clock,
            **ports,
        }  # type: ignore[arg-type]
    )


async def test_every_task_is_in_exactly_one_place() -> None:
    run = run_of(GIVEN)
    world, _ = await _world(run, Outcome.OK, Outcome.OK, Outcome.TIMEOUT, Outcome.EXPIRED, State.RUNNING, State.PULLED)

    standing = await _onlooker(world).look(run)

    openai, hunyuan = standing.platforms
    assert (openai.planned, openai.done, openai.results) == (10, 2, 4)
    assert openai.failed == {Outcome.TIMEOUT: 1, Outcome.EXPIRED: 1}
    assert openai.unfinished == {State.PENDING: 4, State.RUNNING: 1, State.PULLED: 1}
    assert (hunyuan.results, hunyuan.unfinished) == (0, {State.PENDING: 10})
    assert (standing.results, standing.done, standing.failed) == (4, 2, 2)
    assert standing.unfinished == {State.PENDING: 14, State.RUNNING: 1, State.PULLED: 1}


async def test_tasks_of_other_runs_are_not_counted() -> None:
    run = run_of(GIVEN)
    world, _ = await _world(run)
    await world.tasks.create(tasks_of(run_of(GIVEN, "other"), GIVEN))

    standing = await _onlooker(world).look(run)

    assert standing.unfinished == {State.PENDING: 20}


async def test_the_row_of_a_task_that_is_asked_again_is_no_result() -> None:
    run = run_of(GIVEN)
    world, tasks = await _world(run, State.PENDING)
    old = placed(tasks[0], State.FAILED)
    await world.results.put(row_of(old, NOW - 500))

    standing = await _onlooker(world).look(run)

    assert standing.results == 0
    assert standing.unfinished == {State.PENDING: 20}


async def test_a_glance_reads_no_row() -> None:
    run = run_of(GIVEN)
    world, _ = await _world(run, Outcome.OK)
    results = Faulty(world.results, {"bucket": [AssertionError("read")] * 16})
    known = (await _onlooker(world).look(run)).tally
    await world.results.put(row_of(placed(tasks_of(run, GIVEN)[1], State.DONE), NOW))

    standing = await _onlooker(world, results=results).glance(run, known)

    assert (standing.results, standing.done) == (2, 1)


async def test_the_index_is_not_walked_for_a_run_whose_tasks_have_all_ended() -> None:
    run = run_of(GIVEN, state=RunState.REPORTED)
    world, _ = await _world(run)
    tasks = Faulty(world.tasks, {"page": [AssertionError("walked")] * 99})

    standing = await _onlooker(world, tasks=tasks).look(run)

    assert standing.unfinished == {}
    assert standing.finish is None


async def test_partitions_are_walked_to_their_end() -> None:
    given = catalogue(questions=1300)
    run = run_of(given)
    world = MemoryWorld(clock=ManualClock(NOW), deployment=StatedDeployment(Deployed("openai", 5, 2, 60)))
    world.catalogues.push(given)
    await world.tasks.create([placed(task, State.DISPATCHED) for task in tasks_of(run, given)])

    standing = await _onlooker(world).look(run)

    assert standing.unfinished == {State.DISPATCHED: 1300}


async def test_what_is_left_ends_as_fast_as_slots_and_hold_time_allow() -> None:
    run = run_of(GIVEN)
    world, _ = await _world(run, *[Outcome.OK] * 8)

    openai, hunyuan = (await _onlooker(world).look(run)).platforms

    # 2 tasks ÷ 0.25/s = 8 s, but the last is planned for NOW + 9; then it takes 40 s. 10 tasks need 40 s.
    assert openai.finish == NOW + 9 + 40
    assert hunyuan.finish == NOW + 10 / PACE + 40


async def test_a_finish_after_the_deadline_is_late_by_that_much() -> None:
    run = run_of(GIVEN, deadline=NOW + 60)
    world, _ = await _world(run)

    standing = await _onlooker(world).look(run)

    assert standing.finish == NOW + 80
    assert standing.late_by == 20


async def test_a_platform_paused_until_somebody_resumes_it_is_never_through() -> None:
    run = run_of(GIVEN)
    world, _ = await _world(run, Outcome.OK, paused=Pause("auth_error", "worker", NOW - 30))

    standing = await _onlooker(world).look(run)

    assert standing.platforms[0].waits == (Wait("openai", None, "auth_error", "worker", NOW - 30, None, 9),)
    assert standing.finish == math.inf


async def test_a_paused_target_holds_up_its_own_tasks_only() -> None:
    run = run_of(GIVEN)
    world, _ = await _world(
        run, targets={"openai/m1": Pause("model_gone", "worker", NOW, NOW + 600), "openai/m2": Pause("x", "y", NOW)}
    )

    openai = (await _onlooker(world).look(run)).platforms[0]

    assert openai.waits == (Wait("openai", "openai/m1", "model_gone", "worker", NOW, NOW + 600, 10),)
    assert openai.finish == NOW + 600 + 10 / PACE + 40


async def test_a_run_past_its_deadline_has_no_projection() -> None:
    run = run_of(GIVEN, deadline=NOW - 1)
    world, _ = await _world(run)

    standing = await _onlooker(world).look(run)

    assert standing.finish is None
    assert standing.late_by == 0


async def test_the_latest_run_is_taken_when_none_is_named() -> None:
    world, _ = await _world(run_of(GIVEN, "old", created_at=NOW - 500))
    await world.runs.create(run_of(GIVEN, "new", created_at=NOW - 100))

    named, latest = await _onlooker(world).run("old"), await _onlooker(world).run(None)

    assert named is not None
    assert latest is not None
    assert (named.run_id, latest.run_id) == ("old", "new")
    assert await _onlooker(world).run("none") is None
    assert await _onlooker(MemoryWorld()).run(None) is None


async def test_the_walk_covers_every_partition_that_can_hold_an_unfinished_record() -> None:
    run = run_of(GIVEN)
    world, _ = await _world(run)
    walked: list[str] = []

    class Watching(Faulty):
        async def page(self, watch: str, after: Any, limit: int) -> Any:
            walked.append(watch)
            return await world.tasks.page(watch, after, limit)

    await _onlooker(world, tasks=Watching(world.tasks, {})).look(run)

    assert sorted(walked) == sorted([*watches("openai"), *watches("hunyuan")])
