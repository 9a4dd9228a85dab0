"""However often a day is started and whoever dies meanwhile: the plan is written once, and whole.

The runs here are tomorrow's, whose window begins in half a day, so that nothing of them is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest

from brandvane.aws.keys import tables_of
from brandvane.catalogue import Catalogue, Selection
from brandvane.engine.plan import STALLED_S
from brandvane.schedule import instants, occurrence, run_id
from brandvane.simulation.run_audit import plan_of
from e2e.deployed import DeployedStack, wait_for

QUESTIONS = 45
SAMPLES = 10  # 45 x 10 x 3 platforms = 1,350 tasks: 3 chunks, of which 2 are written at a time


@pytest.fixture(autouse=True)
def tidied(deployed: DeployedStack) -> Iterator[None]:
    """Records that wait for tomorrow would keep the run under way from being found at rest."""
    yield
    for name in deployed.made:
        deployed.forget(name)
    deployed.made.clear()


@pytest.fixture(scope="module")
def catalogue(deployed: DeployedStack, asked: object) -> Catalogue:
    """Pushed after the run under way was pinned to its own."""
    return deployed.push(QUESTIONS, SAMPLES)


def coming_day(catalogue: Catalogue, days: int) -> str:
    """The date of an occurrence that has not begun: the next one, or ``days`` - 1 after it."""
    schedule = catalogue.monitor.schedules[0]
    latest = date.fromisoformat(occurrence(schedule, datetime.now(UTC).timestamp()))
    day = (latest + timedelta(days=days)).isoformat()
    assert instants(schedule, day).start > datetime.now(UTC).timestamp() + 3600
    return day


def planned(catalogue: Catalogue, name: str) -> frozenset[str]:
    return plan_of(name, catalogue, Selection()).ids


def is_planned(deployed: DeployedStack, name: str) -> bool:
    return deployed.run(name).plan_complete


def test_a_planner_killed_in_the_middle_is_followed_by_one_that_ends_the_plan(
    deployed: DeployedStack, catalogue: Catalogue, capsys: pytest.CaptureFixture[str]
) -> None:
    day = coming_day(catalogue, 3)
    name = deployed.made_by_test(run_id(catalogue.monitor.schedules[0], day))
    whole = planned(catalogue, name)
    deployed.invoke("planner", {"start": {"date": day}})
    wait_for(lambda: len(deployed.task_ids(name)) > len(whole) // 20, "the first records are there")
    killed = deployed.kill("planner")
    records = len(deployed.task_ids(name))
    with capsys.disabled():
        print(f"\nplanner killed ({killed} processes) when {records} of {len(whole)} records were written")
    assert killed >= 1
    assert 0 < records < len(whole)

    # Chunks that nobody held when the planner died are planned by the next one; those it held stay invisible for half an hour.
    wait_until_it_stands_still(deployed, name)
    assert not is_planned(deployed, name)
    make_old(deployed, name, STALLED_S + 1)
    tick = deployed.invoke("dispatcher", {})
    assert name in tick["resumed"], tick

    wait_for(lambda: is_planned(deployed, name), "the plan is complete")
    assert set(deployed.task_ids(name)) == whole
    assert len(deployed.task_ids(name)) == len(whole)


def test_starting_the_same_day_twice_leaves_exactly_the_planned_tasks(
    deployed: DeployedStack, catalogue: Catalogue
) -> None:
    day = coming_day(catalogue, 1)
    name = deployed.made_by_test(run_id(catalogue.monitor.schedules[0], day))
    first = deployed.invoke("planner", {"start": {"date": day}})
    second = deployed.invoke("planner", {"start": {"date": day}})
    assert (first["run_id"], first["created"]) == (name, True)
    assert (second["run_id"], second["created"]) == (name, False)
    wait_for(lambda: is_planned(deployed, name), "the plan is complete")
    ids = deployed.task_ids(name)
    assert len(ids) == QUESTIONS * SAMPLES * 3
    assert set(ids) == planned(catalogue, name)


def test_two_planners_at_once_leave_exactly_the_planned_tasks(deployed: DeployedStack, catalogue: Catalogue) -> None:
    day = coming_day(catalogue, 2)
    name = deployed.made_by_test(run_id(catalogue.monitor.schedules[0], day))
    with ThreadPoolExecutor(2) as pool:
        started = list(pool.map(lambda _: deployed.invoke("planner", {"start": {"date": day}}), range(2)))
    assert sorted(reply["created"] for reply in started) == [False, True]
    # Both go on to plan: whoever was second asks for every chunk once more.
    deployed.invoke("planner", {"resume": name})
    wait_for(lambda: is_planned(deployed, name), "the plan is complete")
    assert set(deployed.task_ids(name)) == planned(catalogue, name)
    assert len(deployed.task_ids(name)) == QUESTIONS * SAMPLES * 3


def wait_until_it_stands_still(deployed: DeployedStack, name: str) -> None:
    """Until no record has come for as long as ten looks take."""
    last: list[int] = []

    def still() -> bool:
        last.append(len(deployed.task_ids(name)))
        return len(last) >= 10 and len(set(last[-10:])) == 1

    wait_for(still, "the plan stands still")


def make_old(deployed: DeployedStack, name: str, seconds: float) -> None:
    """Let the plan's last progress lie further back, instead of waiting for two minutes."""
    deployed.clients.dynamodb.update_item(
        TableName=tables_of(deployed.state.stack).runs,
        Key={"run_id": {"S": name}},
        UpdateExpression="SET plan_progress_at = plan_progress_at - :seconds",
        ExpressionAttributeValues={":seconds": {"N": str(seconds)}},
    )
