"""The same ports on different ground: in memory, and on an emulator. A contract test takes a world and asks no more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import emulator
from brandvane.aws.blobs import S3Blobs
from brandvane.aws.client import Clients
from brandvane.aws.control_store import DynamoControlStore
from brandvane.aws.queues import SqsTaskQueue
from brandvane.aws.result_store import DynamoResultStore
from brandvane.aws.run_store import DynamoRunStore
from brandvane.aws.stat_store import DynamoStatStore
from brandvane.aws.task_store import DynamoTaskStore
from brandvane.ports import BlobStore, ControlStore, ResultStore, RunStore, StatStore, TaskQueue, TaskStore
from brandvane.simulation.memory_blobs import MemoryBlobs
from brandvane.simulation.memory_clock import ManualClock
from brandvane.simulation.memory_queue import MemoryQueue
from brandvane.simulation.memory_stores import MemoryControlStore, MemoryResultStore, MemoryRunStore, MemoryStatStore
from brandvane.simulation.memory_tasks import MemoryTaskStore

VISIBILITY_S = 2  # of the worlds' queues
MAX_RECEIVES = 2

_numbers = count(1)


def unique(prefix: str) -> str:
    """A name that no other test of this session uses: an emulator's tables serve all of them."""
    return f"{prefix}-{next(_numbers)}"


@dataclass(slots=True)
class World:
    """One of every port that stores or sends."""

    name: str
    tasks: TaskStore
    runs: RunStore
    results: ResultStore
    control: ControlStore
    stats: StatStore
    queue: TaskQueue
    blobs: BlobStore
    clock: ManualClock | None
    make_queue: Callable[[str], None]

    async def pass_time(self, seconds: float) -> None:
        """Let queues' time pass: at once in memory, really on an emulator, whose clock cannot be set."""
        if self.clock is not None:
            await self.clock.advance(seconds)
        else:
            await asyncio.sleep(seconds)

    def new_queue(self) -> str:
        """A fresh queue with its dead-letter queue."""
        name = unique("queue")
        self.make_queue(name)
        return name

    def now(self) -> float:
        """The time that this world's queues go by."""
        return self.clock.now() if self.clock is not None else time.time()


def memory_world() -> World:
    """Ports in memory."""
    clock, runs, results = ManualClock(), MemoryRunStore(), MemoryResultStore()
    return World(
        name="memory",
        tasks=MemoryTaskStore(runs=runs, results=results),
        runs=runs,
        results=results,
        control=MemoryControlStore(),
        stats=MemoryStatStore(),
        queue=MemoryQueue(clock=clock, visibility_s=VISIBILITY_S, default_max_receives=MAX_RECEIVES),
        blobs=MemoryBlobs(),
        clock=clock,
        make_queue=lambda _: None,
    )


def emulator_world(clients: Clients) -> World:
    """Ports on an emulator, with tables and a bucket of their own."""
    stack = emulator.unique_stack()
    tables = emulator.create_tables(clients, stack)
    return World(
        name="emulator",
        tasks=DynamoTaskStore(clients=clients, tables=tables),
        runs=DynamoRunStore(clients=clients, tables=tables),
        results=DynamoResultStore(clients=clients, tables=tables, keep_days=30),
        control=DynamoControlStore(clients=clients, tables=tables),
        stats=DynamoStatStore(clients=clients, tables=tables),
        queue=SqsTaskQueue(clients=clients, stack=stack),
        blobs=S3Blobs(clients=clients, bucket=emulator.create_bucket(clients, stack)),
        clock=None,
        make_queue=lambda name: emulator.create_queue(
            clients, stack, name, visibility_s=VISIBILITY_S, max_receives=MAX_RECEIVES
        ),
    )
