"""What does the engine speak to in a test? All ports in memory, made to fit one another, and recorders of what it did."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brandvane.catalogue import Catalogue
from brandvane.ports import Chance, Deployed
from brandvane.simulation.memory_blobs import MemoryBlobs
from brandvane.simulation.memory_clock import ManualClock
from brandvane.simulation.memory_queue import MemoryQueue
from brandvane.simulation.memory_stores import (
    MemoryControlStore,
    MemoryResultStore,
    MemoryRunStore,
    MemoryStatStore,
)
from brandvane.simulation.memory_tasks import MemoryTaskStore

__all__ = [
    "ManualClock",
    "MemoryCatalogues",
    "MemoryWorld",
    "RecordedFunctions",
    "RecordedTelemetry",
    "StatedDeployment",
]


class RecordedFunctions:
    """Invocations of other functions, in their order; ``take`` empties the list."""

    def __init__(self) -> None:
        self.invoked: list[tuple[str, dict[str, Any]]] = []

    async def invoke(self, function: str, event: Mapping[str, Any]) -> None:
        """Remember the invocation."""
        await asyncio.sleep(0)
        self.invoked.append((function, dict(event)))

    def take(self) -> list[tuple[str, dict[str, Any]]]:
        """What was invoked since the last call."""
        taken, self.invoked = self.invoked, []
        return taken


class RecordedTelemetry:
    """Sums of counts by ``(name, platform)``, every value published, and every event."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str | None]] = Counter()
        self.published: list[tuple[str, float, str | None, str]] = []
        self.events: list[tuple[str, dict[str, Any]]] = []

    def count(self, name: str, number: float = 1, *, platform: str | None = None, unit: str = "Count") -> None:
        """Publish a metric value."""
        self.counts[(name, platform)] += number  # type: ignore[assignment]  # a Counter adds floats as well
        self.published.append((name, number, platform, unit))

    def event(self, name: str, **fields: Any) -> None:
        """Write one structured log line."""
        self.events.append((name, fields))

    def named(self, name: str) -> list[dict[str, Any]]:
        """The fields of every event of a name."""
        return [fields for event, fields in self.events if event == name]


class StatedDeployment:
    """A deployment that is what the test says."""

    def __init__(self, *platforms: Deployed) -> None:
        self.deployed = platforms

    async def platforms(self) -> tuple[Deployed, ...]:
        """Every platform that has a worker."""
        await asyncio.sleep(0)
        return self.deployed


class MemoryCatalogues:
    """Catalogues by version; the one pushed last is current."""

    def __init__(self, *catalogues: Catalogue) -> None:
        self.versions: dict[str, Catalogue] = {}
        self.current_version: str | None = None
        for catalogue in catalogues:
            self.push(catalogue)

    def push(self, catalogue: Catalogue) -> None:
        """Keep a catalogue under its version and make it current."""
        self.versions[catalogue.version] = catalogue
        self.current_version = catalogue.version

    async def load(self, version: str) -> Catalogue:
        """A pushed version.

        Raises:
            LookupError: there is no such version.
        """
        await asyncio.sleep(0)
        return self.versions[version]

    async def current(self) -> str | None:
        """The version that the next run will be pinned to."""
        await asyncio.sleep(0)
        return self.current_version


@dataclass(slots=True)
class MemoryWorld:
    """One of everything. ``MemoryWorld()`` is ready for use; parts may be given instead."""

    clock: ManualClock = field(default_factory=ManualClock)
    chance: Chance = field(default_factory=lambda: Chance(random.Random(1)))
    runs: MemoryRunStore = field(default_factory=MemoryRunStore)
    results: MemoryResultStore = field(default_factory=MemoryResultStore)
    control: MemoryControlStore = field(default_factory=MemoryControlStore)
    stats: MemoryStatStore = field(default_factory=MemoryStatStore)
    blobs: MemoryBlobs = field(default_factory=MemoryBlobs)
    functions: RecordedFunctions = field(default_factory=RecordedFunctions)
    telemetry: RecordedTelemetry = field(default_factory=RecordedTelemetry)
    deployment: StatedDeployment = field(default_factory=StatedDeployment)
    catalogues: MemoryCatalogues = field(default_factory=MemoryCatalogues)
    queue: MemoryQueue = field(init=False)
    tasks: MemoryTaskStore = field(init=False)

    def __post_init__(self) -> None:
        self.queue = MemoryQueue(clock=self.clock)
        self.tasks = MemoryTaskStore(runs=self.runs, results=self.results)
