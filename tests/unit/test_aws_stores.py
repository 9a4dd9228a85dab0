"""What the DynamoDB adapters make of lost replies, older editions and others' hands in the same run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane import moves
from brandvane.aws.client import Refused
from brandvane.aws.control_store import DynamoControlStore
from brandvane.aws.items import item_of
from brandvane.aws.keys import tables_of
from brandvane.aws.reopen import TRIES
from brandvane.aws.result_store import DynamoResultStore
from brandvane.aws.run_store import DynamoRunStore
from brandvane.aws.task_store import DynamoTaskStore
from brandvane.control import Control, next_revision
from brandvane.ports import Unavailable
from brandvane.run import RunState
from brandvane.task import Change, Moved, State, Task, Verdict
from contract.samples import CHANGES, NOW, row, run, task
from unit.aws_fakes import FakeClient, clients_with, refusal

TABLES = tables_of("st")
FAILED_CONDITION = "ConditionalCheckFailedException"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brandvane.aws.reopen.PAUSE_S", 0.0)


def tasks_of(dynamodb: FakeClient) -> DynamoTaskStore:
    return DynamoTaskStore(clients=clients_with(dynamodb=dynamodb), tables=TABLES)


def claimed(record: Task) -> tuple[Change, Task]:
    change = moves.claim(record.platform, record.dispatch_no, "attempt-2", NOW)
    return change, replace(record, **change.put)


async def test_a_move_whose_reply_was_lost_is_told_by_the_old_item() -> None:
    change, after = claimed(task(State.DISPATCHED))
    dynamodb = FakeClient(update_item=[refusal(FAILED_CONDITION, retries=1, Item=item_of(after))])
    assert await tasks_of(dynamodb).move(after.task_id, change) == Moved(Verdict.ALREADY, after)
    assert dynamodb.sent("get_item") == []


async def test_where_a_refusal_carries_no_item_the_record_is_read() -> None:
    change, after = claimed(task(State.DISPATCHED))
    dynamodb = FakeClient(update_item=[refusal(FAILED_CONDITION)], get_item=[{"Item": item_of(after)}])
    assert await tasks_of(dynamodb).move(after.task_id, change) == Moved(Verdict.ALREADY, after)
    assert dynamodb.sent("get_item")[0]["ConsistentRead"] is True


async def test_a_refused_move_that_would_hold_on_what_is_read_later_is_lost() -> None:
    record = task(State.DISPATCHED)
    change, _ = claimed(record)
    dynamodb = FakeClient(update_item=[refusal(FAILED_CONDITION)], get_item=[{"Item": item_of(record)}])
    assert await tasks_of(dynamodb).move(record.task_id, change) == Moved(Verdict.LOST, record)


async def test_a_throttled_move_is_unavailable() -> None:
    change, after = claimed(task(State.DISPATCHED))
    dynamodb = FakeClient(update_item=[refusal("ThrottlingException")])
    with pytest.raises(Unavailable):
        await tasks_of(dynamodb).move(after.task_id, change)


async def test_a_refusal_that_is_no_condition_is_raised() -> None:
    change, after = claimed(task(State.DISPATCHED))
    dynamodb = FakeClient(update_item=[refusal("AccessDeniedException")])
    with pytest.raises(Refused, match="AccessDeniedException"):
        await tasks_of(dynamodb).move(after.task_id, change)


async def test_creating_when_some_puts_are_throttled_still_tries_all_of_them() -> None:
    dynamodb = FakeClient(put_item=[{}, refusal("ThrottlingException"), {}, {}])
    with pytest.raises(Unavailable):
        await tasks_of(dynamodb).create([task() for _ in range(4)])
    assert len(dynamodb.sent("put_item")) == 4


def cancelled(*codes: str) -> Exception:
    return refusal("TransactionCanceledException", CancellationReasons=[{"Code": code} for code in codes])


async def reopen(dynamodb: FakeClient, record: Task) -> bool:
    change = CHANGES["retry_failed"](record)
    return await tasks_of(dynamodb).reopen(record, change, "pk", "sk", record.run_id, NOW, NOW)


async def test_reopening_reads_the_run_again_when_it_was_changed_meanwhile() -> None:
    record = task(State.FAILED)
    first, second = run(record.run_id), run(record.run_id, pass_no=5)
    dynamodb = FakeClient(
        get_item=[{"Item": item_of(first)}, {"Item": item_of(second)}],
        transact_write_items=[cancelled("None", "None", "ConditionalCheckFailed"), {}],
    )
    assert await reopen(dynamodb, record)
    put: Any = dynamodb.sent("transact_write_items")[1]["TransactItems"][2]["Update"]
    assert {"N": "6"} in put["ExpressionAttributeValues"].values()


async def test_reopening_tries_again_after_a_conflict() -> None:
    record = task(State.FAILED)
    dynamodb = FakeClient(
        get_item=[{"Item": item_of(run(record.run_id))}] * 2,
        transact_write_items=[cancelled("TransactionConflict", "None", "None"), {}],
    )
    assert await reopen(dynamodb, record)


async def test_reopening_gives_up_when_the_run_never_holds_still() -> None:
    record = task(State.FAILED)
    dynamodb = FakeClient(
        get_item=[{"Item": item_of(run(record.run_id))}] * TRIES,
        transact_write_items=[cancelled("None", "None", "TransactionConflict")] * TRIES,
    )
    with pytest.raises(Unavailable, match="kept changing"):
        await reopen(dynamodb, record)


async def test_reopening_whose_reply_was_lost_is_told_by_the_record() -> None:
    record = task(State.FAILED)
    change = CHANGES["retry_failed"](record)
    after = replace(record, **change.put, round=2, dispatch_no=3)
    dynamodb = FakeClient(
        get_item=[{"Item": item_of(run(record.run_id))}, {"Item": item_of(after)}],
        transact_write_items=[cancelled("ConditionalCheckFailed", "None", "None")],
    )
    assert await reopen(dynamodb, record)


async def test_a_run_change_whose_reply_was_lost_is_ours() -> None:
    after = run(counted=4)
    dynamodb = FakeClient(update_item=[refusal(FAILED_CONDITION, retries=1)], get_item=[{"Item": item_of(after)}])
    runs = DynamoRunStore(clients=clients_with(dynamodb=dynamodb), tables=TABLES)
    assert await runs.change(after.run_id, {"counted": 3}, {"counted": 4}) == after


async def test_a_run_change_that_was_sent_once_and_refused_is_not_ours_though_it_shows() -> None:
    after = run(counted=4)
    dynamodb = FakeClient(update_item=[refusal(FAILED_CONDITION)])
    runs = DynamoRunStore(clients=clients_with(dynamodb=dynamodb), tables=TABLES)
    assert await runs.change(after.run_id, {"counted": 3}, {"counted": 4}) is None


async def test_a_mark_refused_after_a_resend_is_refused() -> None:
    after = run(pass_no=2)
    dynamodb = FakeClient(update_item=[refusal(FAILED_CONDITION, retries=1)], get_item=[{"Item": item_of(after)}])
    runs = DynamoRunStore(clients=clients_with(dynamodb=dynamodb), tables=TABLES)
    assert await runs.mark(after.run_id, 1, "scored", 3, NOW) is None


async def test_a_created_run_whose_reply_was_lost_is_ours() -> None:
    of = run()
    dynamodb = FakeClient(put_item=[refusal(FAILED_CONDITION, retries=2)], get_item=[{"Item": item_of(of)}])
    assert await DynamoRunStore(clients=clients_with(dynamodb=dynamodb), tables=TABLES).create(of)


async def test_sweeping_a_run_whose_state_changes_meanwhile_reads_it_again() -> None:
    opened, cancelled_run = run(), run(state=RunState.CANCELLED)
    swept = replace(cancelled_run, swept=True)
    dynamodb = FakeClient(
        get_item=[{"Item": item_of(opened)}, {"Item": item_of(cancelled_run)}],
        update_item=[refusal(FAILED_CONDITION), {"Attributes": item_of(swept)}],
    )
    runs = DynamoRunStore(clients=clients_with(dynamodb=dynamodb), tables=TABLES)
    assert await runs.change(opened.run_id, {"swept": False}, {"swept": True}) == swept
    assert "REMOVE" in dynamodb.sent("update_item")[1]["UpdateExpression"]


async def test_a_field_that_no_run_has_is_named() -> None:
    runs = DynamoRunStore(clients=clients_with(dynamodb=FakeClient()), tables=TABLES)
    with pytest.raises(ValueError, match="a run has no field colour"):
        await runs.change("r", {}, {"colour": "red"})


async def test_a_control_item_replaced_with_its_reply_lost_is_stored() -> None:
    old = Control("gpt", revision=4)
    new = replace(old, epoch=9)
    stored: Any = item_of(next_revision(old, new))
    dynamodb = FakeClient(update_item=[refusal(FAILED_CONDITION, retries=1, Item=stored)])
    control = DynamoControlStore(clients=clients_with(dynamodb=dynamodb), tables=TABLES)
    assert await control.replace(old, new) is None


@pytest.mark.parametrize("retries", [0, 1])  # of the client: after one, its own work would look the same
async def test_two_who_want_the_same_new_control_item_do_not_both_get_it(retries: int) -> None:
    old = Control("gpt", revision=4)
    new = replace(old, epoch=9, written_by="worker-a/1")
    stored = next_revision(old, replace(new, written_by="worker-b/1"))
    dynamodb = FakeClient(update_item=[refusal(FAILED_CONDITION, retries=retries, Item=item_of(stored))])
    control = DynamoControlStore(clients=clients_with(dynamodb=dynamodb), tables=TABLES)
    assert await control.replace(old, new) == stored


async def test_a_row_that_was_replaced_while_it_was_copied_is_copied_anew() -> None:
    first, second, third = (row(round=number, attempt_id=f"attempt-{number}") for number in (1, 2, 3))
    dynamodb = FakeClient(
        put_item=[
            refusal(FAILED_CONDITION, Item=item_of(first)),
            {},  # history of the first
            refusal(FAILED_CONDITION, Item=item_of(second)),
            {},  # history of the second
            {},
        ]
    )
    results = DynamoResultStore(clients=clients_with(dynamodb=dynamodb), tables=TABLES, keep_days=1)
    assert await results.put(third)
    history = [put["Item"]["sk"]["S"][0] for put in dynamodb.sent("put_item") if "ConditionExpression" not in put]
    assert history == ["1", "2"]
