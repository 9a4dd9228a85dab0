"""Is a run finished whose state says so? DESIGN §3: once it is planned to its end and has as many rows as tasks, never before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from brandvane.run import Run, RunState
from brandvane.task import FINISHED, State, Task

ENDED = frozenset({RunState.FINISHED, RunState.SCORING, RunState.REPORTING, RunState.REPORTED})


class RunAudit:
    """The runs of a simulation; each is looked at once a pass."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, int]] = set()

    def changed(self, run: Run, rows: int, records: Iterable[Task]) -> Iterator[str]:
        """A run as it is now, its counted rows, and the records of all runs; what is wrong with its state."""
        if run.state not in ENDED or (run.run_id, run.pass_no) in self._seen:
            return
        self._seen.add((run.run_id, run.pass_no))
        head = f"{run.state} in pass {run.pass_no}"
        if not run.plan_complete:
            yield f"{head} before its plan was complete"
        if rows != run.total:
            yield f"{head} with {rows} rows of {run.total}"
        # A record in WRITEBACK whose row is counted is finished in a moment.
        done = (State.WRITEBACK, *FINISHED)
        waiting = Counter(task.state for task in records if task.run_id == run.run_id and task.state not in done)
        for state, number in sorted(waiting.items()):
            yield f"{head} while {number} records are {state}"
