"""How are runs kept in DynamoDB? The ``RunStore`` port and the index attributes that it maintains.

``kind`` is always there (index ``recent``); ``open`` is there while somebody still needs to act (index ``open``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from brandvane.aws.client import CONDITION_FAILED, Clients, Refused
from brandvane.aws.expressions import Expressions, both, either
from brandvane.aws.items import item_of, record_of, value_of
from brandvane.aws.keys import OPEN, OPEN_INDEX, RECENT_INDEX, RUN_KIND, Tables
from brandvane.ports import Unavailable
from brandvane.run import RUN_FIELDS, RUN_VERSION, Run, still_waits

# What a field holds when nothing is put there, but for those that are simply absent then.
_DEFAULTS = {field.name: field.default for field in fields(Run) if field.default is not MISSING}
TRIES = 5  # each failure means that the run's state was changed in the meantime


class DynamoRunStore:
    """The runs table."""

    def __init__(self, *, clients: Clients, tables: Tables) -> None:
        self._clients = clients
        self._table = tables.runs

    async def create(self, run: Run) -> bool:
        """Put the run unless one of that id exists; True also when that one is this very run (a lost reply)."""
        item = {**item_of(run), "kind": {"S": RUN_KIND}}
        if run.waits:
            item["open"] = {"S": OPEN}
        try:
            await self._clients.call(
                self._clients.dynamodb.put_item,
                TableName=self._table,
                Item=item,
                ConditionExpression="attribute_not_exists(run_id)",
            )
        except Refused as refusal:
            if refusal.code != CONDITION_FAILED:
                raise
            return refusal.repeated and await self.get(run.run_id) == run
        return True

    async def get(self, run_id: str) -> Run | None:
        """The run, read consistently."""
        reply = await self._clients.call(
            self._clients.dynamodb.get_item,
            TableName=self._table,
            Key={"run_id": {"S": run_id}},
            ConsistentRead=True,
        )
        return _run(reply["Item"]) if reply.get("Item") else None

    async def change(self, run_id: str, require: Mapping[str, Any], put: Mapping[str, Any]) -> Run | None:
        """Set fields when every required field has that value; the new run, or None when the condition failed.

        Raises:
            ValueError: a field that no run has.
        """
        unknown = sorted({*require, *put} - set(RUN_FIELDS))
        if unknown:
            raise ValueError(f"a run has no field {', '.join(unknown)}")
        put = {name: _DEFAULTS.get(name) if value is None else value for name, value in put.items()}
        if not {"state", "swept"} & put.keys():
            return await self._update(run_id, require, put, {})
        known = {**require, **put}
        for _ in range(TRIES):
            read: dict[str, Any] = {}
            if not {"state", "swept"} <= known.keys():
                run = await self.get(run_id)
                if run is None or any(getattr(run, name) != value for name, value in require.items()):
                    return None
                read = {name: getattr(run, name) for name in ("state", "swept") if name not in known}
            waits = still_waits({**known, **read}["state"], {**known, **read}["swept"])
            changed = await self._update(run_id, {**require, **read}, put, {"open": OPEN if waits else None})
            if changed is not None or not read:
                return changed
        raise Unavailable(f"run {run_id} kept changing")

    async def mark(self, run_id: str, pass_no: int, name: str, number: int, now: float) -> Run | None:
        """Add a number to ``chunks_done`` (the plan's progress) or ``scored``."""
        put = {"plan_progress_at": now} if name == "chunks_done" else {}
        return await self._update(run_id, {"pass_no": pass_no}, put, {}, {name: frozenset({number})})

    async def _update(
        self,
        run_id: str,
        require: Mapping[str, Any],
        put: Mapping[str, Any],
        index: Mapping[str, Any],
        add: Mapping[str, Any] | None = None,
    ) -> Run | None:
        words = Expressions()
        conditions = [words.present("run_id"), words.compare("v", "<=", RUN_VERSION)]
        conditions += [_holds(words, name, value) for name, value in require.items()]
        try:
            reply = await self._clients.call(
                self._clients.dynamodb.update_item,
                TableName=self._table,
                Key={"run_id": {"S": run_id}},
                UpdateExpression=words.update({**put, **index}, add),
                ConditionExpression=both(*conditions),
                ExpressionAttributeNames=words.names,
                ExpressionAttributeValues=words.values,
                ReturnValues="ALL_NEW",
            )
        except Refused as refusal:
            if refusal.code != CONDITION_FAILED:
                raise
            return await self._own_earlier(run_id, put) if refusal.repeated else None
        return _run(reply["Attributes"])

    async def _own_earlier(self, run_id: str, put: Mapping[str, Any]) -> Run | None:
        """The SDK had sent the update twice: if the run shows it, the first one was carried out and its reply lost."""
        run = await self.get(run_id)
        if run is None or not put or any(value_of(getattr(run, name)) != value_of(put[name]) for name in put):
            return None
        return run

    async def recent(self, limit: int = 50) -> list[Run]:
        """Latest runs by creation, newest first."""
        runs: list[Run] = []
        start: dict[str, Any] = {}
        while len(runs) < limit:
            reply = await self._clients.call(
                self._clients.dynamodb.query,
                TableName=self._table,
                IndexName=RECENT_INDEX,
                KeyConditionExpression="kind = :kind",
                ExpressionAttributeValues={":kind": {"S": RUN_KIND}},
                ScanIndexForward=False,
                Limit=limit,
                **start,
            )
            runs += [_run(item) for item in reply["Items"]]
            if not reply.get("LastEvaluatedKey"):
                break
            start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}
        return runs[:limit]

    async def unfinished(self) -> list[Run]:
        """Runs that still need somebody to act, oldest first."""
        runs: list[Run] = []
        start: dict[str, Any] = {}
        while True:
            reply = await self._clients.call(
                self._clients.dynamodb.query,
                TableName=self._table,
                IndexName=OPEN_INDEX,
                KeyConditionExpression="#open = :open",
                ExpressionAttributeNames={"#open": "open"},
                ExpressionAttributeValues={":open": {"S": OPEN}},
                **start,
            )
            runs += [_run(item) for item in reply["Items"]]
            if not reply.get("LastEvaluatedKey"):
                return runs
            start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}


def _holds(words: Expressions, name: str, value: Any) -> str:
    """A field that older code did not write reads as its default, so its absence meets that requirement as well."""
    same = words.equals(name, value)
    return either(words.absent(name), same) if value is not None and value == _DEFAULTS.get(name) else same


def _run(item: Mapping[str, Any]) -> Run:
    return record_of(Run, item, v=RUN_VERSION)
