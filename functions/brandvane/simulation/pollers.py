"""How do messages come to functions? One event source a queue: batches, MaximumConcurrency, partial failures, throttled starts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from brandvane.messages import NewerMessage
from brandvane.ports import Delivered, Unavailable
from brandvane.simulation.cloud import Cloud, TooLarge
from brandvane.simulation.cloud_queue import NEW, OLD
from brandvane.simulation.environment import Environment
from brandvane.simulation.fleet import Died, Function

Handler = Callable[[Environment, float, Sequence[Delivered]], Awaitable[frozenset[str]]]
THROTTLED_AGAIN_S = (5.0, 60.0)
DOUBLED_AFTER_S = 30.0


class Poller:
    """Takes messages of one queue to its function; told by the queue when one may be visible sooner than it knows."""

    def __init__(
        self, cloud: Cloud, queue: str, function: Function, handler: Handler, *, batch_size: int, most: int
    ) -> None:
        self._cloud = cloud
        self._queue = queue
        self._function = function
        self._handler = handler
        self._batch_size = batch_size
        self._most = most
        self._running = 0
        self._armed: float | None = None
        self._latency = cloud.sampler("sqs_to_lambda")
        self._rng = cloud.chances.of(f"poller {queue}")
        self._troubles = cloud.troubles("lambda")
        cloud.queue.waiters[queue] = self.look

    def look(self) -> None:
        """Set the alarm for the message that is visible first."""
        if self._running >= self._most:
            return
        visible = self._cloud.queue.next_visible(self._queue)
        if visible is None:
            return
        at = max(visible - self._cloud.epoch, self._cloud.loop.time())
        if self._armed is not None and self._armed <= at:
            return
        self._armed = at
        self._cloud.loop.call_at(at + self._latency(), self._poll, at)

    def _poll(self, armed: float) -> None:
        if self._armed == armed:
            self._armed = None
        while self._running < self._most:
            batch = self._receive()
            if not batch:
                break
            if self._throttled():
                for message in batch:
                    self._cloud.queue.postpone_at_once(
                        self._queue, message.receipt, self._rng.uniform(*THROTTLED_AGAIN_S)
                    )
                continue
            self._running += 1
            self._cloud.loop.create_task(self._invoke(batch))
        self.look()

    def _receive(self) -> list[Delivered]:
        queue = self._cloud.queue
        batch = queue.receive_at_once(self._queue, self._batch_size)
        self._cloud.meter.asked("sqs", "receive")
        doubled = self._cloud.faults.message_doubled
        if doubled:
            for message in batch:
                if self._rng.random() < doubled:  # it will show itself again while it is being worked on
                    queue.postpone_at_once(self._queue, message.receipt, self._rng.random() * DOUBLED_AFTER_S)
        return batch

    def _throttled(self) -> bool:
        share = self._cloud.faults.throttled
        trouble = self._cloud.in_trouble(self._troubles) if self._troubles else None
        if trouble is not None:
            share = max(share, trouble.share)
        return share > 0 and self._rng.random() < share

    async def _invoke(self, batch: list[Delivered]) -> None:
        try:
            again = await self._function.invoke(lambda env, stop_at: self._handler(env, stop_at, batch))
            self._acknowledge([message for message in batch if message.message_id not in again])
        except (Died, Unavailable, TooLarge, NewerMessage, LookupError):
            pass  # the messages come again when their visibility timeout is over
        finally:
            self._running -= 1
            self.look()

    def _acknowledge(self, done: Sequence[Delivered]) -> None:
        if not done:
            return
        cloud = self._cloud
        cloud.meter.asked("sqs", "delete")
        for message in done:
            cloud.auditor.acknowledged(self._queue, message.body.replace(NEW, OLD, 1))
            if cloud.faults.delete_lost and self._rng.random() < cloud.faults.delete_lost:
                continue
            cloud.queue.delete_at_once(self._queue, message.receipt)
