"""What does the write-back function do with a batch of messages? Each on its own; what was not taken in comes again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from brandvane.engine.write_back import WriteBack
from brandvane.messages import WRITEBACK_QUEUE, NewerMessage, UnreadableMessage, WriteBackMessage
from brandvane.ports import Delivered, TaskQueue, Telemetry

AGAIN_S = 15
UNREADABLE_AGAIN_S = 1
NEWER_AGAIN_S = 30


class TakeIn:
    """Takes in write-back messages."""

    def __init__(self, *, write_back: WriteBack, queue: TaskQueue, telemetry: Telemetry) -> None:
        self._write_back = write_back
        self._queue = queue
        self._telemetry = telemetry

    async def handle(self, messages: Sequence[Delivered]) -> frozenset[str]:
        """Returns the ids of messages that must come again."""
        again = await asyncio.gather(*(self._one(message) for message in messages))
        return frozenset(message_id for message_id in again if message_id is not None)

    async def _one(self, message: Delivered) -> str | None:
        try:
            await self._write_back.handle(WriteBackMessage.decode(message.body))
        except UnreadableMessage as error:
            return await self._come_again(message, UNREADABLE_AGAIN_S, error)
        except NewerMessage as error:
            return await self._come_again(message, NEWER_AGAIN_S, error)
        except Exception as error:  # the message carries a paid answer: whatever went wrong, it must come again
            return await self._come_again(message, AGAIN_S, error)
        return None

    async def _come_again(self, message: Delivered, seconds: int, error: Exception) -> str:
        self._telemetry.event("not_taken_in", message_id=message.message_id, error=repr(error))
        try:
            await self._queue.postpone(WRITEBACK_QUEUE, message.receipt, seconds)
        except Exception:  # then it sleeps its whole visibility timeout; the batch's other messages go on
            self._telemetry.event("not_postponed", message_id=message.message_id)
        return message.message_id
