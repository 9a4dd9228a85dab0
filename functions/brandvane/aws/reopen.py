"""How is a failed task planned anew? One transaction over its record, its result row and its run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brandvane.aws.client import TRANSACTION_CANCELLED, Clients, Refused
from brandvane.aws.expressions import Expressions, both
from brandvane.aws.items import record_of
from brandvane.aws.keys import OPEN, Tables
from brandvane.ports import Unavailable
from brandvane.run import RUN_FIELDS, RUN_VERSION, Run, reopened
from brandvane.task import RECORD_VERSION, Change, Task, Verdict, judge

TRIES = 8  # others may be reopening tasks of the same run at this moment
PAUSE_S = 0.05  # before the second try, then longer by as much each time
_CONDITION = "ConditionalCheckFailed"
_READ_FROM_RUN = ("state", "pass_no", "deadline", "counted", "cancelled_at", "swept")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopening:
    """What is to be reopened: the record by ``change``, the row by its key, the run with a deadline of at least ``deadline``."""

    task_id: str
    change: Change
    update: Mapping[str, Any]  # the parameters of UpdateItem that say ``change``
    row_pk: str
    row_sk: str
    run_id: str
    deadline: float
    now: float


class Reopener:
    """Carries reopenings out."""

    def __init__(self, *, clients: Clients, tables: Tables) -> None:
        self._clients = clients
        self._tables = tables

    async def reopen(self, wanted: Reopening) -> bool:
        """All three change together, or nothing does; True also when this very change had been made before.

        Raises:
            Unavailable: others kept changing the run, or DynamoDB refused.
        """
        for attempt in range(TRIES):
            await asyncio.sleep(attempt * PAUSE_S)
            run = await self._run(wanted.run_id)
            again = reopened(run, wanted.deadline, wanted.now) if run is not None and run.v <= RUN_VERSION else None
            if run is None or again is None:
                return await self._was_made(wanted)
            parts: Any = [
                {"Update": wanted.update},
                {"Update": self._row_update(wanted)},
                {"Update": self._run_update(run, again)},
            ]
            try:
                await self._clients.call(self._clients.dynamodb.transact_write_items, TransactItems=parts)
            except Refused as refusal:
                if refusal.code != TRANSACTION_CANCELLED:
                    raise
                reasons = [str(reason.get("Code")) for reason in refusal.detail.get("CancellationReasons", ())]
                if _CONDITION in reasons[:2]:  # record or row; the run's condition may hold on the next try
                    return await self._was_made(wanted)
            else:
                return True
        raise Unavailable(f"task {wanted.task_id} could not be reopened: run {wanted.run_id} kept changing")

    async def _was_made(self, wanted: Reopening) -> bool:
        item = await self._read(self._tables.tasks, {"task_id": {"S": wanted.task_id}})
        task = record_of(Task, item, v=RECORD_VERSION) if item else None
        return judge(wanted.change, task) is Verdict.ALREADY

    async def _run(self, run_id: str) -> Run | None:
        item = await self._read(self._tables.runs, {"run_id": {"S": run_id}})
        return record_of(Run, item, v=RUN_VERSION) if item else None

    async def _read(self, table: str, key: Mapping[str, Any]) -> Mapping[str, Any] | None:
        reply = await self._clients.call(self._clients.dynamodb.get_item, TableName=table, Key=key, ConsistentRead=True)
        return reply.get("Item")

    def _row_update(self, wanted: Reopening) -> dict[str, Any]:
        return {
            "TableName": self._tables.results,
            "Key": {"pk": {"S": wanted.row_pk}, "sk": {"S": wanted.row_sk}},
            "UpdateExpression": "REMOVE #run",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeNames": {"#run": "run"},
        }

    def _run_update(self, run: Run, again: Run) -> dict[str, Any]:
        words = Expressions()
        put = {name: getattr(again, name) for name in RUN_FIELDS if getattr(again, name) != getattr(run, name)}
        return {
            "TableName": self._tables.runs,
            "Key": {"run_id": {"S": run.run_id}},
            "UpdateExpression": words.update({**put, "open": OPEN}),
            "ConditionExpression": both(*(words.equals(name, getattr(run, name)) for name in _READ_FROM_RUN)),
            "ExpressionAttributeNames": words.names,
            "ExpressionAttributeValues": words.values,
        }
