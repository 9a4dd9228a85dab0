"""A clock that moves only when told: who wakes when, and in which order."""

from __future__ import annotations

import asyncio

import pytest

from brandvane.simulation.memory_clock import ManualClock, settle


async def test_nobody_wakes_before_the_clock_reaches_them() -> None:
    clock, woken = ManualClock(100.0), list[float]()

    async def sleeper(seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(clock.now())

    tasks = [asyncio.ensure_future(sleeper(seconds)) for seconds in (3, 1, 2)]
    await clock.advance(0.999)
    assert woken == []
    await clock.advance(1.001)
    assert (woken, clock.now()) == ([101.0, 102.0], 102.0)
    await clock.advance_to(103.0)
    assert woken == [101.0, 102.0, 103.0]
    await asyncio.gather(*tasks)


async def test_one_who_sleeps_again_on_waking_wakes_again_within_the_same_advance() -> None:
    clock, woken = ManualClock(0.0), list[float]()

    async def ticking() -> None:
        for _ in range(3):
            await clock.sleep(1.5)
            woken.append(clock.now())

    task = asyncio.ensure_future(ticking())
    await clock.advance(10)
    assert (woken, task.done(), clock.now()) == ([1.5, 3.0, 4.5], True, 10.0)


async def test_sleeping_no_time_returns_without_an_advance() -> None:
    clock = ManualClock(0.0)
    await clock.sleep(0)
    await clock.sleep(-1)
    assert clock.now() == 0.0


async def test_those_who_wake_at_one_instant_wake_in_the_order_they_went_to_sleep() -> None:
    clock, woken = ManualClock(0.0), list[str]()

    async def sleeper(name: str) -> None:
        await clock.sleep(1)
        woken.append(name)

    await clock.run(asyncio.wait([asyncio.ensure_future(sleeper(name)) for name in "cab"]))
    assert woken == ["c", "a", "b"]


async def test_running_jumps_from_sleeper_to_sleeper_and_gives_the_result() -> None:
    clock = ManualClock(0.0)

    async def work() -> str:
        await clock.sleep(3600)
        await clock.sleep(86_400)
        return "done"

    assert await clock.run(work()) == "done"
    assert clock.now() == 90_000.0


async def test_running_what_waits_for_ever_says_so() -> None:
    clock = ManualClock(0.0)
    with pytest.raises(RuntimeError, match="waits for something that never comes"):
        await clock.run(asyncio.Event().wait())


async def test_running_what_fails_raises_its_error() -> None:
    clock = ManualClock(0.0)

    async def work() -> None:
        await clock.sleep(1)
        raise KeyError("x")

    with pytest.raises(KeyError):
        await clock.run(work())


async def test_a_clock_that_advances_by_itself_jumps_when_all_are_idle() -> None:
    clock, order = ManualClock(0.0, auto=True), list[tuple[str, float]]()

    async def ticking(name: str, seconds: float) -> None:
        for _ in range(2):
            await clock.sleep(seconds)
            for _ in range(5):
                await asyncio.sleep(0)  # work that takes turns but no time
            order.append((name, clock.now()))

    await asyncio.gather(ticking("slow", 2.0), ticking("quick", 0.75))
    assert order == [("quick", 0.75), ("quick", 1.5), ("slow", 2.0), ("slow", 4.0)]


async def test_a_cancelled_sleeper_is_forgotten() -> None:
    clock = ManualClock(0.0, auto=True)
    task = asyncio.ensure_future(clock.sleep(1000))
    await settle_once()
    task.cancel()
    await clock.sleep(5)
    assert clock.now() == 5.0


async def settle_once() -> None:
    """Let the sleeper begin; an automatic clock must not be settled, for it moves when all are idle."""
    await asyncio.sleep(0)


async def test_settling_runs_all_that_can_run() -> None:
    steps: list[int] = []

    async def long_chain() -> None:
        for step in range(100):
            await asyncio.sleep(0)
            steps.append(step)

    task = asyncio.ensure_future(long_chain())
    await settle()
    assert len(steps) == 100
    await task
