"""How long does a platform ask us to wait? Reads every spelling of it in headers (research/visibility §4.0)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_GO = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s)")
_UNIT = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_LONGEST_S = 366 * 86_400.0
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


def read_wait(text: str, now: float) -> float | None:
    """One value: ``30``, ``1.5``, ``6m0s``, ``76ms``, an HTTP date or an RFC 3339 instant."""
    text = text.strip()
    if not text:
        return None
    number = _number(text)
    if number is not None:
        # A large number is an instant, in seconds or (OpenRouter's X-RateLimit-Reset) in milliseconds.
        if number > 1e12:
            number /= 1000
        return _sane(number - now if number > 1e9 else number)
    parts = _GO.findall(text)
    if parts and "".join(value + unit for value, unit in parts) == text:
        return _sane(sum(float(value) * _UNIT[unit] for value, unit in parts))
    instant = _instant(text)
    return None if instant is None else _sane(instant - now)


def _instant(text: str) -> float | None:
    try:
        parsed = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        try:
            parsed = datetime.fromisoformat(text)
        except ValueError:
            return None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return parsed.timestamp()


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


def _sane(seconds: float) -> float | None:
    return min(max(seconds, 0.0), _LONGEST_S)
