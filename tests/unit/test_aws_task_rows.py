"""How is one task's row found in DynamoDB, and are the answers of others left unread?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from brandvane.aws.items import item_of
from brandvane.aws.keys import tables_of
from brandvane.aws.task_rows import DynamoTaskRows
from brandvane.result import ResultRow, key_of, row_of
from brandvane.task import State
from builders import NOW, task
from unit.aws_fakes import FakeClient, clients_with

DONE = task(State.DONE, round=3)
ROW = row_of(DONE, NOW)


def _rows(**replies: list[Any]) -> tuple[DynamoTaskRows, FakeClient]:
    client = FakeClient(**replies)
    return DynamoTaskRows(clients=clients_with(dynamodb=client), tables=tables_of("s")), client


def _item(row: ResultRow) -> dict[str, Any]:
    return {"Item": {**item_of(row), "pk": {"S": row.pk}, "sk": {"S": row.sk}}}


async def test_a_row_is_read_by_the_key_that_its_record_says() -> None:
    rows, client = _rows(get_item=[_item(ROW)])

    assert await rows.row(*key_of(DONE)) == ROW
    (sent,) = client.sent("get_item")
    assert sent["Key"] == {"pk": {"S": ROW.pk}, "sk": {"S": ROW.sk}}
    assert sent["ConsistentRead"] is True


async def test_rows_of_earlier_rounds_are_read_from_history_and_a_round_without_one_is_left_out() -> None:
    first = replace(ROW, round=1)
    rows, client = _rows(get_item=[_item(first), {}])

    assert await rows.earlier(ROW) == [first]
    assert [sent["Key"]["sk"]["S"] for sent in client.sent("get_item")] == [f"1#{ROW.sk}", f"2#{ROW.sk}"]
    assert client.sent("get_item")[0]["Key"]["pk"]["S"] == f"history#{ROW.pk}"


async def test_a_task_without_a_record_is_found_in_the_keys_of_its_run_page_by_page() -> None:
    other = {"pk": {"S": ROW.pk}, "sk": {"S": "openai/m1#cd#de#1"}}
    own = {"pk": {"S": ROW.pk}, "sk": {"S": ROW.sk}}
    pages = [{"Items": [other], "LastEvaluatedKey": other}, {"Items": [own]}]
    rows, client = _rows(query=pages, get_item=[_item(ROW)])

    assert await rows.find("r1", DONE.task_id) == ROW
    assert [sent["IndexName"] for sent in client.sent("query")] == ["by_run", "by_run"]
    assert client.sent("query")[1]["ExclusiveStartKey"] == other


async def test_a_task_that_the_run_does_not_have_is_not_found() -> None:
    rows, _ = _rows(query=[{"Items": []}])

    assert await rows.find("r1", "f" * 32) is None
