"""What does a fleet look like whose every request to the control table can be held up between any two others?

Each request and each reply takes a turn; between two turns anything may happen. Whoever waits for the table is a ``Process``.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any

from brandvane.control import Control
from brandvane.simulation.memory_stores import MemoryControlStore


class _Turn:
    """Awaited once, it hands the turn over."""

    def __await__(self) -> Generator[None, None, None]:
        yield


class SteppedControls:
    """The control table. ``stored`` is called with what was there and what is there now, at the moment it changes."""

    def __init__(self, stored: Callable[[Control, Control], None]) -> None:
        self._store = MemoryControlStore()
        self._stored = stored

    def truth(self, platform: str) -> Control:
        """The item as it is."""
        return self._store.read_at_once(platform)

    async def read(self, platform: str) -> Control:
        """The item, by way of a request and a reply."""
        await _Turn()
        item = self._store.read_at_once(platform)
        await _Turn()
        return item

    async def replace(self, old: Control, new: Control) -> Control | None:
        """Compare and set, by way of a request and a reply."""
        await _Turn()
        there = self._store.replace_at_once(old, new)
        if there is None:
            self._stored(old, self._store.read_at_once(old.platform))
        await _Turn()
        return there

    async def acquire(self, lease: str, owner: str, now: float, ttl: float) -> bool:
        """A limiter needs no lease: one that took any would fail here."""
        raise AssertionError(f"the limiter asked for the lease {lease}")

    async def release(self, lease: str, owner: str) -> None:
        """A limiter needs no lease: one that took any would fail here."""
        raise AssertionError(f"the limiter asked for the lease {lease}")


@dataclass(slots=True)
class Process:
    """Somebody at work; ``since`` is when the present request or reply set out."""

    work: Coroutine[Any, Any, Any]
    done: Callable[[Any], None]
    since: float

    def step(self, now: float) -> bool:
        """The request or reply arrives, the next one sets out; False when there is none left."""
        self.since = now
        try:
            self.work.send(None)
        except StopIteration as end:
            self.done(end.value)
            return False
        return True


@dataclass(slots=True)
class Watch:
    """A machine's clock, a little off. Nobody sleeps by it: waiting is the machine's own business."""

    time: Callable[[], float]
    skew: float

    def now(self) -> float:
        """POSIX seconds."""
        return self.time() + self.skew

    async def sleep(self, seconds: float) -> None:
        """A limiter answers at once: one that waited would fail here."""
        raise AssertionError(f"the limiter slept for {seconds} s")
