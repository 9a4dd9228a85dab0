"""What happens after a call failed: try again, when, counted as what; or end the task, and as what?

A pure function of error kind, counts, Retry-After, deadline, now and an injected random source (DESIGN §5).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from brandvane.task import Outcome

MAX_RETRY = 3
MAX_THROTTLES = 20
RETRY_AFTER_MAX_S = 3600.0  # a longer Retry-After means a quota, not a rate
BACKOFF_BASE_S = 10.0
BACKOFF_JITTER_S = 5.0
THROTTLE_WAIT_MAX_S = 300.0
SERVER_ERROR_WAIT_S = 30.0
BAD_BODY_WAIT_S = 10.0
MAX_DELAY_S = 900.0  # SQS DelaySeconds; longer waits stay PENDING


class ErrorKind(StrEnum):
    """What went wrong with a call."""

    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    SERVER_ERROR = "server_error"
    MALFORMED = "malformed"
    EMPTY = "empty"
    CLIENT_ERROR = "client_error"
    CONTEXT_TOO_LONG = "context_too_long"
    CONTENT_FILTERED = "content_filtered"
    REFUSED = "refused"
    QUOTA_EXHAUSTED = "quota_exhausted"
    AUTH_ERROR = "auth_error"
    MODEL_GONE = "model_gone"


PAUSES_PLATFORM = frozenset({ErrorKind.QUOTA_EXHAUSTED, ErrorKind.AUTH_ERROR})
PAUSES_TARGET = frozenset({ErrorKind.MODEL_GONE})
_FINAL_ANSWER = {ErrorKind.CONTENT_FILTERED: Outcome.FILTERED, ErrorKind.REFUSED: Outcome.REFUSED}
Counter = Literal["retry_count", "throttle_count"]


@dataclass(frozen=True, slots=True)
class Counts:
    """A task's counts before this failure."""

    retries: int
    throttles: int
    max_retry: int = MAX_RETRY
    max_throttles: int = MAX_THROTTLES


@dataclass(frozen=True, slots=True)
class Again:
    """Try again at ``at`` (POSIX seconds); ``counter`` is the count that grows, None when it is nobody's fault."""

    at: float
    counter: Counter | None


@dataclass(frozen=True, slots=True)
class End:
    """The task ends with this outcome."""

    outcome: Outcome


def decide(
    kind: ErrorKind,
    counts: Counts,
    *,
    retry_after: float | None,
    deadline: float,
    now: float,
    rng: random.Random,
    breaker_open: bool = False,
) -> Again | End:
    """The retry policy. A wait that passes the deadline ends the task as ``expired`` now.

    ``breaker_open``: the platform itself is known to be down, so this failure does not count as a retry.
    """
    if kind in _FINAL_ANSWER:
        return End(_FINAL_ANSWER[kind])
    if kind in (ErrorKind.CLIENT_ERROR, ErrorKind.CONTEXT_TOO_LONG):
        return End(Outcome.CLIENT_ERROR)
    if now >= deadline:
        return End(Outcome.EXPIRED)
    if kind in PAUSES_PLATFORM or kind in PAUSES_TARGET:
        # The platform or target is paused: the task waits as it is until a person resumes.
        return Again(now, None)
    if kind is ErrorKind.RATE_LIMITED:
        if counts.throttles >= counts.max_throttles:
            return End(Outcome.RETRIES_USED_UP)
        wait = _throttle_wait(counts.throttles, retry_after, rng)
        return _again(now + wait, "throttle_count", deadline)
    if counts.retries >= counts.max_retry and not breaker_open:
        return End(Outcome.EMPTY if kind is ErrorKind.EMPTY else Outcome.RETRIES_USED_UP)
    # A wait that the platform names beside a 503 or 504 is kept to as well, where it is the longer one.
    wait = max(_retry_wait(kind, counts.retries, rng), min(retry_after or 0.0, RETRY_AFTER_MAX_S))
    return _again(now + wait, None if breaker_open else "retry_count", deadline)


def _again(at: float, counter: Counter | None, deadline: float) -> Again | End:
    return Again(at, counter) if at < deadline else End(Outcome.EXPIRED)


def _throttle_wait(n: int, retry_after: float | None, rng: random.Random) -> float:
    if retry_after is not None:
        return min(max(retry_after, 0.0), RETRY_AFTER_MAX_S)
    return min(2.0**n * BACKOFF_BASE_S, THROTTLE_WAIT_MAX_S) + rng.uniform(0, BACKOFF_JITTER_S)


def _retry_wait(kind: ErrorKind, n: int, rng: random.Random) -> float:
    if kind is ErrorKind.TIMEOUT:
        return 2.0**n * BACKOFF_BASE_S + rng.uniform(0, BACKOFF_JITTER_S)
    return SERVER_ERROR_WAIT_S if kind is ErrorKind.SERVER_ERROR else BAD_BODY_WAIT_S


def after_lost_lease(counts: Counts, *, deadline: float, now: float, rng: random.Random) -> Again | End:
    """The scanner took a RUNNING task whose lease was over: a timeout, except that the last one ends as ``timeout``."""
    decision = decide(ErrorKind.TIMEOUT, counts, retry_after=None, deadline=deadline, now=now, rng=rng)
    if decision == End(Outcome.RETRIES_USED_UP):
        return End(Outcome.TIMEOUT)
    return decision
