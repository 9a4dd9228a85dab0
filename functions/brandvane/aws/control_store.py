"""How are control items and leases kept in DynamoDB? The ``ControlStore`` port: compare and set by revision."""

from __future__ import annotations

from dataclasses import fields

from brandvane.aws.client import CONDITION_FAILED, Clients, Refused
from brandvane.aws.expressions import Expressions, either
from brandvane.aws.items import record_of
from brandvane.aws.keys import Tables, control_id, lease_id
from brandvane.control import Control, next_revision

CONTROL_ITEM_VERSION = 1


class DynamoControlStore:
    """The control table. Updates name their fields one by one, so that what newer code has added stays."""

    def __init__(self, *, clients: Clients, tables: Tables) -> None:
        self._clients = clients
        self._table = tables.control

    async def read(self, platform: str) -> Control:
        """The item, read consistently, or a fresh one where none exists yet."""
        reply = await self._clients.call(
            self._clients.dynamodb.get_item,
            TableName=self._table,
            Key={"id": {"S": control_id(platform)}},
            ConsistentRead=True,
        )
        item = reply.get("Item")
        return record_of(Control, item, v=CONTROL_ITEM_VERSION) if item else Control(platform)

    async def replace(self, old: Control, new: Control) -> Control | None:
        """Compare and set by revision; the stored revision is ``old.revision + 1``, whatever ``new`` says."""
        stored = next_revision(old, new)
        words = Expressions()
        put = {field.name: getattr(stored, field.name) for field in fields(stored)}
        # Revision 0 is that of an item which does not exist yet.
        condition = words.compare("revision", "=", old.revision) if old.revision else words.absent("id")
        try:
            await self._clients.call(
                self._clients.dynamodb.update_item,
                TableName=self._table,
                Key={"id": {"S": control_id(old.platform)}},
                UpdateExpression=words.update(put),
                ConditionExpression=condition,
                ExpressionAttributeNames=words.names,
                ExpressionAttributeValues=words.values,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except Refused as refusal:
            if refusal.code != CONDITION_FAILED:
                raise
            item = refusal.detail.get("Item")
            there = record_of(Control, item, v=CONTROL_ITEM_VERSION) if item else await self.read(old.platform)
            # The SDK had sent it twice and the item is what we wanted: the first one was carried out, its reply lost.
            return None if refusal.repeated and there == stored else there
        return None

    async def acquire(self, lease: str, owner: str, now: float, ttl: float) -> bool:
        """Take a named lease that is free, over, or already ours; it then ends at ``now + ttl``."""
        words = Expressions()
        free = either(words.absent("id"), words.compare("until", "<=", now), words.compare("owner", "=", owner))
        try:
            await self._clients.call(
                self._clients.dynamodb.update_item,
                TableName=self._table,
                Key={"id": {"S": lease_id(lease)}},
                UpdateExpression=words.update({"owner": owner, "until": now + ttl}),
                ConditionExpression=free,
                ExpressionAttributeNames=words.names,
                ExpressionAttributeValues=words.values,
            )
        except Refused as refusal:
            if refusal.code != CONDITION_FAILED:
                raise
            return False
        return True

    async def release(self, lease: str, owner: str) -> None:
        """Give a lease back if it is still ours."""
        words = Expressions()
        try:
            await self._clients.call(
                self._clients.dynamodb.delete_item,
                TableName=self._table,
                Key={"id": {"S": lease_id(lease)}},
                ConditionExpression=words.compare("owner", "=", owner),
                ExpressionAttributeNames=words.names,
                ExpressionAttributeValues=words.values,
            )
        except Refused as refusal:
            if refusal.code != CONDITION_FAILED:
                raise
