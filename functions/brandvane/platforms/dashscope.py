"""How is a question asked in DashScope's own protocol, and how is the answer read?

Shape: ``POST {base_url}/services/aigc/text-generation/generation`` with ``model, input.messages, parameters``; the text is
``output.choices[0].message.content`` (or ``output.text``), sources are ``output.search_info.search_results`` (Alibaba Model Studio,
*DashScope API reference*; *Web search*; dashscope-sdk-python). Its compatible mode is plain ``openai_chat``, without sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from brandvane.answer import Answer, AnswerStatus, Citation, Failure, Usage
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.reading import Received, count, first, listed, mapping, reader, retrieved, spoken, word
from brandvane.platforms.request import bearer, chat_messages, wishes

headers = bearer
_SEARCH = {"forced_search": True, "enable_source": True, "enable_citation": True, "citation_format": "[ref_<number>]"}
_FINISH: Mapping[str, AnswerStatus] = {"length": "truncated", "content_filter": "filtered"}
_MARK = re.compile(r"\[ref_(\d{1,4})\]")


def path(settings: PlatformSettings, model: str) -> str:
    """Below the base URL."""
    return "/services/aigc/text-generation/generation"


def request_body(settings: PlatformSettings, model: str, prompt: str) -> dict[str, Any]:
    """The JSON to send."""
    wish = wishes(settings)
    options: dict[str, Any] = {"result_format": "message"}
    if wish.search:
        options |= {"enable_search": True, "search_options": _SEARCH, **settings.search_body}
    return {
        "model": model,
        "input": {"messages": chat_messages(wish.system, prompt)},
        "parameters": {**options, **wish.plain},
    }


def _answer(got: Received, document: dict[str, Any]) -> Answer | Failure:
    output = document.get("output")
    if not isinstance(output, dict):
        if document.get("code"):
            return got.told_error(document)
        return got.malformed("the body has no output")
    choice = first(output.get("choices"))
    message = mapping(choice.get("message"))
    if not message and not isinstance(output.get("text"), str):
        return got.malformed("the output has no message")
    finish = word(choice.get("finish_reason")) or word(output.get("finish_reason"))
    text = spoken(_text(message.get("content")) or word(output.get("text")))
    rows = listed(mapping(output.get("search_info")).get("search_results"))
    return got.answered(
        _FINISH.get(finish, "ok"),
        text,
        model=document.get("model"),
        finish=finish,
        request_id=document.get("request_id"),
        usage=_usage(mapping(document.get("usage")), searches=1 if rows else 0),
        citations=[*_marked(text, rows), *retrieved(rows)],
    )


read = reader(_answer)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(word(mapping(part).get("text")) for part in listed(content))


def _marked(text: str, rows: list[Any]) -> Iterator[Citation]:
    """Sources that the text points at by their number."""
    by_number = {row["index"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("index"), int)}
    for mark in _MARK.finditer(text):
        for source in retrieved([by_number.get(int(mark[1]))]):
            yield Citation(source.url, source.title, "cited", mark.start())


def _usage(usage: dict[str, Any], *, searches: int) -> Usage:
    reasoning = mapping(usage.get("output_tokens_details")).get("reasoning_tokens")
    return Usage(count(usage.get("input_tokens")), count(usage.get("output_tokens")), count(reasoning), searches)
