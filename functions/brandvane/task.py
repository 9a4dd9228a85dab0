"""What is a task, which states can it be in, and who may move it from one to another?

The six states and every allowed move stand in ``MOVES`` and nowhere else: a ``Change`` (one conditional update, built by
``moves.py``) takes its source states, its fences and its counters from that table, and each store adapter does nothing but
carry the change out. Times are POSIX seconds (float, UTC); ``expires_at`` is whole seconds because DynamoDB's TTL wants that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

RECORD_VERSION = 1
PENDING_SHARDS = 4
BUCKETS = 16

Priority = Literal["high", "normal", "low"]
PRIORITIES: tuple[Priority, ...] = ("high", "normal", "low")


class State(StrEnum):
    """The six states; DONE and FAILED together are the sixth, *finished*."""

    PENDING = "PENDING"
    DISPATCHED = "DISPATCHED"
    PULLED = "PULLED"
    RUNNING = "RUNNING"
    WRITEBACK = "WRITEBACK"
    DONE = "DONE"
    FAILED = "FAILED"


FINISHED = frozenset({State.DONE, State.FAILED})


class Outcome(StrEnum):
    """How a task ended: the platform answered (DONE) or it did not (FAILED)."""

    OK = "ok"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    FILTERED = "filtered"
    CLIENT_ERROR = "client_error"
    TIMEOUT = "timeout"
    RETRIES_USED_UP = "retries_used_up"
    EMPTY = "empty"
    POISON = "poison"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


ANSWERED = frozenset({Outcome.OK, Outcome.TRUNCATED, Outcome.REFUSED, Outcome.FILTERED})


def final_state(outcome: Outcome) -> State:
    """The finished state that an outcome leads to."""
    return State.DONE if outcome in ANSWERED else State.FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One record of the tasks table: one prompt asked of one target in one run (DESIGN §3)."""

    task_id: str
    run_id: str
    platform: str
    model: str
    question_ids: tuple[str, ...]
    brand_group: str
    prompt_hash: str
    locale: str
    sample: int
    priority: Priority
    planned_time: float
    next_execute_time: float
    deadline_at: float
    created_at: float
    state: State = State.PENDING
    round: int = 1
    retry_count: int = 0
    throttle_count: int = 0
    give_backs: int = 0
    write_backs: int = 0
    max_retry: int = 3
    dispatch_no: int = 1
    attempt_id: str = ""
    act_at: float | None = None
    watch: str | None = None
    started_at: float | None = None
    heartbeat_at: float | None = None
    slot_epoch: int | None = None
    answer: bytes | None = None
    answer_key: str | None = None
    outcome: Outcome | None = None
    error_kind: str | None = None
    paid_calls: int = 0
    finished_at: float | None = None
    updated_at: float = 0.0
    expires_at: int | None = None
    v: int = RECORD_VERSION

    @property
    def target(self) -> str:
        """Platform and model, the thing that is asked."""
        return target_name(self.platform, self.model)


TASK_FIELDS = tuple(f.name for f in fields(Task))


def target_name(platform: str, model: str) -> str:
    """``platform/model``: the one spelling of a target."""
    return f"{platform}/{model}"


def task_id_of(run_id: str, target: str, prompt_hash: str, locale: str, sample: int) -> str:
    """Deterministic id, so that planning twice plans once (128 bits of SHA-256, hex)."""
    raw = "\x1f".join((run_id, target, prompt_hash, locale, str(sample)))
    return hashlib.sha256(raw.encode()).hexdigest()[:32]


def prompt_hash_of(text: str) -> str:
    """Identity of a prompt's text: prompts that render to the same text are one task."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def bucket_of(prompt_hash: str) -> int:
    """Which of the 16 result partitions of a run a prompt's rows live in."""
    return int(prompt_hash[:8], 16) % BUCKETS


def watch_of(task: Task, state: State) -> str | None:
    """Partition of the *who must act* index for a task in ``state``; None for finished ones (the index is sparse)."""
    if state in FINISHED:
        return None
    if state is State.PENDING:
        return pending_watch(task.platform, task.priority, int(task.task_id[:4], 16) % PENDING_SHARDS)
    return held_watch(task.platform, state)


def held_watch(platform: str, state: State) -> str:
    """The partition of a platform's records in a state that somebody holds."""
    return f"{platform}#{state}"


def pending_watch(platform: str, priority: Priority, shard: int) -> str:
    """One of the partitions that hold a platform's PENDING records."""
    return f"{platform}#{State.PENDING}#{priority}#{shard}"


def watches(platform: str) -> tuple[str, ...]:
    """Every index partition that can hold an unfinished record of a platform."""
    waiting = [pending_watch(platform, priority, shard) for priority in PRIORITIES for shard in range(PENDING_SHARDS)]
    held = [held_watch(platform, state) for state in (State.DISPATCHED, State.PULLED, State.RUNNING, State.WRITEBACK)]
    return (*waiting, *held)


@dataclass(frozen=True, slots=True)
class Move:
    """One row of the moves table.

    ``same`` names the record's fields that must still hold what the mover knows; ``add`` the counters that grow;
    ``overdue`` says that the record's ``act_at`` must have passed by 2 s (clocks may differ by that much).
    """

    sources: frozenset[State]
    target: State | None
    by: tuple[str, ...]
    same: tuple[str, ...] = ()
    add: Mapping[str, int] = field(default_factory=dict)
    overdue: bool = False


def _move(sources: str, target: State | None, by: str, same: str = "", add: str = "", overdue: bool = False) -> Move:
    return Move(
        frozenset(State(name) for name in sources.split()),
        target,
        tuple(by.split()),
        tuple(same.split()),
        MappingProxyType(dict.fromkeys(add.split(), 1)),
        overdue,
    )


MOVES: Mapping[str, Move] = MappingProxyType(
    {
        # The message is on the queue (only after SQS named the entry in Successful).
        "dispatch": _move("PENDING", State.DISPATCHED, "dispatcher worker", "dispatch_no"),
        # A worker takes the task; whichever copy of the message comes first wins.
        "claim": _move("PENDING DISPATCHED", State.PULLED, "worker", "dispatch_no"),
        # The message never arrived: dispatch_no stays, so that a late copy still counts.
        "resend": _move("DISPATCHED", State.PENDING, "scanner", "act_at", overdue=True),
        "redrive": _move("DISPATCHED", State.PENDING, "operator", "dispatch_no"),
        "begin": _move("PULLED", State.RUNNING, "worker", "attempt_id", "paid_calls"),
        "release": _move("PULLED", State.PENDING, "worker", "attempt_id", "dispatch_no"),
        "give_back": _move("PULLED", State.PENDING, "scanner", "attempt_id act_at", "dispatch_no give_backs", True),
        "retry": _move("RUNNING", State.PENDING, "worker", "attempt_id", "dispatch_no"),
        "rescue": _move("RUNNING", State.PENDING, "scanner", "attempt_id act_at", "dispatch_no retry_count", True),
        # An answer counts until somebody else has claimed the task.
        "answer": _move("RUNNING PENDING DISPATCHED", State.WRITEBACK, "worker writeback", "attempt_id"),
        "fail": _move("RUNNING", State.WRITEBACK, "worker", "attempt_id"),
        "end": _move("PENDING DISPATCHED PULLED RUNNING", State.WRITEBACK, "scanner", "act_at", overdue=True),
        # The walk of a final run ends a task wherever it is; RUNNING ones are left until their lease is over.
        "end_final": _move("PENDING DISPATCHED PULLED", State.WRITEBACK, "scanner operator", "act_at"),
        "finish": _move("WRITEBACK", None, "writeback", "attempt_id"),
        "retry_failed": _move("FAILED", State.PENDING, "operator", "round", "dispatch_no round"),
    }
)

# Not moves: the state stays, only the time of the next look changes.
TOUCHES: Mapping[str, Move] = MappingProxyType(
    {
        "heartbeat": _move("RUNNING", State.RUNNING, "worker", "attempt_id"),
        "defer": _move("WRITEBACK", State.WRITEBACK, "writeback", "act_at"),
        "extend": _move("RUNNING", State.RUNNING, "scanner", "act_at", overdue=True),
    }
)


@dataclass(frozen=True, slots=True)
class Change:
    """One conditional update of one record, ready for any store.

    It holds when the record exists, its state is one of ``sources``, every field of ``same`` has that value and, with
    ``not_after`` set, ``act_at <= not_after``. ``put`` sets fields (None removes), ``add`` grows counters.
    ``proof`` is what a record shows on which this very change was made already (a lost reply).
    """

    name: str
    sources: frozenset[State]
    same: Mapping[str, Any]
    put: Mapping[str, Any]
    add: Mapping[str, int]
    proof: Mapping[str, Any]
    not_after: float | None = None


class Verdict(StrEnum):
    """What became of a change."""

    MOVED = "moved"
    ALREADY = "already"  # the reply of our own earlier try had been lost
    LOST = "lost"  # somebody else has authority now: drop, never force


@dataclass(frozen=True, slots=True)
class Moved:
    """Verdict and the record as it is now (None where there is no record)."""

    verdict: Verdict
    task: Task | None

    @property
    def ours(self) -> bool:
        """True when the caller may go on as the one who made the change."""
        return self.verdict is not Verdict.LOST


def judge(change: Change, task: Task | None) -> Verdict:
    """Would ``change`` hold on ``task``? The one reading of conditions, used by the in-memory store and on old items."""
    if task is None or task.v > RECORD_VERSION:
        return Verdict.LOST
    holds = (
        task.state in change.sources
        and all(getattr(task, name) == value for name, value in change.same.items())
        and (change.not_after is None or (task.act_at is not None and task.act_at <= change.not_after))
    )
    if holds:
        return Verdict.MOVED
    return Verdict.ALREADY if shows(change, task) else Verdict.LOST


def shows(change: Change, task: Task) -> bool:
    """Does the record already show this very change?"""
    return bool(change.proof) and all(getattr(task, name) == value for name, value in change.proof.items())
