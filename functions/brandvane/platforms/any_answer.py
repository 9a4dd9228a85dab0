"""What is a response whose protocol is not known? Found out by its shape, then read by that protocol; for reading recorded cases.

Streams are not asked for by this product; a recorded one is judged by whether it came to its end.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from brandvane.answer import Answer, Failure
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.errors import RETRYABLE, Reading, read_error
from brandvane.platforms.json_body import NotJson, events, is_events, load
from brandvane.platforms.protocols import MODULES
from brandvane.platforms.reading import listed, mapping, word
from brandvane.policy import ErrorKind

_ENDS = frozenset({"message_stop", "response.completed", "response.incomplete", "response.done"})
_FINISHES = ("finish_reason", "finishReason", "FinishReason", "stop_reason")
_FILTERS = frozenset(
    {"content_filter", "sensitive", "safety", "prohibited_content", "blocklist", "recitation", "spii", "refusal"}
)


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
    if isinstance(document, list) and any(isinstance(row, dict) and "candidates" in row for row in document):
        told = read_error(platform, status, headers, body, now)  # Gemini's stream, as one list
        return _of_frames(told, document, cut=False)
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
    return _of_frames(read_error(platform, status, headers, body, now), frames, cut=cut)


def _of_frames(told: Reading, frames: list[Any], *, cut: bool) -> Verdict:
    if told.kind is not ErrorKind.MALFORMED:
        return Verdict(told.kind, told.retryable, told.wait_s)
    if cut or not any(_ended(frame) for frame in frames):
        return _of_kind(ErrorKind.MALFORMED)
    filtered = any(said.lower() in _FILTERS for frame in frames for said in _finishes(frame))
    return Verdict("filtered" if filtered else "ok", False, None)


def _ended(frame: Any) -> bool:
    if frame == "[DONE]":
        return True
    if not isinstance(frame, dict):
        return False
    return word(frame.get("type")) in _ENDS or any(_finishes(frame))


def _finishes(frame: Any) -> Iterator[str]:
    """Why it ended, as often as a frame says it."""
    if not isinstance(frame, dict):
        return
    reason = mapping(mapping(frame.get("response")).get("incomplete_details")).get("reason")
    if isinstance(reason, str):
        yield reason
    inside = [frame, mapping(frame.get("output")), mapping(frame.get("Response")), mapping(frame.get("delta"))]
    rows = [row for each in inside for name in ("choices", "candidates", "Choices") for row in listed(each.get(name))]
    for row in (*inside, *rows):
        for name in _FINISHES:
            said = row.get(name) if isinstance(row, dict) else None
            if isinstance(said, str) and said not in ("", "null"):
                yield said
