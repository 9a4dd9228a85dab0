"""What is a response whose protocol is not known? Found out by its shape, then read by that protocol; for reading recorded cases.

Streams are not asked for by this product; a recorded one is judged by whether it came to its end.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brandvane.answer import Answer, Failure
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.errors import RETRYABLE, read_error
from brandvane.platforms.json_body import NotJson, events, is_events, load
from brandvane.platforms.protocols import MODULES
from brandvane.platforms.reading import listed
from brandvane.policy import ErrorKind

_ENDS = frozenset({"message_stop", "response.completed", "response.incomplete", "response.done"})
_FINISHES = ("finish_reason", "finishReason", "FinishReason", "stop_reason")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a response means. ``kind`` is an error kind, or the status of an answer."""

    kind: str
    retryable: bool
    wait_s: float | None


def judge(platform: str, status: int, headers: Mapping[str, str], body: bytes, now: float) -> Verdict:
    """Read any response. ``headers`` have lower-case names."""
    if not 200 <= status < 300:
        return _error(platform, status, headers, body, now)
    if is_events(body):
        return _stream(platform, status, headers, body, now)
    try:
        document = load(body)
    except NotJson:
        return _of_kind(ErrorKind.MALFORMED if body.strip() else ErrorKind.EMPTY)
    protocol = protocol_of(document)
    if protocol is None:
        return _error(platform, status, headers, body, now)
    settings = PlatformSettings(platform, protocol, "https://unknown.invalid", ("unknown",))
    reply: Answer | Failure = importlib.import_module(MODULES[protocol]).read(settings, status, headers, body, now)
    if isinstance(reply, Answer):
        return Verdict(reply.status, False, None)
    return Verdict(reply.kind, reply.kind in RETRYABLE, reply.retry_after)


def protocol_of(document: Any) -> str | None:
    """The protocol whose answers have this shape; None for what is no answer of any."""
    if not isinstance(document, dict):
        return None
    if isinstance(document.get("Response"), dict) or "Choices" in document:
        return "tencent_tc3"
    if document.get("error"):
        return None
    output = document.get("output")
    if isinstance(output, dict):
        return "dashscope"
    if isinstance(output, list) or document.get("object") == "response":
        searched = any(isinstance(item, dict) and item.get("type") == "search_results" for item in listed(output))
        return "perplexity_agent" if searched else "openai_responses"
    if "candidates" in document or "promptFeedback" in document:
        return "gemini"
    if isinstance(document.get("content"), list):
        return "anthropic_messages"
    return "openai_chat" if "choices" in document else None


def _error(platform: str, status: int, headers: Mapping[str, str], body: bytes, now: float) -> Verdict:
    found = read_error(platform, status, headers, body, now)
    return Verdict(found.kind, found.retryable, found.wait_s)


def _of_kind(kind: ErrorKind) -> Verdict:
    return Verdict(kind, kind in RETRYABLE, None)


def _stream(platform: str, status: int, headers: Mapping[str, str], body: bytes, now: float) -> Verdict:
    frames, cut = events(body)
    told = read_error(platform, status, headers, body, now)
    if told.kind is not ErrorKind.MALFORMED:
        return Verdict(told.kind, told.retryable, told.wait_s)
    if cut or not any(_ended(frame) for frame in frames):
        return _of_kind(ErrorKind.MALFORMED)
    filtered = any('"content_filter"' in str(frame).replace("'", '"') for frame in frames)
    return Verdict("filtered" if filtered else "ok", False, None)


def _ended(frame: Any) -> bool:
    if frame == "[DONE]":
        return True
    if not isinstance(frame, dict):
        return False
    if frame.get("type") in _ENDS:
        return True
    rows = [frame, *(row for name in ("choices", "candidates", "Choices") for row in listed(frame.get(name)))]
    return any(isinstance(row, dict) and row.get(name) for row in rows for name in _FINISHES)
