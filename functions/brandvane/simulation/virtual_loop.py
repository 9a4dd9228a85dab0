"""How do days pass in seconds? An event loop whose time jumps to the next timer as soon as nothing is left to run.

Nothing sleeps and nothing comes from outside, so the order of events follows from the program alone: ready callbacks in the
order in which they became ready, timers by their time and then by the order in which they were set.
"""

from __future__ import annotations

import asyncio
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable, Coroutine
from contextvars import Context
from heapq import heappop, heappush
from typing import Any, TypeVar

Result = TypeVar("Result")


class Idle(RuntimeError):
    """Nothing is ready, no timer is set, and the work is not done: it waits for something that never comes."""


class VirtualLoop(BaseEventLoop):
    """An asyncio loop in virtual time, which begins at ``start`` (seconds)."""

    def __init__(self, start: float = 0.0) -> None:
        super().__init__()
        self._virtual = start
        self._timers: list[tuple[float, int, asyncio.Future[None] | asyncio.TimerHandle]] = []
        self._set = 0

    def time(self) -> float:
        """Virtual seconds."""
        return self._virtual

    def sleeper(self, seconds: float) -> asyncio.Future[None]:
        """A future that is done ``seconds`` from now: a sleep without a timer object of its own."""
        future = asyncio.Future[None](loop=self)
        self._set += 1
        heappush(self._timers, (self._virtual + seconds, self._set, future))
        return future

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Run it in this round or the next."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)  # type: ignore[attr-defined]
        return handle

    def call_at(  # type: ignore[override]  # typeshed names the arguments by type variables
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Set a timer."""
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._set += 1
        heappush(self._timers, (when, self._set, timer))
        return timer

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Set a timer ``delay`` seconds from now."""
        return self.call_at(self._virtual + delay, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """A cancelled timer stays where it is and is passed over when its time comes."""

    def _run_once(self) -> None:
        """One round: jump when nothing is ready, then run what is ready now."""
        ready = self._ready  # type: ignore[attr-defined]  # the base class's queue, which its call_soon fills
        if not ready and not self._stopping:  # type: ignore[attr-defined]  # set by stop(): end without a jump
            self._jump()
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:  # noqa: SLF001 - as the base class does
                handle._run()  # noqa: SLF001

    def _jump(self) -> None:
        """Go to the time of the earliest timer that still stands, and wake all of that time."""
        timers = self._timers
        woken = False
        while timers and not (woken and timers[0][0] > self._virtual):
            when, _, timer = heappop(timers)
            if isinstance(timer, asyncio.Future):
                if timer.done():
                    continue
                timer.set_result(None)
            elif timer.cancelled():
                continue
            else:
                self._ready.append(timer)  # type: ignore[attr-defined]
            self._virtual = max(self._virtual, when)
            woken = True
        if not woken:
            raise Idle("all wait and no timer is set")

    def _process_events(self, event_list: object) -> None:
        """There are no events from outside."""

    def _write_to_self(self) -> None:
        """There is no other thread to be woken by."""


class VirtualClock:
    """The ``Clock`` port in virtual time: POSIX seconds at the loop's zero are ``epoch``; ``skew`` is how far it is off."""

    def __init__(self, loop: VirtualLoop, epoch: float, skew: float = 0.0) -> None:
        self._loop = loop
        self._offset = epoch + skew

    def now(self) -> float:
        """POSIX seconds by this clock."""
        return self._offset + self._loop._virtual  # noqa: SLF001 - asked several times a task

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 or less gives others a turn and returns."""
        if seconds > 0:
            await self._loop.sleeper(seconds)
        else:
            await asyncio.sleep(0)


def run_virtual(main: Callable[[VirtualLoop], Coroutine[Any, Any, Result]]) -> Result:
    """Carry ``main(loop)`` out on a fresh loop; what is still under way at its end is cancelled.

    Raises:
        Idle: everybody waits for something that never comes.
    """
    loops: list[VirtualLoop] = []

    def factory() -> VirtualLoop:
        loops.append(VirtualLoop())
        return loops[0]

    with asyncio.Runner(loop_factory=factory) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, VirtualLoop)  # noqa: S101 - for the type checker
        return runner.run(main(loop))
