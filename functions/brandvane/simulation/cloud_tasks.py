"""What does the tasks table look like from an execution environment? The ``TaskStore`` port over a slow and faulty way.

Records that a newer release has written are left to it: an environment of release 2 writes records of version 2, which those of
release 1 see as newer; to its own code (whose constants are release 1's) they look like records of version 1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from brandvane.ports import Watched
from brandvane.simulation.cloud import Cloud, TooLarge
from brandvane.simulation.host import Host
from brandvane.simulation.memory_tasks import applied
from brandvane.simulation.meter import KB
from brandvane.task import RECORD_VERSION, Change, Moved, Task, Verdict, judge

CREATE_AT_ONCE = 16  # threads of the clients in brandvane.aws.client
ITEM_MAX = 400 * KB
ENTRY_BYTES = 300  # of the watch index, about


class CloudTasks:
    """The port, for one environment."""

    def __init__(self, host: Host, cloud: Cloud) -> None:
        self._host = host
        self._cloud = cloud
        self._store = cloud.tasks

    async def create(self, tasks: Sequence[Task]) -> int:
        """One conditional put a task, some at a time."""
        new = 0
        for first in range(0, len(tasks), CREATE_AT_ONCE):
            some = tasks[first : first + CREATE_AT_ONCE]
            outcomes = await asyncio.gather(*(self._create(task) for task in some), return_exceptions=True)
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome
                new += outcome
        return new

    async def _create(self, task: Task) -> bool:
        def effect() -> bool:
            stored = self._as_written(task)
            if not self._store.create_at_once(stored):
                self._cloud.meter.wrote_task(None, None)
                return False
            self._cloud.meter.wrote_task(None, stored)
            self._cloud.auditor.created(self._host, task)
            return True

        return await self._cloud.dynamodb.call(self._host, effect)

    async def get(self, task_id: str) -> Task | None:
        """Read consistently."""

        def effect() -> Task | None:
            task = self._store.records.get(task_id)
            self._cloud.meter.read("tasks", KB if task is None else self._cloud.meter.size(task))
            return None if task is None else self._as_read(task)

        return await self._cloud.dynamodb.call(self._host, effect, write=False)

    async def move(self, task_id: str, change: Change) -> Moved:
        """One conditional update."""
        answer = change.put.get("answer")
        if answer is not None and len(answer) > ITEM_MAX - 2 * KB:
            raise TooLarge(f"item of {len(answer)} bytes")

        self._befall(change.name)

        def effect() -> Moved:
            return self._move(task_id, change)

        return await self._cloud.dynamodb.call(self._host, effect)

    def _befall(self, move: str) -> None:
        """The worst moment to stand still is that between knowing and acting."""
        faults, now = self._cloud.faults, self._cloud.loop.time() - self._cloud.started
        if faults.stall_before == move and now < faults.stall_before_until:
            rng = self._cloud.chances.of("moves")
            if rng.random() < faults.stall_before_share:
                self._host.stall(rng.uniform(*faults.stall_before_s))

    def _move(self, task_id: str, change: Change) -> Moved:
        cloud = self._cloud
        stored = self._store.records.get(task_id)
        old = None if stored is None else self._as_read(stored)
        made = change if cloud.spoil is None else cloud.spoil(change)
        verdict = judge(made, old)
        if old is None or verdict is not Verdict.MOVED:
            cloud.meter.wrote_task(stored, None)
            cloud.auditor.refused(self._host, task_id, change, verdict)
            return Moved(verdict, old)
        new = applied(old, made)
        written = self._as_written(new)
        self._store.store_at_once(written)
        cloud.meter.wrote_task(stored, written)
        cloud.auditor.moved(self._host, change, old, new)
        return Moved(verdict, new)

    async def due(self, watch: str, before: float, limit: int) -> list[Watched]:
        """A query of the lagging index."""
        return await self._query(lambda: self._store.index.due(watch, before, limit, self._host.version))

    async def page(self, watch: str, after: Watched | None, limit: int) -> list[Watched]:
        """A query of the lagging index."""
        return await self._query(lambda: self._store.index.page(watch, after, limit, self._host.version))

    async def _query(self, look: Callable[[], list[Watched]]) -> list[Watched]:
        def effect() -> list[Watched]:
            entries = look()
            self._cloud.meter.read("watch", len(entries) * ENTRY_BYTES, consistent=False)
            return entries

        return await self._cloud.dynamodb.call(self._host, effect, write=False)

    async def count_due(self, watch: str, before: float, cap: int) -> int:
        """A counting query of the lagging index."""

        def effect() -> int:
            number = self._store.index.count_due(watch, before, cap)
            self._cloud.meter.read("watch", number * ENTRY_BYTES, consistent=False)
            return number

        return await self._cloud.dynamodb.call(self._host, effect, write=False)

    async def reopen(
        self, task: Task, change: Change, row_pk: str, row_sk: str, run_id: str, deadline: float, now: float
    ) -> bool:
        """The transaction over record, row and run."""

        self._befall(change.name)

        def effect() -> bool:
            stored = self._store.records.get(task.task_id)
            if stored is not None and stored.v > self._host.version:
                return False
            spoiled = change if self._cloud.spoil is None else self._cloud.spoil(change)
            done = self._store.reopen_at_once(task, spoiled, row_pk, row_sk, run_id, deadline, now)
            new = self._store.records.get(task.task_id)
            for _ in range(2):  # a transaction costs twice
                self._cloud.meter.wrote_task(stored, new)
                self._cloud.meter.wrote("results", KB, 1)
                self._cloud.meter.wrote("runs", KB, 2)
            if stored is not None and new is not None and new is not stored:
                self._cloud.behind.row_removed(run_id)
                self._cloud.behind.run_changed(self._cloud.runs.runs[run_id], self._cloud.loop.time())
                self._cloud.auditor.moved(self._host, change, stored, new)
            return done

        return await self._cloud.dynamodb.call(self._host, effect)

    def _as_read(self, task: Task) -> Task:
        return replace(task, v=RECORD_VERSION) if RECORD_VERSION < task.v <= self._host.version else task

    def _as_written(self, task: Task) -> Task:
        return replace(task, v=self._host.version) if self._host.version > RECORD_VERSION else task
