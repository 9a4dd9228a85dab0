"""How does time pass in a test? A clock that moves only when told, or that jumps to the next sleeper when all are idle.

Idle means: the event loop has nothing left to run. In memory nothing waits for the network, so an idle loop is one in which
everybody sleeps on this clock; that makes a test's order of events the same on every machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeVar

Result = TypeVar("Result")


class ManualClock:
    """``sleep`` suspends until ``advance`` reaches its end; with ``auto`` the clock advances by itself when all are idle."""

    def __init__(self, start: float = 1_760_000_000.0, *, auto: bool = False) -> None:
        self._now = start
        self._auto = auto
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._watching = False

    def now(self) -> float:
        """POSIX seconds."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has advanced by ``seconds``; 0 or less gives others a turn and returns."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        heappush(self._sleepers, (self._now + seconds, next(self._numbers), future))
        if self._auto and not self._watching:
            self._watching = True
            loop.call_soon(self._jump_when_idle, loop)
        await future

    async def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass: sleepers wake in the order of their times, and all run until idle between two of them."""
        await self.advance_to(self._now + seconds)

    async def advance_to(self, instant: float) -> None:
        """Let time pass until ``instant``."""
        await settle()
        while self._sleepers and self._sleepers[0][0] <= instant:
            self._wake_next()
            await settle()
        self._now = max(self._now, instant)
        await settle()

    async def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Carry ``work`` out, jumping to the earliest sleeper whenever all are idle; its result.

        Raises:
            RuntimeError: everybody is idle, nobody sleeps, and the work is not done (it waits for what never comes).
        """
        task = asyncio.ensure_future(work)
        await settle()
        while not task.done():
            if not self._sleepers:
                task.cancel()
                raise RuntimeError("all are idle and nobody sleeps: the work waits for something that never comes")
            self._wake_next()
            await settle()
        return task.result()

    def _wake_next(self) -> None:
        instant = self._sleepers[0][0]
        self._now = max(self._now, instant)
        while self._sleepers and self._sleepers[0][0] <= instant:
            future = heappop(self._sleepers)[2]
            if not future.done():  # a cancelled sleeper is done
                future.set_result(None)

    def _jump_when_idle(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._sleepers and self._sleepers[0][2].done():
            heappop(self._sleepers)
        if not self._sleepers:
            self._watching = False
            return
        if is_idle(loop):
            self._wake_next()
        loop.call_soon(self._jump_when_idle, loop)


def is_idle(loop: asyncio.AbstractEventLoop) -> bool:
    """Has the loop nothing left to run but the caller?"""
    # No public call tells; the attribute is the same in every CPython since 3.4.
    return not loop._ready  # type: ignore[attr-defined]  # noqa: SLF001


async def settle() -> None:
    """Let everybody run until all are idle (never from two coroutines at once: each would wait for the other)."""
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0)
    while not is_idle(loop):  # noqa: ASYNC110 - idleness is what the loop itself knows; no event tells it
        await asyncio.sleep(0)
