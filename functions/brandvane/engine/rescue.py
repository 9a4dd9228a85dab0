"""What does the scanner do with a record whose time has come? Reads it anew and makes the one move the table allows.

What the index said is only a hint: every move carries the ``act_at`` that was read and holds only 2 s after it has passed.
"""

from __future__ import annotations

from collections import Counter

from brandvane.engine.pinned import RunReader
from brandvane.engine.write_back import WriteBack
from brandvane.messages import WRITEBACK_QUEUE
from brandvane.moves import (
    MAX_GIVE_BACKS,
    RUNNING_LEASE_MAX_S,
    SKEW_S,
    WRITEBACK_GRACE_S,
    deferred,
    ended,
    extended,
    give_back,
    rescue,
    resend,
)
from brandvane.policy import Counts, End, after_lost_lease
from brandvane.ports import Chance, Clock, TaskQueue, TaskStore, Telemetry, Watched
from brandvane.task import Change, Outcome, State, Task

EXTRA_LEASE_S = 900.0  # while answers may wait in the write-back queue
EXTEND_STEP_S = 60.0


class Rescuer:
    """Acts on single overdue records."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        queue: TaskQueue,
        runs: RunReader,
        write_back: WriteBack,
        clock: Clock,
        chance: Chance,
        telemetry: Telemetry,
    ) -> None:
        self._tasks = tasks
        self._queue = queue
        self._runs = runs
        self._write_back = write_back
        self._clock = clock
        self._chance = chance
        self._telemetry = telemetry
        self._answers_wait: bool | None = None
        self.done: Counter[str] = Counter()

    def begin(self) -> None:
        """A new sweep begins: forget what the last one knew of the write-back queue."""
        self._answers_wait = None
        self.done = Counter()

    async def act(self, entry: Watched) -> None:
        """One entry of the index that is due.

        Raises:
            Unavailable: a table or queue refuses; the next sweep comes.
        """
        task = await self._tasks.get(entry.task_id)
        now = self._clock.now()
        if task is None or task.act_at != entry.act_at or task.act_at > now - SKEW_S:
            return  # the index lags: somebody has acted already, or it is too early to be sure
        match task.state:
            case State.DISPATCHED:
                await self._make(task, resend(task, now, now), "resent")
            case State.PULLED:
                await self._pulled(task, now)
            case State.RUNNING:
                await self._running(task, now)
            case State.WRITEBACK:
                await self._writeback(task, now)
            case _:
                return

    async def _pulled(self, task: Task, now: float) -> None:
        if task.give_backs + 1 >= MAX_GIVE_BACKS:
            await self.end(task, Outcome.POISON, "poison")
        else:
            await self._make(task, give_back(task, now, now), "given_back")

    async def _running(self, task: Task, now: float) -> None:
        lease = RUNNING_LEASE_MAX_S if task.started_at is None else now - task.started_at
        if lease < RUNNING_LEASE_MAX_S + EXTRA_LEASE_S and await self._answers_are_waiting():
            await self._make(task, extended(task, now + EXTEND_STEP_S, now), "extended")
            return
        run = await self._runs.get(task.run_id, fresh=True)
        if run is not None and run.cancelled_at is not None:
            await self.end(task, Outcome.CANCELLED, "cancelled")
            return
        deadline = task.deadline_at if run is None else run.deadline
        counts = Counts(task.retry_count, task.throttle_count, task.max_retry)
        decision = after_lost_lease(counts, deadline=deadline, now=now, rng=self._chance.rng)
        if isinstance(decision, End):
            taken = await self.end(task, decision.outcome, "timeout")
        else:
            taken = await self._make(task, rescue(task, decision.at, now), "rescued")
        if taken:
            self._telemetry.count("GlobalTimeouts")
            told = {"platform": task.platform, "model": task.model, "attempt": task.attempt_id}
            self._telemetry.event("lease_ran_out", task_id=task.task_id, run_id=task.run_id, **told)

    async def _answers_are_waiting(self) -> bool:
        if self._answers_wait is None:
            self._answers_wait = await self._queue.depth(WRITEBACK_QUEUE) > 0
        return self._answers_wait

    async def _writeback(self, task: Task, now: float) -> None:
        change = deferred(task, now + WRITEBACK_GRACE_S, now, failed_write=False)
        moved = await self._tasks.move(task.task_id, change)
        if moved.ours:
            # No further waits: from here on every sweep is a try.
            await self._write_back.remind(task, 99, 0)
            self.done["reminded"] += 1

    async def end(self, task: Task, outcome: Outcome, error_kind: str, *, run_is_final: bool = False) -> bool:
        """End a task with a result row that says why; False when somebody else has authority."""
        change = ended(task, outcome, self._clock.now(), error_kind=error_kind, run_is_final=run_is_final)
        moved = await self._tasks.move(task.task_id, change)
        if not moved.ours or moved.task is None:
            return False
        self.done[f"ended_{outcome}"] += 1
        if outcome is Outcome.EXPIRED:
            self._telemetry.count("TasksExpired")
        await self._write_back.settle(moved.task)
        return True

    async def _make(self, task: Task, change: Change, name: str) -> bool:
        moved = await self._tasks.move(task.task_id, change)
        if moved.ours:
            self.done[name] += 1
            self._telemetry.event(name, task_id=task.task_id, run_id=task.run_id, platform=task.platform)
        return moved.ours
