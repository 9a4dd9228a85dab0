"""What does the tasks table do, kept in memory? The ``TaskStore`` port, right but faultless.

Conditions are judged by ``task.judge`` alone. Every call gives other coroutines a turn first and is then carried out in one
piece, so that races between coroutines really happen and still have one winner.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import replace

from brandvane.ports import Watched
from brandvane.simulation.memory_stores import MemoryResultStore, MemoryRunStore, with_fields
from brandvane.task import Change, Moved, Task, Verdict, judge


def applied(task: Task, change: Change) -> Task:
    """The record after ``change``: fields set (None clears them), counters grown."""
    grown = {name: getattr(task, name) + number for name, number in change.add.items()}
    return with_fields(task, {**change.put, **grown})


class MemoryTaskStore:
    """Records by id, and the sparse *who must act* index as sorted ``(act_at, task_id)`` pairs a partition."""

    def __init__(self, *, runs: MemoryRunStore, results: MemoryResultStore) -> None:
        self.records: dict[str, Task] = {}
        self._watch: dict[str, list[tuple[float, str]]] = {}
        self._runs = runs
        self._results = results

    async def create(self, tasks: Sequence[Task]) -> int:
        """Put each task that does not exist yet; returns how many were new."""
        await asyncio.sleep(0)
        new = 0
        for task in tasks:
            if task.task_id not in self.records:
                self._store(task)
                new += 1
        return new

    async def get(self, task_id: str) -> Task | None:
        """The record as it is now."""
        await asyncio.sleep(0)
        return self.records.get(task_id)

    async def move(self, task_id: str, change: Change) -> Moved:
        """Carry out one conditional change."""
        await asyncio.sleep(0)
        return self._move(task_id, change)

    def _move(self, task_id: str, change: Change) -> Moved:
        old = self.records.get(task_id)
        verdict = judge(change, old)
        if old is None or verdict is not Verdict.MOVED:
            return Moved(verdict, old)
        new = applied(old, change)
        self._store(new)
        return Moved(verdict, new)

    async def due(self, watch: str, before: float, limit: int) -> list[Watched]:
        """Entries with ``act_at <= before``, earliest first."""
        await asyncio.sleep(0)
        return [self._watched(task_id) for _, task_id in self._due(watch, before)[:limit]]

    async def page(self, watch: str, after: Watched | None, limit: int) -> list[Watched]:
        """Entries of a partition by ``act_at``, beginning after ``after`` (which need not exist any more)."""
        await asyncio.sleep(0)
        entries = self._watch.get(watch, [])
        start = 0 if after is None else bisect_right(entries, (after.act_at, after.task_id))
        return [self._watched(task_id) for _, task_id in entries[start : start + limit]]

    async def count_due(self, watch: str, before: float, cap: int) -> int:
        """How many entries are due, at most ``cap``."""
        await asyncio.sleep(0)
        return min(len(self._due(watch, before)), cap)

    async def reopen(
        self, task: Task, change: Change, row_pk: str, row_sk: str, run_id: str, deadline: float, now: float
    ) -> bool:
        """Record, row and run change together or not at all; True also when they had been changed by this very call before."""
        await asyncio.sleep(0)
        verdict = judge(change, self.records.get(task.task_id))
        if verdict is not Verdict.MOVED:
            return verdict is Verdict.ALREADY
        if not self._results.has(row_pk, row_sk) or not self._runs.reopen(run_id, deadline, now):
            return False
        self._results.uncount(row_pk, row_sk)
        return self._move(task.task_id, change).ours

    def _due(self, watch: str, before: float) -> list[tuple[float, str]]:
        entries = self._watch.get(watch, [])
        return entries[: bisect_right(entries, before, key=lambda entry: entry[0])]

    def _store(self, task: Task) -> None:
        old = self.records.get(task.task_id)
        if old is not None and old.watch is not None and old.act_at is not None:
            entries = self._watch[old.watch]
            del entries[bisect_left(entries, (old.act_at, old.task_id))]
        self.records[task.task_id] = replace(task)
        if task.watch is not None and task.act_at is not None:
            insort(self._watch.setdefault(task.watch, []), (task.act_at, task.task_id))

    def _watched(self, task_id: str) -> Watched:
        task = self.records[task_id]
        if task.watch is None or task.act_at is None:  # the index holds no such record
            raise LookupError(f"task {task_id} is not watched")
        return Watched(
            task_id=task_id,
            run_id=task.run_id,
            model=task.model,
            watch=task.watch,
            act_at=task.act_at,
            dispatch_no=task.dispatch_no,
            attempt_id=task.attempt_id,
            next_execute_time=task.next_execute_time,
        )
