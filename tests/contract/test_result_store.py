"""Result rows: precedence by round and attempt, history, counting, reading by bucket, in every world."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from brandvane.result import ResultRow
from brandvane.task import BUCKETS, Outcome, State, bucket_of, prompt_hash_of
from contract.samples import NOW, row, task
from contract.worlds import World, unique


async def rows_of(world: World, run_id: str, bucket: int) -> list[ResultRow]:
    return [each async for each in world.results.bucket(run_id, bucket)]


async def kept(world: World, like: ResultRow) -> list[ResultRow]:
    """The rows of the partition that ``like`` is in."""
    return await rows_of(world, like.run_id, bucket_of(like.prompt_hash))


async def history(world: World, like: ResultRow) -> list[ResultRow]:
    """The rows of earlier rounds: their partition is named like a bucket of run ``history#…``."""
    return await rows_of(world, f"history#{like.run_id}", bucket_of(like.prompt_hash))


async def test_a_row_reads_back_as_it_was(world: World) -> None:
    plain = row(answer=b"\x78\x9c\x00\xff", started_at=NOW - 0.1, paid_calls=2)
    assert await world.results.put(plain)
    assert await kept(world, plain) == [plain]


async def test_a_row_without_answer_reads_back_as_it_was(world: World) -> None:
    minimal = row(
        answer=None, answer_key="answers/x", minimal=True, outcome=Outcome.RETRIES_USED_UP, error_kind="empty"
    )
    assert await world.results.put(minimal)
    assert await kept(world, minimal) == [minimal]


async def test_the_same_attempt_may_write_its_row_again(world: World) -> None:
    first = row()
    again = replace(first, written_at=NOW + 5, write_backs=1)
    assert await world.results.put(first)
    assert await world.results.put(again)
    assert await kept(world, first) == [again]
    assert await history(world, first) == []


async def test_another_attempt_of_the_same_round_does_not_replace_a_row(world: World) -> None:
    first = row()
    assert await world.results.put(first)
    assert not await world.results.put(replace(first, attempt_id="attempt-9", outcome=Outcome.REFUSED))
    assert await kept(world, first) == [first]


async def test_a_later_round_replaces_a_row_which_is_then_history(world: World) -> None:
    first = row(outcome=Outcome.TIMEOUT, error_kind="timeout", answer=None)
    second = replace(first, round=2, attempt_id="attempt-7", outcome=Outcome.OK, error_kind=None, answer=b"at last")
    assert await world.results.put(first)
    assert await world.results.put(second)
    assert await kept(world, first) == [second]
    assert await history(world, first) == [first]


async def test_every_earlier_round_is_kept_in_history(world: World) -> None:
    rounds = [row(outcome=Outcome.TIMEOUT)]
    rounds += [replace(rounds[0], round=number, attempt_id=f"attempt-{number}") for number in (2, 3)]
    for each in rounds:
        assert await world.results.put(each)
    assert await kept(world, rounds[0]) == [rounds[2]]
    assert await history(world, rounds[0]) == rounds[:2]


async def test_an_earlier_round_never_replaces_a_later_one(world: World) -> None:
    first = row()
    second = replace(first, round=2, attempt_id="attempt-7")
    assert await world.results.put(second)
    assert not await world.results.put(first)
    assert await kept(world, first) == [second]
    assert await history(world, first) == []


async def test_old_round_against_new_at_once_leaves_the_new_one_and_counts_one(world: World) -> None:
    for _ in range(6):
        first = row()
        second = replace(first, round=2, attempt_id="attempt-7")
        old, new = await asyncio.gather(world.results.put(first), world.results.put(second))
        assert new
        assert await kept(world, first) == [second]
        # Whether the old one was there first decides whether it is history; it is never lost halfway.
        assert await history(world, first) == ([first] if old else [])
        assert await world.results.count(first.run_id) == 1


async def test_of_attempts_of_one_round_at_once_one_wins(world: World) -> None:
    for _ in range(6):
        first = row()
        rivals = [replace(first, attempt_id=f"attempt-{number}") for number in range(8)]
        won = await asyncio.gather(*(world.results.put(each) for each in rivals))
        assert sum(won) == 1
        assert await kept(world, first) == [rivals[won.index(True)]]


async def test_rows_are_counted_by_run_and_each_once(world: World) -> None:
    one, other = unique("run"), unique("run")
    hashes = [prompt_hash_of(str(number)) for number in range(25)]
    for each in hashes:
        planned = task(State.WRITEBACK, run_id=one, prompt_hash=each)
        assert await world.results.put(row(planned))
        assert await world.results.put(row(planned))
    assert await world.results.put(row(task(State.WRITEBACK, run_id=other)))
    assert await world.results.count(one) == 25
    assert await world.results.count(other) == 1
    assert await world.results.count(unique("run")) == 0


async def test_history_is_not_counted(world: World) -> None:
    first = row()
    assert await world.results.put(first)
    assert await world.results.put(replace(first, round=2, attempt_id="attempt-7"))
    assert await world.results.count(first.run_id) == 1


async def test_the_buckets_of_a_run_hold_all_its_rows_in_order_of_their_keys(world: World) -> None:
    run_id, platform = unique("run"), unique("platform")
    planned = [
        row(task(State.WRITEBACK, run_id=run_id, platform=platform, prompt_hash=prompt_hash_of(str(number))))
        for number in range(40)
    ]
    for each in planned:
        assert await world.results.put(each)
    read = [await rows_of(world, run_id, bucket) for bucket in range(BUCKETS)]
    for bucket, rows in enumerate(read):
        wanted = [each for each in planned if bucket_of(each.prompt_hash) == bucket]
        assert rows == sorted(wanted, key=lambda each: each.sk)


async def test_a_bucket_larger_than_one_page_is_read_to_its_end(world: World) -> None:
    # DynamoDB ends a page at 1 MB.
    run_id = unique("run")
    big = [
        row(task(State.WRITEBACK, run_id=run_id, prompt_hash="0" * 24, sample=n), answer=bytes(200_000))
        for n in range(9)
    ]
    for each in big:
        assert await world.results.put(each)
    assert await rows_of(world, run_id, 0) == sorted(big, key=lambda each: each.sk)
