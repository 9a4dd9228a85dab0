"""DynamoDB carries a move out and its reply never arrives: the mover must find out that the move was its own."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

import emulator
from brandvane import moves
from brandvane.aws.client import Clients
from brandvane.aws.task_store import DynamoTaskStore
from brandvane.ports import Unavailable
from brandvane.run import Run
from brandvane.task import MOVES, TOUCHES, Change, Outcome, State, Task, Verdict
from builders import answer, together
from races.stage import Stage, message

NOW = 1_760_000_000.5
CHANGES: dict[str, Callable[[Task], Change]] = {
    "dispatch": lambda t: moves.dispatched(t.platform, t.dispatch_no, NOW + 30, NOW),
    "claim": lambda t: moves.claim(t.platform, t.dispatch_no, "attempt-2", NOW),
    "resend": lambda t: moves.resend(t, NOW, NOW),
    "redrive": lambda t: moves.redrive(t, NOW, NOW),
    "begin": lambda t: moves.begin(t, 75.0, 4, NOW),
    "release": lambda t: moves.release(t, NOW + 9, NOW),
    "give_back": lambda t: moves.give_back(t, NOW, NOW),
    "retry": lambda t: moves.retry(t, NOW + 10, NOW, "throttle_count", "rate_limited"),
    "rescue": lambda t: moves.rescue(t, NOW + 10, NOW),
    "answer": lambda t: moves.answered(t, Outcome.OK, NOW, answer=b"\x00a", answer_key=None),
    "fail": lambda t: moves.failed(t, Outcome.EMPTY, NOW, error_kind="empty"),
    "end": lambda t: moves.ended(t, Outcome.TIMEOUT, NOW, error_kind="timeout"),
    "end_final": lambda t: moves.ended(t, Outcome.CANCELLED, NOW, error_kind="cancelled", run_is_final=True),
    "finish": lambda t: moves.finished(t, NOW, 100.0),
    "heartbeat": lambda t: moves.heartbeat(t, 75.0, NOW),
    "defer": lambda t: moves.deferred(t, NOW + 21, NOW, failed_write=True),
    "extend": lambda t: moves.extended(t, NOW + 60, NOW),
}
ROWS = [(name, source) for name in CHANGES for source in sorted({**MOVES, **TOUCHES}[name].sources)]


def losing(endpoint: str, *, again: bool, share: float = 1.0, methods: tuple[str, ...] = ("update_item",)) -> Clients:
    """Clients whose replies get lost. ``again``: the SDK sends the request once more by itself, and that reply arrives."""
    clients = emulator.clients_for(endpoint)
    rng = random.Random(5)
    for name in methods:
        _lose(clients, name, rng, share, again=again)
    return clients


def _lose(clients: Clients, name: str, rng: random.Random, share: float, *, again: bool) -> None:
    service: Any = clients.s3 if name == "put_object" else clients.dynamodb
    send = getattr(service, name)

    def sent(**request: Any) -> Any:
        reply = send(**request)
        if rng.random() >= share:
            return reply
        if again:
            try:
                return send(**request)
            except ClientError as error:
                error.response["ResponseMetadata"]["RetryAttempts"] = 1  # as the SDK tells
                raise
        raise ConnectionClosedError(endpoint_url="lost")

    setattr(service, name, sent)


def test_every_move_but_the_transaction_has_its_race() -> None:
    assert set(CHANGES) == {*MOVES, *TOUCHES} - {"retry_failed"}


@pytest.mark.parametrize("again", [True, False], ids=["sdk-sends-again", "mover-tries-again"])
async def test_a_move_whose_reply_is_lost_is_known_for_ones_own(stage: Stage, again: bool) -> None:
    clients = losing(stage.endpoint, again=again)
    lossy = DynamoTaskStore(clients=clients, tables=stage.tables)
    sound = DynamoTaskStore(clients=stage.clients, tables=stage.tables)
    for place, (name, source) in enumerate(ROWS):
        outcome = Outcome.OK if source is State.WRITEBACK else None
        (task,) = await stage.put(1, source, first=place, act_at=NOW - 60, outcome=outcome, write_backs=2)
        change = CHANGES[name](task)
        if again:
            moved = await lossy.move(task.task_id, change)
        else:
            with pytest.raises(Unavailable):
                await lossy.move(task.task_id, change)
            moved = await sound.move(task.task_id, change)
        # A heartbeat of the same instant may be made twice; nothing else may.
        assert moved.verdict is (Verdict.MOVED if name == "heartbeat" else Verdict.ALREADY), name
        after = await sound.get(task.task_id)
        assert moved.task == after
        assert after is not None
        assert after.state is ((MOVES[name].target or State.DONE) if name in MOVES else source)
        grown = {field: getattr(after, field) - getattr(task, field) for field in change.add}
        assert grown == dict(change.add), name


async def test_a_reopening_whose_reply_is_lost_is_made_once(stage: Stage) -> None:
    clients = losing(stage.endpoint, again=True, methods=("transact_write_items",))
    await stage.open_run()
    (task,) = await stage.put(1, State.WRITEBACK, outcome=Outcome.TIMEOUT)
    bench = stage.engine()
    assert await bench.write_back.settle(task)
    (failed,) = await stage.records([task])
    (row,) = await stage.rows()
    change = moves.retried(failed, NOW, "attempt-9", NOW)
    lossy = stage.engine(clients=clients)
    done = await lossy.tasks.reopen(failed, change, row.pk, row.sk, stage.run.run_id, NOW, NOW)
    (after,) = await stage.records([task])
    run: Run | None = await bench.runs.get(stage.run.run_id)
    assert done
    assert (after.state, after.round, after.dispatch_no) == (State.PENDING, 2, 2)
    assert run is not None
    assert run.pass_no == 2


async def test_a_worker_whose_every_reply_is_lost_and_sent_again_calls_each_task_once(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(20, State.DISPATCHED)
    methods = ("update_item", "put_item", "put_object")
    worker = stage.engine(clients=losing(stage.endpoint, again=True, methods=methods))
    again = await worker.work([message(task) for task in tasks])
    assert again == frozenset()
    assert sorted(stage.asked) == sorted(task.task_id for task in tasks)
    assert {record.state for record in await stage.records(tasks)} == {State.DONE}
    assert sorted(row.task_id for row in await stage.rows()) == sorted(task.task_id for task in tasks)
    assert {row.paid_calls for row in await stage.rows()} == {1}


async def test_an_answer_whose_record_loses_half_its_replies_is_kept_once(stage: Stage) -> None:
    await stage.open_run()
    tasks = await stage.put(20, State.RUNNING)
    lossy = stage.engine(clients=losing(stage.endpoint, again=False, share=0.5))
    await together(*(lossy.delivery.take(task, 0, answer()) for task in tasks))
    left = [record for record in await stage.records(tasks) if record.state is not State.DONE]
    for record in left:  # the finish was refused: the write-back queue, or the scanner, comes again
        assert record.state is State.WRITEBACK
        await stage.engine().write_back.settle(record)
    assert {record.state for record in await stage.records(tasks)} == {State.DONE}
    assert sorted(row.task_id for row in await stage.rows()) == sorted(task.task_id for task in tasks)
    assert await stage.late() == []
