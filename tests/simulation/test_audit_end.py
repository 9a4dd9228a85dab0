"""What is missing, or too much, when all is over is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from brandvane.answer import late_key
from brandvane.result import ResultRow, row_of
from brandvane.run import Run, RunState
from brandvane.simulation.audit_calls import Use
from brandvane.simulation.audit_end import audit_end
from brandvane.simulation.auditor import Auditor
from brandvane.simulation.cloud import Cloud
from brandvane.simulation.faults import NONE
from brandvane.simulation.host import Host
from brandvane.simulation.virtual_loop import VirtualLoop
from brandvane.task import State, Task
from builders import NOW, catalogue, placed, run_of, tasks_of

GIVEN = catalogue(2)
RUN = replace(run_of(GIVEN), state=RunState.REPORTED)
TASKS = [placed(each, State.DONE, answer=b"x") for each in tasks_of(RUN, GIVEN)]
ROWS = [row_of(each, NOW) for each in TASKS]
FIRST = TASKS[0]


class World:
    """The end of a run that went well, to be spoilt."""

    def __init__(self, rows: Sequence[ResultRow] = ROWS, tasks: Sequence[Task] = TASKS) -> None:
        self.loop = VirtualLoop()
        self.auditor = Auditor(self.loop.time, NOW, lambda: None)
        self.cloud = Cloud(loop=self.loop, epoch=NOW, seed=1, faults=NONE, auditor=self.auditor)
        self.auditor.watch(self.cloud)
        self.auditor.calls.use["openai"] = Use(len(TASKS), 10)
        self.cloud.tasks.records.update({each.task_id: each for each in tasks})
        self.cloud.results.rows.update({(each.pk, each.sk): each for each in rows})

    def told(self, run: Run = RUN, total: int = len(TASKS)) -> list[str]:
        audit_end(self.auditor, run, [each.task_id for each in TASKS], total)
        return [f"{each.kind}: {each.text}" for each in self.auditor.history.violations]

    def answered(self, attempt_id: str = "lost") -> Host:
        """A call of the first task is answered; its worker."""
        host = Host(self.loop, "worker/1", NOW)
        record = replace(placed(FIRST, State.RUNNING), attempt_id=attempt_id)
        assert list(self.auditor.calls.started(host, record, RUN, FIRST.task_id, 1)) == []
        self.auditor.answered(attempt_id)
        return host


LOST = "answers: the answer to call 1 is nowhere"


def test_an_end_at_which_everything_is_there_breaks_nothing() -> None:
    assert World().told() == []


def test_a_task_without_row_is_lost() -> None:
    assert World(rows=ROWS[1:]).told() == ["lost: no result row; the record is DONE"]


def test_a_task_that_was_never_planned_is_lost() -> None:
    assert World(rows=ROWS[1:], tasks=TASKS[1:]).told() == ["lost: no result row; the record is not there"]


def test_a_row_of_no_task_is_seen() -> None:
    assert World([*ROWS, replace(ROWS[0], task_id="other", sample=9)]).told() == ["rows: a row that was never planned"]


def test_a_second_row_of_a_task_is_seen() -> None:
    assert World([*ROWS, replace(ROWS[0], sample=9)]).told() == ["rows: 1 tasks have more than one row"]


@pytest.mark.parametrize("key", [None, "answers/gone"])
def test_a_row_that_says_ok_and_has_no_answer_is_seen(key: str | None) -> None:
    row = replace(ROWS[0], answer=None, answer_key=key)
    assert World([row, *ROWS[1:]]).told() == ["answers: a row says ok and has no answer"]


def test_an_unfinished_record_that_has_a_row_is_seen() -> None:
    assert World(tasks=[placed(FIRST, State.WRITEBACK), *TASKS[1:]]).told() == ["ended: has a row and is WRITEBACK"]


def test_a_run_that_goes_on_for_ever_is_seen() -> None:
    run = replace(RUN, state=RunState.OPEN, counted=3)
    expected = f"ended: run {RUN.run_id} has not ended: OPEN, 3 of {len(TASKS)} counted"
    assert World().told(run) == [expected]


def test_a_cancelled_run_has_ended_when_it_is_swept() -> None:
    assert World().told(replace(RUN, state=RunState.CANCELLED, swept=True)) == []
    assert len(World().told(replace(RUN, state=RunState.CANCELLED))) == 1


def test_a_run_that_plans_another_number_than_its_catalogue_is_seen() -> None:
    run = replace(RUN, planned={"openai": 9})
    assert World().told(run) == [f"ended: run {RUN.run_id} says 9 tasks; its catalogue has {len(TASKS)}"]


def test_a_question_that_plan_and_expansion_both_drop_is_seen() -> None:
    expected = f"ended: the catalogue expands to {len(TASKS)} tasks; {len(TASKS) + 1} are to be asked"
    assert World().told(total=len(TASKS) + 1) == [expected]


def test_an_answer_that_is_nowhere_is_seen() -> None:
    world = World()
    world.answered()
    assert world.told() == [LOST]


def test_an_answer_that_comes_after_its_task_was_ended_without_it_is_missed_as_well() -> None:
    world = World()
    host = Host(world.loop, "worker/1", NOW)
    record = replace(placed(FIRST, State.RUNNING), attempt_id="lost")
    assert list(world.auditor.calls.started(host, record, RUN, FIRST.task_id, 1)) == []
    world.auditor.calls.ended("lost")
    world.auditor.answered("lost")
    assert world.told() == [LOST]


def test_an_answer_that_is_in_a_row_is_not_lost() -> None:
    world = World()
    world.answered(ROWS[0].attempt_id)
    assert world.told() == []


def test_an_answer_that_is_kept_as_late_is_not_lost() -> None:
    world = World()
    world.answered("late")
    world.cloud.blobs.objects[late_key(RUN.run_id, FIRST.task_id, "late")] = b"x"
    assert world.told() == []


def test_an_answer_that_died_with_its_worker_is_nobody_s_fault() -> None:
    world = World()
    world.answered().killed_at = 0.0
    assert world.told() == []


def test_a_worker_that_dies_after_it_has_delivered_its_answer_does_not_excuse_its_loss() -> None:
    world = World()
    host = world.answered()
    world.auditor.told(host, "call", {"attempt_id": "lost", "task_id": FIRST.task_id})
    host.killed_at = 5.0
    assert world.told() == [LOST]


def test_a_worker_that_stood_still_for_a_while_does_not_excuse_the_loss_of_an_answer() -> None:
    world = World()
    world.answered().stalls.append((0.0, -1.0))
    assert world.told() == [LOST]
