"""What do the other tables and the bucket look like from an execution environment? Their ports over a slow and faulty way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from brandvane.control import Control, next_revision
from brandvane.result import ResultRow
from brandvane.run import Run
from brandvane.simulation.cloud import Cloud
from brandvane.simulation.host import Host
from brandvane.simulation.meter import KB, item_size
from brandvane.stat import Stat


class CloudRuns:
    """The ``RunStore`` port, for one environment. ``unfinished`` and ``recent`` read an index, which lags."""

    def __init__(self, host: Host, cloud: Cloud) -> None:
        self._host = host
        self._cloud = cloud
        self._store = cloud.runs

    async def create(self, run: Run) -> bool:
        """A put on condition that there is none."""

        def effect() -> bool:
            self._cloud.meter.wrote("runs", item_size(run), 2)
            made = self._store.create_at_once(run)
            if made:
                self._changed(run)
            return made

        # Sent twice by the client, the second finds the first's work and knows it.
        return await self._cloud.dynamodb.call(self._host, effect, lambda: self._store.runs.get(run.run_id) == run)

    async def get(self, run_id: str) -> Run | None:
        """Read consistently."""

        def effect() -> Run | None:
            run = self._store.runs.get(run_id)
            self._cloud.meter.read("runs", 0 if run is None else item_size(run))
            return run

        return await self._cloud.dynamodb.call(self._host, effect, write=False)

    async def change(self, run_id: str, require: Mapping[str, Any], put: Mapping[str, Any]) -> Run | None:
        """A conditional update."""

        def effect() -> Run | None:
            old = self._store.runs.get(run_id)
            new = self._store.change_at_once(run_id, require, put)
            self._cloud.meter.wrote("runs", KB if old is None else item_size(old), 0 if new is None else 2)
            if new is not None:
                self._changed(new)
            return new

        def repeat() -> Run | None:
            run = self._store.runs.get(run_id)
            shows = run is not None and bool(put) and all(getattr(run, name) == value for name, value in put.items())
            return effect() or (run if shows else None)

        return await self._cloud.dynamodb.call(self._host, effect, repeat)

    async def mark(self, run_id: str, pass_no: int, name: str, number: int, now: float) -> Run | None:
        """An addition to a set."""

        def effect() -> Run | None:
            run = self._store.mark_at_once(run_id, pass_no, name, number, now)
            self._cloud.meter.wrote("runs", KB if run is None else item_size(run), 0 if run is None else 2)
            if run is not None:
                self._changed(run)
            return run

        return await self._cloud.dynamodb.call(self._host, effect)

    def _changed(self, run: Run) -> None:
        self._cloud.behind.run_changed(run, self._cloud.loop.time())
        self._cloud.auditor.run_changed(self._host, run)

    async def recent(self, limit: int = 50) -> list[Run]:
        """Latest runs, newest first."""

        def effect() -> list[Run]:
            return sorted(self._store.runs.values(), key=lambda run: run.created_at, reverse=True)[:limit]

        return await self._cloud.dynamodb.call(self._host, effect, write=False)

    async def unfinished(self) -> list[Run]:
        """Runs that still need somebody to act, as the index knows them."""

        def effect() -> list[Run]:
            runs = self._cloud.behind.runs(self._cloud.loop.time() - self._cloud.lag())
            self._cloud.meter.read("runs", sum(item_size(run) for run in runs), consistent=False)
            return sorted((run for run in runs if run.waits), key=lambda run: run.created_at)

        return await self._cloud.dynamodb.call(self._host, effect, write=False)


class CloudResults:
    """The ``ResultStore`` port, for one environment. The index that counts lags, and never leads."""

    def __init__(self, host: Host, cloud: Cloud) -> None:
        self._host = host
        self._cloud = cloud
        self._store = cloud.results

    async def put(self, row: ResultRow) -> bool:
        """A put unless another row has precedence."""

        def effect() -> bool:
            key = (row.pk, row.sk)
            before = self._store.rows.get(key)
            written = self._store.put_at_once(row)
            new_entry = written and (before is None or before.round < row.round)
            if new_entry:
                self._cloud.behind.row_counted(row.run_id, self._cloud.loop.time())
            self._cloud.meter.wrote("results", self._cloud.meter.size(row) + 80, int(new_entry))
            self._cloud.auditor.row_put(self._host, row, before, written)
            return written

        return await self._cloud.dynamodb.call(self._host, effect)

    async def count(self, run_id: str) -> int:
        """A counting query of the index."""

        def effect() -> int:
            number = self._cloud.behind.rows(run_id, self._cloud.loop.time() - self._cloud.lag())
            self._cloud.meter.read("results", number * 150, consistent=False)
            return number

        return await self._cloud.dynamodb.call(self._host, effect, write=False)

    async def bucket(self, run_id: str, bucket: int) -> AsyncIterator[ResultRow]:
        """A consistent query, in one page here."""

        def effect() -> list[ResultRow]:
            rows = self._store.bucket_at_once(run_id, bucket)
            self._cloud.meter.read("results", sum(self._cloud.meter.size(row) for row in rows))
            return rows

        for row in await self._cloud.dynamodb.call(self._host, effect, write=False):
            yield row


class CloudControls:
    """The ``ControlStore`` port, for one environment."""

    def __init__(self, host: Host, cloud: Cloud) -> None:
        self._host = host
        self._cloud = cloud
        self._store = cloud.controls

    async def read(self, platform: str) -> Control:
        """Read consistently."""

        def effect() -> Control:
            self._cloud.meter.read("control", KB)
            return self._store.read_at_once(platform)

        return await self._cloud.dynamodb.call(self._host, effect, write=False)

    async def replace(self, old: Control, new: Control) -> Control | None:
        """Compare and set."""

        def effect() -> Control | None:
            self._cloud.meter.wrote("control", KB // 2)
            there = self._store.replace_at_once(old, new)
            if there is None:
                self._cloud.auditor.control_changed(self._host, old, new)
            return there

        def repeat() -> Control | None:
            there = effect()
            return None if there == next_revision(old, new) else there

        return await self._cloud.dynamodb.call(self._host, effect, repeat)

    async def acquire(self, lease: str, owner: str, now: float, ttl: float) -> bool:
        """A conditional update."""

        def effect() -> bool:
            self._cloud.meter.wrote("control", KB // 4)
            return self._store.acquire_at_once(lease, owner, now, ttl)

        return await self._cloud.dynamodb.call(self._host, effect)

    async def release(self, lease: str, owner: str) -> None:
        """A conditional delete."""

        def effect() -> None:
            self._cloud.meter.wrote("control", KB // 4)
            self._store.release_at_once(lease, owner)

        await self._cloud.dynamodb.call(self._host, effect)


class CloudStats:
    """The ``StatStore`` port, for one environment."""

    def __init__(self, host: Host, cloud: Cloud) -> None:
        self._host = host
        self._cloud = cloud

    async def put(self, stat: Stat) -> None:
        """Written once."""

        def effect() -> None:
            self._cloud.meter.wrote("stats", KB // 2)
            self._cloud.stats.put_at_once(stat)

        await self._cloud.dynamodb.call(self._host, effect)

    async def since(self, platform: str, start: float, end: float) -> list[Stat]:
        """A query."""

        def effect() -> list[Stat]:
            found = self._cloud.stats.since_at_once(platform, start, end)
            self._cloud.meter.read("stats", len(found) * 300, consistent=False)
            return found

        return await self._cloud.dynamodb.call(self._host, effect, write=False)


class CloudBlobs:
    """The ``BlobStore`` port, for one environment."""

    def __init__(self, host: Host, cloud: Cloud) -> None:
        self._host = host
        self._cloud = cloud

    async def put(self, key: str, body: bytes, content_type: str) -> None:
        """Write an object."""

        def effect() -> None:
            self._cloud.meter.asked("s3", "put")
            self._cloud.blobs.put_at_once(key, body, content_type)

        await self._cloud.s3.call(self._host, effect)

    async def get(self, key: str) -> bytes | None:
        """Read an object."""

        def effect() -> bytes | None:
            self._cloud.meter.asked("s3", "get")
            return self._cloud.blobs.objects.get(key)

        return await self._cloud.s3.call(self._host, effect, write=False)

    async def keys(self, prefix: str) -> list[str]:
        """List keys."""

        def effect() -> list[str]:
            self._cloud.meter.asked("s3", "list")
            return self._cloud.blobs.keys_at_once(prefix)

        return await self._cloud.s3.call(self._host, effect, write=False)
