"""How does an operator move a run's deadline?"""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.engine.deadline import move_deadline
from brandvane.engine.refusal import NoSuchRun, Refusal
from brandvane.run import RunState
from brandvane.simulation.memory_world import ManualClock, MemoryWorld
from builders import NOW, Faulty, catalogue, run_of


async def _world(**fields: Any) -> MemoryWorld:
    world = MemoryWorld(clock=ManualClock(NOW))
    await world.runs.create(run_of(catalogue(), "day", **fields))
    return world


async def test_an_open_run_gets_the_deadline_and_is_swept_anew_by_it() -> None:
    world = await _world(deadline=NOW - 10, swept=True)

    moved = await move_deadline("day", NOW + 600, runs=world.runs, clock=world.clock, telemetry=world.telemetry)

    assert (moved.before, moved.run.deadline, moved.run.swept) == (NOW - 10, NOW + 600, False)
    assert world.runs.runs["day"] == moved.run


async def test_a_deadline_can_be_brought_forward() -> None:
    world = await _world()

    moved = await move_deadline("day", NOW + 60, runs=world.runs, clock=world.clock, telemetry=world.telemetry)

    assert moved.run.deadline == NOW + 60


@pytest.mark.parametrize("state", [state for state in RunState if state is not RunState.OPEN], ids=str)
async def test_a_run_that_is_not_open_keeps_its_deadline(state: RunState) -> None:
    world = await _world(state=state)

    with pytest.raises(Refusal, match=f"run day is {state}"):
        await move_deadline("day", NOW + 600, runs=world.runs, clock=world.clock, telemetry=world.telemetry)
    assert world.runs.runs["day"].deadline == NOW + 7200


@pytest.mark.parametrize("deadline", [NOW, NOW - 1])
async def test_a_past_deadline_is_refused(deadline: float) -> None:
    world = await _world()

    with pytest.raises(Refusal, match="past"):
        await move_deadline("day", deadline, runs=world.runs, clock=world.clock, telemetry=world.telemetry)


async def test_a_run_that_does_not_exist_is_named() -> None:
    world = await _world()

    with pytest.raises(NoSuchRun, match="no run 'night'"):
        await move_deadline("night", NOW + 600, runs=world.runs, clock=world.clock, telemetry=world.telemetry)


async def test_a_scanner_that_says_swept_by_the_old_deadline_at_this_moment_is_overruled() -> None:
    world = await _world(deadline=NOW - 10)

    class Racing(Faulty):
        async def change(self, run_id: str, require: Any, put: Any) -> Any:
            await world.runs.change("day", {"swept": False, "deadline": NOW - 10}, {"swept": True})
            return await world.runs.change(run_id, require, put)

    moved = await move_deadline(
        "day", NOW + 600, runs=Racing(world.runs, {}), clock=world.clock, telemetry=world.telemetry
    )

    assert not moved.run.swept
    # And the other way round: by then the scanner's own condition no longer holds.
    assert await world.runs.change("day", {"swept": False, "deadline": NOW - 10}, {"swept": True}) is None
