"""How long does a platform ask us to wait? Reads every spelling of it, in headers and in bodies (research/visibility §4.0)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|us|µs|μs|ns|h|m|s)")  # a Go duration's; its micro sign is either of two
_UNIT = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_TOLD = re.compile(
    r"(?:try again|retry) (?:in|after) ((?:[\d.]{1,20}(?:ms|[hms]))+|[\d.]{1,20}(?= seconds?\b))", re.IGNORECASE
)
_LONGEST_S = 366 * 86_400.0
_LONGEST_TEXT = 100  # characters; what is longer is no wait, and would only take long to read
_MESSAGE_MAX = 2000
_RESETS = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "x-ratelimit-reset")


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait by a response's headers (lower-case names), None where they say nothing usable.

    Read in this order: ``retry-after-ms``; ``retry-after`` (seconds, Go duration, HTTP date, RFC 3339);
    ``x-ratelimit-reset-*``, the longest, of those whose ``remaining`` is not positive or not told. Negative waits are 0.
    """
    millis = _number(headers.get("retry-after-ms", ""))
    if millis is not None:
        return _sane(millis / 1000)
    wait = read_wait(headers.get("retry-after", ""), now)
    if wait is not None:
        return wait
    waits = [read_wait(headers.get(name, ""), now) for name in _RESETS if _spent(headers, name)]
    return max((w for w in waits if w is not None), default=None)


def _spent(headers: Mapping[str, str], name: str) -> bool:
    left = _number(headers.get(name.replace("reset", "remaining"), ""))
    return left is None or left <= 0


def body_wait(body: bytes) -> float | None:
    """Seconds to wait by an error body, None where it says nothing usable.

    Read in this order: ``google.rpc.RetryInfo`` among the error's details (Gemini: ``"retryDelay": "45.83s"``), the longest;
    the message's own words (``Please try again in 94ms.``).
    """
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(document, list) and document:
        document = document[0]
    error = document.get("error", document) if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return None
    delays = [_duration(detail.get("retryDelay")) for detail in _retry_infos(error.get("details"))]
    told = max((delay for delay in delays if delay is not None), default=None)
    return told if told is not None else _in_words(error.get("message"))


def _retry_infos(details: Any) -> Iterator[dict[str, Any]]:
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and str(detail.get("@type", "")).endswith("google.rpc.RetryInfo"):
            yield detail


def _duration(value: Any) -> float | None:
    """A ``google.protobuf.Duration``: ``"45.83s"`` in JSON; some gateways hand its two fields on."""
    if isinstance(value, dict):
        seconds, nanos = (_number(str(value.get(name, 0))) for name in ("seconds", "nanos"))
        return None if seconds is None or nanos is None else _sane(seconds + nanos / 1e9)
    if not isinstance(value, str):
        return None
    seconds = _go_duration(value.strip())
    return None if seconds is None else _sane(seconds)


def _in_words(message: Any) -> float | None:
    said = _TOLD.search(message[:_MESSAGE_MAX]) if isinstance(message, str) else None
    if said is None:
        return None
    number = _number(said[1])
    seconds = _go_duration(said[1].lower()) if number is None else number
    return None if seconds is None else _sane(seconds)


def read_wait(text: str, now: float) -> float | None:
    """One value: ``30``, ``1.5``, ``6m0s``, ``76ms``, an HTTP date or an RFC 3339 instant."""
    text = text.strip()
    if not text or len(text) > _LONGEST_TEXT:
        return None
    number = _number(text)
    if number is not None:
        # A large number is an instant, in seconds or (OpenRouter's X-RateLimit-Reset) in milliseconds.
        if number > 1e12:
            number /= 1000
        return _sane(number - now if number > 1e9 else number)
    seconds = _go_duration(text)
    if seconds is not None:
        return _sane(seconds)
    instant = _instant(text)
    return None if instant is None else _sane(instant - now)


def _go_duration(text: str) -> float | None:
    """Seconds of a Go duration (``1h2m3.5s``, with a sign or without); None where it is none."""
    if len(text) > _LONGEST_TEXT:
        return None
    sign, size = (text[:1], text[1:]) if text[:1] in ("+", "-") else ("", text)
    parts = _PART.findall(size)
    if not parts or "".join(value + unit for value, unit in parts) != size:
        return None
    seconds = sum(float(value) * _UNIT[unit] for value, unit in parts)
    return -seconds if sign == "-" else seconds


def _instant(text: str) -> float | None:
    try:
        parsed = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        try:
            parsed = datetime.fromisoformat(text.upper())  # RFC 3339 allows small letters too
        except ValueError:
            return None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return parsed.timestamp()


def _number(text: str) -> float | None:
    if len(text) > _LONGEST_TEXT:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


def _sane(seconds: float) -> float | None:
    return min(max(seconds, 0.0), _LONGEST_S)
