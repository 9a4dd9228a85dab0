"""What do queues and other functions look like from an execution environment? Their ports over a slow and faulty way.

A batch send may confirm only some of its entries, and what it does not confirm may have been sent; a send that the client repeats
because no reply came puts its messages on the queue twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from brandvane.policy import MAX_DELAY_S
from brandvane.ports import Delivered, Envelope, Unavailable
from brandvane.simulation.cloud import Cloud, TooLarge
from brandvane.simulation.host import Host

BATCH_MAX = 10
BATCH_BYTES = 256 * 1024
MESSAGE_MAX = 1024 * 1024
OLD, NEW = '{"v":1', '{"v":2'  # how messages of the two releases begin


class CloudQueue:
    """The ``TaskQueue`` port, for one environment."""

    def __init__(self, host: Host, cloud: Cloud) -> None:
        self._host = host
        self._cloud = cloud
        self._queue = cloud.queue
        self._rng = cloud.chances.of("queues")

    async def send(self, queue: str, envelopes: Sequence[Envelope]) -> frozenset[str]:
        """In batches, one after another; what was confirmed."""
        confirmed: set[str] = set()
        failed: Unavailable | None = None
        for batch in _batches(envelopes):
            try:
                confirmed.update(await self._send(queue, batch))
            except Unavailable as error:
                failed = error
        if failed is not None and not confirmed:
            raise failed
        return frozenset(confirmed)

    async def _send(self, queue: str, batch: Sequence[Envelope]) -> list[str]:
        for envelope in batch:
            if not 0 <= envelope.delay_s <= MAX_DELAY_S or int(envelope.delay_s) != envelope.delay_s:
                raise ValueError(f"DelaySeconds {envelope.delay_s} of a message to {queue}")
            if len(envelope.body) > MESSAGE_MAX:
                raise TooLarge(f"message of {len(envelope.body)} characters")

        def effect() -> list[str]:
            self._cloud.meter.asked("sqs", "send")
            return [envelope.id for envelope in batch if self._enter(queue, envelope)]

        confirmed = await self._cloud.sqs.call(self._host, effect)
        named = frozenset(confirmed)
        for envelope in batch:
            if envelope.id in named:
                self._cloud.auditor.confirmed(queue, envelope.body)
        return confirmed

    def _enter(self, queue: str, envelope: Envelope) -> bool:
        """Put one message on its queue; False when the reply does not name it."""
        faults, rng = self._cloud.faults, self._rng
        named = True
        if faults.entry_failed and rng.random() < faults.entry_failed:
            named = False
            if rng.random() < 0.5:
                return False
        delay = float(envelope.delay_s)
        if faults.message_jitter_s:
            delay += rng.random() * faults.message_jitter_s
        if faults.message_late and rng.random() < faults.message_late:
            delay += rng.random() * faults.message_late_s
        body = envelope.body.replace(OLD, NEW, 1) if self._host.version > 1 else envelope.body
        self._queue.send_at_once(queue, body, delay)
        self._cloud.auditor.sent(self._host, queue, envelope.body)
        return named

    async def receive(self, queue: str, limit: int) -> list[Delivered]:
        """For operators: workers are given their messages."""

        def effect() -> list[Delivered]:
            self._cloud.meter.asked("sqs", "receive")
            return self._queue.receive_at_once(queue, limit)

        received = await self._cloud.sqs.call(self._host, effect)
        return [as_read(self._host, message) for message in received]

    async def delete(self, queue: str, receipt: str) -> None:
        """For operators."""
        await self._asked("delete", lambda: self._queue.delete_at_once(queue, receipt))

    async def postpone(self, queue: str, receipt: str, seconds: int) -> None:
        """Change a message's visibility."""
        await self._asked("visibility", lambda: self._queue.postpone_at_once(queue, receipt, seconds))

    async def _asked(self, operation: str, act: Callable[[], None]) -> None:
        def effect() -> None:
            self._cloud.meter.asked("sqs", operation)
            act()

        await self._cloud.sqs.call(self._host, effect)

    async def depth(self, queue: str, held_most: int | None = None) -> int:
        """How many messages there are, about."""

        def effect() -> int:
            self._cloud.meter.asked("sqs", "attributes")
            return self._queue.depth_at_once(queue, held_most)

        return await self._cloud.sqs.call(self._host, effect, write=False)


def as_read(host: Host, message: Delivered) -> Delivered:
    """A message as an environment's code reads it: its own release's looks like release 1's."""
    if host.version == 1 or not message.body.startswith(NEW):
        return message
    body = message.body.replace(NEW, OLD, 1)
    return Delivered(message.message_id, message.receipt, body, message.receive_count, message.sent_at)


def _batches(envelopes: Sequence[Envelope]) -> Iterator[list[Envelope]]:
    batch: list[Envelope] = []
    size = 0
    for envelope in envelopes:
        length = len(envelope.body)
        if batch and (len(batch) == BATCH_MAX or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(envelope)
        size += length
    if batch:
        yield batch


class CloudFunctions:
    """The ``Functions`` port: asynchronous invocations. ``start`` puts an event before a function."""

    def __init__(self, host: Host, cloud: Cloud, start: Callable[[str, Mapping[str, Any]], None]) -> None:
        self._host = host
        self._cloud = cloud
        self._start = start

    async def invoke(self, function: str, event: Mapping[str, Any]) -> None:
        """Hand the event over."""
        await self._cloud.functions.call(self._host, lambda: self._start(function, event))
