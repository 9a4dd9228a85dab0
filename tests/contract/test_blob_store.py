"""Objects: written, read, listed, in every world."""

from __future__ import annotations

from contract.worlds import World, unique


async def test_an_object_reads_back_byte_for_byte(world: World) -> None:
    key = f"{unique('answers')}/甲 b+c.json"
    body = bytes(range(256)) * 5000
    await world.blobs.put(key, body, "application/octet-stream")
    assert await world.blobs.get(key) == body


async def test_an_object_that_is_not_there_reads_as_none(world: World) -> None:
    assert await world.blobs.get(unique("none-such")) is None


async def test_an_empty_object_is_an_object(world: World) -> None:
    key = unique("empty")
    await world.blobs.put(key, b"", "text/plain")
    assert await world.blobs.get(key) == b""


async def test_writing_again_replaces(world: World) -> None:
    key = unique("object")
    await world.blobs.put(key, b"one", "text/plain")
    await world.blobs.put(key, b"two", "text/plain")
    assert await world.blobs.get(key) == b"two"


async def test_keys_below_a_prefix_come_sorted_and_no_others(world: World) -> None:
    prefix = unique("scores")
    for name in ("bucket-02.json", "bucket-10.json", "bucket-01.json"):
        await world.blobs.put(f"{prefix}/pass-1/{name}", b"{}", "application/json")
    await world.blobs.put(f"{prefix}x/pass-1/bucket-00.json", b"{}", "application/json")
    assert await world.blobs.keys(f"{prefix}/pass-1/") == [
        f"{prefix}/pass-1/bucket-01.json",
        f"{prefix}/pass-1/bucket-02.json",
        f"{prefix}/pass-1/bucket-10.json",
    ]
    assert await world.blobs.keys(f"{prefix}/pass-2/") == []
