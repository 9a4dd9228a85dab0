"""What does the tasks table do, kept in memory? The ``TaskStore`` port, right but faultless.

Conditions are judged by ``task.judge`` alone. Every call gives other coroutines a turn first and is then carried out in one
piece, so that races between coroutines really happen and still have one winner. The ``…_at_once`` methods are that piece.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from brandvane.ports import Watched
from brandvane.simulation.memory_index import SortedIndex
from brandvane.simulation.memory_stores import MemoryResultStore, MemoryRunStore, with_fields
from brandvane.task import Change, Moved, Task, Verdict, judge


def applied(task: Task, change: Change) -> Task:
    """The record after ``change``: fields set (None clears them), counters grown."""
    grown = {name: getattr(task, name) + number for name, number in change.add.items()}
    return with_fields(task, {**change.put, **grown})


class MemoryTaskStore:
    """Records by id, and the sparse *who must act* index."""

    def __init__(self, *, runs: MemoryRunStore, results: MemoryResultStore, index: SortedIndex | None = None) -> None:
        self.records: dict[str, Task] = {}
        self.index = index or SortedIndex()
        self._runs = runs
        self._results = results

    async def create(self, tasks: Sequence[Task]) -> int:
        """Put each task that does not exist yet; returns how many were new."""
        await asyncio.sleep(0)
        return sum(self.create_at_once(task) for task in tasks)

    def create_at_once(self, task: Task) -> bool:
        """Put one task unless it exists."""
        if task.task_id in self.records:
            return False
        self.store_at_once(task)
        return True

    async def get(self, task_id: str) -> Task | None:
        """The record as it is now."""
        await asyncio.sleep(0)
        return self.records.get(task_id)

    async def move(self, task_id: str, change: Change) -> Moved:
        """Carry out one conditional change."""
        await asyncio.sleep(0)
        return self.move_at_once(task_id, change)

    def move_at_once(self, task_id: str, change: Change) -> Moved:
        """One conditional change."""
        old = self.records.get(task_id)
        verdict = judge(change, old)
        if old is None or verdict is not Verdict.MOVED:
            return Moved(verdict, old)
        new = applied(old, change)
        self.store_at_once(new)
        return Moved(verdict, new)

    async def due(self, watch: str, before: float, limit: int) -> list[Watched]:
        """Entries with ``act_at <= before``, earliest first."""
        await asyncio.sleep(0)
        return self.index.due(watch, before, limit)

    async def page(self, watch: str, after: Watched | None, limit: int) -> list[Watched]:
        """Entries of a partition by ``act_at``, beginning after ``after`` (which need not exist any more)."""
        await asyncio.sleep(0)
        return self.index.page(watch, after, limit)

    async def count_due(self, watch: str, before: float, cap: int) -> int:
        """How many entries are due, at most ``cap``."""
        await asyncio.sleep(0)
        return self.index.count_due(watch, before, cap)

    async def reopen(
        self, task: Task, change: Change, row_pk: str, row_sk: str, run_id: str, deadline: float, now: float
    ) -> bool:
        """Record, row and run change together or not at all; True also when they had been changed by this very call before."""
        await asyncio.sleep(0)
        return self.reopen_at_once(task, change, row_pk, row_sk, run_id, deadline, now)

    def reopen_at_once(
        self, task: Task, change: Change, row_pk: str, row_sk: str, run_id: str, deadline: float, now: float
    ) -> bool:
        """The transaction."""
        verdict = judge(change, self.records.get(task.task_id))
        if verdict is not Verdict.MOVED:
            return verdict is Verdict.ALREADY
        if not self._results.has(row_pk, row_sk) or not self._runs.reopen(run_id, deadline, now):
            return False
        self._results.uncount(row_pk, row_sk)
        return self.move_at_once(task.task_id, change).ours

    def store_at_once(self, task: Task) -> None:
        """Write a record as it is."""
        self.records[task.task_id] = task
        self.index.changed(task)
