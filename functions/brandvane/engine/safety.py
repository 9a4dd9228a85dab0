"""How is a paid answer made safe? Two independent ways: the task's record, and a write-back message that carries it.

Only when both fail is the task's message left unacknowledged, and the call repeated (DESIGN §2).
"""

from __future__ import annotations

import asyncio

from brandvane.answer import INLINE_MAX_BYTES, answer_key
from brandvane.engine.write_back import ANSWER_TYPE, WriteBack, counted_already
from brandvane.messages import WRITEBACK_QUEUE, Carried, WriteBackMessage
from brandvane.moves import answered
from brandvane.ports import BlobStore, Clock, Envelope, TaskQueue, TaskStore, Telemetry, Unavailable
from brandvane.task import Change, Moved, Outcome, Task

RECORD_WAITS_S = (0.2, 0.5, 1.0, 2.0, 4.0)  # how long a worker may wait for DynamoDB before it takes the other way
BLOB_WAITS_S = (0.2, 0.5, 1.0)
# The most that each may take in all, also when it hangs instead of refusing: both, and a send, fit the write-back reserve (15 s).
RECORD_WAY_S = 9.0
BLOB_WAY_S = 4.0
RECORD_MAX_BYTES = 300_000  # DynamoDB's item limit is 400 KB; only reached while S3 refuses


class AnswerNotSafe(Exception):
    """Both ways failed: the message stays unacknowledged and the call will be repeated."""


class Safety:
    """Keeps answers."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        blobs: BlobStore,
        queue: TaskQueue,
        write_back: WriteBack,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._tasks = tasks
        self._blobs = blobs
        self._queue = queue
        self._write_back = write_back
        self._clock = clock
        self._telemetry = telemetry

    async def keep(self, task: Task, outcome: Outcome, packed: bytes) -> None:
        """Make a RUNNING task's answer safe and write it back.

        Raises:
            AnswerNotSafe: neither record nor queue took it.
        """
        key = None
        if len(packed) > INLINE_MAX_BYTES:
            key = answer_key(task.run_id, task.task_id, task.attempt_id)
            if not await self._put(key, packed):
                key = None
        carried = Carried(outcome, None, packed if key is None else None, key)
        change = answered(task, outcome, self._clock.now(), answer=carried.answer, answer_key=carried.answer_key)
        if not (carried.answer and len(carried.answer) > RECORD_MAX_BYTES) and await self._record(task, change, packed):
            return
        await self._message(task, carried)

    async def _put(self, key: str, body: bytes) -> bool:
        try:
            async with asyncio.timeout(BLOB_WAY_S):
                for wait in BLOB_WAITS_S:
                    try:
                        await self._blobs.put(key, body, ANSWER_TYPE)
                    except Unavailable:
                        await self._clock.sleep(wait)
                    else:
                        return True
                await self._blobs.put(key, body, ANSWER_TYPE)
        except Exception as error:  # whatever S3 says, or does not say, the answer still has its other ways
            self._telemetry.event("answer_not_stored", key=key, error=repr(error))
            return False
        return True

    async def _record(self, task: Task, change: Change, packed: bytes) -> bool:
        """The first way; True when the record has the answer, or when it is kept because somebody else has the task."""
        try:
            async with asyncio.timeout(RECORD_WAY_S):
                moved = await self._moved(task.task_id, change)
        except Exception as error:  # whatever the table says, or does not say, the answer still has its other way
            self._telemetry.event("answer_not_recorded", task_id=task.task_id, error=repr(error))
            return False
        if moved.ours and moved.task is not None:
            await self._write_back.settle(moved.task)
        elif moved.task is None or not counted_already(moved.task, task.attempt_id, Outcome(change.put["outcome"])):
            try:
                await self._write_back.keep_late(task.run_id, task.task_id, task.attempt_id, packed, task.platform)
            except Exception as error:  # then it goes by message, which comes again until the answer is kept
                self._telemetry.event("late_answer_not_kept", task_id=task.task_id, error=repr(error))
                return False
        return True

    async def _moved(self, task_id: str, change: Change) -> Moved:
        for wait in RECORD_WAITS_S:
            try:
                return await self._tasks.move(task_id, change)
            except Unavailable:
                await self._clock.sleep(wait)
        return await self._tasks.move(task_id, change)

    async def _message(self, task: Task, carried: Carried) -> None:
        """The second way."""
        message = WriteBackMessage(task.task_id, task.run_id, task.attempt_id, 0, carried)
        sent: frozenset[str] = frozenset()
        try:
            sent = await self._queue.send(WRITEBACK_QUEUE, [Envelope(task.task_id, message.encode())])
        except Exception as error:  # reported below, whatever it was
            self._telemetry.event("answer_not_sent", task_id=task.task_id, error=repr(error))
        if task.task_id not in sent:
            self._telemetry.event("answer_not_safe", task_id=task.task_id, run_id=task.run_id)
            raise AnswerNotSafe(task.task_id)
        self._telemetry.event("answer_by_message", task_id=task.task_id, run_id=task.run_id)
