"""How does a safe outcome become a result row? Row first, then the move to DONE or FAILED; retried until both hold."""

from __future__ import annotations

import contextlib

from brandvane.answer import answer_key, late_key
from brandvane.messages import WRITEBACK_QUEUE, NewerMessage, WriteBackMessage
from brandvane.moves import MAX_WRITE_BACKS, WRITE_BACK_WAITS_S, WRITEBACK_GRACE_S, answered, deferred, failed, finished
from brandvane.ports import BlobStore, Clock, Envelope, ResultStore, TaskQueue, TaskStore, Telemetry, Unavailable
from brandvane.result import row_of
from brandvane.task import ANSWERED, FINISHED, RECORD_VERSION, Outcome, State, Task

ANSWER_TYPE = "application/octet-stream"
DAY_S = 86_400.0


class WriteBack:
    """Writes result rows. ``keep_s``: how long a finished record is kept before TTL may remove it."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        results: ResultStore,
        blobs: BlobStore,
        queue: TaskQueue,
        clock: Clock,
        telemetry: Telemetry,
        keep_s: float = 7 * DAY_S,
    ) -> None:
        self._tasks = tasks
        self._results = results
        self._blobs = blobs
        self._queue = queue
        self._clock = clock
        self._telemetry = telemetry
        self._keep_s = keep_s

    async def settle(self, task: Task, tries: int = 0) -> bool:
        """Write the row of a record in WRITEBACK and finish it; on failure see to it that somebody tries again.

        Returns True when the record is finished.
        """
        try:
            await self._write_row(task)
            moved = await self._tasks.move(task.task_id, finished(task, self._clock.now(), self._keep_s))
        except Unavailable as error:
            await self._later(task, tries, error, faulty=False)
            return False
        except Exception as error:  # nothing that reads an answer can stop its row: counted, then a minimal row
            await self._later(task, tries, error, faulty=True)
            return False
        if not moved.ours:
            self._telemetry.event("authority_lost", move="finish", task_id=task.task_id, run_id=task.run_id)
        return moved.ours

    async def _write_row(self, task: Task) -> None:
        now = self._clock.now()
        if task.write_backs < MAX_WRITE_BACKS:
            row = row_of(task, now)
        else:
            key = task.answer_key
            if key is None and task.answer is not None:
                key = answer_key(task.run_id, task.task_id, task.attempt_id)
                await self._blobs.put(key, task.answer, ANSWER_TYPE)
            row = row_of(task, now, minimal=True, answer_key=key)
        if not await self._results.put(row):
            self._telemetry.event("row_superseded", task_id=task.task_id, run_id=task.run_id, round=task.round)

    async def _later(self, task: Task, tries: int, error: Exception, *, faulty: bool) -> None:
        self._telemetry.event(
            "write_back_failed", task_id=task.task_id, run_id=task.run_id, tries=tries, error=type(error).__name__
        )
        wait = WRITE_BACK_WAITS_S[tries] if tries < len(WRITE_BACK_WAITS_S) else None
        now = self._clock.now()
        with contextlib.suppress(Unavailable):  # then the record keeps the time it had, and the scanner comes at that
            change = deferred(task, now + (wait or 0) + WRITEBACK_GRACE_S, now, failed_write=faulty)
            await self._tasks.move(task.task_id, change)
        if wait is not None:
            await self.remind(task, tries + 1, wait)

    async def remind(self, task: Task, tries: int, wait: float) -> None:
        """Put *write this task back* on the queue. Should the queue refuse, the scanner comes by ``act_at``."""
        message = WriteBackMessage(task.task_id, task.run_id, task.attempt_id, tries)
        try:
            await self._queue.send(WRITEBACK_QUEUE, [Envelope(task.task_id, message.encode(), int(wait))])
        except Unavailable:
            self._telemetry.event("reminder_not_sent", task_id=task.task_id, run_id=task.run_id)

    async def handle(self, message: WriteBackMessage) -> None:
        """One message of the write-back queue.

        Raises:
            Unavailable: the answer it carries could not be made safe; the message must come again.
            NewerMessage: the record is of a newer version and left for newer code.
        """
        task = await self._tasks.get(message.task_id)
        if task is None:
            self._telemetry.event("write_back_without_record", task_id=message.task_id, run_id=message.run_id)
            if message.carried is not None:
                await self.keep_late(message.run_id, message.task_id, message.attempt_id, message.carried.answer)
            return
        if task.v > RECORD_VERSION:
            raise NewerMessage(f"record {task.task_id} has version {task.v}; this release reads {RECORD_VERSION}")
        if message.carried is not None:
            task = await self._make_safe(task, message)
            if task is None:
                return
        if task.state is State.WRITEBACK and task.attempt_id == message.attempt_id:
            await self.settle(task, message.tries)

    async def _make_safe(self, task: Task, message: WriteBackMessage) -> Task | None:
        carried = message.carried
        if carried is None:
            return task
        if task.attempt_id == message.attempt_id:
            # A failure counts only while its own attempt still runs; an answer until somebody else has claimed the task.
            build = answered if carried.outcome in ANSWERED else failed
            change = build(
                task,
                carried.outcome,
                self._clock.now(),
                answer=carried.answer,
                answer_key=carried.answer_key,
                error_kind=carried.error_kind,
            )
            moved = await self._tasks.move(task.task_id, change)
            if moved.ours:
                return moved.task
            if moved.task is not None and counted_already(moved.task, message.attempt_id, carried.outcome):
                return None
        if carried.outcome in ANSWERED:
            await self.keep_late(task.run_id, task.task_id, message.attempt_id, carried.answer, task.platform)
        return None

    async def keep_late(
        self, run_id: str, task_id: str, attempt_id: str, answer: bytes | None, platform: str | None = None
    ) -> None:
        """An answer that nobody waits for any more is kept and counted, never thrown away."""
        if answer is not None:
            await self._blobs.put(late_key(run_id, task_id, attempt_id), answer, ANSWER_TYPE)
        self._telemetry.count("LateAnswers", platform=platform)
        self._telemetry.event("late_answer", task_id=task_id, run_id=run_id, attempt_id=attempt_id)


def counted_already(task: Task, attempt_id: str, outcome: Outcome) -> bool:
    """Has this attempt's answer been written back and finished in the meantime?"""
    return task.state in FINISHED and task.attempt_id == attempt_id and task.outcome == outcome
