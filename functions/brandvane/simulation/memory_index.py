"""Who must act on which record, and when, kept in memory? The sparse index ``watch``: up to date, or lagging as AWS's does.

A partition is a sorted list of ``(act_at, task_id)``; beside it stands the record as the index last saw it, which is all that a
reader is told.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from heapq import heappop, heappush

from brandvane.ports import Watched
from brandvane.task import RECORD_VERSION, Task

_LAST = "\uffff"  # sorts behind every task id


class SortedIndex:
    """Sees every change at once."""

    def __init__(self) -> None:
        self._partitions: dict[str, list[tuple[float, str]]] = {}
        self._seen: dict[str, Task] = {}

    def changed(self, task: Task) -> None:
        """A record was written."""
        self._enter(task)

    def due(self, watch: str, before: float, limit: int, version: int = RECORD_VERSION) -> list[Watched]:
        """Up to ``limit`` entries with ``act_at <= before``, earliest first; records of a newer version are left out."""
        entries = self._entries(watch)
        return self._shown(entries, 0, bisect_right(entries, (before, _LAST)), limit, version)

    def page(self, watch: str, after: Watched | None, limit: int, version: int = RECORD_VERSION) -> list[Watched]:
        """Entries by ``act_at``, beginning after ``after``, which need not exist any more."""
        entries = self._entries(watch)
        start = 0 if after is None else bisect_right(entries, (after.act_at, after.task_id))
        return self._shown(entries, start, len(entries), limit, version)

    def count_due(self, watch: str, before: float, cap: int) -> int:
        """How many entries have ``act_at <= before``, at most ``cap``."""
        return min(bisect_right(self._entries(watch), (before, _LAST)), cap)

    def _entries(self, watch: str) -> list[tuple[float, str]]:
        return self._partitions.get(watch, [])

    def _enter(self, task: Task) -> None:
        """What the index held of the record goes, what it is now comes; finished records leave no entry."""
        old = self._seen.get(task.task_id)
        if old is not None and old.watch is not None and old.act_at is not None:
            entries = self._partitions[old.watch]
            del entries[bisect_left(entries, (old.act_at, old.task_id))]
        if task.watch is None or task.act_at is None:
            self._seen.pop(task.task_id, None)
            return
        self._seen[task.task_id] = task
        insort(self._partitions.setdefault(task.watch, []), (task.act_at, task.task_id))

    def _shown(self, entries: list[tuple[float, str]], start: int, end: int, limit: int, version: int) -> list[Watched]:
        found: list[Watched] = []
        for place in range(start, end):
            if len(found) >= limit:
                break
            task = self._seen[entries[place][1]]
            if task.v <= version:
                found.append(_watched(task))
        return found


class LaggingIndex(SortedIndex):
    """Sees a change ``lag()`` seconds after it was made, a record's changes always in their order."""

    def __init__(self, now: Callable[[], float], lag: Callable[[], float]) -> None:
        super().__init__()
        self._now = now
        self._lag = lag
        self._coming: list[tuple[float, int, Task]] = []
        self._number = 0
        self._latest: dict[str, float] = {}  # when the last change of a record that is under way arrives

    def changed(self, task: Task) -> None:
        """A record was written; the index hears of it later."""
        self._settle()
        arrives = max(self._now() + self._lag(), self._latest.get(task.task_id, 0.0))
        self._latest[task.task_id] = arrives
        self._number += 1
        heappush(self._coming, (arrives, self._number, task))

    def _entries(self, watch: str) -> list[tuple[float, str]]:
        self._settle()
        return super()._entries(watch)

    def _settle(self) -> None:
        now = self._now()
        while self._coming and self._coming[0][0] <= now:
            arrives, _, task = heappop(self._coming)
            if self._latest.get(task.task_id) == arrives:
                del self._latest[task.task_id]
            self._enter(task)


def _watched(task: Task) -> Watched:
    if task.watch is None or task.act_at is None:  # the index holds no such record
        raise LookupError(f"task {task.task_id} is not watched")
    return Watched(
        task_id=task.task_id,
        run_id=task.run_id,
        model=task.model,
        watch=task.watch,
        act_at=task.act_at,
        dispatch_no=task.dispatch_no,
        attempt_id=task.attempt_id,
        next_execute_time=task.next_execute_time,
    )
