"""What workers report: once, and found by platform and minute, in every world."""

from __future__ import annotations

from dataclasses import replace

from brandvane.stat import Stat
from contract.worlds import World, unique

MINUTE = 29_333_333


def stat(platform: str, minute: int = MINUTE, invocation: str = "i1") -> Stat:
    return Stat(
        platform=platform,
        minute=minute,
        invocation=invocation,
        calls=10,
        answered=7,
        failed=1,
        retried=2,
        throttled=1,
        kinds={"timeout": 2, "rate_limited": 1},
        latencies=(0.1 + 0.2, 12.5, 1e-07),
        queue_wait_s=0.125,
        hold_s=31.0625,
        cost_microusd=123_456_789,
    )


async def test_a_stat_reads_back_as_it_was(world: World) -> None:
    put = stat(unique("platform"))
    await world.stats.put(put)
    assert await world.stats.since(put.platform, MINUTE * 60, MINUTE * 60 + 59) == [put]


async def test_a_stat_of_nothing_reads_back_as_it_was(world: World) -> None:
    empty = Stat(platform=unique("platform"), minute=MINUTE, invocation="i1")
    await world.stats.put(empty)
    assert await world.stats.since(empty.platform, MINUTE * 60, MINUTE * 60) == [empty]


async def test_a_repeated_put_changes_nothing(world: World) -> None:
    put = stat(unique("platform"))
    await world.stats.put(put)
    await world.stats.put(replace(put, calls=99))
    assert await world.stats.since(put.platform, MINUTE * 60, MINUTE * 60) == [put]


async def test_the_minutes_of_both_ends_are_included_and_no_others(world: World) -> None:
    platform = unique("platform")
    stats = [stat(platform, MINUTE + offset, f"i{offset}") for offset in range(5)]
    for each in reversed(stats):
        await world.stats.put(each)
    await world.stats.put(stat(unique("platform"), MINUTE + 2))
    assert await world.stats.since(platform, (MINUTE + 1) * 60 + 59.9, (MINUTE + 3) * 60 + 0.5) == stats[1:4]


async def test_invocations_of_one_minute_are_all_there(world: World) -> None:
    platform = unique("platform")
    stats = [stat(platform, invocation=name) for name in ("a", "b", "\u00e9")]
    for each in stats:
        await world.stats.put(each)
    assert await world.stats.since(platform, MINUTE * 60, MINUTE * 60) == stats


async def test_a_range_that_ends_before_it_begins_is_empty(world: World) -> None:
    platform = unique("platform")
    await world.stats.put(stat(platform))
    assert await world.stats.since(platform, (MINUTE + 5) * 60, MINUTE * 60) == []
