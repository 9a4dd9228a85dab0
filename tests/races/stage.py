"""What do races run on? A stack's tables, queues and bucket on an emulator, and as many engines on them as a test wants."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

import emulator
from brandvane.aws.blobs import S3Blobs
from brandvane.aws.client import Clients
from brandvane.aws.control_store import DynamoControlStore
from brandvane.aws.queues import SqsTaskQueue
from brandvane.aws.result_store import DynamoResultStore
from brandvane.aws.run_store import DynamoRunStore
from brandvane.aws.stat_store import DynamoStatStore
from brandvane.aws.system import SystemClock
from brandvane.aws.task_store import DynamoTaskStore
from brandvane.catalogue import Catalogue
from brandvane.messages import PLAN_QUEUE, WRITEBACK_QUEUE, CallMessage, calls_queue
from brandvane.ports import Chance, Delivered, Deployed
from brandvane.result import ResultRow
from brandvane.run import Run
from brandvane.simulation.memory_world import MemoryCatalogues, RecordedFunctions, RecordedTelemetry, StatedDeployment
from brandvane.task import BUCKETS, State, Task, watch_of
from builders import PLATFORM, Reply, ScriptedClient, answer, catalogue, platform, run_of, tasks_of
from engine_rig import Bench

FAST = platform(rate=200.0, in_flight=100)


class Stage:
    """One stack on an emulator. ``engine()`` makes another set of adapters and an engine on it, as another machine would."""

    def __init__(self, endpoint: str, machines: Sequence[Clients], questions: int = 30) -> None:
        self.endpoint = endpoint
        self.clients = machines[0]
        self._machines = cycle(machines)
        self.stack = emulator.unique_stack()
        self.tables = emulator.create_tables(self.clients, self.stack)
        self.bucket = emulator.create_bucket(self.clients, self.stack)
        for queue in (calls_queue(PLATFORM), WRITEBACK_QUEUE, PLAN_QUEUE):
            emulator.create_queue(self.clients, self.stack, queue, visibility_s=30, max_receives=20)
        self.catalogue: Catalogue = catalogue(questions, platforms=(FAST,))
        self.run: Run = self.run_now()
        self.calls: list[ScriptedClient] = []

    def run_now(self, **fields: Any) -> Run:
        """A run whose window began an hour ago."""
        now = time.time()
        given = {"window_start": now - 3600, "window_end": now, "deadline": now + 7200, "created_at": now - 3600}
        return run_of(self.catalogue, **{**given, "plan_progress_at": now, **fields})

    def engine(
        self, reply: Callable[..., Reply] | None = None, *, takes: float = 0.0, clients: Clients | None = None
    ) -> Bench:
        """Another machine."""
        own = clients or next(self._machines)
        clock = SystemClock()
        client = ScriptedClient(clock, reply or (lambda _number, _asked: answer()), takes=takes)
        self.calls.append(client)
        return Bench(
            tasks=DynamoTaskStore(clients=own, tables=self.tables),
            runs=DynamoRunStore(clients=own, tables=self.tables),
            results=DynamoResultStore(clients=own, tables=self.tables, keep_days=30),
            controls=DynamoControlStore(clients=own, tables=self.tables),
            stats=DynamoStatStore(clients=own, tables=self.tables),
            queue=SqsTaskQueue(clients=own, stack=self.stack),
            blobs=S3Blobs(clients=own, bucket=self.bucket),
            catalogues=MemoryCatalogues(self.catalogue),
            functions=RecordedFunctions(),
            deployment=StatedDeployment(Deployed(PLATFORM, 10, 10, 60)),
            clock=clock,
            chance=Chance(random.SystemRandom()),
            telemetry=RecordedTelemetry(),
            client=client,
        )

    async def open_run(self) -> None:
        """The run item is there."""
        await DynamoRunStore(clients=self.clients, tables=self.tables).create(self.run)

    async def put(self, number: int, state: State, first: int = 0, **fields: Any) -> list[Task]:
        """Some of the run's tasks as records in a state; ``act_at`` is long past unless given."""
        now = time.time()
        values: dict[str, Any] = {
            "state": state,
            "act_at": now - 60,
            "next_execute_time": now - 1,
            "deadline_at": now + 7200,
        }
        if state is State.RUNNING:
            values |= {"started_at": now - 100, "paid_calls": 1}
        made = [
            replace(task, **(values | fields)) for task in tasks_of(self.run, self.catalogue)[first : first + number]
        ]
        made = [replace(task, watch=watch_of(task, state)) for task in made]
        await DynamoTaskStore(clients=self.clients, tables=self.tables).create(made)
        return made

    async def records(self, tasks: Iterable[Task]) -> list[Task]:
        """The records as they are now."""
        store = DynamoTaskStore(clients=self.clients, tables=self.tables)
        found = [await store.get(task.task_id) for task in tasks]
        return [task for task in found if task is not None]

    async def rows(self) -> list[ResultRow]:
        """Every row of the run."""
        store = DynamoResultStore(clients=self.clients, tables=self.tables, keep_days=30)
        return [row for bucket in range(BUCKETS) async for row in store.bucket(self.run.run_id, bucket)]

    async def late(self) -> list[str]:
        """Keys of answers that came too late."""
        return await S3Blobs(clients=self.clients, bucket=self.bucket).keys("late/")

    @property
    def asked(self) -> list[str]:
        """The task of every call that any machine made."""
        return [call.task_id for client in self.calls for call in client.asked]


def message(task: Task, name: str = "m", **fields: Any) -> Delivered:
    """A message of a task, as Lambda hands it over."""
    body = json.loads(CallMessage(task.task_id, task.run_id, task.dispatch_no, task.next_execute_time).encode())
    return Delivered(f"{name}-{task.task_id}", f"receipt-{name}", json.dumps(body | fields))


async def at_some_moment(work: Awaitable[Any], within_s: float = 0.03) -> Any:
    """The work, begun at a random moment: so that racers really come in either order."""
    await asyncio.sleep(random.uniform(0, within_s))
    return await work


def machine(endpoint: str) -> Clients:
    """One machine's clients, made now, so that no race is decided by who makes its clients first."""
    clients = emulator.clients_for(endpoint)
    _ = clients.dynamodb, clients.sqs, clients.s3
    return clients
