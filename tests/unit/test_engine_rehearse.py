"""What would a start plan?"""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.catalogue import Selection
from brandvane.engine.plan import CannotStart, StartRequest
from brandvane.engine.rehearse import Rehearsal, check_selection, rehearse
from brandvane.run import Run
from builders import catalogue, platform
from operator_desk import Office, office

GIVEN = catalogue(questions=6, platforms=(platform("openai"), platform("hunyuan", rate=1.0)))


async def _rehearse(here: Office, **request: Any) -> Rehearsal:
    world = here.world
    return await rehearse(
        StartRequest(**request),
        tasks=world.tasks,
        runs=world.runs,
        controls=world.control,
        catalogues=world.catalogues,
        deployment=world.deployment,
        clock=world.clock,
        chance=world.chance,
    )


async def test_a_rehearsal_is_the_run_that_the_planner_then_makes() -> None:
    here = office(GIVEN)

    on_paper = await _rehearse(here)
    real = await here.planner().start(StartRequest())

    assert not on_paper.exists
    assert real.created
    assert on_paper.run == real.run
    assert on_paper.expansion.planned == {"openai": 6, "hunyuan": 6}


async def test_a_rehearsal_writes_sends_and_starts_nothing() -> None:
    here = office(GIVEN)

    await _rehearse(here)

    world = here.world
    assert world.runs.runs == {}
    assert world.tasks.records == {}
    assert await world.queue.depth("plan") == 0
    assert world.functions.take() == []
    assert world.telemetry.events == []


async def test_a_run_that_is_there_is_shown_as_it_is() -> None:
    here = office(GIVEN)
    there = (await here.planner().start(StartRequest())).run
    here.world.catalogues.push(catalogue(questions=9, version="v2"))

    again = await _rehearse(here)

    assert again.exists
    assert again.run == there
    assert (again.catalogue.version, again.expansion.planned) == ("v1", {"openai": 6, "hunyuan": 6})


@pytest.mark.parametrize(
    ("selection", "says"),
    [
        (Selection(platforms=("openia",)), "no platform 'openia'; did you mean openai?"),
        (Selection(brands=("acmee",)), "no brand 'acmee'; did you mean acme?"),
        (Selection(questions=("w1",)), "no question 'w1'; there are: q0, q1, q2, q3, q4, q5"),
        (Selection(platforms=("nope",)), "no platform 'nope'; there are: "),
        (Selection(brands=("xxxx",)), "no brand 'xxxx'; there are: acme, zeta"),
    ],
)
async def test_a_name_that_the_catalogue_does_not_have_is_said_with_those_near_it(
    selection: Selection, says: str
) -> None:
    with pytest.raises(CannotStart, match=says.replace("?", r"\?")):
        check_selection(selection, GIVEN)


async def test_a_label_may_not_look_like_a_schedules_own_run() -> None:
    here = office(GIVEN)

    with pytest.raises(CannotStart, match="is how schedule 'core' names its own runs"):
        await _rehearse(here, label="core-2025-10-10")
    assert isinstance((await _rehearse(here, label="core-again")).run, Run)
    assert isinstance((await _rehearse(here, label="launch-2025-10-10")).run, Run)


async def test_without_a_catalogue_nothing_can_be_rehearsed() -> None:
    with pytest.raises(CannotStart, match="catalogue push"):
        await _rehearse(office())
