"""Control items and leases: no update is lost, no lease is held twice, in every world."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise

from brandvane.control import Act, Control, Pause
from brandvane.pacing import Limits, Want, grant
from contract.samples import NOW
from contract.worlds import World, unique


async def test_a_platform_without_an_item_has_a_fresh_one(world: World) -> None:
    platform = unique("platform")
    assert await world.control.read(platform) == Control(platform)


async def test_a_stored_item_reads_back_as_it_was_with_the_next_revision(world: World) -> None:
    fresh = Control(unique("platform"))
    new = replace(
        fresh,
        paused=Pause("budget", "scanner", NOW, NOW + 0.1),
        targets={"gpt/m1": Pause("model_gone", "worker", NOW + 0.2), "gpt/m2": Pause("x", "y", 1.5, 2.5)},
        rate_override=0.1 + 0.2,
        clock=NOW + 1 / 3,
        epoch=4,
        factor=0.05,
        day="2026-01-31",
        day_calls=12,
        day_microusd=10**12 + 1,
        hold_s=31.25,
        rated=Act("rate 3", "operator ada", "", NOW + 0.3),
        resumed=Act("resume", "operator bob", "paid", NOW + 0.4),
    )
    assert await world.control.replace(fresh, new) is None
    assert await world.control.read(fresh.platform) == replace(new, revision=1)


async def test_what_is_cleared_is_gone(world: World) -> None:
    fresh = Control(unique("platform"))
    paused = replace(fresh, paused=Pause("x", "y", NOW), targets={"t": Pause("x", "y", NOW)}, rate_override=2.0)
    assert await world.control.replace(fresh, paused) is None
    stored = await world.control.read(fresh.platform)
    assert await world.control.replace(stored, replace(stored, paused=None, targets={}, rate_override=None)) is None
    assert await world.control.read(fresh.platform) == Control(fresh.platform, revision=2)


async def test_a_replacement_of_what_is_no_longer_there_changes_nothing_and_tells_what_is(world: World) -> None:
    fresh = Control(unique("platform"))
    assert await world.control.replace(fresh, replace(fresh, epoch=1)) is None
    there = await world.control.replace(fresh, replace(fresh, epoch=9))
    assert there == Control(fresh.platform, revision=1, epoch=1)
    assert await world.control.read(fresh.platform) == there
    newer = replace(there, revision=7)
    assert await world.control.replace(newer, replace(newer, epoch=9)) == there


async def test_items_of_platforms_do_not_mix(world: World) -> None:
    one, other = Control(unique("platform")), Control(unique("platform"))
    assert await world.control.replace(one, replace(one, epoch=1)) is None
    assert await world.control.read(other.platform) == other


async def add_calls(world: World, platform: str, number: int) -> None:
    """Count calls one by one, each by compare and set."""
    control = await world.control.read(platform)
    for _ in range(number):
        while (
            there := await world.control.replace(control, replace(control, day_calls=control.day_calls + 1))
        ) is not None:
            control = there
        control = await world.control.read(platform)


async def test_eight_writers_at_once_lose_no_update(world: World) -> None:
    platform = unique("platform")
    await asyncio.gather(*(add_calls(world, platform, 5) for _ in range(8)))
    control = await world.control.read(platform)
    assert (control.day_calls, control.revision) == (40, 40)


async def take_slots(world: World, platform: str, number: int) -> tuple[float, ...]:
    """A limiter's loop: as many slots as fit, by compare and set."""
    wants = [Want(NOW, NOW + 1000)] * number
    control = await world.control.read(platform)
    while True:
        new, granted = grant(control, Limits(rate=10.0), wants, NOW)
        there = await world.control.replace(control, new)
        if there is None:
            return granted.starts
        control = there


async def test_slots_taken_by_eight_workers_at_once_never_lie_closer_than_the_interval(world: World) -> None:
    platform = unique("platform")
    taken = await asyncio.gather(*(take_slots(world, platform, 5) for _ in range(8)))
    starts = sorted(start for batch in taken for start in batch)
    assert len(starts) == 40
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert min(gaps) > 1 / 9.7 - 1e-6  # 97 % of 10 a second


async def test_a_lease_excludes_others_until_it_is_over(world: World) -> None:
    lease = unique("lease")
    assert await world.control.acquire(lease, "one", NOW, 45)
    assert not await world.control.acquire(lease, "two", NOW + 44.999, 45)
    assert await world.control.acquire(lease, "two", NOW + 45, 45)
    assert not await world.control.acquire(lease, "one", NOW + 46, 45)


async def test_its_holder_may_take_a_lease_again_and_thereby_longer(world: World) -> None:
    lease = unique("lease")
    assert await world.control.acquire(lease, "one", NOW, 10)
    assert await world.control.acquire(lease, "one", NOW + 5, 10)
    assert not await world.control.acquire(lease, "two", NOW + 12, 10)


async def test_a_lease_given_back_is_free(world: World) -> None:
    lease = unique("lease")
    assert await world.control.acquire(lease, "one", NOW, 45)
    await world.control.release(lease, "one")
    assert await world.control.acquire(lease, "two", NOW + 1, 45)


async def test_only_its_holder_gives_a_lease_back(world: World) -> None:
    lease = unique("lease")
    assert await world.control.acquire(lease, "one", NOW, 45)
    await world.control.release(lease, "two")
    await world.control.release(unique("lease"), "two")
    assert not await world.control.acquire(lease, "two", NOW + 1, 45)


async def test_of_eight_who_want_a_lease_at_once_one_gets_it(world: World) -> None:
    for _ in range(6):
        lease = unique("lease")
        got = await asyncio.gather(*(world.control.acquire(lease, f"owner-{n}", NOW, 45) for n in range(8)))
        assert sum(got) == 1


async def test_leases_of_different_names_do_not_exclude_each_other(world: World) -> None:
    one, other = unique("lease"), unique("lease")
    assert await world.control.acquire(one, "one", NOW, 45)
    assert await world.control.acquire(other, "two", NOW, 45)
