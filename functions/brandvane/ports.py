"""What the engine needs of the world: stores, queues, platforms, time. Protocols only.

Implemented by ``aws`` (real and emulator) and ``simulation`` (in memory). All calls are coroutines. A port raises
``Unavailable`` when the service refuses or does not answer in time; everything else that can go wrong is in the result.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from brandvane.answer import Answer, Failure
from brandvane.catalogue import Catalogue, PlatformSettings
from brandvane.control import Control
from brandvane.result import ResultRow
from brandvane.run import Run
from brandvane.stat import Stat
from brandvane.task import Change, Moved, Task


class Unavailable(Exception):
    """A service refused (throttled, failing) or did not answer in time; the write may or may not have happened."""


class Clock(Protocol):
    """Time, injected."""

    def now(self) -> float:
        """POSIX seconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 or less returns at once."""
        ...


@dataclass(frozen=True, slots=True)
class Chance:
    """Randomness, injected: ``rng`` for pacing and jitter, ``token`` for ids that fence."""

    rng: random.Random

    def token(self) -> str:
        """A fresh attempt id or lease owner (96 bits, hex)."""
        return f"{self.rng.getrandbits(96):024x}"


@dataclass(frozen=True, slots=True)
class Watched:
    """An entry of the *who must act* index: enough to act on, never the answer, and possibly stale."""

    task_id: str
    run_id: str
    model: str
    watch: str
    act_at: float
    dispatch_no: int
    attempt_id: str
    next_execute_time: float


class TaskStore(Protocol):
    """The tasks table."""

    async def create(self, tasks: Sequence[Task]) -> int:
        """Put each task that does not exist yet; returns how many were new. Never resets a record."""
        ...

    async def get(self, task_id: str) -> Task | None:
        """The record, read consistently."""
        ...

    async def move(self, task_id: str, change: Change) -> Moved:
        """Carry out one conditional change on a record."""
        ...

    async def due(self, watch: str, before: float, limit: int) -> list[Watched]:
        """Up to ``limit`` entries with ``act_at <= before``, earliest first. Eventually consistent."""
        ...

    async def page(self, watch: str, after: Watched | None, limit: int) -> list[Watched]:
        """Entries of a partition in order of ``act_at``, beginning after ``after`` (to walk a partition resumably)."""
        ...

    async def count_due(self, watch: str, before: float, cap: int) -> int:
        """How many entries are due, counting no further than ``cap``."""
        ...

    async def reopen(
        self, task: Task, change: Change, row_pk: str, row_sk: str, run_id: str, deadline: float, now: float
    ) -> bool:
        """``FAILED → PENDING`` in one transaction over record, result row (loses its index key) and run (OPEN, next pass)."""
        ...


class ResultStore(Protocol):
    """Result rows (DynamoDB)."""

    async def put(self, row: ResultRow) -> bool:
        """Write the row unless a later round's, or this round's of another attempt, is there; an earlier round goes to history first.

        Returns False when another row has precedence, or when it is this very row but its task has been reopened since (it lost
        its index key, and must not be counted again by a write that comes late).
        """
        ...

    async def count(self, run_id: str) -> int:
        """Counted rows of a run (through the index: it lags, never leads)."""
        ...

    def bucket(self, run_id: str, bucket: int) -> AsyncIterator[ResultRow]:
        """All rows of one bucket of a run, read consistently."""
        ...


class RowReader(Protocol):
    """Single result rows, for people who ask about one task. Read consistently by key."""

    async def row(self, pk: str, sk: str) -> ResultRow | None:
        """The row at a key, counted or not; None when there is none."""
        ...

    async def earlier(self, row: ResultRow) -> list[ResultRow]:
        """The rows of earlier rounds that a row has replaced, oldest first."""
        ...

    async def find(self, run_id: str, task_id: str) -> ResultRow | None:
        """A run's counted row of a task whose record is gone; its key is found in the index (it lags)."""
        ...


class BlobStore(Protocol):
    """Objects in the data bucket."""

    async def put(self, key: str, body: bytes, content_type: str) -> None:
        """Write an object."""
        ...

    async def get(self, key: str) -> bytes | None:
        """Read an object; None when there is none."""
        ...

    async def keys(self, prefix: str) -> list[str]:
        """Keys below a prefix, sorted."""
        ...


class CatalogueStore(Protocol):
    """Pushed catalogues, immutable, and which of them is current."""

    async def load(self, version: str) -> Catalogue:
        """A pushed version (cached).

        Raises:
            LookupError: there is no such version.
        """
        ...

    async def current(self) -> str | None:
        """The version that the next run will be pinned to."""
        ...


class RunStore(Protocol):
    """The runs table."""

    async def create(self, run: Run) -> bool:
        """Put the run unless one of that id exists; False when it does."""
        ...

    async def get(self, run_id: str) -> Run | None:
        """The run, read consistently."""
        ...

    async def change(self, run_id: str, require: Mapping[str, Any], put: Mapping[str, Any]) -> Run | None:
        """Set fields when every required field has that value; the new run, or None when the condition failed."""
        ...

    async def mark(self, run_id: str, pass_no: int, name: str, number: int, now: float) -> Run | None:
        """Add ``number`` to the set ``chunks_done`` or ``scored`` of that pass; the run as it is now, None when the pass is over."""
        ...

    async def recent(self, limit: int = 50) -> list[Run]:
        """Latest runs by creation, newest first."""
        ...

    async def unfinished(self) -> list[Run]:
        """Runs that still need somebody to act: not REPORTED, and CANCELLED ones not yet swept."""
        ...


class ControlStore(Protocol):
    """The control table: one item a platform, and leases."""

    async def read(self, platform: str) -> Control:
        """The item, or a fresh one where none exists yet."""
        ...

    async def replace(self, old: Control, new: Control) -> Control | None:
        """Compare and set by revision. None: stored. Else the item as it really is (nothing was changed)."""
        ...

    async def acquire(self, lease: str, owner: str, now: float, ttl: float) -> bool:
        """Take a named lease that is free, over, or already ours."""
        ...

    async def release(self, lease: str, owner: str) -> None:
        """Give a lease back if it is still ours."""
        ...


class StatStore(Protocol):
    """What invocations did, one item each."""

    async def put(self, stat: Stat) -> None:
        """Write once; a repeat changes nothing."""
        ...

    async def since(self, platform: str, start: float, end: float) -> list[Stat]:
        """Items of the minutes from ``start`` to ``end``."""
        ...


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message to send: ``id`` is unique within the call, ``delay_s`` 0 to 900."""

    id: str
    body: str
    delay_s: int = 0


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message received."""

    message_id: str
    receipt: str
    body: str
    receive_count: int = 1
    sent_at: float = 0.0


class TaskQueue(Protocol):
    """Queues by logical name: ``calls-{platform}``, ``writeback``, ``plan``; ``NAME-dead`` is the dead-letter queue of ``NAME``."""

    async def send(self, queue: str, envelopes: Sequence[Envelope]) -> frozenset[str]:
        """Send; returns the ids that the queue confirmed. An id that is missing was not sent, or not surely."""
        ...

    async def receive(self, queue: str, limit: int) -> list[Delivered]:
        """Receive without waiting (operators and tests; Lambda's poller does it for workers)."""
        ...

    async def delete(self, queue: str, receipt: str) -> None:
        """Acknowledge a message."""
        ...

    async def postpone(self, queue: str, receipt: str, seconds: int) -> None:
        """Set a received message's visibility, before reporting it as failed."""
        ...

    async def depth(self, queue: str, held_most: int | None = None) -> int:
        """Messages in the queue, waiting, delayed or in flight (approximate); of the last at most ``held_most`` are counted.

        What is in flight beyond the slots there are was received by a worker that has died, and nobody works on it.
        """
        ...


class Functions(Protocol):
    """Other functions of the stack."""

    async def invoke(self, function: str, event: Mapping[str, Any]) -> None:
        """Start ``planner``, ``dispatcher``, ``scorer`` or ``reporter`` asynchronously."""
        ...


MaySend = Callable[[], Awaitable[bool]]


class PlatformClient(Protocol):
    """One AI platform behind one protocol."""

    async def prepare(self, settings: PlatformSettings) -> None:
        """Do what a first call would have to do, before its slot comes: fetch the key, load what is needed. Never raises."""
        ...

    async def ask(
        self,
        settings: PlatformSettings,
        model: str,
        prompt: str,
        locale: str,
        request_id: str,
        timeout: float,
        may_send: MaySend,
    ) -> Answer | Failure | None:
        """One call, never retried inside, never raising for what the platform does.

        ``may_send`` is awaited when all is ready (key, request, connection) and nothing has been sent; if it says no, nothing
        is, and None is returned. From then on ``timeout`` seconds bound the whole of the call.
        """
        ...


class Telemetry(Protocol):
    """Counts and structured events; never answers, never keys."""

    def count(self, name: str, number: float = 1, *, platform: str | None = None, unit: str = "Count") -> None:
        """Publish a metric value."""
        ...

    def event(self, name: str, **fields: Any) -> None:
        """Write one structured log line."""
        ...


@dataclass(frozen=True, slots=True)
class Deployed:
    """A platform's worker as deployed (the template's Mappings row)."""

    platform: str
    invocations: int
    batch_size: int
    call_timeout: int

    @property
    def slots(self) -> int:
        """Calls that can be in flight at once."""
        return self.invocations * self.batch_size


class Deployment(Protocol):
    """What the stack consists of."""

    async def platforms(self) -> tuple[Deployed, ...]:
        """Every platform that has a worker."""
        ...
