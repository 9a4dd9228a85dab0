"""Which earlier run a report compares with, and that it does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brandvane.catalogue import Selection
from brandvane.engine.previous import earlier_ids, previous
from brandvane.report.trend import Then
from brandvane.run import Run, RunState
from unit.scored_samples import RUN_ID, Case, row

YESTERDAY = "daily-2026-03-01"


async def two_days(**changes: object) -> Case:
    """A reported run, and one of the day before that is the same but for ``changes``."""
    case = Case()
    run = await case.reported([row("Try Oolong.", sample=1), row("Nothing.", sample=2)])
    await case.world.runs.create(replace(run, run_id=YESTERDAY, **changes))  # type: ignore[arg-type]  # fields of a run
    return case


async def found(case: Case) -> Then | None:
    """What the run is compared with."""
    w = case.world
    return await previous(await case.run(), runs=w.runs, blobs=w.blobs, catalogues=w.catalogues)


async def test_the_same_schedules_run_of_the_day_before_is_it() -> None:
    then = await found(await two_days())
    assert then is not None
    assert then.run_id == YESTERDAY
    assert then.tally.targets["alpha/a-1"].numbers["rows"] == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"state": RunState.OPEN},
        {"state": RunState.CANCELLED},
        {"report_prefix": None},
        {"report_prefix": "reports/removed/"},
        {"selection": Selection(brands=("oolong",))},
        {"catalogue_version": "gone"},
    ],
)
async def test_a_run_that_cannot_be_compared_is_passed_over(changes: dict[str, object]) -> None:
    assert await found(await two_days(**changes)) is None


def run_called(run_id: str, schedule: str | None) -> Run:
    """A run of that name."""
    return Run(
        run_id=run_id,
        schedule_id=schedule,
        catalogue_version="v1",
        window_start=0,
        window_end=1,
        deadline=2,
        created_at=0,
        seed=1,
    )


def test_seven_days_are_looked_back_over_the_end_of_a_month() -> None:
    ids = earlier_ids(run_called(RUN_ID, "daily"))
    assert ids[:2] == ("daily-2026-03-01", "daily-2026-02-28")
    assert len(ids) == 7


@pytest.mark.parametrize(("run_id", "schedule"), [("try-1", None), ("try-1", "daily"), ("daily-spring", "daily")])
def test_a_labelled_run_is_compared_with_none(run_id: str, schedule: str | None) -> None:
    assert earlier_ids(run_called(run_id, schedule)) == ()


async def test_the_report_tells_the_change_and_the_run_it_is_against() -> None:
    case = await two_days()
    page = case.world.blobs.objects[f"reports/{RUN_ID}/pass-1/report.html"].decode()
    assert "There is no earlier run of this schedule to compare with." in page
    await case.world.runs.change(RUN_ID, {}, {"state": RunState.REPORTING})
    await case.publish()
    page = case.world.blobs.objects[f"reports/{RUN_ID}/pass-1/report.html"].decode()
    assert f"Changes are against run {YESTERDAY}." in page
    assert "+0.0 points" in page
    assert "within noise, n too small" in page
