"""How does an operator end a run?"""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.engine.cancel import cancel
from brandvane.engine.refusal import NoSuchRun, Refusal
from brandvane.ports import Unavailable
from brandvane.run import RunState
from brandvane.simulation.memory_world import ManualClock, MemoryWorld
from builders import NOW, Faulty, catalogue, run_of


async def _world(**fields: Any) -> MemoryWorld:
    world = MemoryWorld(clock=ManualClock(NOW))
    await world.runs.create(run_of(catalogue(), "day", **fields))
    return world


async def test_an_open_run_becomes_cancelled_and_waits_for_the_scanner() -> None:
    world = await _world(swept=True)

    ended = await cancel("day", runs=world.runs, clock=world.clock, telemetry=world.telemetry)

    assert not ended.already
    assert ended.run == world.runs.runs["day"]
    assert (ended.run.state, ended.run.cancelled_at, ended.run.swept) == (RunState.CANCELLED, NOW, False)
    assert ended.run.waits
    assert world.telemetry.named("run_cancelled") == [{"run_id": "day"}]


async def test_cancelling_twice_changes_nothing_and_says_so() -> None:
    world = await _world(state=RunState.CANCELLED, cancelled_at=NOW - 60, swept=True)
    before = world.runs.runs["day"]

    ended = await cancel("day", runs=world.runs, clock=world.clock, telemetry=world.telemetry)

    assert ended.already
    assert world.runs.runs["day"] == before


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.SCORING, RunState.REPORTING, RunState.REPORTED], ids=str)
async def test_a_run_whose_tasks_have_all_ended_cannot_be_cancelled(state: RunState) -> None:
    world = await _world(state=state)

    with pytest.raises(Refusal, match=f"run day is {state}"):
        await cancel("day", runs=world.runs, clock=world.clock, telemetry=world.telemetry)
    assert world.runs.runs["day"].state is state


async def test_a_run_that_does_not_exist_is_named() -> None:
    world = await _world()

    with pytest.raises(NoSuchRun, match="no run 'nigth'"):
        await cancel("nigth", runs=world.runs, clock=world.clock, telemetry=world.telemetry)


async def test_a_run_that_finishes_at_this_moment_is_left_alone() -> None:
    world = await _world()

    class Overtaken(Faulty):
        async def change(self, run_id: str, require: Any, put: Any) -> Any:
            await world.runs.change("day", {}, {"state": RunState.FINISHED})
            return await world.runs.change(run_id, require, put)

    with pytest.raises(Refusal):
        await cancel("day", runs=Overtaken(world.runs, {}), clock=world.clock, telemetry=world.telemetry)
    assert world.runs.runs["day"].state is RunState.FINISHED


async def test_a_cancel_whose_reply_was_lost_is_recognised_as_its_own() -> None:
    world = await _world()

    class Forgetful(Faulty):
        async def change(self, run_id: str, require: Any, put: Any) -> Any:
            await world.runs.change(run_id, require, put)
            return  # what a store says whose first try had been carried out

    ended = await cancel("day", runs=Forgetful(world.runs, {}), clock=world.clock, telemetry=world.telemetry)

    assert not ended.already
    assert ended.run.state is RunState.CANCELLED


async def test_a_run_that_never_holds_still_ends_as_unavailable() -> None:
    world = await _world()

    class Busy(Faulty):
        async def change(self, run_id: str, require: Any, put: Any) -> Any:
            return None

    with pytest.raises(Unavailable, match="kept changing"):
        await cancel("day", runs=Busy(world.runs, {}), clock=world.clock, telemetry=world.telemetry)
