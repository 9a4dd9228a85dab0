"""Every row of the moves table, in every world: where it is allowed, where it is refused, and what a lost reply does."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from brandvane import moves
from brandvane.task import MOVES, RECORD_VERSION, TOUCHES, Moved, Outcome, State, Task, Verdict
from contract.samples import CHANGES, NOW, task
from contract.worlds import World

RULES = {**MOVES, **TOUCHES}
ALLOWED = [(name, state) for name, rule in RULES.items() for state in sorted(rule.sources)]
REFUSED = [(name, state) for name, rule in RULES.items() for state in State if state not in rule.sources]
FENCES = [(name, fence) for name, rule in RULES.items() for fence in rule.same]
OVERDUE_ONLY = [name for name, rule in RULES.items() if rule.overdue]

# What these moves leave behind cannot be told from the record they find there: their own earlier try.
LOOKS_DONE = {
    ("dispatch", State.DISPATCHED),
    ("begin", State.RUNNING),
    ("finish", State.DONE),
}


def before(name: str, state: State | None = None) -> Task:
    """A record on which the move is allowed (or the same in another state)."""
    return task(state or min(RULES[name].sources))


async def stored(world: World, record: Task) -> Task:
    assert await world.tasks.create([record]) == 1
    return record


def expected(record: Task, name: str) -> Task:
    change = CHANGES[name](record)
    return replace(record, **change.put, **{field: getattr(record, field) + by for field, by in change.add.items()})


def test_every_move_and_touch_has_a_sample() -> None:
    assert set(CHANGES) == set(RULES)


@pytest.mark.parametrize(("name", "state"), ALLOWED)
async def test_a_move_is_allowed_from_each_of_its_sources(world: World, name: str, state: State) -> None:
    record = await stored(world, before(name, state))
    # The walk of a final run leaves RUNNING records to the overdue move; all others are asked for as they stand.
    moved = await world.tasks.move(record.task_id, CHANGES[name](record))
    assert moved == Moved(Verdict.MOVED, expected(record, name))
    assert await world.tasks.get(record.task_id) == moved.task


@pytest.mark.parametrize(("name", "state"), REFUSED)
async def test_a_move_is_refused_from_every_other_state(world: World, name: str, state: State) -> None:
    wanted = CHANGES[name](before(name))
    record = await stored(world, task(state))
    # The fences are those of the record that is there, so that nothing but its state can refuse the move.
    wanted = replace(wanted, same={field: getattr(record, field) for field in wanted.same}, not_after=None)
    moved = await world.tasks.move(record.task_id, wanted)
    verdict = Verdict.ALREADY if (name, state) in LOOKS_DONE else Verdict.LOST
    assert moved == Moved(verdict, record)
    assert await world.tasks.get(record.task_id) == record


OTHER_VALUE: dict[str, Any] = {"dispatch_no": 3, "attempt_id": "attempt-9", "act_at": NOW - 99.5, "round": 2}


@pytest.mark.parametrize(("name", "fence"), FENCES)
async def test_each_fence_refuses_a_record_that_differs_in_it(world: World, name: str, fence: str) -> None:
    read = before(name)
    record = await stored(world, replace(read, **{fence: OTHER_VALUE[fence]}))
    moved = await world.tasks.move(record.task_id, CHANGES[name](read))
    assert moved == Moved(Verdict.LOST, record)
    assert await world.tasks.get(record.task_id) == record


@pytest.mark.parametrize("name", OVERDUE_ONLY)
async def test_the_scanner_leaves_a_record_whose_time_is_less_than_two_seconds_over(world: World, name: str) -> None:
    record = await stored(world, replace(before(name), act_at=NOW - 1.875))
    assert (await world.tasks.move(record.task_id, CHANGES[name](record))).verdict is Verdict.LOST
    assert await world.tasks.get(record.task_id) == record


@pytest.mark.parametrize("name", OVERDUE_ONLY)
async def test_the_scanner_takes_a_record_whose_time_is_exactly_two_seconds_over(world: World, name: str) -> None:
    record = await stored(world, replace(before(name), act_at=NOW - 2.0))
    assert (await world.tasks.move(record.task_id, CHANGES[name](record))).verdict is Verdict.MOVED


@pytest.mark.parametrize("name", sorted(set(RULES) - {"heartbeat"}))
async def test_a_move_carried_out_twice_is_ours_and_changes_nothing_more(world: World, name: str) -> None:
    record = await stored(world, before(name))
    change = CHANGES[name](record)
    first = await world.tasks.move(record.task_id, change)
    again = await world.tasks.move(record.task_id, change)
    assert (first.verdict, again.verdict) == (Verdict.MOVED, Verdict.ALREADY)
    assert again.task == first.task == await world.tasks.get(record.task_id)


async def test_a_heartbeat_sent_twice_only_says_the_same_again(world: World) -> None:
    record = await stored(world, before("heartbeat"))
    change = CHANGES["heartbeat"](record)
    first = await world.tasks.move(record.task_id, change)
    assert await world.tasks.move(record.task_id, change) == first


async def test_a_heartbeat_of_a_worker_that_lost_its_lease_is_not_ours(world: World) -> None:
    stalled = before("heartbeat")
    record = await stored(world, replace(stalled, attempt_id="attempt-2"))
    assert await world.tasks.move(record.task_id, CHANGES["heartbeat"](stalled)) == Moved(Verdict.LOST, record)


@pytest.mark.parametrize("field", ["outcome", "answer", "answer_key"])
async def test_another_outcome_or_answer_in_the_record_is_not_our_lost_reply(world: World, field: str) -> None:
    running = task(State.RUNNING)
    change = moves.failed(running, Outcome.EMPTY, NOW, error_kind="empty", answer=b"x", answer_key="answers/x")
    there: dict[str, Any] = {"outcome": Outcome.TIMEOUT, "answer": None, "answer_key": None}
    same = {"outcome": Outcome.EMPTY, "answer": b"x", "answer_key": "answers/x"}
    record = await stored(world, replace(task(State.WRITEBACK), **{**same, field: there[field]}))
    assert await world.tasks.move(record.task_id, change) == Moved(Verdict.LOST, record)


async def test_a_record_of_a_newer_version_is_left_alone(world: World) -> None:
    record = await stored(world, replace(before("claim"), v=RECORD_VERSION + 1))
    assert await world.tasks.move(record.task_id, CHANGES["claim"](record)) == Moved(Verdict.LOST, record)
    assert await world.tasks.get(record.task_id) == record


async def test_a_move_of_a_record_that_does_not_exist_is_lost_and_makes_none(world: World) -> None:
    record = before("claim")
    assert await world.tasks.move(record.task_id, CHANGES["claim"](record)) == Moved(Verdict.LOST, None)
    assert await world.tasks.get(record.task_id) is None


async def test_a_fence_on_an_absent_field_holds_only_while_it_is_absent(world: World) -> None:
    unwatched = await stored(world, task(State.PENDING, act_at=None, watch=None))
    ended = CHANGES["end_final"](unwatched)
    assert (await world.tasks.move(unwatched.task_id, ended)).verdict is Verdict.MOVED
    watched = await stored(world, task(State.PENDING))
    assert (await world.tasks.move(watched.task_id, replace(ended, proof={}))).verdict is Verdict.LOST


async def test_an_answer_after_a_rescue_counts_until_somebody_claims_the_task(world: World) -> None:
    record = await stored(world, task(State.RUNNING))
    answered = CHANGES["answer"](record)
    rescued = (await world.tasks.move(record.task_id, CHANGES["rescue"](record))).task
    assert rescued is not None
    assert rescued.state is State.PENDING
    assert (await world.tasks.move(record.task_id, answered)).verdict is Verdict.MOVED


async def test_an_answer_after_a_new_claim_is_late(world: World) -> None:
    record = await stored(world, task(State.RUNNING))
    answered = CHANGES["answer"](record)
    rescued = (await world.tasks.move(record.task_id, CHANGES["rescue"](record))).task
    assert rescued is not None
    claimed = await world.tasks.move(
        record.task_id, moves.claim(rescued.platform, rescued.dispatch_no, "attempt-2", NOW)
    )
    assert await world.tasks.move(record.task_id, answered) == Moved(Verdict.LOST, claimed.task)


async def test_a_message_of_an_earlier_wait_claims_nothing(world: World) -> None:
    record = await stored(world, task(State.DISPATCHED))
    stale = moves.claim(record.platform, record.dispatch_no - 1, "attempt-2", NOW)
    assert await world.tasks.move(record.task_id, stale) == Moved(Verdict.LOST, record)


@pytest.mark.parametrize("turn", range(6))
async def test_of_eight_claims_at_once_exactly_one_wins(world: World, turn: int) -> None:
    record = await stored(world, task(State.DISPATCHED))
    claims = [moves.claim(record.platform, record.dispatch_no, f"racer-{turn}-{n}", NOW) for n in range(8)]
    moved = await asyncio.gather(*(world.tasks.move(record.task_id, claim) for claim in claims))
    assert Counter(each.verdict for each in moved) == {Verdict.MOVED: 1, Verdict.LOST: 7}
    winner = next(each.task for each in moved if each.verdict is Verdict.MOVED)
    assert await world.tasks.get(record.task_id) == winner


@pytest.mark.parametrize("turn", range(6))
async def test_of_scanner_and_worker_at_once_exactly_one_wins(world: World, turn: int) -> None:
    record = await stored(world, task(State.RUNNING, dispatch_no=turn + 1))
    answer, rescue, end = (CHANGES[name](record) for name in ("answer", "rescue", "end"))
    moved = await asyncio.gather(*(world.tasks.move(record.task_id, change) for change in (answer, rescue, end)))
    won = [each for each in moved if each.verdict is Verdict.MOVED]
    # An answer is still taken from a rescued record, so it may win after the rescue; nothing else wins twice.
    assert len(won) == 1 or (len(won) == 2 and moved[0] in won and moved[1] in won)
    final = await world.tasks.get(record.task_id)
    assert final is not None
    assert final in [each.task for each in won]
