"""How is a question asked in OpenAI's Responses protocol, and how is the answer read?

Shape: ``POST {base_url}/responses`` with ``model, input, instructions, tools``; the text is in
``output[type=message].content[type=output_text]``, citations are its ``annotations``, all that was looked at is
``output[type=web_search_call].action.sources`` (OpenAI API reference, *Create a model response*; guide *Web search*). A response
whose ``status`` is ``failed`` comes with HTTP 200.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brandvane.answer import Answer, AnswerStatus, Citation, Failure, Usage
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.reading import Received, cited, count, listed, mapping, reader, retrieved, spoken, word
from brandvane.platforms.request import bearer, wishes
from brandvane.policy import ErrorKind

headers = bearer
SEARCH_TOOL = {"type": "web_search"}
SEARCH_SOURCES = "web_search_call.action.sources"
_INCOMPLETE: Mapping[str, AnswerStatus] = {"max_output_tokens": "truncated", "content_filter": "filtered"}


def path(settings: PlatformSettings, model: str) -> str:
    """Below the base URL."""
    return "/responses"


def request_body(settings: PlatformSettings, model: str, prompt: str) -> dict[str, Any]:
    """The JSON to send; nothing is stored at the platform unless the row says so."""
    wish = wishes(settings)
    body: dict[str, Any] = {"model": model, "input": prompt, "store": False}
    if wish.system:
        body["instructions"] = wish.system
    if wish.search:
        body |= {"tools": [SEARCH_TOOL], "include": [SEARCH_SOURCES], **settings.search_body}
    return {**body, **wish.plain}


def _answer(got: Received, document: dict[str, Any]) -> Answer | Failure:
    state = word(document.get("status"))
    ended = stopped(got, document)
    if ended is not None:
        return ended
    items = [item for item in listed(document.get("output")) if isinstance(item, dict)]
    messages = [item for item in items if item.get("type") == "message"]
    if not messages and not document.get("output_text") and state != "incomplete":
        return _no_message(got, document)
    text, refusal, sources = said(messages)
    reason = word(mapping(document.get("incomplete_details")).get("reason"))
    kind = status_of(state, reason, refusal)
    searches = [item for item in items if item.get("type") == "web_search_call"]
    return got.answered(
        kind,
        spoken(text or word(document.get("output_text"))) or refusal,
        model=document.get("model"),
        finish=reason or state,
        request_id=document.get("id"),
        usage=usage_of(mapping(document.get("usage")), len(searches)),
        citations=[*sources, *_looked_at(searches)],
        queries=_queries(searches),
    )


read = reader(_answer)


def status_of(state: str, reason: str, refusal: str) -> AnswerStatus:
    """How an answer ended: ``reason`` is why a response is ``incomplete``."""
    if refusal:
        return "refused"
    return _INCOMPLETE.get(reason, "truncated") if state == "incomplete" else "ok"


def stopped(got: Received, document: dict[str, Any]) -> Failure | None:
    """The failure of a response that ended without an answer; None for one that did not."""
    state, error = word(document.get("status")), document.get("error")
    if error:
        return got.told_error(error)
    if state in ("failed", "cancelled"):
        return got.failed(ErrorKind.SERVER_ERROR, f"HTTP {got.status}, status {state}")
    if state in ("queued", "in_progress"):
        return got.malformed(f"the response is still {state}")
    return None


def _no_message(got: Received, document: dict[str, Any]) -> Failure:
    if isinstance(document.get("output"), list) and document["output"]:
        return got.failed(ErrorKind.EMPTY, "the response has no message")
    return got.malformed("the body has no output")


def said(messages: list[dict[str, Any]]) -> tuple[str, str, list[Citation]]:
    """Text, refusal and cited sources of the messages; positions are those in the whole text."""
    text, refusal = "", ""
    sources: list[Citation] = []
    for message in messages:
        for part in listed(message.get("content")):
            if not isinstance(part, dict):
                continue
            refusal += word(part.get("refusal"))
            if part.get("type", "output_text") != "output_text":
                continue
            for row in listed(part.get("annotations")):
                if isinstance(row, dict) and row.get("type") == "url_citation":
                    sources += [
                        Citation(c.url, c.title, c.kind, None if c.position is None else c.position + len(text))
                        for c in cited(row)
                    ]
            text += word(part.get("text"))
    return text, refusal, sources


def usage_of(usage: dict[str, Any], searches: int = 0) -> Usage:
    """Token counts of a response."""
    reasoning = mapping(usage.get("output_tokens_details")).get("reasoning_tokens")
    return Usage(count(usage.get("input_tokens")), count(usage.get("output_tokens")), count(reasoning), searches)


def _looked_at(searches: list[dict[str, Any]]) -> Iterator[Citation]:
    rank = 1
    for search in searches:
        sources = listed(mapping(search.get("action")).get("sources"))
        yield from retrieved(sources, first=rank)
        rank += len(sources)


def _queries(searches: list[dict[str, Any]]) -> Iterator[Any]:
    for search in searches:
        action = mapping(search.get("action"))
        yield action.get("query")
        yield from listed(action.get("queries"))
