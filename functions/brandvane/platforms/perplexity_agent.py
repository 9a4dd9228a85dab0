"""How is a question asked of Perplexity's Agent API, and how is the answer read?

Shape: ``POST https://api.perplexity.ai/v1/agent``, a Responses dialect: a strict body, web search only when the tool is named,
sources as ``output[type=search_results].results[]`` with ``[n]`` in the text where it uses one (annotations are often empty), the
cost as the platform counts it in ``usage.cost`` (perplexityai/perplexity-py types; api-platform-developers, *migrate-sonar*).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from brandvane.answer import Answer, Citation, Failure
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.openai_responses import said, status_of, stopped, usage_of
from brandvane.platforms.reading import Received, listed, mapping, reader, retrieved, spoken, word
from brandvane.platforms.request import bearer, wishes

headers = bearer
_MARK = re.compile(r"\[(?:web:)?(\d{1,4})\]")
_DOLLARS_MAX = 1000.0


def path(settings: PlatformSettings, model: str) -> str:
    """Below the base URL."""
    return "/agent"


def request_body(settings: PlatformSettings, model: str, prompt: str) -> dict[str, Any]:
    """The JSON to send. The body is strict: an unknown field is an error, so nothing is added that was not asked for."""
    wish = wishes(settings)
    body: dict[str, Any] = {"model": model, "input": prompt}
    if wish.system:
        body["instructions"] = wish.system
    if wish.search:
        body |= {"tools": [{"type": "web_search"}], **settings.search_body}
    return {**body, **wish.plain}


def _answer(got: Received, document: dict[str, Any]) -> Answer | Failure:
    ended = stopped(got, document)
    if ended is not None:
        return ended
    items = [item for item in listed(document.get("output")) if isinstance(item, dict)]
    if not items:
        return got.malformed("the body has no output")
    text, refusal, sources = said([item for item in items if item.get("type") == "message"])
    found = [item for item in items if item.get("type") == "search_results"]
    rows = [row for item in found for row in listed(item.get("results"))]
    reason, state = word(mapping(document.get("incomplete_details")).get("reason")), word(document.get("status"))
    kind = status_of(state, reason, refusal)
    text = spoken(text) or refusal
    usage = mapping(document.get("usage"))
    return got.answered(
        kind,
        text,
        model=document.get("model"),
        finish=reason or state,
        request_id=document.get("id"),
        usage=usage_of(usage, len(found)),
        citations=[*(sources or _marked(text, rows)), *retrieved(rows)],
        queries=[query for item in found for query in listed(item.get("queries"))],
        cost_microusd=_cost(usage),
    )


read = reader(_answer)


def _marked(text: str, rows: list[Any]) -> Iterator[Citation]:
    """Sources that the text points at by their number."""
    by_number = {str(row["id"]): row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), int | str)}
    for mark in _MARK.finditer(text):
        for source in retrieved([by_number.get(mark[1])]):
            yield Citation(source.url, source.title, "cited", mark.start())


def _cost(usage: dict[str, Any]) -> int:
    total = mapping(usage.get("cost")).get("total_cost")
    if isinstance(total, bool) or not isinstance(total, int | float) or not 0 <= total <= _DOLLARS_MAX:
        return 0
    return round(total * 1e6)
