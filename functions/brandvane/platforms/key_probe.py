"""Does a platform take a key? Asked without paying: its list of models, where the protocol has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import httpx

from brandvane.catalogue import PlatformSettings
from brandvane.platforms.errors import hint, read_error, transport_failure
from brandvane.platforms.http_client import NO_KEY, protocol
from brandvane.platforms.key_strike import KeyStrike
from brandvane.policy import ErrorKind

PROBE_TIMEOUT_S = 15.0
_BODY_MAX = 65_536
# Where each protocol's list of models is; the others have none that is free.
_LISTS = {
    "openai_chat": "/models",
    "openai_responses": "/models",
    "anthropic_messages": "/v1/models",
    "gemini": "/models",
}
_REFUSED = {
    ErrorKind.AUTH_ERROR: "the platform refuses the key",
    ErrorKind.QUOTA_EXHAUSTED: "the account has no credit",
}


@dataclass(frozen=True, slots=True)
class KeyVerdict:
    """What a platform says to a key: ``accepted``, ``refused``, or ``unknown`` with the reason why."""

    verdict: Literal["accepted", "refused", "unknown"]
    why: str = ""


async def probe(http: httpx.AsyncClient, settings: PlatformSettings, key: str, now: float) -> KeyVerdict:
    """Ask for the list of models. No message carries the key."""
    path = _LISTS.get(settings.protocol)
    if path is None:
        return KeyVerdict("unknown", f"{settings.protocol} has no free way to ask: a run will tell")
    base = settings.base_url.rstrip("/")
    if path.startswith("/v1") and base.endswith("/v1"):
        path = path.removeprefix("/v1")
    headers = httpx.Headers()
    try:
        if settings.key_header != NO_KEY:
            headers.update(protocol(settings.protocol).headers(settings, key, b"", now))
        headers.update(settings.headers)
    except UnicodeError:
        return KeyVerdict("unknown", "no request can carry its key or its headers")
    try:
        reply = await http.get(base + path, headers=headers, timeout=PROBE_TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return KeyVerdict("unknown", transport_failure(error).message)
    if reply.is_success:
        return KeyVerdict("accepted")
    lower = {name.lower(): value for name, value in reply.headers.items()}
    read = read_error(hint(settings), reply.status_code, lower, reply.content[:_BODY_MAX], now)
    message = KeyStrike(key).text(read.message)
    if read.kind in _REFUSED:
        return KeyVerdict("refused", f"{_REFUSED[read.kind]} ({message})")
    return KeyVerdict("unknown", f"it answered {message}")
