"""What do SQS queues do, kept in memory and driven by an injected clock? Delay, visibility, receive counts, dead letters."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from brandvane.ports import Clock, Delivered, Envelope

VISIBILITY_S = 900.0
MAX_RECEIVES = 20
MAX_RECEIVES_OF: Mapping[str, int] = {"writeback": 100}
DEAD = "-dead"
DEAD_VISIBILITY_S = 30.0  # AWS's default: the template says nothing else of dead-letter queues


@dataclass(slots=True)
class _Message:
    message_id: str
    body: str
    sent_at: float
    visible_at: float
    receive_count: int = 0
    receipt: str = ""


@dataclass(slots=True)
class _Queue:
    """Messages by id; ``order`` is a heap of when they become visible, whose outdated entries are passed over."""

    messages: dict[str, _Message] = field(default_factory=dict)
    order: list[tuple[float, int, str]] = field(default_factory=list)


class MemoryQueue:
    """Every queue by its logical name. A message received ``max_receives`` times and not deleted goes to ``NAME-dead``."""

    def __init__(
        self,
        *,
        clock: Clock,
        visibility_s: float = VISIBILITY_S,
        visibility_of: Mapping[str, float] | None = None,
        max_receives: Mapping[str, int] = MAX_RECEIVES_OF,
        default_max_receives: int = MAX_RECEIVES,
    ) -> None:
        self._clock = clock
        self._visibility_s = visibility_s
        self._visibility_of = visibility_of or {}
        self._max_receives = max_receives
        self._default_max_receives = default_max_receives
        self._queues: dict[str, _Queue] = {}
        self._numbers = count(1)
        self._order = count()
        self.waiters: dict[
            str, Callable[[], None]
        ] = {}  # told that a message of their queue may come sooner than they know

    async def send(self, queue: str, envelopes: Sequence[Envelope]) -> frozenset[str]:
        """Send all of them; a message is visible ``delay_s`` after now."""
        await asyncio.sleep(0)
        for envelope in envelopes:
            self.send_at_once(queue, envelope.body, envelope.delay_s)
        return frozenset(envelope.id for envelope in envelopes)

    def send_at_once(self, queue: str, body: str, delay_s: float) -> str:
        """Send one; its id."""
        now = self._clock.now()
        message_id = f"message-{next(self._numbers)}"
        self._show(queue, _Message(message_id, body, now, now + delay_s))
        return message_id

    async def receive(self, queue: str, limit: int) -> list[Delivered]:
        """Take up to ``limit`` visible messages, those that became visible first before others."""
        await asyncio.sleep(0)
        return self.receive_at_once(queue, limit)

    def receive_at_once(self, queue: str, limit: int) -> list[Delivered]:
        """One receive."""
        now = self._clock.now()
        taken: list[Delivered] = []
        while len(taken) < limit:
            message = self._first(queue)
            if message is None or message.visible_at > now:
                break
            heappop(self._queue(queue).order)
            if not queue.endswith(DEAD) and message.receive_count >= self._limit(queue):
                self._bury(queue, message, now)
                continue
            message.receive_count += 1
            message.receipt = f"{message.message_id}/{message.receive_count}"
            message.visible_at = now + self._visibility(queue)
            self._show(queue, message)
            taken.append(
                Delivered(message.message_id, message.receipt, message.body, message.receive_count, message.sent_at)
            )
        return taken

    async def delete(self, queue: str, receipt: str) -> None:
        """Acknowledge a message; a receipt that is no longer known changes nothing."""
        await asyncio.sleep(0)
        self.delete_at_once(queue, receipt)

    def delete_at_once(self, queue: str, receipt: str) -> None:
        """One deletion."""
        message = self._held(queue, receipt)
        if message is not None:
            del self._queue(queue).messages[message.message_id]

    async def postpone(self, queue: str, receipt: str, seconds: int) -> None:
        """Make a received message visible again ``seconds`` from now."""
        await asyncio.sleep(0)
        self.postpone_at_once(queue, receipt, seconds)

    def postpone_at_once(self, queue: str, receipt: str, seconds: float) -> None:
        """One change of visibility."""
        message = self._held(queue, receipt)
        if message is not None and message.visible_at > self._clock.now():
            message.visible_at = self._clock.now() + seconds
            self._show(queue, message)

    async def depth(self, queue: str, held_most: int | None = None) -> int:
        """Messages in the queue, waiting, delayed or in flight; of the last at most ``held_most`` are counted."""
        await asyncio.sleep(0)
        return self.depth_at_once(queue, held_most)

    def depth_at_once(self, queue: str, held_most: int | None = None) -> int:
        """How many messages there are."""
        messages = self._queue(queue).messages
        if held_most is None:
            return len(messages)
        now = self._clock.now()
        held = sum(1 for message in messages.values() if message.receive_count and message.visible_at > now)
        return len(messages) - held + min(held, held_most)

    def next_visible(self, queue: str) -> float | None:
        """When the next message can be received; None when there is none (for simulated pollers)."""
        message = self._first(queue)
        return None if message is None else message.visible_at

    def bodies(self, queue: str) -> list[str]:
        """What the messages of a queue say, in the order they were first sent."""
        return [message.body for message in self._queue(queue).messages.values()]

    def _first(self, queue: str) -> _Message | None:
        """The message that is visible first; outdated entries of the heap are dropped on the way."""
        place = self._queue(queue)
        while place.order:
            visible_at, _, message_id = place.order[0]
            message = place.messages.get(message_id)
            if message is not None and message.visible_at == visible_at:
                return message
            heappop(place.order)
        return None

    def _show(self, queue: str, message: _Message) -> None:
        place = self._queue(queue)
        place.messages[message.message_id] = message
        heappush(place.order, (message.visible_at, next(self._order), message.message_id))
        if queue in self.waiters:
            self.waiters[queue]()

    def _queue(self, name: str) -> _Queue:
        return self._queues.setdefault(name, _Queue())

    def _limit(self, queue: str) -> int:
        return self._max_receives.get(queue, self._default_max_receives)

    def _visibility(self, queue: str) -> float:
        if queue.endswith(DEAD):
            return min(DEAD_VISIBILITY_S, self._visibility_s)
        return self._visibility_of.get(queue, self._visibility_s)

    def _held(self, queue: str, receipt: str) -> _Message | None:
        message = self._queue(queue).messages.get(receipt.rpartition("/")[0])
        return message if message is not None and message.receipt == receipt else None

    def _bury(self, queue: str, message: _Message, now: float) -> None:
        del self._queue(queue).messages[message.message_id]
        message.visible_at, message.receipt = now, ""
        self._show(queue + DEAD, message)
