"""What do the bodies of the OpenAI chat protocol look like: the request as read, a good answer, and the broken ones?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brandvane.simulation.standin_http import JSON, as_json, encode, error_body

CHAT_PATH = "/v1/chat/completions"


class BadChat(ValueError):
    """The request is no chat request that can be answered; answered with 400."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Model and prompt; the prompt is the text of the user messages, one a line, without system messages."""

    model: str
    prompt: str


def read_chat(body: bytes) -> ChatRequest:
    """Read a request body.

    Raises:
        BadChat: no JSON object, no model, no user message, or a stream is wanted.
    """
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise BadChat("the body is not valid JSON") from None
    if not isinstance(document, dict):
        raise BadChat("the body is not a JSON object")
    model, messages = document.get("model"), document.get("messages")
    if not isinstance(model, str) or not model:
        raise BadChat("'model' must be a text")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise BadChat("'messages' must be a list of objects")
    prompt = "\n".join(_text(message.get("content")) for message in messages if message.get("role") == "user")
    if not prompt:
        raise BadChat("'messages' holds no text of the role 'user'")
    if document.get("stream"):
        raise BadChat("'stream' is not supported by stand-ins")
    if not _encodable(model + prompt):
        raise BadChat("the text holds half a surrogate pair")
    return ChatRequest(model, prompt)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        texts = [part.get("text") for part in content]
        if all(isinstance(text, str) for text in texts):
            return "".join(str(text) for text in texts)
    raise BadChat("'content' must be a text or a list of text parts")


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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


def good(answer_id: str, created: int, request: ChatRequest, text: str) -> Reply:
    """A chat completion. Tokens are counted as one for four characters, which is near enough for a simulation."""
    asked, told = len(request.prompt) // 4 + 1, len(text) // 4 + 1
    document = {
        "id": answer_id,
        "object": "chat.completion",
        "created": created,
        "model": request.model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": asked, "completion_tokens": told, "total_tokens": asked + told},
    }
    return Reply(200, as_json(document), headers={"x-request-id": answer_id})


def empty(answer_id: str, created: int, request: ChatRequest, form: int) -> Reply:
    """HTTP 200 with nothing in it: an answer without text, or no body at all."""
    return Reply(200, b"") if form % 2 else good(answer_id, created, request, "")


def malformed(answer: Reply, form: int) -> Reply:
    """HTTP 200 that is no chat completion: JSON that breaks off, a web page, JSON of another shape, or no UTF-8."""
    bodies = (
        answer.body[: len(answer.body) // 2],
        b"<!DOCTYPE html><html><head><title>Gateway</title></head><body>Please wait.</body></html>",
        as_json({"object": "chat.completion", "result": "ready"}),
        b'{"choices":[{"message":{"content":"\xff\xfe\xfa"}}]}',
    )
    return Reply(200, bodies[form % len(bodies)])


def failed(status: int) -> Reply:
    """A 5xx of the platform."""
    message = "The server had an error while processing your request." if status == 500 else "The engine is overloaded."
    return Reply(status, error_body(message, "server_error", None))


def throttled(message: str, retry_after_s: int) -> Reply:
    """429 with Retry-After in whole seconds."""
    body = error_body(message, "requests", "rate_limit_exceeded")
    return Reply(429, body, headers={"Retry-After": str(retry_after_s)})


def refused(status: int, message: str) -> Reply:
    """A fault of the caller."""
    return Reply(status, error_body(message, "invalid_request_error", None))
