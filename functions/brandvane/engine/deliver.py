"""What came of a call, and what follows from it? An answer is made safe by two independent ways; a failure asks the policy."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from brandvane.answer import INLINE_MAX_BYTES, Answer, AnswerStatus, Failure, pack
from brandvane.breaker import OUTAGE, is_open
from brandvane.control import Pause
from brandvane.engine.limiter import Limiter
from brandvane.engine.pinned import RunReader
from brandvane.engine.safety import Safety
from brandvane.engine.send import Sender
from brandvane.engine.write_back import WriteBack
from brandvane.moves import failed, not_called, retry
from brandvane.policy import (
    PAUSES_PLATFORM,
    PAUSES_TARGET,
    RETRY_AFTER_MAX_S,
    Again,
    Counts,
    End,
    ErrorKind,
    decide,
)
from brandvane.ports import Chance, Clock, TaskStore, Telemetry, Unavailable
from brandvane.run import Run
from brandvane.task import Outcome, Task

TELL_WAITS_S = (0.2, 0.5)
TELL_S = 6.0  # in all, also when the table hangs: the task's own move must come before its lease is over
_ANSWERS: dict[ErrorKind, AnswerStatus] = {ErrorKind.CONTENT_FILTERED: "filtered", ErrorKind.REFUSED: "refused"}


@dataclass(frozen=True, slots=True)
class CallReport:
    """What one call came to, for the batch's statistics."""

    kind: str
    answered: bool = False
    retried: bool = False
    throttled: bool = False
    outcome: Outcome | None = None  # how the task ended, if the call ended it without an answer
    cost_microusd: int = 0


class Delivery:
    """Takes a RUNNING task and what its call came to, as far as it will go."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        safety: Safety,
        limiter: Limiter,
        runs: RunReader,
        sender: Sender,
        write_back: WriteBack,
        clock: Clock,
        chance: Chance,
        telemetry: Telemetry,
    ) -> None:
        self._tasks = tasks
        self._safety = safety
        self._limiter = limiter
        self._runs = runs
        self._sender = sender
        self._write_back = write_back
        self._clock = clock
        self._chance = chance
        self._telemetry = telemetry

    async def take(self, task: Task, epoch: int, reply: Answer | Failure) -> CallReport:
        """Deliver a reply.

        Raises:
            AnswerNotSafe: neither record nor queue took the answer.
        """
        if isinstance(reply, Failure) and reply.kind in _ANSWERS:
            reply = Answer(status=_ANSWERS[reply.kind], text="", raw=reply.raw, latency_s=reply.latency_s)
        if isinstance(reply, Answer):
            return await self._answer(task, reply)
        return await self._failure(task, epoch, reply)

    async def _answer(self, task: Task, reply: Answer) -> CallReport:
        await self._safety.keep(task, reply.outcome, pack(reply))
        return CallReport(reply.status, answered=True, cost_microusd=reply.cost_microusd)

    async def give_up_slot(self, task: Task, at: float) -> None:
        """The task is RUNNING but its slot went by and no near one is free: it waits anew, nothing counted."""
        moved = await self._tasks.move(task.task_id, not_called(task, at, self._clock.now()))
        if moved.ours and moved.task is not None:
            await self._sender.send_one(moved.task)

    async def _failure(self, task: Task, epoch: int, reply: Failure) -> CallReport:
        now = self._clock.now()
        kind = self._kind_of(reply)
        self._telemetry.event(
            "call_failed",
            task_id=task.task_id,
            run_id=task.run_id,
            platform=task.platform,
            kind=kind,
            status=reply.http_status,
            detail=reply.message,
        )
        held, down = await self._told(task, epoch, kind, reply)
        decision = await self._decide(task, kind, reply, now, down=down)
        if isinstance(decision, End):
            await self._end(task, decision.outcome, kind, reply)
            return CallReport(kind, throttled=kind is ErrorKind.RATE_LIMITED, outcome=decision.outcome)
        change = retry(task, decision.at, now, decision.counter, kind)
        moved = await self._tasks.move(task.task_id, change)
        if moved.ours and moved.task is not None:
            if not (held or down):
                await self._sender.send_one(moved.task)
        else:
            self._telemetry.event("authority_lost", move="retry", task_id=task.task_id, run_id=task.run_id)
        return CallReport(kind, retried=True, throttled=kind is ErrorKind.RATE_LIMITED)

    async def _told(self, task: Task, epoch: int, kind: ErrorKind, reply: Failure) -> tuple[bool, bool]:
        """Tell the platform's control item; is the task held, and is the breaker open?

        An item that cannot be written must not keep the task from its own move: it would look like a worker that died.
        """
        held = down = False
        try:
            async with asyncio.timeout(TELL_S):
                held = await self._spoken(task, epoch, reply)
                down = kind in OUTAGE and is_open(await self._limiter.read(task.platform))
        except (Unavailable, TimeoutError) as error:
            self._telemetry.event("platform_not_told", platform=task.platform, kind=kind, error=repr(error))
        return held, down

    async def _spoken(self, task: Task, epoch: int, reply: Failure) -> bool:
        for wait in TELL_WAITS_S:
            try:
                return await self.speak_for_platform(task.platform, task.target, epoch, reply)
            except Unavailable:
                await self._clock.sleep(wait)
        return await self.speak_for_platform(task.platform, task.target, epoch, reply)

    def _kind_of(self, reply: Failure) -> ErrorKind:
        """A Retry-After of more than an hour is a quota, whatever it calls itself."""
        too_long = reply.retry_after is not None and reply.retry_after > RETRY_AFTER_MAX_S
        return ErrorKind.QUOTA_EXHAUSTED if reply.kind is ErrorKind.RATE_LIMITED and too_long else reply.kind

    async def _decide(self, task: Task, kind: ErrorKind, reply: Failure, now: float, *, down: bool) -> Again | End:
        counts = Counts(task.retry_count, task.throttle_count, task.max_retry)

        def asked(run: Run | None) -> Again | End:
            return decide(
                kind,
                counts,
                retry_after=reply.retry_after,
                deadline=task.deadline_at if run is None else run.deadline,
                now=now,
                rng=self._chance.rng,
                breaker_open=down,
            )

        decision = asked(await self._runs.get(task.run_id))
        if decision == End(Outcome.EXPIRED):
            # Before a task is ended by its run's deadline, that is read anew: an operator may have moved it.
            return asked(await self._runs.get(task.run_id, fresh=True))
        return decision

    async def speak_for_platform(
        self, platform: str, target: str, epoch: int, reply: Failure, who: str = "worker"
    ) -> bool:
        """Pauses and pushes that follow from this reply; True when tasks must wait for a person (or the pause's end)."""
        kind, now = self._kind_of(reply), self._clock.now()
        if kind is ErrorKind.RATE_LIMITED:
            await self._limiter.push(platform, now + max(reply.retry_after or 0.0, 0.0), epoch)
            return False
        if kind not in PAUSES_TARGET and kind not in PAUSES_PLATFORM:
            return False
        # A short wait said beside an empty wallet is not believed: only a person mends that. A long one is when an allowance returns.
        returns = reply.retry_after is not None and reply.retry_after > RETRY_AFTER_MAX_S
        until = now + reply.retry_after if returns and reply.retry_after is not None else None
        one = kind in PAUSES_TARGET or reply.scope == "target"
        await self._limiter.pause(platform, Pause(kind, who, now, until), target if one else None)
        return True

    async def _end(self, task: Task, outcome: Outcome, kind: ErrorKind, reply: Failure) -> None:
        body = (
            pack(Answer(status="ok", text="", raw=reply.raw[:20_000], latency_s=reply.latency_s)) if reply.raw else None
        )
        if body is not None and len(body) > INLINE_MAX_BYTES:
            body = None  # a failed call's body is a courtesy; the kind says what happened
        moved = await self._tasks.move(
            task.task_id, failed(task, outcome, self._clock.now(), error_kind=kind, answer=body)
        )
        if moved.ours and moved.task is not None:
            await self._write_back.settle(moved.task)
        else:
            self._telemetry.event("authority_lost", move="fail", task_id=task.task_id, run_id=task.run_id)
