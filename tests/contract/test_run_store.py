"""Runs: creating, conditional changes, marks, and which of them still need somebody, in every world."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from brandvane.catalogue import Selection
from brandvane.run import Run, RunState
from contract.samples import NOW, run
from contract.worlds import World


async def stored(world: World, of: Run) -> Run:
    assert await world.runs.create(of)
    return of


async def waiting(world: World, of: Run) -> bool:
    return of.run_id in [each.run_id for each in await world.runs.unfinished()]


async def test_a_created_run_reads_back_as_it_was(world: World) -> None:
    of = run(
        selection=Selection(platforms=("gpt",), brands=("acme", "globex"), limit=10),
        spacing={"gpt": 0.1 + 0.2},
        schedule_id=None,
        chunks_done=frozenset({0, 3, 12}),
        scored=frozenset({15}),
        priority="high",
        seed=2**62 + 1,
    )
    await stored(world, of)
    assert await world.runs.get(of.run_id) == of


async def test_a_run_that_is_not_there_reads_as_none(world: World) -> None:
    assert await world.runs.get("none-such") is None


async def test_a_second_run_of_the_same_id_is_not_created_and_changes_nothing(world: World) -> None:
    of = await stored(world, run())
    assert not await world.runs.create(replace(of, seed=8))
    assert not await world.runs.create(of)
    assert await world.runs.get(of.run_id) == of


async def test_of_eight_planners_at_once_one_creates_the_run(world: World) -> None:
    of = run()
    created = await asyncio.gather(*(world.runs.create(replace(of, seed=number)) for number in range(8)))
    assert sum(created) == 1
    assert await world.runs.get(of.run_id) == replace(of, seed=created.index(True))


async def test_a_change_sets_fields_when_what_it_requires_holds(world: World) -> None:
    of = await stored(world, run())
    put = {"state": RunState.FINISHED, "finished_at": NOW, "plan_complete": True, "planned": {"gpt": 5}}
    changed = await world.runs.change(of.run_id, {"state": RunState.OPEN, "pass_no": 1, "finished_at": None}, put)
    assert changed == replace(of, state=RunState.FINISHED, finished_at=NOW, plan_complete=True, planned={"gpt": 5})
    assert await world.runs.get(of.run_id) == changed


@pytest.mark.parametrize(
    "require",
    [{"state": RunState.FINISHED}, {"pass_no": 2}, {"deadline": NOW}, {"report_prefix": "x"}, {"schedule_id": None}],
)
async def test_a_change_whose_requirement_fails_changes_nothing(world: World, require: dict[str, object]) -> None:
    of = await stored(world, run())
    assert await world.runs.change(of.run_id, require, {"state": RunState.CANCELLED, "cancelled_at": NOW}) is None
    assert await world.runs.change(of.run_id, require, {"counted": 3}) is None
    assert await world.runs.get(of.run_id) == of


async def test_a_change_of_a_run_that_is_not_there_makes_none(world: World) -> None:
    absent = run()
    assert await world.runs.change(absent.run_id, {}, {"counted": 3}) is None
    assert await world.runs.change(absent.run_id, {}, {"swept": True}) is None
    assert await world.runs.get(absent.run_id) is None


async def test_a_field_put_to_none_is_cleared(world: World) -> None:
    of = await stored(world, run(finished_at=NOW, report_prefix="reports/x", lease_owner="me"))
    put = {"finished_at": None, "report_prefix": None, "lease_owner": None, "scored": None}
    changed = await world.runs.change(of.run_id, {}, put)
    assert changed == replace(of, finished_at=None, report_prefix=None, lease_owner="")
    assert await world.runs.change(of.run_id, {"lease_owner": "", "finished_at": None}, {"counted": 1}) is not None


async def test_a_set_put_to_empty_is_empty(world: World) -> None:
    of = await stored(world, run(scored=frozenset({1, 2})))
    changed = await world.runs.change(of.run_id, {}, {"scored": frozenset()})
    assert changed == replace(of, scored=frozenset())


async def test_of_eight_changes_at_once_one_wins(world: World) -> None:
    of = await stored(world, run())
    changed = await asyncio.gather(
        *(
            world.runs.change(of.run_id, {"lease_until": 0.0}, {"lease_owner": f"owner-{n}", "lease_until": NOW})
            for n in range(8)
        )
    )
    won = [each for each in changed if each is not None]
    assert len(won) == 1
    assert await world.runs.get(of.run_id) == won[0]


async def test_marks_add_up_and_tell_the_run_as_it_is(world: World) -> None:
    of = await stored(world, run())
    await world.runs.mark(of.run_id, 1, "scored", 3, NOW)
    await world.runs.mark(of.run_id, 1, "scored", 0, NOW)
    marked = await world.runs.mark(of.run_id, 1, "scored", 3, NOW)
    assert marked == replace(of, scored=frozenset({0, 3}))


async def test_a_planned_chunk_is_progress_of_the_plan(world: World) -> None:
    of = await stored(world, run())
    marked = await world.runs.mark(of.run_id, 1, "chunks_done", 2, NOW + 1.5)
    assert marked == replace(of, chunks_done=frozenset({2}), plan_progress_at=NOW + 1.5)


async def test_marks_made_at_once_are_all_kept(world: World) -> None:
    of = await stored(world, run())
    await asyncio.gather(*(world.runs.mark(of.run_id, 1, "scored", number, NOW) for number in range(16)))
    marked = await world.runs.get(of.run_id)
    assert marked is not None
    assert marked.scored == frozenset(range(16))


async def test_a_mark_of_a_pass_that_is_over_is_refused(world: World) -> None:
    of = await stored(world, run(pass_no=2))
    assert await world.runs.mark(of.run_id, 1, "scored", 3, NOW) is None
    assert await world.runs.mark("none-such", 1, "scored", 3, NOW) is None
    assert await world.runs.get(of.run_id) == of
    assert await world.runs.get("none-such") is None


async def test_the_latest_runs_come_newest_first_up_to_the_limit(world: World) -> None:
    # Later than any other test's runs.
    oldest, newest, middle = (run(created_at=NOW + 10**6 + offset) for offset in (1, 3, 2))
    for each in (oldest, newest, middle):
        await stored(world, each)
    assert await world.runs.recent(3) == [newest, middle, oldest]
    assert await world.runs.recent(2) == [newest, middle]


OPEN_TO_REPORTED = [RunState.FINISHED, RunState.SCORING, RunState.REPORTING, RunState.REPORTED]


async def test_a_run_needs_somebody_until_it_is_reported(world: World) -> None:
    of = await stored(world, run())
    seen = [await waiting(world, of)]
    for state in OPEN_TO_REPORTED:
        await world.runs.change(of.run_id, {}, {"state": state})
        seen.append(await waiting(world, of))
    assert seen == [True, True, True, True, False]


async def test_a_cancelled_run_needs_somebody_until_it_has_been_swept(world: World) -> None:
    of = await stored(world, run())
    await world.runs.change(of.run_id, {}, {"state": RunState.CANCELLED, "cancelled_at": NOW})
    assert await waiting(world, of)
    await world.runs.change(of.run_id, {"swept": False, "deadline": of.deadline}, {"swept": True})
    assert not await waiting(world, of)


async def test_a_swept_run_that_is_not_cancelled_still_needs_somebody(world: World) -> None:
    of = await stored(world, run())
    await world.runs.change(of.run_id, {"swept": False}, {"swept": True})
    assert await waiting(world, of)
    await world.runs.change(of.run_id, {"state": RunState.OPEN}, {"state": RunState.CANCELLED})
    assert not await waiting(world, of)


async def test_a_cancelled_run_that_is_opened_again_needs_somebody(world: World) -> None:
    of = await stored(world, run(state=RunState.CANCELLED, swept=True))
    assert not await waiting(world, of)
    await world.runs.change(of.run_id, {}, {"state": RunState.OPEN, "swept": False})
    assert await waiting(world, of)


async def test_unfinished_runs_come_oldest_first(world: World) -> None:
    late, early = run(created_at=NOW + 20), run(created_at=NOW + 10)
    await stored(world, late)
    await stored(world, early)
    found = [each for each in await world.runs.unfinished() if each.run_id in (late.run_id, early.run_id)]
    assert found == [early, late]
