"""What has happened to one task? Its record, the row of every round, and answers that came too late to count."""

from __future__ import annotations

from dataclasses import dataclass

from brandvane.answer import late_key
from brandvane.engine.refusal import WrongInput
from brandvane.ports import BlobStore, RowReader, TaskStore
from brandvane.result import ResultRow, key_of
from brandvane.task import Task


@dataclass(frozen=True, slots=True)
class Life:
    """``task`` is None when its record has been removed; ``rows`` are oldest first; ``late`` are keys of objects."""

    task_id: str
    run_id: str
    task: Task | None
    rows: tuple[ResultRow, ...]
    late: tuple[str, ...]

    @property
    def known(self) -> Task | ResultRow:
        """Whatever there is that says what was asked of whom."""
        return self.task or self.rows[-1]


async def life_of(task_id: str, run_id: str | None, *, tasks: TaskStore, rows: RowReader, blobs: BlobStore) -> Life:
    """Everything that the stores have of a task. ``run_id`` is needed only when its record is gone.

    Raises:
        WrongInput: there is no such task, or not in this run.
        Unavailable: a store refuses.
    """
    task = await tasks.get(task_id)
    if task is None:
        row = None if run_id is None else await rows.find(run_id, task_id)
        if row is None or run_id is None:
            raise WrongInput(no_record(task_id, run_id))
    elif run_id is not None and task.run_id != run_id:
        raise WrongInput(f"task {task_id} is one of run {task.run_id}, not of {run_id}")
    else:
        run_id = task.run_id
        row = await rows.row(*key_of(task))
    past = [] if row is None else [*await rows.earlier(row), row]
    late = await blobs.keys(late_key(run_id, task_id, ""))
    return Life(task_id, run_id, task, tuple(past), tuple(late))


def no_record(task_id: str, run_id: str | None) -> str:
    """Why nothing is found, and what to do about it."""
    if run_id is not None:
        return f"run {run_id} has no task '{task_id}'"
    return (
        f"there is no record of task '{task_id}': finished records are kept for some days only;"
        " if it is older, name its run with --run"
    )
