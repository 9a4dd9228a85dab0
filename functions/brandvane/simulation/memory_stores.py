"""What do the tables of runs, results, control and stats do, kept in memory? Their ports, right but faultless.

Every call gives other coroutines a turn first and is then carried out in one piece: by the method of the same name that ends
in ``_at_once``, where the simulation of a faulty cloud needs that piece by itself.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import MISSING, Field, fields, replace
from functools import lru_cache
from typing import Any, TypeVar

from brandvane.control import Control, next_revision
from brandvane.result import ResultRow, result_pk
from brandvane.run import Run, reopened
from brandvane.stat import Stat

Record = TypeVar("Record", bound=Any)


def with_fields(record: Record, put: Mapping[str, Any]) -> Record:
    """A copy with fields set; None clears a field, which then has its default (as an absent attribute has)."""
    defaults = _defaults(type(record))  # type: ignore[arg-type]  # a class is hashable
    values = {name: defaults[name] if value is None else value for name, value in put.items()}
    return replace(record, **values)


@lru_cache(maxsize=16)
def _defaults(kind: type[Any]) -> Mapping[str, Any]:
    return {field.name: _default(field) for field in fields(kind)}


def _default(field: Field[Any]) -> Any:
    if field.default is not MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not MISSING else None


class MemoryRunStore:
    """Runs by id."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}

    async def create(self, run: Run) -> bool:
        """Put the run unless one of that id exists."""
        await asyncio.sleep(0)
        return self.create_at_once(run)

    def create_at_once(self, run: Run) -> bool:
        """Put the run unless one of that id exists."""
        if run.run_id in self.runs:
            return False
        self.runs[run.run_id] = run
        return True

    async def get(self, run_id: str) -> Run | None:
        """The run as it is now."""
        await asyncio.sleep(0)
        return self.runs.get(run_id)

    async def change(self, run_id: str, require: Mapping[str, Any], put: Mapping[str, Any]) -> Run | None:
        """Set fields when every required field has that value."""
        await asyncio.sleep(0)
        return self.change_at_once(run_id, require, put)

    def change_at_once(self, run_id: str, require: Mapping[str, Any], put: Mapping[str, Any]) -> Run | None:
        """One conditional change."""
        run = self.runs.get(run_id)
        if run is None or any(getattr(run, name) != value for name, value in require.items()):
            return None
        self.runs[run_id] = with_fields(run, put)
        return self.runs[run_id]

    async def mark(self, run_id: str, pass_no: int, name: str, number: int, now: float) -> Run | None:
        """Add a number to ``chunks_done`` (the plan's progress) or ``scored``."""
        await asyncio.sleep(0)
        return self.mark_at_once(run_id, pass_no, name, number, now)

    def mark_at_once(self, run_id: str, pass_no: int, name: str, number: int, now: float) -> Run | None:
        """One addition."""
        run = self.runs.get(run_id)
        if run is None or run.pass_no != pass_no:
            return None
        put: dict[str, Any] = {name: getattr(run, name) | {number}}
        if name == "chunks_done":
            put["plan_progress_at"] = now
        self.runs[run_id] = replace(run, **put)
        return self.runs[run_id]

    async def recent(self, limit: int = 50) -> list[Run]:
        """Latest runs by creation, newest first."""
        await asyncio.sleep(0)
        return sorted(self.runs.values(), key=lambda run: run.created_at, reverse=True)[:limit]

    async def unfinished(self) -> list[Run]:
        """Runs that still need somebody to act, oldest first."""
        await asyncio.sleep(0)
        return sorted((run for run in self.runs.values() if run.waits), key=lambda run: run.created_at)

    def reopen(self, run_id: str, deadline: float, now: float) -> bool:
        """The run's part of reopening a task; False when it is refused."""
        run = self.runs.get(run_id)
        again = reopened(run, deadline, now) if run is not None else None
        if again is None:
            return False
        self.runs[run_id] = again
        return True


class MemoryResultStore:
    """Rows by partition and sort key; ``counted`` are the keys that the index by run holds."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], ResultRow] = {}
        self.counted: set[tuple[str, str]] = set()
        self.counts: Counter[str] = Counter()  # counted rows by run
        self._sort_keys: dict[str, list[str]] = {}

    async def put(self, row: ResultRow) -> bool:
        """Write the row unless another has precedence; an earlier round goes to history first."""
        await asyncio.sleep(0)
        return self.put_at_once(row)

    def put_at_once(self, row: ResultRow) -> bool:
        """One conditional put (and the copy to history)."""
        key = (row.pk, row.sk)
        there = self.rows.get(key)
        if there is not None and there.round < row.round:
            self._store((f"history#{row.pk}", f"{there.round}#{row.sk}"), there)
        elif there is not None:
            own = (there.round, there.attempt_id) == (row.round, row.attempt_id)
            if not own or key not in self.counted:  # a reopened task's old row must not count again
                return False
        self._store(key, row)
        if key not in self.counted:
            self.counted.add(key)
            self.counts[row.run_id] += 1
        return True

    def _store(self, key: tuple[str, str], row: ResultRow) -> None:
        if key not in self.rows:
            self._sort_keys.setdefault(key[0], []).append(key[1])
        self.rows[key] = row

    async def count(self, run_id: str) -> int:
        """Counted rows of a run."""
        await asyncio.sleep(0)
        return self.counts[run_id]

    async def bucket(self, run_id: str, bucket: int) -> AsyncIterator[ResultRow]:
        """All rows of one bucket, by sort key."""
        await asyncio.sleep(0)
        for row in self.bucket_at_once(run_id, bucket):
            yield row

    def bucket_at_once(self, run_id: str, bucket: int) -> list[ResultRow]:
        """The rows of one bucket as they are now."""
        partition = result_pk(run_id, bucket)
        return [self.rows[partition, key] for key in sorted(self._sort_keys.get(partition, ()))]

    def has(self, pk: str, sk: str) -> bool:
        """Is there such a row?"""
        return (pk, sk) in self.rows

    def uncount(self, pk: str, sk: str) -> None:
        """The row loses its index key: readable, not counted."""
        if (pk, sk) in self.counted:
            self.counted.discard((pk, sk))
            self.counts[self.rows[pk, sk].run_id] -= 1


class MemoryControlStore:
    """Control items and leases."""

    def __init__(self) -> None:
        self.items: dict[str, Control] = {}
        self.leases: dict[str, tuple[str, float]] = {}

    async def read(self, platform: str) -> Control:
        """The item, or a fresh one."""
        await asyncio.sleep(0)
        return self.read_at_once(platform)

    def read_at_once(self, platform: str) -> Control:
        """The item, or a fresh one."""
        return self.items.get(platform, Control(platform))

    async def replace(self, old: Control, new: Control) -> Control | None:
        """Compare and set by revision; the stored revision is ``old.revision + 1``, whatever ``new`` says."""
        await asyncio.sleep(0)
        return self.replace_at_once(old, new)

    def replace_at_once(self, old: Control, new: Control) -> Control | None:
        """One compare and set."""
        there = self.items.get(old.platform, Control(old.platform))
        if there.revision != old.revision:
            return there
        self.items[old.platform] = next_revision(old, new)
        return None

    async def acquire(self, lease: str, owner: str, now: float, ttl: float) -> bool:
        """Take a lease that is free, over, or already ours."""
        await asyncio.sleep(0)
        return self.acquire_at_once(lease, owner, now, ttl)

    def acquire_at_once(self, lease: str, owner: str, now: float, ttl: float) -> bool:
        """One conditional write."""
        holder, until = self.leases.get(lease, ("", 0.0))
        if holder not in ("", owner) and until > now:
            return False
        self.leases[lease] = (owner, now + ttl)
        return True

    async def release(self, lease: str, owner: str) -> None:
        """Give a lease back if it is still ours."""
        await asyncio.sleep(0)
        self.release_at_once(lease, owner)

    def release_at_once(self, lease: str, owner: str) -> None:
        """One conditional delete."""
        if self.leases.get(lease, ("", 0.0))[0] == owner:
            del self.leases[lease]


class MemoryStatStore:
    """Stats by platform, minute and invocation."""

    def __init__(self) -> None:
        self.stats: dict[tuple[str, int, str], Stat] = {}
        self._minutes: dict[tuple[str, int], list[str]] = {}

    async def put(self, stat: Stat) -> None:
        """Write once."""
        await asyncio.sleep(0)
        self.put_at_once(stat)

    def put_at_once(self, stat: Stat) -> None:
        """Write once."""
        key = (stat.platform, stat.minute, stat.invocation)
        if key not in self.stats:
            self.stats[key] = stat
            self._minutes.setdefault((stat.platform, stat.minute), []).append(stat.invocation)

    async def since(self, platform: str, start: float, end: float) -> list[Stat]:
        """Items of the minutes that hold ``start`` and ``end`` and of those between, in their order."""
        await asyncio.sleep(0)
        return self.since_at_once(platform, start, end)

    def since_at_once(self, platform: str, start: float, end: float) -> list[Stat]:
        """One query."""
        return [
            self.stats[platform, minute, invocation]
            for minute in range(int(start // 60), int(end // 60) + 1)
            for invocation in sorted(self._minutes.get((platform, minute), ()))
        ]
