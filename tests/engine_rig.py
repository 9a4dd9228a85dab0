"""How is the whole engine put together in a test? One of every use case, on whichever ports the test has."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from brandvane.catalogue import Catalogue
from brandvane.control import Control, next_revision
from brandvane.engine.advance import Advance
from brandvane.engine.deliver import Delivery
from brandvane.engine.dispatch import Dispatcher
from brandvane.engine.execute import Worker
from brandvane.engine.gauges import Gauges
from brandvane.engine.limiter import Limiter
from brandvane.engine.pinned import PromptReader, RunReader
from brandvane.engine.plan import Planner
from brandvane.engine.rescue import Rescuer
from brandvane.engine.safety import Safety
from brandvane.engine.send import Sender
from brandvane.engine.sweep import Scanner, Sweep
from brandvane.engine.take_in import TakeIn
from brandvane.engine.write_back import WriteBack
from brandvane.messages import WRITEBACK_QUEUE, CallMessage, calls_queue
from brandvane.ports import Chance, Delivered, Deployed, Envelope, PlatformClient
from brandvane.result import ResultRow
from brandvane.run import Run
from brandvane.simulation.memory_world import MemoryCatalogues, MemoryWorld, StatedDeployment
from brandvane.task import State, Task
from builders import NOW, PLATFORM, Faulty, ScriptedClient, catalogue, placed, run_of, tasks_of


@dataclass(kw_only=True)
class Bench:
    """The ports, and the engine on them. Ports are ``Any`` because tests put faulty ones in their place."""

    tasks: Any
    runs: Any
    results: Any
    controls: Any
    stats: Any
    queue: Any
    blobs: Any
    catalogues: Any
    functions: Any
    deployment: Any
    clock: Any
    chance: Chance
    telemetry: Any
    client: PlatformClient
    platform: str = PLATFORM

    def without(self, **faults: dict[str, list[Any]]) -> Self:
        """The same bench with faults in some ports: ``without(tasks={"move": [Unavailable()]})``."""
        made = copy(self)
        for name in [name for name in made.__dict__ if isinstance(getattr(type(self), name, None), cached_property)]:
            del made.__dict__[name]
        for port, script in faults.items():
            setattr(made, port, Faulty(getattr(self, port), script))
        return made

    @cached_property
    def limiter(self) -> Limiter:
        """Use case."""
        return Limiter(controls=self.controls, clock=self.clock, telemetry=self.telemetry, writer="rig")

    @cached_property
    def reader(self) -> RunReader:
        """Use case."""
        return RunReader(runs=self.runs, clock=self.clock)

    @cached_property
    def sender(self) -> Sender:
        """Use case."""
        return Sender(tasks=self.tasks, queue=self.queue, clock=self.clock, telemetry=self.telemetry)

    @cached_property
    def write_back(self) -> WriteBack:
        """Use case."""
        return WriteBack(
            tasks=self.tasks,
            results=self.results,
            blobs=self.blobs,
            queue=self.queue,
            clock=self.clock,
            telemetry=self.telemetry,
            keep_s=86_400,
        )

    @cached_property
    def take_in(self) -> TakeIn:
        """Use case."""
        return TakeIn(write_back=self.write_back, queue=self.queue, telemetry=self.telemetry)

    @cached_property
    def safety(self) -> Safety:
        """Use case."""
        return Safety(
            tasks=self.tasks,
            blobs=self.blobs,
            queue=self.queue,
            write_back=self.write_back,
            clock=self.clock,
            telemetry=self.telemetry,
        )

    @cached_property
    def delivery(self) -> Delivery:
        """Use case."""
        return Delivery(
            tasks=self.tasks,
            safety=self.safety,
            limiter=self.limiter,
            runs=self.reader,
            sender=self.sender,
            write_back=self.write_back,
            clock=self.clock,
            chance=self.chance,
            telemetry=self.telemetry,
        )

    @cached_property
    def worker(self) -> Worker:
        """Use case."""
        return Worker(
            platform=self.platform,
            call_timeout_s=600.0,
            tasks=self.tasks,
            queue=self.queue,
            controls=self.controls,
            stats=self.stats,
            runs=self.reader,
            prompts=PromptReader(catalogues=self.catalogues),
            limiter=self.limiter,
            sender=self.sender,
            delivery=self.delivery,
            client=self.client,
            clock=self.clock,
            chance=self.chance,
            telemetry=self.telemetry,
        )

    @cached_property
    def planner(self) -> Planner:
        """Use case."""
        return Planner(
            tasks=self.tasks,
            runs=self.runs,
            controls=self.controls,
            catalogues=self.catalogues,
            queue=self.queue,
            functions=self.functions,
            deployment=self.deployment,
            clock=self.clock,
            chance=self.chance,
            telemetry=self.telemetry,
        )

    @cached_property
    def dispatcher(self) -> Dispatcher:
        """Use case."""
        return Dispatcher(
            tasks=self.tasks,
            runs=self.runs,
            reader=self.reader,
            controls=self.controls,
            stats=self.stats,
            catalogues=self.catalogues,
            queue=self.queue,
            sender=self.sender,
            functions=self.functions,
            deployment=self.deployment,
            clock=self.clock,
            chance=self.chance,
            telemetry=self.telemetry,
        )

    @cached_property
    def rescuer(self) -> Rescuer:
        """Use case."""
        return Rescuer(
            tasks=self.tasks,
            queue=self.queue,
            runs=self.reader,
            write_back=self.write_back,
            clock=self.clock,
            chance=self.chance,
            telemetry=self.telemetry,
        )

    @cached_property
    def advance(self) -> Advance:
        """Use case."""
        return Advance(
            runs=self.runs,
            results=self.results,
            stats=self.stats,
            limiter=self.limiter,
            functions=self.functions,
            clock=self.clock,
            telemetry=self.telemetry,
        )

    @cached_property
    def gauges(self) -> Gauges:
        """Use case."""
        return Gauges(
            tasks=self.tasks,
            runs=self.runs,
            controls=self.controls,
            stats=self.stats,
            catalogues=self.catalogues,
            queue=self.queue,
            clock=self.clock,
            telemetry=self.telemetry,
        )

    @cached_property
    def scanner(self) -> Scanner:
        """Use case."""
        return Scanner(
            tasks=self.tasks,
            runs=self.runs,
            controls=self.controls,
            rescuer=self.rescuer,
            advance=self.advance,
            gauges=self.gauges,
            limiter=self.limiter,
            deployment=self.deployment,
            clock=self.clock,
            chance=self.chance,
            telemetry=self.telemetry,
        )

    async def work(self, records: Sequence[Delivered], *, for_s: float = 148.0) -> frozenset[str]:
        """One invocation of the worker, which must be done ``for_s`` seconds from now."""
        return await self.worker.handle(records, stop_at=self.clock.now() + for_s, invocation=self.chance.token())

    async def write_backs(self) -> frozenset[str]:
        """One invocation of the write-back function with what is on its queue, acknowledged as Lambda does."""
        records = await self.queue.receive(WRITEBACK_QUEUE, 10)
        again = await self.take_in.handle(records)
        for record in records:
            if record.message_id not in again:
                await self.queue.delete(WRITEBACK_QUEUE, record.receipt)
        return again

    async def sweep(self) -> Sweep:
        """One sweep of the scanner on the minute."""
        return await self.scanner.sweep(stop_at=self.clock.now() + 50, on_the_minute=True)

    async def on_queue(self, made: Task, due: float | None = None) -> Delivered:
        """A message of a task, received from its queue."""
        at = made.next_execute_time if due is None else due
        message = CallMessage(made.task_id, made.run_id, made.dispatch_no, at)
        await self.queue.send(calls_queue(made.platform), [Envelope(made.task_id, message.encode())])
        received: Delivered = (await self.queue.receive(calls_queue(made.platform), 1))[0]
        return received


class MemoryBench(Bench):
    """A bench in memory with a run of ``catalogue()`` in it."""

    world: MemoryWorld
    catalogue: Catalogue
    run: Run
    client: ScriptedClient

    @classmethod
    def new(cls, given: Catalogue | None = None, *, plan: bool = True, **run: Any) -> MemoryBench:
        """A fresh world; ``plan`` puts the run item, no task."""
        given = given or catalogue()
        world = MemoryWorld(
            catalogues=MemoryCatalogues(given),
            deployment=StatedDeployment(*(Deployed(p.name, 2, 10, 60) for p in given.monitor.platforms)),
        )
        made = cls(
            tasks=world.tasks,
            runs=world.runs,
            results=world.results,
            controls=world.control,
            stats=world.stats,
            queue=world.queue,
            blobs=world.blobs,
            catalogues=world.catalogues,
            functions=world.functions,
            deployment=world.deployment,
            clock=world.clock,
            chance=world.chance,
            telemetry=world.telemetry,
            client=ScriptedClient(world.clock),
            platform=given.monitor.platforms[0].name,
        )
        made.world, made.catalogue, made.run = world, given, run_of(given, **run)
        if plan:
            world.runs.runs[made.run.run_id] = made.run
        return made

    def put(self, *made: Task) -> None:
        """Records as they are."""
        for one in made:
            self.world.tasks.store_at_once(one)

    def waiting(self, number: int, state: State = State.DISPATCHED, **fields: Any) -> list[Task]:
        """The run's first ``number`` tasks in a state, due now unless ``next_execute_time`` is given."""
        fields = {"next_execute_time": NOW, "act_at": NOW + 600, **fields}
        made = [placed(one, state, **fields) for one in tasks_of(self.run, self.catalogue)[:number]]
        self.put(*made)
        return made

    async def delivered(self, number: int, **fields: Any) -> list[Delivered]:
        """The run's first tasks, dispatched, and their messages as a worker gets them."""
        return [await self.on_queue(one) for one in self.waiting(number, **fields)]

    def record(self, task_id: str) -> Task:
        """A record as it is now."""
        found: Task = self.world.tasks.records[task_id]
        return found

    def rows(self) -> list[ResultRow]:
        """Every row that counts."""
        return [self.world.results.rows[key] for key in sorted(self.world.results.counted)]

    def states(self) -> list[State]:
        """The states of all records, in the order they were put."""
        return [one.state for one in self.world.tasks.records.values()]

    def control(self) -> Control:
        """The platform's control item."""
        return self.world.control.items.get(self.platform, Control(self.platform))

    def set_control(self, **fields: Any) -> None:
        """Somebody changes the platform's control item."""
        there = self.control()
        self.world.control.items[self.platform] = next_revision(there, replace(there, **fields))

    def set_run(self, **fields: Any) -> None:
        """Somebody changes the run."""
        self.world.runs.runs[self.run.run_id] = replace(self.world.runs.runs[self.run.run_id], **fields)
