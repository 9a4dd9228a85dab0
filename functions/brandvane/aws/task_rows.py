"""How is one task's row found in DynamoDB? The ``RowReader`` port: by key, without reading the answers of others."""

from __future__ import annotations

from typing import Any

from brandvane.aws.client import Clients
from brandvane.aws.items import record_of
from brandvane.aws.keys import BY_RUN_INDEX, Tables, history_pk, history_sk
from brandvane.result import RESULT_VERSION, ResultRow, task_id_at


class DynamoTaskRows:
    """Reads the results table."""

    def __init__(self, *, clients: Clients, tables: Tables) -> None:
        self._clients = clients
        self._table = tables.results

    async def row(self, pk: str, sk: str) -> ResultRow | None:
        """The row at a key, counted or not."""
        reply = await self._clients.call(
            self._clients.dynamodb.get_item,
            TableName=self._table,
            Key={"pk": {"S": pk}, "sk": {"S": sk}},
            ConsistentRead=True,
        )
        return record_of(ResultRow, reply["Item"], v=RESULT_VERSION) if "Item" in reply else None

    async def earlier(self, row: ResultRow) -> list[ResultRow]:
        """Rows of earlier rounds; a round that was reopened before it had a row is left out."""
        past = [await self.row(history_pk(row.pk), history_sk(number, row.sk)) for number in range(1, row.round)]
        return [each for each in past if each is not None]

    async def find(self, run_id: str, task_id: str) -> ResultRow | None:
        """Look through the index, which holds the keys of a run's rows and nothing else."""
        start: dict[str, Any] = {}
        while True:
            reply = await self._clients.call(
                self._clients.dynamodb.query,
                TableName=self._table,
                IndexName=BY_RUN_INDEX,
                KeyConditionExpression="#run = :run",
                ExpressionAttributeNames={"#run": "run"},
                ExpressionAttributeValues={":run": {"S": run_id}},
                **start,
            )
            for item in reply["Items"]:
                if task_id_at(run_id, item["sk"]["S"]) == task_id:
                    return await self.row(item["pk"]["S"], item["sk"]["S"])
            if not reply.get("LastEvaluatedKey"):
                return None
            start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}
