"""What came of a call, and what follows from it? An answer is made safe by two independent ways; a failure asks the policy."""

from __future__ import annotations

from dataclasses import dataclass

from brandvane.answer import INLINE_MAX_BYTES, Answer, AnswerStatus, Failure, answer_key, pack
from brandvane.control import Pause
from brandvane.engine.limiter import Limiter
from brandvane.engine.pinned import RunReader
from brandvane.engine.send import Sender
from brandvane.engine.write_back import ANSWER_TYPE, WriteBack, counted_already
from brandvane.messages import WRITEBACK_QUEUE, Carried, WriteBackMessage
from brandvane.moves import answered, failed, retry
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
from brandvane.ports import BlobStore, Chance, Clock, Envelope, TaskQueue, TaskStore, Telemetry, Unavailable
from brandvane.task import Change, Outcome, Task

SAFE_WAITS_S = (0.2, 0.5, 1.0, 2.0, 4.0)  # how long a worker may wait for DynamoDB before it takes the other way
_ANSWERS: dict[ErrorKind, AnswerStatus] = {ErrorKind.CONTENT_FILTERED: "filtered", ErrorKind.REFUSED: "refused"}


class AnswerNotSafe(Exception):
    """Both ways to safety failed: the message stays unacknowledged and the call will be repeated."""


@dataclass(frozen=True, slots=True)
class CallReport:
    """What one call came to, for the batch's statistics."""

    kind: str
    answered: bool = False
    retried: bool = False
    throttled: bool = False
    cost_microusd: int = 0


class Delivery:
    """Takes a RUNNING task and what its call came to, as far as it will go."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        blobs: BlobStore,
        queue: TaskQueue,
        limiter: Limiter,
        runs: RunReader,
        sender: Sender,
        write_back: WriteBack,
        clock: Clock,
        chance: Chance,
        telemetry: Telemetry,
    ) -> None:
        self._tasks = tasks
        self._blobs = blobs
        self._queue = queue
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
        packed = pack(reply)
        key = None
        if len(packed) > INLINE_MAX_BYTES:
            key = answer_key(task.run_id, task.task_id, task.attempt_id)
            if not await self._put_blob(key, packed):
                key = None
        inline = packed if key is None else None
        await self._make_safe(task, Carried(reply.outcome, None, inline, key))
        return CallReport(reply.status, answered=True, cost_microusd=reply.cost_microusd)

    async def _put_blob(self, key: str, body: bytes) -> bool:
        for wait in (*SAFE_WAITS_S[:3], None):
            try:
                await self._blobs.put(key, body, ANSWER_TYPE)
            except Unavailable:
                if wait is not None:
                    await self._clock.sleep(wait)
            else:
                return True
        return False

    async def _make_safe(self, task: Task, carried: Carried) -> None:
        """First way: the record. Second: a message that carries the answer."""
        now = self._clock.now()
        stored = {"answer": carried.answer, "answer_key": carried.answer_key, "error_kind": carried.error_kind}
        too_large_for_a_record = carried.answer is not None and len(carried.answer) > 300_000
        change = answered(task, carried.outcome, now, **stored)  # type: ignore[arg-type]
        if not too_large_for_a_record and await self._secure(task, change, carried):
            return
        message = WriteBackMessage(task.task_id, task.run_id, task.attempt_id, 0, carried)
        try:
            sent = await self._queue.send(WRITEBACK_QUEUE, [Envelope(task.task_id, message.encode())])
        except Unavailable:
            sent = frozenset()
        if task.task_id not in sent:
            self._telemetry.event("answer_not_safe", task_id=task.task_id, run_id=task.run_id)
            raise AnswerNotSafe(task.task_id)
        self._telemetry.event("answer_by_message", task_id=task.task_id, run_id=task.run_id)

    async def _secure(self, task: Task, change: Change, carried: Carried) -> bool:
        for wait in (*SAFE_WAITS_S, None):
            try:
                moved = await self._tasks.move(task.task_id, change)
            except Unavailable:
                if wait is not None:
                    await self._clock.sleep(wait)
                continue
            if moved.ours and moved.task is not None:
                await self._write_back.settle(moved.task)
            elif moved.task is None or not counted_already(moved.task, task.attempt_id, carried.outcome):
                await self._write_back.keep_late(task, task.attempt_id, carried.answer)
            return True
        return False

    async def give_up_slot(self, task: Task, at: float) -> None:
        """The task is RUNNING but its slot went by and no near one is free: it waits anew, nothing counted."""
        moved = await self._tasks.move(task.task_id, retry(task, at, self._clock.now(), None, "slot_missed"))
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
            message=reply.message,
        )
        held = await self._speak_for_platform(task, epoch, kind, reply, now)
        decision = await self._decide(task, kind, reply, now)
        if isinstance(decision, End):
            await self._end(task, decision.outcome, kind, reply)
            return CallReport(kind, throttled=kind is ErrorKind.RATE_LIMITED)
        change = retry(task, decision.at, now, decision.counter, kind)
        moved = await self._tasks.move(task.task_id, change)
        if moved.ours and moved.task is not None:
            if not held:
                await self._sender.send_one(moved.task)
        else:
            self._telemetry.event("authority_lost", move="retry", task_id=task.task_id, run_id=task.run_id)
        return CallReport(kind, retried=True, throttled=kind is ErrorKind.RATE_LIMITED)

    def _kind_of(self, reply: Failure) -> ErrorKind:
        """A Retry-After of more than an hour is a quota, whatever it calls itself."""
        too_long = reply.retry_after is not None and reply.retry_after > RETRY_AFTER_MAX_S
        return ErrorKind.QUOTA_EXHAUSTED if reply.kind is ErrorKind.RATE_LIMITED and too_long else reply.kind

    async def _decide(self, task: Task, kind: ErrorKind, reply: Failure, now: float) -> Again | End:
        counts = Counts(task.retry_count, task.throttle_count, task.max_retry)
        run = await self._runs.get(task.run_id)
        deadline = task.deadline_at if run is None else run.deadline
        decision = decide(kind, counts, retry_after=reply.retry_after, deadline=deadline, now=now, rng=self._chance.rng)
        if decision == End(Outcome.EXPIRED):
            run = await self._runs.get(task.run_id, fresh=True)
            deadline = task.deadline_at if run is None else run.deadline
            return decide(kind, counts, retry_after=reply.retry_after, deadline=deadline, now=now, rng=self._chance.rng)
        return decision

    async def _speak_for_platform(self, task: Task, epoch: int, kind: ErrorKind, reply: Failure, now: float) -> bool:
        """Pauses and pushes that follow from this reply; True when tasks must wait for a person (or the pause's end)."""
        if kind is ErrorKind.RATE_LIMITED:
            await self._limiter.push(task.platform, now + max(reply.retry_after or 0.0, 0.0), epoch)
            return False
        if kind in PAUSES_TARGET:
            await self._limiter.pause(task.platform, Pause(kind, "worker", now), task.target)
            return True
        if kind in PAUSES_PLATFORM:
            until = now + reply.retry_after if reply.retry_after is not None else None
            await self._limiter.pause(task.platform, Pause(kind, "worker", now, until))
            return True
        return False

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
