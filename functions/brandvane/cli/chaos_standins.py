"""How does somebody beside the workers speak to running stand-ins? Their pages below ``/_standin/``, one request each."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from brandvane.cli.chaos_kills import OpenCall
from brandvane.cli.errors import CliError

TIMEOUT_S = 20.0


class Standins:
    """The stand-ins at one address; every method blocks."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._host, self.port = address.hostname or "", address.port or 0

    def calls(self) -> list[OpenCall]:
        """Calls under way, by arrival."""
        return [OpenCall(**row) for row in self._ask("GET", "calls", None)[1]]

    def answered(self, request_id: str) -> bool:
        """Wait for the end of a call that is under way; was a complete answer written? Returns in the moment that it was."""
        status, told = self._ask("POST", "ended", {"request_id": request_id})
        return status == http.client.OK and bool(told["complete"])

    def change(self, behaviour: Mapping[str, Mapping[str, float]]) -> None:
        """Change platforms while they run.

        Raises:
            CliError: they refuse.
        """
        status, told = self._ask("POST", "platforms", behaviour)
        if status != http.client.OK:
            raise CliError(f"the stand-ins refuse to change: {told}")

    def name_brands(self, names: Sequence[str]) -> None:
        """Let made-up answers name these brands from now on.

        Raises:
            CliError: they refuse.
        """
        status, told = self._ask("POST", "brands", list(names))
        if status != http.client.OK:
            raise CliError(f"the stand-ins refuse to change: {told}")

    def _ask(self, method: str, page: str, body: Any) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self._host, self.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, f"/_standin/{page}", None if body is None else json.dumps(body))
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        except (OSError, http.client.HTTPException) as error:
            raise CliError(f"the stand-ins do not answer: {error}") from None
        finally:
            connection.close()
