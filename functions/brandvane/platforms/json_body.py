"""What JSON is in a body? Tolerates what platforms put around it: blank keep-alive lines, a byte-order mark, server-sent events."""

from __future__ import annotations

import json
from typing import Any

_NESTED_MAX = 20_000  # characters of a text that may itself be JSON
_FRAMES_MAX = 2000


class NotJson(Exception):
    """The body is not JSON, or not all of it is there."""


def load(body: bytes) -> Any:
    """The body's document.

    DeepSeek keeps a connection open with blank lines or ``: keep-alive`` comments before the document (its *Rate limit* page).

    Raises:
        NotJson: there is none.
    """
    text = _begun(body)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # the second: brackets nested without end
        raise NotJson(str(error)) from None


def _begun(body: bytes) -> bytes:
    """The body without byte-order mark, blank lines and comments before its first word."""
    text = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    while text.startswith(b":"):
        text = text.partition(b"\n")[2].lstrip()
    return text


def nested(text: str) -> Any:
    """The document that a text holds (gateways put the upstream's whole answer into a message); None when it holds none."""
    start = text.find("{", 0, 400)
    if start < 0 or len(text) > _NESTED_MAX:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def is_events(body: bytes) -> bool:
    """Is it a stream of server-sent events?"""
    return _begun(body)[:6].startswith((b"data:", b"event:", b"id:"))


def events(body: bytes) -> tuple[list[Any], bool]:
    """The documents of a stream's events, and whether the stream was cut inside one. ``[DONE]`` is the text ``"[DONE]"``."""
    documents: list[Any] = []
    for line in body.decode("utf-8", "replace").splitlines()[:_FRAMES_MAX]:
        if not line.startswith("data:"):
            continue
        data = line[5:].strip()
        if data == "[DONE]":
            documents.append(data)
        elif data:
            try:
                documents.append(json.loads(data))
            except (ValueError, RecursionError):
                return documents, True
    return documents, False
