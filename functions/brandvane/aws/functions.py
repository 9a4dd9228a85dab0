"""How does one function start another? The ``Functions`` port on Lambda's asynchronous invocation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from brandvane.aws.client import Clients
from brandvane.aws.keys import function_name


class LambdaFunctions:
    """Functions of one stack by their logical names."""

    def __init__(self, *, clients: Clients, stack: str) -> None:
        self._clients = clients
        self._stack = stack

    async def invoke(self, function: str, event: Mapping[str, Any]) -> None:
        """Queue one asynchronous invocation; what it does is not known here."""
        await self._clients.call(
            self._clients.functions.invoke,
            FunctionName=function_name(self._stack, function),
            InvocationType="Event",
            Payload=json.dumps(dict(event)).encode(),
        )
