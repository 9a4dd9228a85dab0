"""May this call start, and was it paid for before? Every call of every task, and the cause of each that repeats another.

What is known here is the truth and not what the engine believes: which environment died or stood still and when, which answers
were made safe, which write-back messages were never taken in, when the scanner took a record from its worker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from brandvane.run import Run
from brandvane.simulation.host import Host
from brandvane.task import State, Task

NOT_TAKEN_IN_S = 900.0  # DESIGN §2: after that the call is made again
RESERVE_S = 15.0  # DESIGN §2: a lease is the call's timeout and this, in which an answer is made safe ...
LEASE_MAX_S = 300.0
EARLY_S = 7.0  # ... counted from the slot (a call starts up to 5 s after it), by clocks that differ
RUN_CACHE_S = 10.0
CANCEL_SEEN_S = RUN_CACHE_S + 2.0  # run items are cached for 10 s; after that no call starts
SLACK_S = 0.05
NO_TEXT = ("content_filtered", "refused")  # answers all the same (DESIGN §5)


@dataclass(slots=True, eq=False)
class Call:
    """One call; times are virtual seconds.

    ``safe_at``: record or queue has its answer; ``taken_at``: the scanner took its record; ``delivered``: its worker is through
    with it; ``counted``: it is known to repeat another.
    """

    task_id: str
    number: int
    round: int
    attempt_id: str
    host: Host
    started: float
    timeout: float
    answered_at: float | None = None
    safe_at: float | None = None
    taken_at: float | None = None
    by_message: bool = False
    unsafe: bool = False  # both ways to safety failed
    delivered: bool = False
    counted: bool = False

    def cause(self) -> str | None:
        """Why may its task be called again, though it was answered or may still be?"""
        if self.unsafe:
            return "both ways to safety failed"
        taken = self.taken_at
        if taken is None:
            return None
        if self.safe_at is not None and self.safe_at <= taken:
            not_taken_in = self.by_message and taken - self.started > NOT_TAKEN_IN_S
            return "write-back not taken in" if not_taken_in else None
        died = self.host.killed_at
        if died is not None and self.started <= died <= taken and not self.delivered:
            return "worker died"
        return "worker stood still" if self._lost_its_lease(taken) else None

    def lost_with_its_worker(self, now: float) -> bool:
        """Is nobody left who would keep the answer, or not yet awake again?"""
        if self.delivered:
            return False
        return self.host.killed_at is not None or any(until >= now - SLACK_S for _, until in self.host.stalls)

    def _lost_its_lease(self, taken: float) -> bool:
        """Did it stand still for so long that the time awake was not enough for the call, or then for making its answer safe?"""
        if taken - self.started < min(self.timeout + RESERVE_S, LEASE_MAX_S) - EARLY_S:
            return False
        if self.answered_at is not None and self.answered_at <= taken:
            return self._awake(self.answered_at, taken) < RESERVE_S and self._stood_still(self.started, taken) > 0
        return self._awake(self.started, taken) <= self.timeout

    def _awake(self, since: float, until: float) -> float:
        return until - since - self._stood_still(since, until)

    def _stood_still(self, since: float, until: float) -> float:
        total, seen = 0.0, since
        for began, ended in self.host.stalls:  # they begin, and end, in this order
            start, end = max(began, seen), min(ended, until)
            if end > start:
                total += end - start
                seen = end
        return total


@dataclass(slots=True)
class Use:
    """A platform's calls, until its backlog is gone: while more of its tasks wait for their first call than it has slots."""

    planned: int
    slots: int
    timeout: float = 60.0
    first: float = 0.0
    last: float = 0.0
    calls: int = 0
    asked: int = 0


class CallAudit:
    """All calls of a simulation."""

    def __init__(self, now: Callable[[], float], epoch: float) -> None:
        self._now = now
        self._epoch = epoch
        self._calls: dict[str, list[Call]] = {}  # of each task: answered, or under way
        self._attempts: dict[str, Call] = {}
        self._asked: set[str] = set()
        self.use: dict[str, Use] = {}
        self.delays: list[float] = []
        self.repeated = 0
        self.unexplained = 0
        self.causes: Counter[str] = Counter()

    def rate_used(self, platform: str, rate: float) -> float | None:
        """Calls a second over the stated rate until the backlog is gone; None where there was none."""
        use = self.use[platform]
        return (use.calls - 1) / (use.last - use.first) / rate if use.last > use.first else None

    def _used(self, platform: str, first_of_task: bool) -> None:
        use = self.use[platform]
        use.asked += first_of_task
        if use.planned - use.asked >= use.slots:
            use.first = use.first or self._now()
            use.last = self._now()
            use.calls += 1

    def started(self, host: Host, task: Task | None, run: Run | None, task_id: str, number: int) -> Iterator[str]:
        """A call starts; what is wrong with that."""
        now = self._now()
        if task is None or run is None:
            yield "a call for a task that does not exist"
            return
        if task.state is not State.RUNNING or task.paid_calls != number:
            yield f"call {number} in state {task.state} with {task.paid_calls} paid calls"
        at = self._epoch + now
        if host.now() >= run.deadline + SLACK_S:
            yield f"call {number} starts {host.now() - run.deadline:.3f} s after the deadline"
        if run.cancelled_at is not None and at > run.cancelled_at + CANCEL_SEEN_S + 2 * abs(host.skew) + SLACK_S:
            yield f"call {number} starts {at - run.cancelled_at:.1f} s after the run was cancelled"
        self._used(task.platform, task_id not in self._asked)
        if task_id not in self._asked:
            self._asked.add(task_id)
            self.delays.append(at - task.planned_time)
        call = Call(task_id, number, task.round, task.attempt_id, host, now, self.use[task.platform].timeout)
        yield from self._started_again(call)
        self._attempts[task.attempt_id] = call
        self._calls.setdefault(task_id, []).append(call)

    def _started_again(self, call: Call) -> Iterator[str]:
        """An answered call is repeated, or one whose worker lives and has kept its lease."""
        before = [each for each in self._calls.get(call.task_id, ()) if each.round == call.round]
        answered = any(each.answered_at is not None for each in before)
        if answered or any(each.cause() is None for each in before):
            yield from self._repeats(call, before)

    def _repeats(self, call: Call, before: list[Call]) -> Iterator[str]:
        call.counted = True
        self.repeated += 1
        causes = [each.cause() for each in before]
        self.causes["unexplained" if None in causes else causes[-1] or ""] += 1
        if None not in causes:
            return
        self.unexplained += 1
        first = before[causes.index(None)]
        what = "is under way" if first.answered_at is None else "was answered"
        yield f"call {call.number} repeats call {first.number}, which {what}, without a cause"

    def was_made(self, attempt_id: str) -> bool:
        """Has this attempt called?"""
        return attempt_id in self._attempts

    def task_of(self, attempt_id: str) -> str | None:
        """The task that this attempt is one of."""
        call = self._attempts.get(attempt_id)
        return None if call is None else call.task_id

    def answered(self, attempt_id: str) -> Iterator[str]:
        """The complete answer has reached its caller; what is wrong with that."""
        call = self._attempts.get(attempt_id)
        if call is None or call.answered_at is not None:
            return
        call.answered_at = self._now()
        paid = [each for each in self._calls[call.task_id] if each.round == call.round and each.answered_at is not None]
        for place, each in enumerate(paid):
            if place and not each.counted:  # it began before the answer to the first had come
                yield from self._repeats(each, paid[:place])

    def replied(self, task_id: str, number: int, kind: str) -> Iterator[str]:
        """A call has ended, with an answer or without one: then it may be made again."""
        calls = self._calls.get(task_id, [])
        ended = [each for each in calls if each.number == number]
        if kind in NO_TEXT:
            for each in ended:
                yield from self.answered(each.attempt_id)
        elif kind != "answer":
            calls[:] = [each for each in calls if each not in ended]

    def taken(self, attempt_id: str) -> None:
        """The scanner gives the task to others."""
        call = self._attempts.get(attempt_id)
        if call is not None:
            call.taken_at = self._now()

    def delivered(self, attempt_id: str) -> None:
        """Its worker says that all is done."""
        call = self._attempts.get(attempt_id)
        if call is not None:
            call.delivered = True

    def safe(self, attempt_id: str, *, by_message: bool) -> None:
        """The record, or a message, has the answer."""
        call = self._attempts.get(attempt_id)
        if call is not None and call.safe_at is None:
            call.safe_at = self._now()
            call.by_message = by_message

    def not_safe(self, task_id: str, host: Host) -> None:
        """Both ways failed, says the engine."""
        for call in self._calls.get(task_id, ()):
            if call.host is host and call.answered_at is not None and call.safe_at is None:
                call.unsafe = True

    def ended(self, attempt_id: str) -> None:
        """The task is finished: nobody asks for this attempt again, unless its answer is still to come."""
        call = self._attempts.get(attempt_id)
        if call is not None and (call.answered_at is not None or call not in self._calls[call.task_id]):
            del self._attempts[attempt_id]

    def answers(self) -> Iterator[Call]:
        """Every answered call."""
        for calls in self._calls.values():
            yield from (call for call in calls if call.answered_at is not None)
