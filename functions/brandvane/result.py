"""What is a result row: the one thing that every planned question ends as."""

from __future__ import annotations

from dataclasses import dataclass, fields

from brandvane.task import Outcome, Task, bucket_of, task_id_of

RESULT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """One row of the results table; the answer itself is ``answer`` (packed, see ``answer.py``) or lives at ``answer_key`` in S3."""

    run_id: str
    task_id: str
    platform: str
    model: str
    prompt_hash: str
    locale: str
    sample: int
    question_ids: tuple[str, ...]
    brand_group: str
    outcome: Outcome
    round: int
    attempt_id: str
    error_kind: str | None
    planned_time: float
    started_at: float | None
    finished_at: float | None
    written_at: float
    retry_count: int
    throttle_count: int
    give_backs: int
    write_backs: int
    paid_calls: int
    answer: bytes | None = None
    answer_key: str | None = None
    minimal: bool = False  # written after write-backs kept failing; the raw answer is at answer_key
    v: int = RESULT_VERSION

    @property
    def target(self) -> str:
        """Platform and model."""
        return f"{self.platform}/{self.model}"

    @property
    def pk(self) -> str:
        """Partition: one bucket of a run."""
        return result_pk(self.run_id, bucket_of(self.prompt_hash))

    @property
    def sk(self) -> str:
        """Sort key within the bucket."""
        return result_sk(self.target, self.prompt_hash, self.locale, self.sample)


RESULT_FIELDS = tuple(f.name for f in fields(ResultRow))


def result_pk(run_id: str, bucket: int) -> str:
    """Partition key of a bucket of a run's rows."""
    return f"{run_id}#{bucket:02d}"


def result_sk(target: str, prompt_hash: str, locale: str, sample: int) -> str:
    """Sort key of a row within its bucket."""
    return f"{target}#{prompt_hash}#{locale}#{sample}"


def key_of(task: Task) -> tuple[str, str]:
    """Partition and sort key of the row that a task has, or will have."""
    sk = result_sk(task.target, task.prompt_hash, task.locale, task.sample)
    return result_pk(task.run_id, bucket_of(task.prompt_hash)), sk


def task_id_at(run_id: str, sk: str) -> str:
    """The task whose row has this sort key: its id is made of nothing else."""
    target, prompt_hash, locale, sample = sk.rsplit("#", 3)
    return task_id_of(run_id, target, prompt_hash, locale, int(sample))


def row_of(task: Task, now: float, *, minimal: bool = False, answer_key: str | None = None) -> ResultRow:
    """The row of a record in WRITEBACK.

    Raises:
        ValueError: the record has no outcome.
    """
    if task.outcome is None:
        raise ValueError(f"task {task.task_id} has no outcome")
    copied = {
        name: getattr(task, name) for name in RESULT_FIELDS if name in Task.__dataclass_fields__ and name not in {"v"}
    }
    if minimal:
        copied |= {"answer": None, "answer_key": answer_key}
    return ResultRow(**copied, written_at=now, minimal=minimal)
