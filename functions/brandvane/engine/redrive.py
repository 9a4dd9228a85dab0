"""What lies in the dead-letter queues, and where can it go? A dead letter never decides a task (DESIGN §2).

A letter that names a task puts it back to PENDING when its message is what the record still waits for, and in every other case
is only deleted: the record is rescued or expires by its own rules. A write-back letter carries an answer and goes back to its
queue. Every other letter is shown, and discarded when an operator says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from brandvane.answer import late_key
from brandvane.engine.refusal import Refusal
from brandvane.engine.write_back import ANSWER_TYPE
from brandvane.messages import (
    NEW_TASKS,
    PLAN_QUEUE,
    WRITEBACK_QUEUE,
    CallMessage,
    NewerMessage,
    PlanMessage,
    UnreadableMessage,
    WriteBackMessage,
    calls_queue,
)
from brandvane.moves import redrive
from brandvane.ports import (
    BlobStore,
    Clock,
    Delivered,
    Envelope,
    Functions,
    TaskQueue,
    TaskStore,
    Telemetry,
    Unavailable,
)
from brandvane.task import RECORD_VERSION, State, Task

DEAD = "-dead"
CALLS = calls_queue("")
SHARED = (WRITEBACK_QUEUE, PLAN_QUEUE, "sweep", "schedules")
PAGE = 10
EMPTY_REPLIES = 3  # SQS asks only some of its machines: one empty reply does not mean an empty queue
LETTERS_MAX = 10_000  # a call; what is left is found by the next one


class Action(StrEnum):
    """What redriving a letter means."""

    TO_PENDING = "to_pending"  # its task waits for this very message: planned anew
    DELETE = "delete"  # its task needs no message any more, or another one
    TO_WRITEBACK = "to_writeback"
    KEEP = "keep"  # names no task: for a person to look at
    NEWER = "newer"  # written by a newer release: for that one


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter. ``task`` is the record it names, as read with it (None: there is none)."""

    queue: str
    message: Delivered
    action: Action
    call: CallMessage | None = None
    write_back: WriteBackMessage | None = None
    plan: PlanMessage | None = None
    task: Task | None = None

    @property
    def task_id(self) -> str | None:
        """The task that it names."""
        named = self.call or self.write_back
        return named.task_id if named is not None else None

    @property
    def run_id(self) -> str | None:
        """The run that it names."""
        named = self.call or self.write_back or self.plan
        return named.run_id if named is not None else None


def dead_letter_queues(platforms: Sequence[str]) -> tuple[str, ...]:
    """Logical names of all dead-letter queues."""
    return (*(f"{calls_queue(name)}{DEAD}" for name in platforms), *(f"{name}{DEAD}" for name in SHARED))


class DeadLetters:
    """Looks at dead letters and sends them where they belong."""

    def __init__(
        self,
        *,
        queue: TaskQueue,
        tasks: TaskStore,
        blobs: BlobStore,
        functions: Functions,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._queue = queue
        self._tasks = tasks
        self._blobs = blobs
        self._functions = functions
        self._clock = clock
        self._telemetry = telemetry

    async def look(self, queue: str) -> list[Letter]:
        """Every letter of a dead-letter queue and what redriving it would do; changes nothing."""
        async with contextlib.aclosing(self._letters(queue, set())) as letters:
            return [letter async for letter in letters]

    async def redrive(self, queue: str, only: Collection[str] | None = None) -> list[Letter]:
        """Do with every letter, or ``only`` with these, what its action says; returns those that are gone from the queue.

        Raises:
            Unavailable: the queue refuses, or the table; letters that were not dealt with stay.
        """
        done: set[str] = set()
        handled = []
        async with contextlib.aclosing(self._letters(queue, done)) as letters:
            async for letter in letters:
                if only is not None and letter.message.message_id not in only:
                    continue
                if await self._redrive(letter):
                    await self._queue.delete(queue, letter.message.receipt)
                    done.add(letter.message.message_id)
                    handled.append(letter)
                    self._telemetry.event("redriven", queue=queue, action=letter.action, task_id=letter.task_id)
        if any(letter.action is Action.TO_PENDING for letter in handled):
            with contextlib.suppress(Unavailable):  # it comes every minute anyway
                await self._functions.invoke("dispatcher", NEW_TASKS)
        return handled

    async def _redrive(self, letter: Letter) -> bool:
        if letter.action is Action.TO_PENDING and letter.task is not None:
            now = self._clock.now()
            # Lost authority is as good: somebody else has moved the task on, and the letter is not needed.
            await self._tasks.move(letter.task.task_id, redrive(letter.task, now, now))
            return True
        if letter.action is Action.TO_WRITEBACK:
            envelope = Envelope(letter.message.message_id, letter.message.body)
            return envelope.id in await self._queue.send(WRITEBACK_QUEUE, [envelope])
        return letter.action is Action.DELETE

    async def discard(self, queue: str, message_ids: Collection[str]) -> list[Letter]:
        """Delete letters; returns those that were there. An answer that one carries is kept under ``late/`` first.

        Raises:
            Refusal: a newer release wrote one of them.
            Unavailable: the queue refuses, or the bucket; letters that were not dealt with stay.
        """
        done: set[str] = set()
        gone = []
        async with contextlib.aclosing(self._letters(queue, done)) as letters:
            async for letter in letters:
                message_id = letter.message.message_id
                if message_id not in message_ids:
                    continue
                if letter.action is Action.NEWER:
                    raise Refusal(f"letter {message_id} was written by a newer release and is left to it")
                await self._keep_answer(letter)
                await self._queue.delete(queue, letter.message.receipt)
                done.add(message_id)
                gone.append(letter)
                self._telemetry.event("discarded", queue=queue, message_id=message_id, task_id=letter.task_id)
                if len(done) == len(message_ids):
                    break
        return gone

    async def _keep_answer(self, letter: Letter) -> None:
        message = letter.write_back
        if message is not None and message.carried is not None and message.carried.answer is not None:
            key = late_key(message.run_id, message.task_id, message.attempt_id)
            await self._blobs.put(key, message.carried.answer, ANSWER_TYPE)

    async def _letters(self, queue: str, done: set[str]) -> AsyncGenerator[Letter, None]:
        """Each letter once. All but those in ``done`` are made visible again at the end, however it comes."""
        held: dict[str, Delivered] = {}
        empty = 0
        try:
            while empty < EMPTY_REPLIES and len(held) < LETTERS_MAX:
                received = await self._queue.receive(queue, PAGE)
                new = [message for message in received if message.message_id not in held]
                # Also when only known ones come: whoever looks for longer than their visibility lasts is through.
                empty = 0 if new else empty + 1
                held.update({message.message_id: message for message in received})
                for message in new:
                    yield await self._read(queue, message)
        finally:
            for message_id, message in held.items():
                if message_id not in done:
                    with contextlib.suppress(Unavailable):  # then it shows itself again a little later
                        await self._queue.postpone(queue, message.receipt, 0)

    async def _read(self, queue: str, message: Delivered) -> Letter:
        try:
            if queue.startswith(CALLS):
                return await self._call(queue, message, CallMessage.decode(message.body))
            if queue == f"{WRITEBACK_QUEUE}{DEAD}":
                told = WriteBackMessage.decode(message.body)
                task = await self._tasks.get(told.task_id)
                return Letter(queue, message, Action.TO_WRITEBACK, write_back=told, task=task)
            if queue == f"{PLAN_QUEUE}{DEAD}":
                return Letter(queue, message, Action.KEEP, plan=PlanMessage.decode(message.body))
        except NewerMessage:
            return Letter(queue, message, Action.NEWER)
        except UnreadableMessage:
            pass
        return Letter(queue, message, Action.KEEP)

    async def _call(self, queue: str, message: Delivered, told: CallMessage) -> Letter:
        task = await self._tasks.get(told.task_id)
        return Letter(queue, message, _action(task, told), call=told, task=task)


def _action(task: Task | None, letter: CallMessage) -> Action:
    if task is not None and task.v > RECORD_VERSION:
        return Action.NEWER
    # A message of an earlier wait says nothing about the present one.
    waits = task is not None and task.state is State.DISPATCHED and task.dispatch_no == letter.dispatch_no
    return Action.TO_PENDING if waits else Action.DELETE
