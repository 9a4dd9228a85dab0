"""What does a stand-in read of a request, and what is its reply made of, whatever protocol it speaks?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from brandvane.simulation.standin_http import JSON, as_json, encode, error_body

Ended = Literal["whole", "truncated", "filtered", "refused"]
# What a made-up web search has looked at; the first is the one that the answer names. Reserved names: nobody's pages.
SOURCES = (("https://reviews.example.com/kettles", "Reviews"), ("https://tests.example.org/2026", "Tests"))
QUERY = "best makers"


class BadRequest(ValueError):
    """The request is none that can be answered; answered with the protocol's 400."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Model and prompt; the prompt is the text of the user messages, one a line, without system messages."""

    model: str
    prompt: str
    searched: bool = False  # was a web search asked for?


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer says. ``text``: all of it, or what there is when it ended early. ``created``: POSIX seconds."""

    answer_id: str
    created: int
    asked: Asked
    text: str
    ended: Ended = "whole"

    @property
    def tokens(self) -> tuple[int, int]:
        """Input and output, one for four characters, which is near enough for a simulation."""
        return len(self.asked.prompt) // 4 + 1, len(self.text) // 4 + 1

    @property
    def sources(self) -> tuple[tuple[str, str], ...]:
        """Address and title of what was looked at."""
        return SOURCES if self.asked.searched and self.text else ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the bytes of an answer are made of."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: Mapping[str, str] | None = None

    def encoded(self, *, keep_alive: bool) -> bytes:
        """The whole answer."""
        headers = self.headers
        return encode(self.status, self.body, keep_alive=keep_alive, content_type=self.content_type, headers=headers)


def refused(status: int, message: str) -> Reply:
    """A fault of the caller, told by the server itself."""
    return Reply(status, error_body(message, "invalid_request_error", None))


def malformed(body: bytes, form: int) -> Reply:
    """HTTP 200 that is no answer: JSON that breaks off, a web page, JSON of another shape, or no UTF-8."""
    bodies = (
        body[: len(body) // 2],
        b"<!DOCTYPE html><html><head><title>Gateway</title></head><body>Please wait.</body></html>",
        as_json({"object": "chat.completion", "result": "ready"}),
        b'{"choices":[{"message":{"content":"\xff\xfe\xfa"}}]}',
    )
    return Reply(200, bodies[form % len(bodies)])


def document_of(body: bytes) -> dict[str, Any]:
    """A request's document.

    Raises:
        BadRequest: no JSON object.
    """
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not valid JSON") from None
    if not isinstance(document, dict):
        raise BadRequest("the body is not a JSON object")
    return document


def asked(model: object, texts: Iterable[str], *, searched: bool, where: str) -> Asked:
    """Model and the user's words. ``where``: the field that the words were looked for in.

    Raises:
        BadRequest: no model, no words, or words that are no text.
    """
    if not isinstance(model, str) or not model:
        raise BadRequest("'model' must be a text")
    prompt = "\n".join(texts)
    if not prompt:
        raise BadRequest(f"'{where}' holds no text of the role 'user'")
    try:
        (model + prompt).encode()
    except UnicodeEncodeError:
        raise BadRequest("the text holds half a surrogate pair") from None
    return Asked(model, prompt, searched)


def rows_of(value: object, where: str) -> list[dict[str, Any]]:
    """A list of objects.

    Raises:
        BadRequest: it is none.
    """
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise BadRequest(f"'{where}' must be a list of objects")
    return value


def text_of(content: object) -> str:
    """A message's text, given as such or in parts.

    Raises:
        BadRequest: it is neither.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(
        isinstance(part, dict) and part.get("type", "text") == "text" for part in content
    ):
        texts = [part.get("text") for part in content]
        if all(isinstance(text, str) for text in texts):
            return "".join(str(text) for text in texts)
    raise BadRequest("'content' must be a text or a list of text parts")
