"""How is a question asked in Anthropic's Messages protocol, and how is the answer read?

Shape: ``POST {base_url}/v1/messages`` with ``model, max_tokens, system, messages, tools``; the text is that of
``content[type=text]``, cited sources are their ``citations``, all that was looked at stands in ``content[type=web_search_tool_result]``
(Anthropic API reference, *Messages*; *Web search tool*; anthropic-sdk-python types). DeepSeek speaks it at ``/anthropic``.

``pause_turn`` asks the client to send the turn back and go on, which would be a second request within one slot. It is not continued:
``max_uses`` of the search tool stays below the number of steps at which a turn is paused, and a turn that is paused all the same is
an answer cut short (docs/decisions/0010).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brandvane.answer import Answer, AnswerStatus, Citation, Failure, Usage
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.reading import Received, cited, count, listed, mapping, reader, retrieved, spoken, word
from brandvane.platforms.request import named, wishes
from brandvane.policy import ErrorKind

VERSION = "2023-06-01"
MAX_TOKENS = 4096  # the protocol demands a number
SEARCHES_MAX = 5
_STOPS: Mapping[str, AnswerStatus] = {
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "pause_turn": "truncated",
    "refusal": "refused",
}


def path(settings: PlatformSettings, model: str) -> str:
    """Below the base URL, with or without its version."""
    return "/messages" if settings.base_url.rstrip("/").endswith("/v1") else "/v1/messages"


def headers(settings: PlatformSettings, key: str, content: bytes, now: float) -> dict[str, str]:
    """Key and version."""
    return {**named(settings, key, "x-api-key"), "anthropic-version": VERSION}


def request_body(settings: PlatformSettings, model: str, prompt: str) -> dict[str, Any]:
    """The JSON to send."""
    wish = wishes(settings)
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": prompt}], "max_tokens": MAX_TOKENS}
    if wish.system:
        body["system"] = wish.system
    if wish.search:
        tool = {"type": "web_search_20250305", "name": "web_search", "max_uses": SEARCHES_MAX}
        body |= {"tools": [tool], **settings.search_body}
    return {**body, **wish.plain}


def _answer(got: Received, document: dict[str, Any]) -> Answer | Failure:
    if document.get("error"):
        return got.told_error(document["error"])
    blocks = document.get("content")
    if not isinstance(blocks, list):
        return got.malformed("the body has no content")
    stop = word(document.get("stop_reason"))
    kind = _STOPS.get(stop, "ok")
    text, sources, queries, trouble = _said(blocks)
    if stop == "pause_turn" and not text:
        return got.failed(ErrorKind.EMPTY, "the turn was paused before it had said anything")
    if kind == "ok" and not text and trouble == "too_many_requests":
        return got.failed(ErrorKind.SERVER_ERROR, f"web search failed: {trouble}")
    return got.answered(
        kind,
        text,
        model=document.get("model"),
        finish=stop,
        request_id=document.get("id"),
        usage=_usage(mapping(document.get("usage"))),
        citations=sources,
        queries=queries,
    )


read = reader(_answer)


def _said(blocks: list[Any]) -> tuple[str, list[Citation], list[Any], str]:
    """Text, sources, search queries, and why a search failed (if one did)."""
    text, trouble = "", ""
    used: list[Citation] = []
    seen: list[Citation] = []
    queries: list[Any] = []
    for block in blocks:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "text":
            for row in listed(block.get("citations")):
                used += [Citation(c.url, c.title, "cited", len(text)) for c in cited(row)]
            text += word(block.get("text"))
        elif kind == "server_tool_use":
            queries.append(mapping(block.get("input")).get("query"))
        elif kind == "web_search_tool_result":
            content = block.get("content")
            seen += retrieved(content, first=len(seen) + 1)
            trouble = word(mapping(content).get("error_code")) or trouble
    return spoken(text), [*used, *seen], queries, trouble


def _usage(usage: dict[str, Any]) -> Usage:
    cached = count(usage.get("cache_read_input_tokens")) + count(usage.get("cache_creation_input_tokens"))
    searches = count(mapping(usage.get("server_tool_use")).get("web_search_requests"))
    return Usage(count(usage.get("input_tokens")) + cached, count(usage.get("output_tokens")), 0, searches)
