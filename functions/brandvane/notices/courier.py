"""How does a message travel to a chat? One HTTPS request, never redirected, never repeated here, its address never told."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import httpx

from brandvane.ports import Unavailable

TIMEOUT = httpx.Timeout(8.0, connect=4.0)
BODY_MAX = 2_000

for _name in ("httpx", "httpcore"):  # they log addresses
    logging.getLogger(_name).setLevel(logging.WARNING)


class HttpCourier:
    """One ``httpx.AsyncClient`` for the execution environment."""

    def __init__(self, http: httpx.AsyncClient | None = None) -> None:
        self._http = http or httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=False)

    async def post(self, url: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        """Status and the beginning of the response's body.

        Raises:
            Unavailable: no response in time.
        """
        try:
            async with self._http.stream("POST", url, json=dict(body)) as response:
                read = b""
                async for part in response.aiter_bytes():
                    read += part
                    if len(read) >= BODY_MAX:
                        break
                return response.status_code, read[:BODY_MAX]
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # The exception's own text and its request hold the address, which is a secret.
            raise Unavailable(f"no response ({type(error).__name__})") from None
