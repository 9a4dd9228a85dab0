"""How does an execution environment live and die? Its clock, and every await of the code in it: where it may be killed or stall.

A killed environment's code never runs on: whoever awaits in it is cancelled, and what it then tries (``finally`` blocks
included) is cancelled before it reaches anything. What had been sent before takes effect, or not, as with a real process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from brandvane.simulation.virtual_loop import VirtualLoop


@dataclass(slots=True)
class Doom:
    """What befalls an environment at one of its next awaits: death, or standing still for ``stall_s`` seconds."""

    steps: int
    stall_s: float | None = None


class Host:
    """One execution environment; the ``Clock`` port as seen in it. ``version`` is the release whose code it runs."""

    def __init__(self, loop: VirtualLoop, name: str, epoch: float, skew: float = 0.0, version: int = 1) -> None:
        self.loop = loop
        self.name = name
        self.skew = skew
        self.version = version
        self.alive = True
        self.killed_at: float | None = None
        self.stalls: list[tuple[float, float]] = []  # from, until (virtual seconds)
        self.doom: Doom | None = None
        self.on_death: Callable[[], None] | None = None
        self._offset = epoch + skew
        self._stalled_until = 0.0

    def now(self) -> float:
        """POSIX seconds by this environment's clock."""
        return self._offset + self.loop._virtual  # noqa: SLF001 - asked several times a task

    async def sleep(self, seconds: float) -> None:
        """The clock port's wait."""
        await self.pause(max(seconds, 0.0))

    async def pause(self, seconds: float) -> None:
        """Wait as code of this environment does.

        Raises:
            CancelledError: the environment is dead.
        """
        if self.doom is not None:
            self._meet_doom(self.doom)
        if not self.alive:
            raise asyncio.CancelledError
        await self.loop.sleeper(seconds)
        while self._stalled_until > self.loop._virtual:  # noqa: SLF001
            await self.loop.sleeper(self._stalled_until - self.loop._virtual)  # noqa: SLF001
        if not self.alive:
            raise asyncio.CancelledError

    def _meet_doom(self, doom: Doom) -> None:
        doom.steps -= 1
        if doom.steps > 0:
            return
        self.doom = None
        if doom.stall_s is None:
            self.kill()
        else:
            self.stall(doom.stall_s)

    def stall(self, seconds: float) -> None:
        """Everything in this environment stands still, and then goes on as if nothing had been."""
        began = self.loop.time()
        self._stalled_until = max(self._stalled_until, began + seconds)
        self.stalls.append((began, self._stalled_until))

    def kill(self) -> None:
        """The process is gone."""
        if not self.alive:
            return
        self.alive = False
        self.killed_at = self.loop.time()
        if self.on_death is not None:
            self.on_death()
