"""What do SQS queues do, kept in memory and driven by an injected clock? Delay, visibility, receive counts, dead letters."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from brandvane.ports import Clock, Delivered, Envelope

VISIBILITY_S = 900.0
MAX_RECEIVES = 20
MAX_RECEIVES_OF: Mapping[str, int] = {"writeback": 100}
DEAD = "-dead"


@dataclass(frozen=True, slots=True)
class _Message:
    message_id: str
    body: str
    sent_at: float
    visible_at: float
    receive_count: int = 0
    receipt: str = ""


@dataclass(slots=True)
class _Queue:
    messages: dict[str, _Message] = field(default_factory=dict)


class MemoryQueue:
    """Every queue by its logical name. A message received ``max_receives`` times and not deleted goes to ``NAME-dead``."""

    def __init__(
        self,
        *,
        clock: Clock,
        visibility_s: float = VISIBILITY_S,
        max_receives: Mapping[str, int] = MAX_RECEIVES_OF,
        default_max_receives: int = MAX_RECEIVES,
    ) -> None:
        self._clock = clock
        self._visibility_s = visibility_s
        self._max_receives = max_receives
        self._default_max_receives = default_max_receives
        self._queues: dict[str, _Queue] = {}
        self._numbers = count(1)

    async def send(self, queue: str, envelopes: Sequence[Envelope]) -> frozenset[str]:
        """Send all of them; a message is visible ``delay_s`` after now."""
        await asyncio.sleep(0)
        now = self._clock.now()
        for envelope in envelopes:
            message_id = f"message-{next(self._numbers)}"
            self._queue(queue).messages[message_id] = _Message(message_id, envelope.body, now, now + envelope.delay_s)
        return frozenset(envelope.id for envelope in envelopes)

    async def receive(self, queue: str, limit: int) -> list[Delivered]:
        """Take up to ``limit`` visible messages, those that became visible first before others."""
        await asyncio.sleep(0)
        now = self._clock.now()
        taken: list[Delivered] = []
        for message in sorted(self._queue(queue).messages.values(), key=lambda message: message.visible_at):
            if len(taken) >= limit or message.visible_at > now:
                break
            if not queue.endswith(DEAD) and message.receive_count >= self._limit(queue):
                self._bury(queue, message, now)
                continue
            again = replace(
                message,
                receive_count=message.receive_count + 1,
                visible_at=now + self._visibility_s,
                receipt=f"{message.message_id}/{message.receive_count + 1}",
            )
            self._queue(queue).messages[message.message_id] = again
            taken.append(
                Delivered(again.message_id, again.receipt, again.body, again.receive_count, sent_at=again.sent_at)
            )
        return taken

    async def delete(self, queue: str, receipt: str) -> None:
        """Acknowledge a message; a receipt that is no longer known changes nothing."""
        await asyncio.sleep(0)
        message = self._held(queue, receipt)
        if message is not None:
            del self._queue(queue).messages[message.message_id]

    async def postpone(self, queue: str, receipt: str, seconds: int) -> None:
        """Make a received message visible again ``seconds`` from now."""
        await asyncio.sleep(0)
        message = self._held(queue, receipt)
        if message is not None and message.visible_at > self._clock.now():
            later = replace(message, visible_at=self._clock.now() + seconds)
            self._queue(queue).messages[message.message_id] = later

    async def depth(self, queue: str) -> int:
        """Messages in the queue, waiting, delayed or in flight."""
        await asyncio.sleep(0)
        return len(self._queue(queue).messages)

    def next_visible(self, queue: str) -> float | None:
        """When the next message can be received; None when there is none (for simulated pollers)."""
        return min((message.visible_at for message in self._queue(queue).messages.values()), default=None)

    def _queue(self, name: str) -> _Queue:
        return self._queues.setdefault(name, _Queue())

    def _limit(self, queue: str) -> int:
        return self._max_receives.get(queue, self._default_max_receives)

    def _held(self, queue: str, receipt: str) -> _Message | None:
        message = self._queue(queue).messages.get(receipt.rpartition("/")[0])
        return message if message is not None and message.receipt == receipt else None

    def _bury(self, queue: str, message: _Message, now: float) -> None:
        del self._queue(queue).messages[message.message_id]
        self._queue(queue + DEAD).messages[message.message_id] = replace(message, visible_at=now, receipt="")
