"""How does a PENDING task get onto its queue? Send first, then mark what SQS confirmed (DESIGN §2)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass

from brandvane.messages import CallMessage, calls_queue
from brandvane.moves import dispatched
from brandvane.policy import MAX_DELAY_S
from brandvane.ports import Clock, Envelope, TaskQueue, TaskStore, Telemetry, Unavailable
from brandvane.task import Task

EARLY_S = 1.0  # time for polling, claiming and reserving (docs/decisions/0005-messages-come-early.md)


@dataclass(frozen=True, slots=True)
class Due:
    """A PENDING record, as far as sending needs it."""

    task_id: str
    run_id: str
    dispatch_no: int
    at: float


def delay_until(at: float, now: float) -> int:
    """Whole seconds of DelaySeconds: one to two seconds early, and the worker holds the message to its instant."""
    return math.floor(min(max(at - now - EARLY_S, 0.0), MAX_DELAY_S))


class Sender:
    """Puts tasks on their platform's queue and marks them DISPATCHED."""

    def __init__(self, *, tasks: TaskStore, queue: TaskQueue, clock: Clock, telemetry: Telemetry) -> None:
        self._tasks = tasks
        self._queue = queue
        self._clock = clock
        self._telemetry = telemetry

    async def send_one(self, task: Task) -> None:
        """Send a worker's own retry or release; a wait beyond 900 s, or any failure, is left to the dispatcher."""
        if task.next_execute_time - self._clock.now() > MAX_DELAY_S:
            return
        due = Due(task.task_id, task.run_id, task.dispatch_no, task.next_execute_time)
        await self.send(task.platform, [due])

    async def send(self, platform: str, dues: Sequence[Due]) -> int:
        """Send up to ten tasks; returns how many the queue confirmed."""
        now = self._clock.now()
        envelopes = [
            Envelope(d.task_id, CallMessage(d.task_id, d.run_id, d.dispatch_no, d.at).encode(), delay_until(d.at, now))
            for d in dues
        ]
        try:
            sent = await self._queue.send(calls_queue(platform), envelopes)
        except Unavailable:
            sent = frozenset()
        await asyncio.gather(*(self._mark(platform, d) for d in dues if d.task_id in sent))
        if len(sent) < len(dues):
            self._telemetry.count("NotSent", len(dues) - len(sent), platform=platform)
        return len(sent)

    async def _mark(self, platform: str, due: Due) -> None:
        try:
            await self._tasks.move(due.task_id, dispatched(platform, due.dispatch_no, due.at, self._clock.now()))
        except Unavailable:
            # The message is out; the record stays PENDING and may be sent once more: the claim lets one copy through.
            self._telemetry.event("mark_not_written", task_id=due.task_id, run_id=due.run_id)
