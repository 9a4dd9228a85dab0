"""How is a question asked in the OpenAI chat protocol, and how is the answer read?

Shape: ``POST {base_url}/chat/completions`` with ``model, messages``; the answer's text is ``choices[0].message.content``
(OpenAI API reference, *Create chat completion*). Many platforms speak it; their differences are parameters of their row:
Ark and DeepSeek put thoughts into ``reasoning_content`` (not read), DeepSeek sends blank lines before the document, DashScope's
``search_info`` and Ark's bots' ``references`` name sources, OpenRouter puts an error into a choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brandvane.answer import Answer, AnswerStatus, Citation, Failure, Usage
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.reading import Received, cited, count, first, listed, mapping, reader, retrieved, spoken, word
from brandvane.platforms.request import bearer, chat_messages, wishes
from brandvane.policy import ErrorKind

PATH = "/chat/completions"
headers = bearer
_FINISH: Mapping[str, AnswerStatus] = {"length": "truncated", "content_filter": "filtered", "sensitive": "filtered"}
_FAILED_FINISH = frozenset({"insufficient_system_resource", "error", "network_error"})


def path(settings: PlatformSettings, model: str) -> str:
    """Below the base URL."""
    return PATH


def request_body(settings: PlatformSettings, model: str, prompt: str) -> dict[str, Any]:
    """The JSON to send; ``system`` becomes the first message, every other parameter of the row goes in as it is."""
    wish = wishes(settings)
    searching = settings.search_body if wish.search else {}
    return {"model": model, "messages": chat_messages(wish.system, prompt), **searching, **wish.plain}


def _answer(got: Received, document: dict[str, Any]) -> Answer | Failure:
    choice = first(document.get("choices"))
    error = document.get("error") or choice.get("error")
    if count(mapping(document.get("base_resp")).get("status_code")):
        error = error or {"base_resp": document["base_resp"]}  # MiniMax says 0 when all is well
    if error:
        return got.told_error(error)
    message = choice.get("message")
    if not isinstance(message, dict):
        return _no_message(got, document)
    finish = word(choice.get("finish_reason"))
    if finish in _FAILED_FINISH:
        return got.failed(ErrorKind.SERVER_ERROR, f"finish_reason {finish}")
    text = spoken(_text(message.get("content")))
    refusal = word(message.get("refusal"))
    kind: AnswerStatus = "refused" if refusal else _FINISH.get(finish, "ok")
    return got.answered(
        kind,
        text or refusal,
        model=document.get("model"),
        finish=finish,
        request_id=document.get("id"),
        usage=_usage(mapping(document.get("usage"))),
        citations=_citations(document, message),
    )


read = reader(_answer)


def _no_message(got: Received, document: dict[str, Any]) -> Failure:
    """Gateways and platforms put errors of other shapes into a success (MiniMax ``base_resp``, ``{"code", "message"}``)."""
    told = got.told_error(document)
    if told.kind is not ErrorKind.MALFORMED and ("choices" not in document or not document["choices"]):
        return told
    return got.malformed("the body has no choices[0].message")


def _text(content: Any) -> str:
    """``content`` is a string, or (some platforms) a list of parts."""
    if isinstance(content, str):
        return content
    parts = [part for part in listed(content) if isinstance(part, dict) and part.get("type", "text") == "text"]
    return "".join(word(part.get("text")) for part in parts)


def _usage(usage: dict[str, Any]) -> Usage:
    details = mapping(usage.get("completion_tokens_details"))
    return Usage(
        count(usage.get("prompt_tokens")),
        count(usage.get("completion_tokens")),
        count(details.get("reasoning_tokens")),
        count(usage.get("num_search_queries")),
    )


def _citations(document: dict[str, Any], message: dict[str, Any]) -> Iterator[Citation]:
    for row in listed(message.get("annotations")):
        if isinstance(row, dict) and row.get("type") == "url_citation":
            yield from cited(row.get("url_citation", row))
    for rows in (document.get("search_results"), mapping(document.get("search_info")).get("search_results")):
        yield from retrieved(rows)
    yield from retrieved(document.get("references"))
    yield from retrieved(message.get("references"))
