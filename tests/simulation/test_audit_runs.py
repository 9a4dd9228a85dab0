"""A run that is called finished and is not is seen, in each of its passes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brandvane.run import Run, RunState
from brandvane.simulation.audit_runs import RunAudit
from brandvane.task import State, Task
from builders import catalogue, placed, run_of, tasks_of

GIVEN = catalogue(2)
OPEN = run_of(GIVEN)
RUN = replace(OPEN, state=RunState.FINISHED)
DONE = [placed(each, State.DONE) for each in tasks_of(RUN, GIVEN)]


def told(run: Run, rows: int = len(DONE), records: list[Task] = DONE) -> list[str]:
    return list(RunAudit().changed(run, rows, records))


def test_a_run_with_all_its_rows_and_no_unfinished_record_is_finished() -> None:
    assert told(RUN) == []


def test_a_run_without_one_of_its_rows_is_not_finished() -> None:
    assert told(RUN, len(DONE) - 1) == [f"FINISHED in pass 1 with {len(DONE) - 1} rows of {len(DONE)}"]


def test_a_run_with_a_row_too_many_is_not_finished() -> None:
    assert told(RUN, len(DONE) + 1) == [f"FINISHED in pass 1 with {len(DONE) + 1} rows of {len(DONE)}"]


def test_a_run_whose_plan_is_not_complete_is_not_finished() -> None:
    assert told(replace(RUN, plan_complete=False)) == ["FINISHED in pass 1 before its plan was complete"]


@pytest.mark.parametrize("state", [State.PENDING, State.DISPATCHED, State.PULLED, State.RUNNING])
def test_a_run_with_an_unfinished_record_is_not_finished(state: State) -> None:
    records = [placed(DONE[0], state), *DONE[1:]]
    assert told(RUN, records=records) == [f"FINISHED in pass 1 while 1 records are {state}"]


def test_a_record_whose_row_is_written_may_still_be_on_its_way() -> None:
    assert told(RUN, records=[placed(DONE[0], State.WRITEBACK), *DONE[1:]]) == []


def test_records_of_other_runs_do_not_count() -> None:
    assert told(RUN, records=[*DONE, replace(placed(DONE[0], State.PENDING), run_id="other")]) == []


def test_a_run_that_is_open_may_lack_everything() -> None:
    assert told(OPEN, 0) == []


def test_each_pass_is_looked_at_once() -> None:
    audit = RunAudit()
    assert list(audit.changed(RUN, len(DONE), DONE)) == []
    assert list(audit.changed(replace(RUN, state=RunState.SCORING), 0, DONE)) == []
    again = replace(RUN, state=RunState.SCORING, pass_no=2)
    assert list(audit.changed(again, 0, DONE)) == [f"SCORING in pass 2 with 0 rows of {len(DONE)}"]
