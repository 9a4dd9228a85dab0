"""The fleet's agreement about one platform, and the desk that reserves for a batch."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from brandvane.control import Control, Pause
from brandvane.engine.lead import Lead
from brandvane.engine.slots import Back, Slot, SlotDesk
from brandvane.pacing import Grant, Limits, Want
from brandvane.ports import Unavailable
from builders import NOW, Faulty, later, together
from engine_rig import MemoryBench

ONE_A_SECOND = Limits(rate=100 / 97)
FAR = NOW + 9_999


def wants(number: int) -> list[Want]:
    """Calls wanted now."""
    return [Want(NOW, FAR)] * number


async def reserved(bench: MemoryBench, number: int) -> Grant:
    """A reservation that is granted."""
    grant = await bench.limiter.reserve("openai", ONE_A_SECOND, wants(number), "openai/m1")
    assert isinstance(grant, Grant)
    return grant


async def test_a_reservation_advances_the_shared_clock() -> None:
    bench = MemoryBench.new()
    grant = await reserved(bench, 3)
    assert [start - NOW for start in grant.starts] == pytest.approx([0, 1, 2])
    assert bench.control().clock == pytest.approx(NOW + 3)


async def test_a_worker_that_knows_an_old_item_computes_anew_from_the_real_one() -> None:
    bench = MemoryBench.new()
    await reserved(bench, 1)
    bench.set_control(clock=NOW + 8)
    assert [start - NOW for start in (await reserved(bench, 1)).starts] == pytest.approx([8])


async def test_a_pause_that_an_old_item_does_not_show_is_found() -> None:
    bench = MemoryBench.new()
    await reserved(bench, 1)
    pause = Pause("auth_error", "worker", NOW)
    bench.set_control(paused=pause)
    assert await bench.limiter.reserve("openai", ONE_A_SECOND, wants(1), "openai/m1") == pause


async def test_a_pause_that_only_an_old_item_shows_is_not_believed() -> None:
    bench = MemoryBench.new()
    bench.set_control(paused=Pause("auth_error", "worker", NOW))
    assert isinstance(await bench.limiter.reserve("openai", ONE_A_SECOND, wants(1), "openai/m1"), Pause)
    bench.set_control(paused=None)
    assert len((await reserved(bench, 1)).starts) == 1


async def test_when_none_fits_the_item_is_left_as_it_is() -> None:
    bench = MemoryBench.new()
    bench.set_control(clock=NOW + 100)
    before = bench.control()
    assert (await reserved(bench, 2)).starts == ()
    assert bench.control() == before


async def test_workers_that_reserve_at_once_get_different_slots() -> None:
    bench = MemoryBench.new()
    fleet = [MemoryBench.new() for _ in range(4)]
    for worker in fleet:
        worker.controls = bench.controls
        worker.clock = bench.clock
    grants = await asyncio.gather(*(reserved(worker, 3) for worker in fleet))
    starts = sorted(start - NOW for grant in grants for start in grant.starts)
    assert starts == pytest.approx(list(range(12)))
    assert bench.control().clock == pytest.approx(NOW + 12)


async def test_an_item_that_never_holds_still_is_a_refusal() -> None:
    bench = MemoryBench.new()

    class Restless:
        """Somebody else is always faster."""

        def __init__(self) -> None:
            self.revision = 0

        async def read(self, platform: str) -> Control:
            """The item."""
            return Control(platform, revision=self.revision)

        async def replace(self, old: Control, new: Control) -> Control | None:
            """Never stored."""
            self.revision += 1
            return await self.read(old.platform)

    bench.controls = Restless()
    with pytest.raises(Unavailable, match="changed 50 times under us"):
        await bench.limiter.push("openai", NOW + 5, 0)


async def test_a_429_pushes_halves_and_begins_an_epoch_once() -> None:
    bench = MemoryBench.new()
    await asyncio.gather(*(bench.limiter.push("openai", NOW + 30, 0) for _ in range(5)))
    control = bench.control()
    assert (control.clock, control.epoch, control.factor) == (NOW + 30, 1, 0.5)


async def test_pausing_a_target_leaves_the_platform_open() -> None:
    bench = MemoryBench.new()
    pause = Pause("model_gone", "worker", NOW)
    await bench.limiter.pause("openai", pause, "openai/m1")
    assert bench.control().pause_of("openai/m1", NOW) == pause
    assert bench.control().pause_of("openai/m2", NOW) is None


async def test_resuming_lifts_every_pause() -> None:
    bench = MemoryBench.new()
    await bench.limiter.pause("openai", Pause("auth_error", "worker", NOW))
    await bench.limiter.pause("openai", Pause("model_gone", "worker", NOW), "openai/m1")
    await bench.limiter.resume("openai")
    assert bench.control().pause_of("openai/m1", NOW) is None
    assert bench.control().clock == NOW + 1


async def test_rate_restoring_charging_and_hold_are_kept() -> None:
    bench = MemoryBench.new()
    await bench.limiter.set_rate("openai", 4.0)
    bench.set_control(factor=0.5)
    await bench.limiter.restore("openai", 2.0)
    await bench.limiter.charge("openai", "2025-10-09", 70)
    await bench.limiter.remember_hold("openai", 12.5)
    control = bench.control()
    assert (control.rate_override, control.day_microusd, control.hold_s) == (4.0, 70, 12.5)
    assert control.factor == pytest.approx(0.6)


def desk(bench: MemoryBench, limits: Limits = ONE_A_SECOND) -> SlotDesk:
    """The desk of one batch."""
    return SlotDesk(
        platform="openai", limits=limits, limiter=bench.limiter, lead=Lead(), clock=bench.clock, chance=bench.chance
    )


async def test_a_record_due_earlier_that_joins_late_is_served_first() -> None:
    bench = MemoryBench.new()
    served = desk(bench)
    slots: dict[str, Any] = {}

    async def ask(name: str, due: float) -> None:
        slots[name] = await served.slot(NOW + due, FAR, "openai/m1")

    async def joins() -> None:
        await bench.clock.sleep(0.5)
        await ask("early", 1.0)

    await bench.clock.run(together(ask("late", 4.0), joins()))
    assert slots["early"].start == pytest.approx(NOW + 1)
    assert slots["late"].start == pytest.approx(NOW + 4)


async def test_records_due_within_the_gathering_time_share_a_reservation() -> None:
    bench = MemoryBench.new()
    served = desk(bench)
    slots = await bench.clock.run(
        together(*(served.slot(NOW + 2 + place / 10, FAR, "openai/m1") for place in range(4)))
    )
    assert [slot.start - NOW for slot in slots] == pytest.approx([2, 3, 4, 5])
    assert bench.control().revision == 1


async def test_each_target_is_reserved_for_by_itself() -> None:
    bench = MemoryBench.new()
    bench.set_control(targets={"openai/m1": Pause("model_gone", "worker", NOW)})
    served = desk(bench)
    one, two = await bench.clock.run(together(served.slot(NOW, FAR, "openai/m1"), served.slot(NOW, FAR, "openai/m2")))
    assert isinstance(one, Back)
    assert one.paused is not None
    assert isinstance(two, Slot)


async def test_a_refusal_reaches_every_record_and_the_desk_goes_on() -> None:
    bench = MemoryBench.new()
    faulty = bench.without(controls={"read": [Unavailable("no")]})
    served = desk(faulty)

    async def fails() -> str:
        try:
            await served.slot(NOW, FAR, "openai/m1")
        except Unavailable as error:
            return str(error)
        return "served"

    assert await bench.clock.run(together(fails(), fails())) == ["no", "no"]
    assert await bench.clock.run(fails()) == "served"


async def test_a_slot_holds_until_another_epoch_or_a_pause() -> None:
    bench = MemoryBench.new()
    served = desk(bench)
    slot = Slot(NOW + 10, 0, NOW)
    assert await served.still_good(slot, "openai/m1")
    bench.set_control(targets={"openai/m1": Pause("model_gone", "worker", NOW)})
    assert not await served.still_good(slot, "openai/m1")
    bench.set_control(targets={}, epoch=1)
    assert not await served.still_good(slot, "openai/m1")


async def test_a_slot_of_the_next_second_holds_whatever_comes() -> None:
    bench = MemoryBench.new()
    bench.set_control(epoch=1)
    assert await desk(bench).still_good(Slot(NOW + 1, 0, NOW), "openai/m1")


async def test_one_look_at_the_control_item_serves_the_slots_of_the_second_after_it() -> None:
    bench = MemoryBench.new()
    served = desk(bench.without(controls={"read": [None, Unavailable("looked again")]}))
    await bench.clock.advance(9.5)
    assert await served.still_good(Slot(NOW + 10.0, 0, NOW), "openai/m1")
    assert await served.still_good(Slot(NOW + 10.5, 0, NOW), "openai/m1")
    with pytest.raises(Unavailable):
        await served.still_good(Slot(NOW + 10.6, 0, NOW), "openai/m1")


async def test_a_closed_desk_serves_nobody_any_more() -> None:
    bench = MemoryBench.new()
    served = desk(bench)
    waiting = asyncio.ensure_future(served.slot(NOW + 60, FAR, "openai/m1"))
    await bench.clock.advance(1)
    await served.close()
    await bench.clock.run(later(bench.clock, 120, lambda: None))
    assert not waiting.done()
    waiting.cancel()
    assert bench.control() == Control("openai")


def test_faulty_ports_pass_on_what_they_are_not_told_to_break() -> None:
    assert Faulty([1, 2], {}).count(2) == 1


async def test_every_write_of_the_control_item_has_a_name_of_its_own() -> None:
    bench = MemoryBench.new()
    names = []
    for _ in range(3):
        await reserved(bench, 1)
        names.append(bench.control().written_by)
    assert names == ["rig/0", "rig/1", "rig/2"]
