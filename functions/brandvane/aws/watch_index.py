"""Who must act on which task, and when? Queries of the sparse index ``watch`` (partition ``watch``, sorted by ``act_at``)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from brandvane.aws.client import Clients
from brandvane.aws.items import record_of, value_of
from brandvane.aws.keys import WATCH_INDEX
from brandvane.ports import Watched
from brandvane.task import RECORD_VERSION

PAGE = 1000  # entries a query asks for at most; DynamoDB itself stops at 1 MB


class WatchIndex:
    """Eventually consistent: an entry may be stale, and whoever acts on it does so through a conditional move."""

    def __init__(self, *, clients: Clients, table: str) -> None:
        self._clients = clients
        self._table = table

    async def due(self, watch: str, before: float, limit: int) -> list[Watched]:
        """Up to ``limit`` entries with ``act_at <= before``, earliest first."""
        return await self._first(self._pages(_due(watch, before), None, limit), limit)

    async def page(self, watch: str, after: Watched | None, limit: int) -> list[Watched]:
        """Up to ``limit`` entries by ``act_at``, beginning after ``after``, which need not exist any more."""
        return await self._first(self._pages(_all(watch), _position(after), limit), limit)

    async def count_due(self, watch: str, before: float, cap: int) -> int:
        """Entries with ``act_at <= before``, at most ``cap``."""
        found = 0
        async for reply in self._pages({**_due(watch, before), "Select": "COUNT"}, None, cap):
            found += int(reply["Count"])
            if found >= cap:
                return cap
        return found

    async def _first(self, pages: AsyncIterator[Mapping[str, Any]], limit: int) -> list[Watched]:
        entries: list[Watched] = []
        async for reply in pages:
            # Records of newer code are left to newer code.
            entries += [_watched(item) for item in reply["Items"] if int(item["v"]["N"]) <= RECORD_VERSION]
            if len(entries) >= limit:
                break
        return entries[:limit]

    async def _pages(
        self, query: dict[str, Any], start: dict[str, Any] | None, limit: int
    ) -> AsyncIterator[Mapping[str, Any]]:
        if limit <= 0:
            return
        position: Any = start
        while True:
            start_at: dict[str, Any] = {"ExclusiveStartKey": position} if position else {}
            reply = await self._clients.call(
                self._clients.dynamodb.query,
                TableName=self._table,
                IndexName=WATCH_INDEX,
                Limit=min(limit, PAGE),
                **query,
                **start_at,
            )
            yield reply
            position = reply.get("LastEvaluatedKey")
            if not position:
                return


def _all(watch: str) -> dict[str, Any]:
    return {
        "KeyConditionExpression": "#watch = :watch",
        "ExpressionAttributeNames": {"#watch": "watch"},
        "ExpressionAttributeValues": {":watch": {"S": watch}},
    }


def _due(watch: str, before: float) -> dict[str, Any]:
    return {
        "KeyConditionExpression": "#watch = :watch AND #act_at <= :before",
        "ExpressionAttributeNames": {"#watch": "watch", "#act_at": "act_at"},
        "ExpressionAttributeValues": {":watch": {"S": watch}, ":before": value_of(before)},
    }


def _position(entry: Watched | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {"watch": {"S": entry.watch}, "act_at": value_of(entry.act_at), "task_id": {"S": entry.task_id}}


def _watched(item: Mapping[str, Any]) -> Watched:
    return record_of(Watched, item, v=RECORD_VERSION)
