"""How long does a platform ask us to wait? Reads every spelling of it, in headers and in bodies (research/visibility §4.0)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from brandvane.platforms.json_body import NotJson, load, nested

_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|us|µs|μs|ns|h|m|s)")  # a Go duration's; its micro sign is either of two
_UNIT = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
# Patterns of messages in lower case; compiled when first used, and kept by re.
_AMOUNT = r"(\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})"
_SAYS = (
    r"(?:try again|retry|retrying|available again|available|reset|resets|replenished|wait)"
    r"(?: again)?(?: in| after| for| at least| about)*"
)
_TOLD = rf"\b{_SAYS} ~?((?:{_AMOUNT}(?:ms|[hms]))+)(?![a-z])"
_UNIT_WORD = r"(milliseconds?|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|days?)"
_TOLD_WORDS = rf"\b{_SAYS}:? ~?{_AMOUNT} ?{_UNIT_WORD}\b(?:,? (?:and )?{_AMOUNT} ?{_UNIT_WORD}\b)?"
_TOLD_BARE = r"\bretry[-_ ]after[:=] ?(\d{1,9})\b(?!\.\d)"
_TOLD_SPAN = rf"\b{_SAYS} (?:(\d{{1,3}})\.)?(\d{{1,2}}):(\d\d):(\d\d)\b"  # .NET: [d.]hh:mm:ss
_TOLD_CHINESE = rf"(?:^|[\s，,。！;；请等在于约待]) ?{_AMOUNT} ?(毫秒|秒钟?|分钟?|个?小时|天)(?:之?后|以后|再|后再)"
_TOLD_INSTANT = (
    r"(?:regain access on|resets? (?:at|on)|try again (?:at|after)) "
    r"(\d{4}-\d\d-\d\d)(?: at |[ t])(\d\d:\d\d(?::\d\d)?) ?([+-]\d\d:?\d\d|utc|z|gmt)?"
)
_WORD_S = {"mil": 1e-3, "sec": 1.0, "s": 1.0, "min": 60.0, "hou": 3600.0, "hrs": 3600.0, "hr": 3600.0, "day": 86_400.0}
_CHINESE_S = {"毫": 1e-3, "秒": 1.0, "分": 60.0, "个": 3600.0, "小": 3600.0, "天": 86_400.0}
# Fields of error bodies that are a wait in themselves, and what one of them is worth.
_FIELDS = {
    "retry_after_ms": 1e-3,
    "retryAfterMs": 1e-3,
    "retry_after_seconds": 1.0,
    "retryAfterSeconds": 1.0,
    "retry_after": 1.0,
    "retryAfter": 1.0,
    "estimated_time": 1.0,
    "resets_in_seconds": 1.0,
}
_LONGEST_S = 366 * 86_400.0
_LONGEST_TEXT = 100  # characters; what is longer is no wait, and would only take long to read
_MESSAGE_MAX = 2000
_RESETS = (
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-reset",
    "ratelimit-reset",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-input-tokens-reset",
    "anthropic-ratelimit-output-tokens-reset",
    "anthropic-ratelimit-unified-reset",
)
_PLAIN = ("retry-after", "x-retry-after", "msh-cooldown-seconds")


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait by a response's headers (lower-case names), None where they say nothing usable.

    Read in this order: ``retry-after-ms``; ``retry-after`` (seconds, Go duration, HTTP date, RFC 3339);
    ``x-ratelimit-reset-*`` and ``anthropic-ratelimit-*-reset``, the longest, of those whose ``remaining`` is not positive or not
    told. Instants are compared with the response's own ``date`` where it has one: our clock may differ. Negative waits are 0.
    """
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        millis = _number(headers.get(name, ""))
        if millis is not None:
            return _sane(millis / 1000)
    sent = _instant(headers.get("date", "")[:_LONGEST_TEXT])
    since = now if sent is None else sent
    for name in _PLAIN:
        wait = read_wait(headers.get(name, ""), since)
        if wait is not None:
            return wait
    waits = [read_wait(headers.get(name, ""), since) for name in _RESETS if _spent(headers, name)]
    return max((w for w in waits if w is not None), default=None)


def _spent(headers: Mapping[str, str], name: str) -> bool:
    if name == "anthropic-ratelimit-unified-reset":
        return headers.get("anthropic-ratelimit-unified-status") == "rejected"
    left = _number(headers.get(name.replace("reset", "remaining"), ""))
    if left is None:
        return not name.startswith("anthropic")  # it tells all of them always; one without a count says nothing
    return left <= 0


def body_wait(body: bytes, now: float = 0.0) -> float | None:
    """Seconds to wait by an error body, None where it says nothing usable."""
    try:
        document: Any = load(body)
    except NotJson:
        return _in_words(body[:_MESSAGE_MAX].decode("utf-8", "replace"), now)
    documents: list[dict[str, Any]] = []
    texts: list[str] = []
    _walk(document, documents, texts, 0)
    return told_wait(documents, " ".join(texts), now)


def _walk(value: Any, documents: list[dict[str, Any]], texts: list[str], depth: int) -> None:
    if depth > 8 or len(documents) > 200:
        return
    if isinstance(value, list):
        for item in value[:40]:
            _walk(item, documents, texts, depth + 1)
    elif isinstance(value, dict):
        documents.append(value)
        for name, item in value.items():
            if name == "message" and isinstance(item, str):
                texts.append(item)
                _walk(nested(item), documents, texts, depth + 1)
            else:
                _walk(item, documents, texts, depth + 1)


def told_wait(documents: Iterable[Any], text: str, now: float) -> float | None:
    """Seconds to wait by the parts of an error body, None where they say nothing usable.

    Read in this order: ``google.rpc.RetryInfo`` (Gemini: ``"retryDelay": "45.83s"``), the longest; a field such as
    ``retry_after``; the message's own words (``Please try again in 94ms.``, ``Retry after 20 seconds``, ``请60秒后重试``).
    """
    mappings = [document for document in documents if isinstance(document, dict)]
    delays = [_duration(info.get("retryDelay")) for info in _retry_infos(mappings)]
    told = max((delay for delay in delays if delay is not None), default=None)
    if told is not None:
        return told
    for mapping in mappings:
        for name, worth in _FIELDS.items():
            value = mapping.get(name)
            if isinstance(value, int | float | str) and not isinstance(value, bool):
                number = _number(str(value))
                if number is not None:
                    return _sane(number * worth)
    return _in_words(text, now)


def _retry_infos(documents: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for document in documents:
        if str(document.get("@type", "")).endswith("google.rpc.RetryInfo"):
            yield document


def _duration(value: Any) -> float | None:
    """A ``google.protobuf.Duration``: ``"45.83s"`` in JSON; some gateways hand its two fields on."""
    if isinstance(value, dict):
        seconds, nanos = (_number(str(value.get(name, 0))) for name in ("seconds", "nanos"))
        return None if seconds is None or nanos is None else _sane(seconds + nanos / 1e9)
    if not isinstance(value, str):
        return None
    seconds = _go_duration(value.strip())
    return None if seconds is None else _sane(seconds)


def _in_words(message: str, now: float) -> float | None:
    if re.search(r"\d", message) is None:
        return None
    text = message[:_MESSAGE_MAX].lower()
    if said := re.search(_TOLD, text):
        seconds = _go_duration(said[1])
        return None if seconds is None else _sane(seconds)
    if said := re.search(_TOLD_WORDS, text):
        more = float(said[3]) * _worth(said[4]) if said[3] else 0.0
        return _sane(float(said[1]) * _worth(said[2]) + more)
    if said := re.search(_TOLD_BARE, text):
        return _sane(float(said[1]))
    if said := re.search(_TOLD_SPAN, text):
        days, hours, minutes, seconds = (int(part or 0) for part in said.groups())
        return _sane(days * 86_400.0 + hours * 3600 + minutes * 60 + seconds)
    if said := re.search(_TOLD_CHINESE, text):
        return _sane(float(said[1]) * _CHINESE_S[said[2][0]])
    if said := re.search(_TOLD_INSTANT, text):
        zone = said[3] if said[3] and said[3][0] in "+-" else "Z"
        instant = _instant(f"{said[1]}T{said[2]}{zone}")
        return None if instant is None or not now else _sane(instant - now)
    return None


def _worth(unit: str) -> float:
    return _WORD_S[unit[:3]]


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
