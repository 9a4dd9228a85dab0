"""How many write units does each request cost? Clients that ask DynamoDB for it and write it down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from brandvane.aws.client import Clients

P = ParamSpec("P")
Reply = TypeVar("Reply")

WRITES = frozenset({"put_item", "update_item", "delete_item"})


class MeteredClients(Clients):
    """Clients whose single writes report ``(table units, index units)`` in ``spent``."""

    def __init__(self, of: Clients) -> None:
        super().__init__(endpoint_url=of._endpoint_url, session=of._given_session)
        self.spent: list[tuple[float, float]] = []

    async def call(self, method: Callable[P, Reply], *args: P.args, **kwargs: P.kwargs) -> Reply:
        """Make the call; for a write, ask for the units as well."""
        if getattr(method, "__name__", "") not in WRITES:
            return await super().call(method, *args, **kwargs)
        kwargs["ReturnConsumedCapacity"] = "INDEXES"
        reply: Any = await super().call(method, *args, **kwargs)
        used = reply["ConsumedCapacity"]
        indexes = sum(index["CapacityUnits"] for index in used.get("GlobalSecondaryIndexes", {}).values())
        self.spent.append((used["Table"]["CapacityUnits"], indexes))
        return reply  # type: ignore[no-any-return]
