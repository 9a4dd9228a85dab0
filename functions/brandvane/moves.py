"""Which conditional update makes a given move, with which fences and which new values?

Every function here builds one ``Change`` from a row of ``task.MOVES`` (or ``TOUCHES``); none of them does I/O, and no other
module writes states. ``now`` is injected POSIX seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brandvane.task import MOVES, TOUCHES, Change, Outcome, State, Task, final_state, held_watch, watch_of

DISPATCH_OVERDUE_S = 600.0  # a message not claimed this long after it was due has gone astray
PULLED_LEASE_S = 60.0
RUNNING_MARGIN_S = 15.0
RUNNING_LEASE_MAX_S = 300.0
WRITEBACK_GRACE_S = 20.0
SKEW_S = 2.0  # clocks of two machines may differ by this much
MAX_GIVE_BACKS = 10
MAX_WRITE_BACKS = 10
WRITE_BACK_WAITS_S = (1, 2, 4, 8)  # then the scanner, every sweep


def _change(
    name: str,
    task: Task,
    target: State,
    now: float,
    act_at: float | None,
    put: Mapping[str, Any],
    proof: Mapping[str, Any],
) -> Change:
    rule = MOVES.get(name) or TOUCHES[name]
    known = {field: getattr(task, field) for field in rule.same}
    return _conditional(name, watch_of(task, target), target, now, act_at, known, put, proof)


def _conditional(
    name: str,
    watch: str | None,
    target: State,
    now: float,
    act_at: float | None,
    known: Mapping[str, Any],
    put: Mapping[str, Any],
    proof: Mapping[str, Any],
) -> Change:
    rule = MOVES.get(name) or TOUCHES[name]
    return Change(
        name=name,
        sources=rule.sources,
        same=known,
        put={"state": target, "act_at": act_at, "watch": watch, "updated_at": now, **put},
        add=dict(rule.add),
        proof={"state": target, **proof} if proof else {},
        not_after=now - SKEW_S if rule.overdue else None,
    )


def dispatched(platform: str, dispatch_no: int, due: float, now: float) -> Change:
    """A message with the record's ``dispatch_no``, due at ``due``, is on the queue."""
    known = {"dispatch_no": dispatch_no}
    watch = held_watch(platform, State.DISPATCHED)
    return _conditional("dispatch", watch, State.DISPATCHED, now, max(due, now) + DISPATCH_OVERDUE_S, known, {}, known)


def claim(platform: str, dispatch_no: int, attempt_id: str, now: float) -> Change:
    """A worker takes the task for the message numbered ``dispatch_no`` under a fresh ``attempt_id``."""
    own = {"attempt_id": attempt_id}
    watch = held_watch(platform, State.PULLED)
    return _conditional("claim", watch, State.PULLED, now, now + PULLED_LEASE_S, {"dispatch_no": dispatch_no}, own, own)


def begin(task: Task, lease_s: float, epoch: int, now: float) -> Change:
    """The call starts; ``lease_s`` is how long the scanner leaves it alone."""
    put = {"started_at": now, "slot_epoch": epoch}
    return _change(
        "begin", task, State.RUNNING, now, now + min(lease_s, RUNNING_LEASE_MAX_S), put, {"attempt_id": task.attempt_id}
    )


def heartbeat(task: Task, lease_s: float, now: float) -> Change:
    """A long call is alive."""
    act_at = now + min(lease_s, RUNNING_LEASE_MAX_S)
    proof = {"attempt_id": task.attempt_id, "heartbeat_at": now}
    return _change("heartbeat", task, State.RUNNING, now, act_at, {"heartbeat_at": now}, proof)


def release(task: Task, at: float, now: float) -> Change:
    """A worker puts back a task it has not called; no retry is counted."""
    return _back_to_pending("release", task, at, now, {})


def give_back(task: Task, at: float, now: float) -> Change:
    """The scanner takes a task whose worker never began."""
    return _back_to_pending("give_back", task, at, now, {})


def retry(task: Task, at: float, now: float, counter: str | None, error_kind: str) -> Change:
    """The call failed and may be tried again at ``at``; ``counter`` is ``retry_count``, ``throttle_count`` or None."""
    change = _back_to_pending("retry", task, at, now, {"error_kind": error_kind})
    add = {**change.add, **({counter: 1} if counter else {})}
    return Change(change.name, change.sources, change.same, change.put, add, change.proof, change.not_after)


def not_called(task: Task, at: float, now: float) -> Change:
    """The slot went by before the call could be made: the task waits anew, and the call that was counted is taken back."""
    change = retry(task, at, now, None, "slot_missed")
    return replace(change, add={**change.add, "paid_calls": -1})


def rescue(task: Task, at: float, now: float) -> Change:
    """The scanner takes a RUNNING task whose lease is over."""
    return _back_to_pending("rescue", task, at, now, {"error_kind": "timeout"})


def _back_to_pending(name: str, task: Task, at: float, now: float, put: Mapping[str, Any]) -> Change:
    put = {"next_execute_time": at, **put}
    proof = {"attempt_id": task.attempt_id, "dispatch_no": task.dispatch_no + 1}
    return _change(name, task, State.PENDING, now, at, put, proof)


def resend(task: Task, at: float, now: float) -> Change:
    """The scanner plans a lost message anew; the old one still counts should it come."""
    return _change(
        "resend",
        task,
        State.PENDING,
        now,
        at,
        {"next_execute_time": at},
        {"dispatch_no": task.dispatch_no, "act_at": at},
    )


def redrive(task: Task, at: float, now: float) -> Change:
    """An operator plans a dead-lettered message anew."""
    return _change(
        "redrive",
        task,
        State.PENDING,
        now,
        at,
        {"next_execute_time": at},
        {"dispatch_no": task.dispatch_no, "act_at": at},
    )


def answered(
    task: Task,
    outcome: Outcome,
    now: float,
    *,
    answer: bytes | None,
    answer_key: str | None,
    error_kind: str | None = None,
) -> Change:
    """The platform's answer is made safe in the record."""
    return _secure("answer", task, outcome, now, answer, answer_key, error_kind)


def failed(
    task: Task,
    outcome: Outcome,
    now: float,
    *,
    error_kind: str | None,
    answer: bytes | None = None,
    answer_key: str | None = None,
) -> Change:
    """The worker's call ends the task without a usable answer (its last body, if any, is kept)."""
    return _secure("fail", task, outcome, now, answer, answer_key, error_kind)


def ended(task: Task, outcome: Outcome, now: float, *, error_kind: str | None, run_is_final: bool = False) -> Change:
    """Scanner or operator ends the task; in the walk of a final run its ``act_at`` need not have passed."""
    name = "end_final" if run_is_final and task.state is not State.RUNNING else "end"
    return _secure(name, task, outcome, now, None, None, error_kind)


def _secure(
    name: str,
    task: Task,
    outcome: Outcome,
    now: float,
    answer: bytes | None,
    answer_key: str | None,
    error_kind: str | None,
) -> Change:
    stored = {"outcome": outcome, "answer": answer, "answer_key": answer_key}
    put = {**stored, "error_kind": error_kind, "finished_at": now}
    proof = {"attempt_id": task.attempt_id, **stored}
    return _change(name, task, State.WRITEBACK, now, now + WRITEBACK_GRACE_S, put, proof)


def deferred(task: Task, at: float, now: float, *, failed_write: bool) -> Change:
    """The result row could not be written yet; look again at ``at``."""
    change = _change("defer", task, State.WRITEBACK, now, at, {}, {"attempt_id": task.attempt_id, "act_at": at})
    add = {"write_backs": 1} if failed_write else {}
    return Change(change.name, change.sources, change.same, change.put, add, change.proof, change.not_after)


def extended(task: Task, at: float, now: float) -> Change:
    """The scanner lets an overdue lease run on, because answers may still wait in the write-back queue."""
    return _change("extend", task, State.RUNNING, now, at, {}, {"attempt_id": task.attempt_id, "act_at": at})


def finished(task: Task, now: float, keep_s: float) -> Change:
    """The result row exists: the record may be removed after ``keep_s`` seconds."""
    if task.outcome is None:
        raise ValueError(f"task {task.task_id} has no outcome to finish with")
    put = {"answer": None, "answer_key": None, "expires_at": int(now + keep_s)}
    proof = {"attempt_id": task.attempt_id, "outcome": task.outcome}
    return _change("finish", task, final_state(task.outcome), now, None, put, proof)


def retried(task: Task, at: float, attempt_id: str, now: float) -> Change:
    """An operator opens a failed task again: a new round with its counts at 0 (``paid_calls`` goes on numbering)."""
    zero = {"retry_count": 0, "throttle_count": 0, "give_backs": 0, "write_backs": 0}
    gone = {
        "outcome": None,
        "error_kind": None,
        "expires_at": None,
        "started_at": None,
        "heartbeat_at": None,
        "finished_at": None,
    }
    put = {**zero, **gone, "attempt_id": attempt_id, "next_execute_time": at}
    return _change(
        "retry_failed", task, State.PENDING, now, at, put, {"attempt_id": attempt_id, "round": task.round + 1}
    )
