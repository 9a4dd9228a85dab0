"""How are the workers' stats kept in DynamoDB? The ``StatStore`` port: one item a platform, minute and invocation."""

from __future__ import annotations

from typing import Any

from brandvane.aws.client import CONDITION_FAILED, Clients, Refused
from brandvane.aws.items import item_of, record_of
from brandvane.aws.keys import Tables, stat_at, stat_range
from brandvane.stat import Stat

KEEP_DAYS = 14  # the planner's hold time comes from the last runs
DAY_S = 86_400
STAT_ITEM_VERSION = 1


class DynamoStatStore:
    """The stats table."""

    def __init__(self, *, clients: Clients, tables: Tables, keep_days: int = KEEP_DAYS) -> None:
        self._clients = clients
        self._table = tables.stats
        self._keep_s = keep_days * DAY_S

    async def put(self, stat: Stat) -> None:
        """Write once; a repeat changes nothing."""
        try:
            await self._clients.call(
                self._clients.dynamodb.put_item,
                TableName=self._table,
                Item={
                    **item_of(stat),
                    "at": {"S": stat_at(stat.minute, stat.invocation)},
                    "expires_at": {"N": str(stat.minute * 60 + self._keep_s)},
                },
                ConditionExpression="attribute_not_exists(platform)",
            )
        except Refused as refusal:
            if refusal.code != CONDITION_FAILED:
                raise

    async def since(self, platform: str, start: float, end: float) -> list[Stat]:
        """Items of the minutes that hold ``start`` and ``end`` and of those between, in their order (eventually consistent)."""
        if end < start:
            return []  # DynamoDB refuses a range whose end comes first
        first, last = stat_range(int(start // 60), int(end // 60))
        stats: list[Stat] = []
        position: dict[str, Any] = {}
        while True:
            reply = await self._clients.call(
                self._clients.dynamodb.query,
                TableName=self._table,
                KeyConditionExpression="platform = :platform AND #at BETWEEN :first AND :last",
                ExpressionAttributeNames={"#at": "at"},
                ExpressionAttributeValues={
                    ":platform": {"S": platform},
                    ":first": {"S": first},
                    ":last": {"S": last},
                },
                **position,
            )
            stats += [record_of(Stat, item, v=STAT_ITEM_VERSION) for item in reply["Items"]]
            if not reply.get("LastEvaluatedKey"):
                return stats
            position = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}
