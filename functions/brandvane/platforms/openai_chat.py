"""How is a question asked in the OpenAI chat protocol, and how is the answer read?

Shape: ``POST {base_url}/chat/completions`` with ``model, messages``; the answer's text is ``choices[0].message.content``
(OpenAI API reference, *Create chat completion*). Many platforms speak it; their differences are parameters of their row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from brandvane.answer import Answer, AnswerStatus, Citation, Failure, Usage
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.errors import classify, failure
from brandvane.policy import ErrorKind

PATH = "/chat/completions"
_THINKING = re.compile(r"<think>.*?</think>\s*", re.DOTALL)
_FINISH: Mapping[str, AnswerStatus] = {"length": "truncated", "content_filter": "filtered", "sensitive": "filtered"}
_FAILED_FINISH = frozenset({"insufficient_system_resource", "error"})


def request_body(settings: PlatformSettings, model: str, prompt: str) -> dict[str, Any]:
    """The JSON to send; ``system`` becomes the first message, every other parameter of the row goes in as it is."""
    parameters = dict(settings.parameters)
    system = parameters.pop("system", None)
    messages = [{"role": "system", "content": system}] if system else []
    return {"model": model, "messages": [*messages, {"role": "user", "content": prompt}], **parameters}


def read(
    settings: PlatformSettings, status: int, headers: Mapping[str, str], body: bytes, now: float
) -> Answer | Failure:
    """Read a response, whatever it is."""
    if status >= 300:
        return classify(settings.name, status, headers, body, now)
    if not body.strip():
        return failure(ErrorKind.EMPTY, f"HTTP {status} with an empty body", status=status)
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):  # the second: brackets nested without end
        return failure(ErrorKind.MALFORMED, f"HTTP {status} with a body that is not JSON", status=status, body=body)
    if not isinstance(document, dict):
        return failure(ErrorKind.MALFORMED, "the body is not a JSON object", status=status, body=body)
    if document.get("error"):
        return classify(settings.name, status, headers, body, now)
    choice = _first(document.get("choices"))
    message = choice.get("message")
    if not isinstance(message, dict):
        return failure(ErrorKind.MALFORMED, "the body has no choices[0].message", status=status, body=body)
    return _answer(settings, document, choice, message, body, status)


def _answer(
    settings: PlatformSettings,
    document: dict[str, Any],
    choice: dict[str, Any],
    message: dict[str, Any],
    body: bytes,
    status: int,
) -> Answer | Failure:
    finish = str(choice.get("finish_reason") or "")
    if finish in _FAILED_FINISH:
        return failure(ErrorKind.SERVER_ERROR, f"finish_reason {finish}", status=status, body=body)
    text = _THINKING.sub("", _text(message.get("content"))).strip()
    refusal = message.get("refusal")
    kind: AnswerStatus = "refused" if isinstance(refusal, str) and refusal else _FINISH.get(finish, "ok")
    if kind == "refused":
        text = text or str(refusal)
    if kind == "ok" and not text:
        return failure(ErrorKind.EMPTY, "the answer has no text", status=status, body=body)
    usage = _usage(document.get("usage"))
    return Answer(
        status=kind,
        text=text,
        served_model=str(document.get("model") or ""),
        finish_reason=finish,
        provider_request_id=str(document.get("id") or ""),
        usage=usage,
        citations=_citations(message.get("annotations")),
        raw=body.decode("utf-8", "replace"),
    )


def _first(choices: Any) -> dict[str, Any]:
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _text(content: Any) -> str:
    """``content`` is a string, or (some platforms) a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(p.get("text", "")) for p in parts if isinstance(p, dict) and p.get("type", "text") == "text")


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("completion_tokens_details")
    reasoning = _count(details.get("reasoning_tokens")) if isinstance(details, dict) else 0
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), reasoning)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _citations(annotations: Any) -> tuple[Citation, ...]:
    rows = annotations if isinstance(annotations, list) else []
    cited = [row.get("url_citation") for row in rows if isinstance(row, dict) and row.get("type") == "url_citation"]
    return tuple(
        Citation(c["url"], str(c.get("title") or ""))
        for c in cited
        if isinstance(c, dict) and isinstance(c.get("url"), str)
    )
