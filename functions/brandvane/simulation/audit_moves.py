"""Is a move one that the design allows? DESIGN §2 once more, in words of its own: never asks ``task.MOVES`` what is right.

Every rule is checked on the record as it was and as it is: where a move may come from and go to, what must not have changed since
the mover looked, whether its time had come, which counters grow, what may be set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from brandvane.task import ANSWERED, Change, Outcome, State, Task

SKEW_S = 2.0
ROUNDING_S = 1e-5
GIVE_BACKS = 10
MAX_RETRY = 3  # DESIGN §5
MAX_THROTTLES = 20
SLOT_MISSED = "slot_missed"  # the call that was counted when it began was not made
_BACK = 1  # dispatch_no grows by this when a claimed or finished task waits again


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the design's table."""

    sources: str
    target: str
    same: str = ""
    overdue: bool = False
    waits_anew: bool = False


RULES: Mapping[str, Rule] = {
    "dispatch": Rule("PENDING", "DISPATCHED", "dispatch_no"),
    "claim": Rule("PENDING DISPATCHED", "PULLED", "dispatch_no"),
    "resend": Rule("DISPATCHED", "PENDING", "act_at", overdue=True),
    "redrive": Rule("DISPATCHED", "PENDING", "dispatch_no"),
    "begin": Rule("PULLED", "RUNNING", "attempt_id"),
    "release": Rule("PULLED", "PENDING", "attempt_id", waits_anew=True),
    "give_back": Rule("PULLED", "PENDING", "attempt_id act_at", overdue=True, waits_anew=True),
    "retry": Rule("RUNNING", "PENDING", "attempt_id", waits_anew=True),
    "rescue": Rule("RUNNING", "PENDING", "attempt_id act_at", overdue=True, waits_anew=True),
    "answer": Rule("RUNNING PENDING DISPATCHED", "WRITEBACK", "attempt_id"),
    "fail": Rule("RUNNING", "WRITEBACK", "attempt_id"),
    "end": Rule("PENDING DISPATCHED PULLED RUNNING", "WRITEBACK", "act_at", overdue=True),
    "end_final": Rule("PENDING DISPATCHED PULLED", "WRITEBACK", "act_at"),
    "finish": Rule("WRITEBACK", "DONE FAILED", "attempt_id"),
    "retry_failed": Rule("FAILED", "PENDING", "round", waits_anew=True),
    "heartbeat": Rule("RUNNING", "RUNNING", "attempt_id"),
    "defer": Rule("WRITEBACK", "WRITEBACK", "act_at"),
    "extend": Rule("RUNNING", "RUNNING", "act_at", overdue=True),
}
_COUNTED = ("retry_count", "throttle_count", "give_backs")
_GROWS = {"retry": ("retry_count", "throttle_count"), "rescue": ("retry_count",), "give_back": ("give_backs",)}


def faults_of(change: Change, old: Task, new: Task) -> Iterator[str]:
    """What is wrong with a move that a table has just carried out; nothing if all is well."""
    rule = RULES.get(change.name)
    if rule is None:
        yield f"no such move: {change.name}"
        return
    if old.state not in rule.sources.split() or new.state not in rule.target.split():
        yield f"{change.name} from {old.state} to {new.state}"
    for name in rule.same.split():
        if name not in change.same:
            yield f"{change.name} does not say which {name} it knows"
        elif getattr(old, name) != change.same[name]:
            yield f"{change.name} knew {name} {change.same[name]}, the record had {getattr(old, name)}"
    if rule.overdue and (old.act_at is None or old.act_at > new.updated_at - SKEW_S + ROUNDING_S):
        yield f"{change.name} before its time"
    if new.dispatch_no - old.dispatch_no != (_BACK if rule.waits_anew else 0):
        yield f"{change.name}: dispatch_no went from {old.dispatch_no} to {new.dispatch_no}"
    yield from _counters(change.name, old, new)
    yield from _contents(change.name, old, new)


def _counters(name: str, old: Task, new: Task) -> Iterator[str]:
    taken_back = name == "retry" and new.error_kind == SLOT_MISSED
    if new.paid_calls - old.paid_calls != int(name == "begin") - int(taken_back):
        yield f"{name}: paid_calls went from {old.paid_calls} to {new.paid_calls}"
    if name == "retry_failed":
        if (new.retry_count, new.throttle_count, new.give_backs, new.round) != (0, 0, 0, old.round + 1):
            yield f"{name}: counts are not those of a new round"
        return
    grown = [counter for counter in _COUNTED if getattr(new, counter) != getattr(old, counter)]
    allowed = _GROWS.get(name, ())
    if any(counter not in allowed or getattr(new, counter) != getattr(old, counter) + 1 for counter in grown):
        yield f"{name}: {', '.join(grown)} changed"
    if len(grown) > 1:
        yield f"{name}: more than one count grew"
    if name in ("rescue", "give_back") and not grown:
        yield f"{name}: nothing was counted"
    if new.retry_count > min(new.max_retry, MAX_RETRY) or new.throttle_count > MAX_THROTTLES:
        yield f"{name}: {new.retry_count} retries and {new.throttle_count} throttles are more than the policy allows"
    if new.round != old.round:
        yield f"{name}: round changed"


def _contents(name: str, old: Task, new: Task) -> Iterator[str]:
    finished = new.state in (State.DONE, State.FAILED)
    if finished != (new.expires_at is not None):
        yield f"{name}: expires_at is {new.expires_at} in {new.state}"
    if finished != (new.watch is None) or finished != (new.act_at is None):
        yield f"{name}: watch is {new.watch}, act_at {new.act_at} in {new.state}"
    # In another partition the same instant is another place: a task may wait for the end of its probe's lease, which is its own's.
    same_place = new.act_at is not None and (new.watch, new.act_at) == (old.watch, old.act_at)
    if same_place and name != "heartbeat":  # which its client may send twice
        yield f"{name}: act_at is still {old.act_at}"
    fresh = name in ("claim", "retry_failed")
    if fresh == (new.attempt_id == old.attempt_id):
        yield f"{name}: attempt_id {'is not fresh' if fresh else 'changed'}"
    if name == "answer" and new.outcome not in ANSWERED:
        yield f"{name} without an answer: {new.outcome}"
    if name in ("fail", "end", "end_final") and (new.outcome is None or new.outcome in ANSWERED):
        yield f"{name} with outcome {new.outcome}"
    if name == "end" and new.outcome is Outcome.POISON and old.give_backs + 1 < GIVE_BACKS:
        yield f"{name}: poison after {old.give_backs} give-backs"
    if name == "end" and new.outcome is Outcome.TIMEOUT and old.retry_count < old.max_retry:
        yield f"{name}: timeout with {old.retry_count} of {old.max_retry} retries"
    if finished and (new.state is State.DONE) != (new.outcome in ANSWERED):
        yield f"{name}: {new.state} with outcome {new.outcome}"
