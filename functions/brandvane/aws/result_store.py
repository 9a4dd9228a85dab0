"""How are result rows kept in DynamoDB? The ``ResultStore`` port: precedence by round and attempt, history, counting."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from brandvane.aws.client import CONDITION_FAILED, Clients, Refused
from brandvane.aws.expressions import Expressions, both, either
from brandvane.aws.items import item_of, record_of
from brandvane.aws.keys import BY_RUN_INDEX, Tables, history_pk, history_sk
from brandvane.ports import Unavailable
from brandvane.result import RESULT_VERSION, ResultRow, result_pk

DAY_S = 86_400
TRIES = 5  # each failure means that another row was put in the meantime


class DynamoResultStore:
    """The results table. ``keep_days``: RESULT_KEEP_DAYS, after which a row may be removed."""

    def __init__(self, *, clients: Clients, tables: Tables, keep_days: int) -> None:
        self._clients = clients
        self._table = tables.results
        self._keep_s = keep_days * DAY_S

    async def put(self, row: ResultRow) -> bool:
        """Write the row; False when a later round's, this round's of another attempt, or its own that counts no more, is there.

        A row of an earlier round is copied to history first, and replaced only while it is the one that was copied.
        """
        seen: tuple[int, str] | None = None
        for _ in range(TRIES):
            there = await self._put(row, seen)
            if there is None:
                return True
            round_no, attempt_id = int(there["round"]["N"]), str(there["attempt_id"]["S"])
            own = (round_no, attempt_id) == (row.round, row.attempt_id)
            if round_no > row.round or (round_no == row.round and not own):
                return False
            if own and "run" not in there:
                return False  # the task was reopened since: put again, its old row would be counted for the new round
            if round_no < row.round:
                await self._keep_history(row, there, round_no)
                seen = (round_no, attempt_id)
        raise Unavailable(f"row {row.pk} {row.sk} kept changing")

    async def _put(self, row: ResultRow, seen: tuple[int, str] | None) -> Mapping[str, Any] | None:
        """Put unless another row than ``seen`` or this attempt's own, while it counts, is there; that other row, else None."""
        words = Expressions()
        allowed = [words.absent("pk"), both(_is(words, row.round, row.attempt_id), words.present("run"))]
        if seen is not None:
            allowed.append(_is(words, *seen))
        try:
            await self._clients.call(
                self._clients.dynamodb.put_item,
                TableName=self._table,
                Item=self._item(row),
                ConditionExpression=either(*allowed),
                ExpressionAttributeNames=words.names,
                ExpressionAttributeValues=words.values,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except Refused as refusal:
            if refusal.code != CONDITION_FAILED:
                raise
            return refusal.detail.get("Item") or await self._read(row.pk, row.sk)
        return None

    async def _read(self, pk: str, sk: str) -> Mapping[str, Any]:
        reply = await self._clients.call(
            self._clients.dynamodb.get_item,
            TableName=self._table,
            Key={"pk": {"S": pk}, "sk": {"S": sk}},
            ConsistentRead=True,
        )
        if "Item" not in reply:
            raise Unavailable(f"row {pk} {sk} vanished while it was being replaced")
        return reply["Item"]

    async def _keep_history(self, row: ResultRow, there: Mapping[str, Any], round_no: int) -> None:
        old: dict[str, Any] = {
            **there,
            "pk": {"S": history_pk(row.pk)},
            "sk": {"S": history_sk(round_no, row.sk)},
        }
        old.pop("run", None)  # history is never counted
        await self._clients.call(self._clients.dynamodb.put_item, TableName=self._table, Item=old)

    def _item(self, row: ResultRow) -> dict[str, Any]:
        return {
            **item_of(row),
            "pk": {"S": row.pk},
            "sk": {"S": row.sk},
            "run": {"S": row.run_id},
            "expires_at": {"N": str(int(row.written_at) + self._keep_s)},
        }

    async def count(self, run_id: str) -> int:
        """Counted rows of a run, through the index."""
        found = 0
        start: dict[str, Any] = {}
        while True:
            reply = await self._clients.call(
                self._clients.dynamodb.query,
                TableName=self._table,
                IndexName=BY_RUN_INDEX,
                Select="COUNT",
                KeyConditionExpression="#run = :run",
                ExpressionAttributeNames={"#run": "run"},
                ExpressionAttributeValues={":run": {"S": run_id}},
                **start,
            )
            found += reply["Count"]
            if not reply.get("LastEvaluatedKey"):
                return found
            start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}

    async def bucket(self, run_id: str, bucket: int) -> AsyncIterator[ResultRow]:
        """All rows of one bucket of a run, by sort key, read consistently page by page."""
        start: dict[str, Any] = {}
        while True:
            reply = await self._clients.call(
                self._clients.dynamodb.query,
                TableName=self._table,
                ConsistentRead=True,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": {"S": result_pk(run_id, bucket)}},
                **start,
            )
            for item in reply["Items"]:
                yield record_of(ResultRow, item, v=RESULT_VERSION)
            if not reply.get("LastEvaluatedKey"):
                return
            start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}


def _is(words: Expressions, round_no: int, attempt_id: str) -> str:
    return both(words.compare("round", "=", round_no), words.compare("attempt_id", "=", attempt_id))
