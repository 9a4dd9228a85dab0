"""Time jumps, and nothing else does."""

from __future__ import annotations

import asyncio

import pytest

from brandvane.simulation.virtual_loop import Idle, VirtualClock, VirtualLoop, run_virtual


def test_a_day_of_sleep_passes_at_once() -> None:
    async def main(loop: VirtualLoop) -> float:
        await asyncio.sleep(86_400)
        return loop.time()

    assert run_virtual(main) == 86_400


def test_sleepers_wake_by_their_time_and_then_in_the_order_they_lay_down() -> None:
    async def main(loop: VirtualLoop) -> list[str]:
        woken: list[str] = []

        async def sleep(seconds: float, name: str) -> None:
            await loop.sleeper(seconds)
            woken.append(name)

        await asyncio.gather(sleep(2, "late"), sleep(1, "first"), sleep(1, "second"))
        return woken

    assert run_virtual(main) == ["first", "second", "late"]


def test_a_timeout_of_asyncio_goes_by_virtual_time() -> None:
    async def main(loop: VirtualLoop) -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3):
                await loop.create_future()
        return loop.time()

    assert run_virtual(main) == 3


def test_a_cancelled_timer_does_not_move_the_time() -> None:
    async def main(loop: VirtualLoop) -> tuple[float, list[str]]:
        called: list[str] = []
        loop.call_later(5, called.append, "cancelled").cancel()
        loop.call_later(2, called.append, "kept")
        await asyncio.sleep(2)
        return loop.time(), called

    assert run_virtual(main) == (2, ["kept"])


def test_waiting_for_what_never_comes_is_said_and_not_waited_for() -> None:
    async def main(loop: VirtualLoop) -> None:
        await loop.create_future()

    with pytest.raises(Idle, match="no timer is set"):
        run_virtual(main)


def test_a_clock_shows_the_epoch_and_its_own_skew() -> None:
    async def main(loop: VirtualLoop) -> tuple[float, float]:
        right, fast = VirtualClock(loop, 1000.0), VirtualClock(loop, 1000.0, skew=2.0)
        await right.sleep(10)
        await right.sleep(-1)  # no time passes
        return right.now(), fast.now()

    assert run_virtual(main) == (1010.0, 1012.0)
