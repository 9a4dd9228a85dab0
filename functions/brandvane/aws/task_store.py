"""How are tasks kept in DynamoDB? The ``TaskStore`` port: every move is one conditional UpdateItem.

The conditions come from ``Change`` alone; what became of a refused one is judged by ``task.judge`` on the old item that
DynamoDB returns with the refusal, so that a lost reply of our own earlier try is told from lost authority.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from brandvane.aws.client import CONDITION_FAILED, Clients, Refused
from brandvane.aws.expressions import Expressions, both
from brandvane.aws.items import item_of, record_of
from brandvane.aws.keys import Tables
from brandvane.aws.reopen import Reopener, Reopening
from brandvane.aws.watch_index import WatchIndex
from brandvane.ports import Watched
from brandvane.task import RECORD_VERSION, Change, Moved, Task, Verdict, judge

CREATE_AT_ONCE = 16  # as many as the client's pool has threads


class DynamoTaskStore:
    """The tasks table and its *who must act* index."""

    def __init__(self, *, clients: Clients, tables: Tables) -> None:
        self._clients = clients
        self._tables = tables
        self._index = WatchIndex(clients=clients, table=tables.tasks)
        self._reopener = Reopener(clients=clients, tables=tables)

    async def create(self, tasks: Sequence[Task]) -> int:
        """Put each task that does not exist yet; returns how many were new.

        Raises:
            Unavailable: some were not put; those that were stay (creating again is safe).
        """
        turn = asyncio.Semaphore(CREATE_AT_ONCE)
        outcomes = await asyncio.gather(*(self._create(task, turn) for task in tasks), return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return sum(1 for outcome in outcomes if outcome is True)

    async def _create(self, task: Task, turn: asyncio.Semaphore) -> bool:
        async with turn:
            try:
                await self._clients.call(
                    self._clients.dynamodb.put_item,
                    TableName=self._tables.tasks,
                    Item=item_of(task),
                    ConditionExpression="attribute_not_exists(task_id)",
                )
            except Refused as refusal:
                if refusal.code != CONDITION_FAILED:
                    raise
                return False
            return True

    async def get(self, task_id: str) -> Task | None:
        """The record, read consistently."""
        reply = await self._clients.call(
            self._clients.dynamodb.get_item,
            TableName=self._tables.tasks,
            Key={"task_id": {"S": task_id}},
            ConsistentRead=True,
        )
        return _task(reply.get("Item"))

    async def move(self, task_id: str, change: Change) -> Moved:
        """Carry out one conditional change on a record."""
        try:
            reply = await self._clients.call(
                self._clients.dynamodb.update_item,
                **change_request(self._tables.tasks, task_id, change),
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except Refused as refusal:
            if refusal.code != CONDITION_FAILED:
                raise
            # Emulators of an older API return no item with the refusal; then it is read.
            old = _task(refusal.detail.get("Item")) or await self.get(task_id)
            verdict = judge(change, old)
            # A condition that failed and holds now was overtaken in between: not ours.
            return Moved(Verdict.LOST if verdict is Verdict.MOVED else verdict, old)
        return Moved(Verdict.MOVED, _task(reply.get("Attributes")))

    async def due(self, watch: str, before: float, limit: int) -> list[Watched]:
        """Up to ``limit`` entries with ``act_at <= before``, earliest first."""
        return await self._index.due(watch, before, limit)

    async def page(self, watch: str, after: Watched | None, limit: int) -> list[Watched]:
        """Entries of a partition by ``act_at``, beginning after ``after``."""
        return await self._index.page(watch, after, limit)

    async def count_due(self, watch: str, before: float, cap: int) -> int:
        """How many entries are due, counting no further than ``cap``."""
        return await self._index.count_due(watch, before, cap)

    async def reopen(
        self, task: Task, change: Change, row_pk: str, row_sk: str, run_id: str, deadline: float, now: float
    ) -> bool:
        """``FAILED → PENDING`` in one transaction over record, result row and run."""
        wanted = Reopening(
            task_id=task.task_id,
            change=change,
            update=change_request(self._tables.tasks, task.task_id, change),
            row_pk=row_pk,
            row_sk=row_sk,
            run_id=run_id,
            deadline=deadline,
            now=now,
        )
        return await self._reopener.reopen(wanted)


def change_request(table: str, task_id: str, change: Change) -> dict[str, Any]:
    """The parameters of UpdateItem that say ``change``."""
    words = Expressions()
    conditions = [
        words.one_of("state", sorted(change.sources)),
        words.compare("v", "<=", RECORD_VERSION),
        *(words.equals(name, value) for name, value in change.same.items()),
    ]
    if change.not_after is not None:
        conditions.append(words.compare("act_at", "<=", change.not_after))
    return {
        "TableName": table,
        "Key": {"task_id": {"S": task_id}},
        "UpdateExpression": words.update(change.put, change.add),
        "ConditionExpression": both(*conditions),
        "ExpressionAttributeNames": words.names,
        "ExpressionAttributeValues": words.values,
    }


def _task(item: Mapping[str, Any] | None) -> Task | None:
    return None if not item else record_of(Task, item, v=RECORD_VERSION)
