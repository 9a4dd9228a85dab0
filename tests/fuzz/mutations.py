"""How is a body broken? By its bytes, by its JSON, or made up altogether; and how are its harmless parts changed?"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

_BYTES = [
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\n\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b"data: ",
    b"<html>",
    b"\\ud83d",
    b": keep-alive\n",
]
_JUNK: list[Any] = [
    None, True, False, 0, -1, 1e308, 10**30, "", " ", "x" * 300, "\ud83d", "<think>", "</think>", [], {}, [[]], [None], [{}], {"a": 1},
    {"error": {}}, {"message": {}}, ["text"], {"type": []}, "2026-01-01T00:00:00Z", "retry after 9999999999 seconds", "{", '{"error": 5}',
]  # fmt: skip
_NAMES = [
    "error", "code", "type", "message", "status", "choices", "content", "output", "Response", "candidates", "usage",
    "details", "@type", "retryDelay", "reason", "metadata", "raw", "text", "annotations", "sources", "url", "title",
    "finish_reason", "stop_reason", "id", "model", "Error", "Code", "Choices", "Message", "search_info",
    "search_results", "results", "action",
]  # fmt: skip
_HEADERS = [
    "retry-after", "retry-after-ms", "date", "x-ratelimit-reset", "x-ratelimit-reset-tokens",
    "x-ratelimit-remaining-tokens", "x-should-retry", "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-tokens-remaining", "x-amzn-errortype", "content-type",
]  # fmt: skip
_VALUES = (
    "0", "-5", "1e400", "nan", "17", "6m0s", "1s1s", "Thu, 09 Oct 2025 08:53:50 GMT", "Thu, 99 Foo 0000 99:99:99 GMT", "2026-13-01", "true",
    "false", "", "9" * 200, "٣", "\x00", "ThrottlingException:http://x", "text/html",
)  # fmt: skip
STATUSES = (
    200,
    200,
    200,
    201,
    301,
    400,
    401,
    402,
    403,
    404,
    408,
    413,
    422,
    429,
    451,
    500,
    502,
    503,
    504,
    529,
    599,
    0,
    -1,
    999,
)


def any_headers(rng: random.Random) -> dict[str, str]:
    """Headers that may say anything."""
    return {rng.choice(_HEADERS): rng.choice(_VALUES) for _ in range(rng.randrange(4))}


def broken(rng: random.Random, body: bytes) -> bytes:
    """The body with some of its bytes changed, cut, doubled or put in."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(body) + 1)
        to = min(len(body), at + rng.randrange(1, 30))
        how = rng.randrange(5)
        if how == 0:
            body = body[:at]
        elif how == 1:
            body = body[:at] + body[to:]
        elif how == 2:
            body = body[:at] + body[at:to] * 2 + body[to:]
        elif how == 3:
            body = body[:at] + rng.choice(_BYTES) + body[at:]
        else:
            body = body[:at] + bytes(rng.randrange(256) for _ in range(to - at)) + body[to:]
    return body


def bent(rng: random.Random, document: Any) -> Any:
    """The document with values replaced, removed or added where they do not belong."""
    document = copy.deepcopy(document)
    for _ in range(rng.randint(1, 4)):
        places = paths(document)
        if not places:
            return copy.deepcopy(rng.choice(_JUNK))
        place = rng.choice(places)
        how = rng.randrange(3)
        if how == 0:
            set_at(document, place, copy.deepcopy(rng.choice(_JUNK)))
        elif how == 1:
            delete_at(document, place)
        else:
            set_at(document, place, made_up(rng, 3))
    return document


def made_up(rng: random.Random, depth: int) -> Any:
    """A document of nobody's."""
    if depth == 0 or rng.random() < 0.3:
        return copy.deepcopy(rng.choice(_JUNK))
    if rng.random() < 0.5:
        return [made_up(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(_NAMES): made_up(rng, depth - 1) for _ in range(rng.randrange(5))}


def encoded(document: Any) -> bytes:
    """As JSON, half surrogates and all."""
    return json.dumps(document).encode()


def paths(document: Any) -> list[tuple[Any, ...]]:
    """Every place of a document."""
    found: list[tuple[Any, ...]] = []
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        found.append((key,))
        found += [(key, *rest) for rest in paths(value)]
    return found


def set_at(document: Any, place: tuple[Any, ...], value: Any) -> None:
    """Put a value there."""
    for key in place[:-1]:
        document = document[key]
    document[place[-1]] = value


def delete_at(document: Any, place: tuple[Any, ...]) -> None:
    """Take a value away."""
    for key in place[:-1]:
        document = document[key]
    del document[place[-1]]
