"""May this call start, and was it made before? Every call of every task, and the cause of each that repeats an answered one.

What is known here is the truth and not what the engine believes: which environment died or stood still and when, which answers
were made safe, which write-back messages were never taken in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from brandvane.run import Run
from brandvane.simulation.host import Host
from brandvane.task import State, Task

NOT_TAKEN_IN_S = 900.0  # DESIGN §2: after that the call is made again
RUN_CACHE_S = 10.0
CANCEL_SEEN_S = RUN_CACHE_S + 2.0  # run items are cached for 10 s; after that no call starts
SLACK_S = 0.05


@dataclass(slots=True)
class Call:
    """One call; times are virtual seconds. ``safe_at``: record or queue has its answer."""

    task_id: str
    number: int
    round: int
    attempt_id: str
    host: Host
    started: float
    answered_at: float | None = None
    safe_at: float | None = None
    by_message: bool = False
    unsafe: bool = False  # both ways to safety failed


@dataclass(slots=True)
class Use:
    """A platform's calls, until its backlog is gone: while more of its tasks wait for their first call than it has slots."""

    planned: int
    slots: int
    first: float = 0.0
    last: float = 0.0
    calls: int = 0
    asked: int = 0


class CallAudit:
    """All calls of a simulation."""

    def __init__(self, now: Callable[[], float], epoch: float) -> None:
        self._now = now
        self._epoch = epoch
        self._answered: dict[str, list[Call]] = {}
        self._under_way: dict[str, Call] = {}  # by attempt id
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
        call = Call(task_id, number, task.round, task.attempt_id, host, now)
        yield from self._repeats(call)
        self._under_way[task.attempt_id] = call

    def _repeats(self, call: Call) -> Iterator[str]:
        before = [each for each in self._answered.get(call.task_id, ()) if each.round == call.round]
        if not before:
            return
        self.repeated += 1
        cause = self._cause(before[-1])
        self.causes[cause or "unexplained"] += 1
        if cause is None:
            self.unexplained += 1
            yield f"call {call.number} repeats call {before[-1].number}, which was answered, without a cause"

    def _cause(self, before: Call) -> str | None:
        now = self._now()
        if before.unsafe:
            return "both ways to safety failed"
        if before.safe_at is None and before.host.was_disturbed(before.started, now):
            return "worker died" if before.host.killed_at is not None else "worker stood still"
        if before.host.was_disturbed(before.started, before.safe_at or now):
            return "worker stood still"
        if before.by_message and now - before.started > NOT_TAKEN_IN_S:
            return "write-back not taken in"
        return None

    def was_made(self, attempt_id: str) -> bool:
        """Has this attempt called?"""
        return attempt_id in self._under_way

    def answered(self, attempt_id: str) -> None:
        """The complete answer has reached its caller."""
        call = self._under_way.get(attempt_id)
        if call is not None:
            call.answered_at = self._now()
            self._answered.setdefault(call.task_id, []).append(call)

    def safe(self, attempt_id: str, *, by_message: bool) -> None:
        """The record, or a message, has the answer."""
        call = self._under_way.get(attempt_id)
        if call is not None and call.safe_at is None:
            call.safe_at = self._now()
            call.by_message = by_message

    def not_safe(self, task_id: str, host: Host) -> None:
        """Both ways failed, says the engine."""
        for call in self._answered.get(task_id, ()):
            if call.host is host and call.safe_at is None:
                call.unsafe = True

    def ended(self, attempt_id: str) -> None:
        """The task is finished: nobody asks for this attempt again."""
        self._under_way.pop(attempt_id, None)

    def answers(self) -> Iterator[Call]:
        """Every answered call."""
        for calls in self._answered.values():
            yield from calls
