"""What do the tables of a stack under attack say, and how do messages get onto its queues? Asked again where it does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import ParamSpec, TypeVar

from brandvane.aws.client import Clients
from brandvane.aws.keys import tables_of
from brandvane.aws.queues import SqsTaskQueue
from brandvane.aws.task_store import DynamoTaskStore
from brandvane.messages import calls_queue
from brandvane.ports import Envelope, Unavailable, Watched
from brandvane.task import PENDING_SHARDS, State, Task, held_watch, pending_watch

TRIES = 5
AGAIN_S = 0.5
PAGE = 200

P = ParamSpec("P")
Reply = TypeVar("Reply")


class Records:
    """Task records and queues of one stack. Every method raises ``Unavailable`` after five tries."""

    def __init__(self, stack: str, clients: Clients) -> None:
        self._tasks = DynamoTaskStore(clients=clients, tables=tables_of(stack))
        self._queue = SqsTaskQueue(clients=clients, stack=stack)

    async def held(self, platform: str, state: State) -> list[Watched]:
        """Up to 200 of a platform's records in a state that somebody holds, those to be acted on first."""
        return await _tried(self._tasks.page, held_watch(platform, state), None, PAGE)

    async def waiting(self, platform: str, number: int) -> list[Watched]:
        """Some of a platform's PENDING records; ``number`` chooses which."""
        return await _tried(self._tasks.page, pending_watch(platform, "normal", number % PENDING_SHARDS), None, PAGE)

    async def task(self, task_id: str) -> Task | None:
        """The record, read consistently."""
        return await _tried(self._tasks.get, task_id)

    async def send(self, platform: str, envelopes: Sequence[Envelope]) -> int:
        """Put messages on a platform's queue; how many it confirmed."""
        return len(await _tried(self._queue.send, calls_queue(platform), envelopes))


async def _tried(work: Callable[P, Awaitable[Reply]], *args: P.args, **kwargs: P.kwargs) -> Reply:
    for _ in range(TRIES - 1):
        try:
            return await work(*args, **kwargs)
        except Unavailable:
            await asyncio.sleep(AGAIN_S)
    return await work(*args, **kwargs)
