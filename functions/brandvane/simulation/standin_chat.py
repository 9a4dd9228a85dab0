"""How does a stand-in read and answer the OpenAI protocols: chat completions, responses, and Perplexity's dialect of these?"""

from __future__ import annotations

from typing import Any

from brandvane.simulation.standin_reply import QUERY, Asked, BadRequest, Told, asked, rows_of, text_of

_FINISH = {"whole": "stop", "truncated": "length", "filtered": "content_filter", "refused": "stop"}


def read_chat(path: str, document: dict[str, Any]) -> Asked:
    """A chat request.

    Raises:
        BadRequest: no model, no user message, or a stream is wanted.
    """
    _no_stream(document)
    messages = rows_of(document.get("messages"), "messages")
    texts = (text_of(message.get("content")) for message in messages if message.get("role") == "user")
    searched = bool(document.get("web_search_options") or document.get("plugins") or document.get("enable_search"))
    return asked(document.get("model"), texts, searched=searched, where="messages")


def completion(told: Told) -> dict[str, Any]:
    """A chat completion."""
    given, made = told.tokens
    message: dict[str, Any] = {"role": "assistant", "content": told.text}
    if told.ended == "refused":
        message |= {"content": None, "refusal": told.text}
    if told.sources:
        url, title = told.sources[0]
        note = {"url": url, "title": title, "start_index": 0, "end_index": len(told.text)}
        message["annotations"] = [{"type": "url_citation", "url_citation": note}]
    return {
        "id": told.answer_id,
        "object": "chat.completion",
        "created": told.created,
        "model": told.asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": _FINISH[told.ended]}],
        "usage": {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made},
    }


def read_responses(path: str, document: dict[str, Any]) -> Asked:
    """A request of the Responses protocol, or of Perplexity's agent.

    Raises:
        BadRequest: no model, no input, or a stream is wanted.
    """
    _no_stream(document)
    given = document.get("input")
    if isinstance(given, str):
        texts = [given]
    else:
        texts = [text_of(row.get("content")) for row in rows_of(given, "input") if row.get("role") == "user"]
    return asked(document.get("model"), texts, searched=bool(document.get("tools")), where="input")


def response(told: Told) -> dict[str, Any]:
    """A response: web search calls first, then the message."""
    notes: list[dict[str, Any]] = []
    output: list[dict[str, Any]] = []
    if told.sources:
        looked = [{"type": "url", "url": url, "title": title} for url, title in told.sources]
        search = {"type": "search", "query": QUERY, "sources": looked}
        output.append(
            {"id": f"ws_{told.answer_id}", "type": "web_search_call", "status": "completed", "action": search}
        )
        url, title = told.sources[0]
        notes = [{"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": len(told.text)}]
    part: dict[str, Any] = {"type": "output_text", "text": told.text, "annotations": notes}
    if told.ended == "refused":
        part = {"type": "refusal", "refusal": told.text}
    output.append({"id": f"msg_{told.answer_id}", "type": "message", "role": "assistant", "content": [part]})
    return _response(told, output)


def agent(told: Told) -> dict[str, Any]:
    """An answer of Perplexity's agent: sources as numbered results, the cost beside the tokens."""
    text, output = told.text, []
    if told.sources:
        text = f"{text} [1]"
        results = [
            {"id": number, "url": url, "title": title} for number, (url, title) in enumerate(told.sources, start=1)
        ]
        output.append({"type": "search_results", "queries": [QUERY], "results": results})
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    if told.ended == "refused":
        part = {"type": "refusal", "refusal": told.text}
    output.append({"type": "message", "role": "assistant", "content": [part]})
    document = _response(told, output)
    document["usage"]["cost"] = {"currency": "USD", "total_cost": 0.001}
    return document


def _response(told: Told, output: list[dict[str, Any]]) -> dict[str, Any]:
    given, made = told.tokens
    early = {"truncated": "max_output_tokens", "filtered": "content_filter"}.get(told.ended)
    return {
        "id": told.answer_id,
        "object": "response",
        "created_at": told.created,
        "status": "incomplete" if early else "completed",
        "incomplete_details": {"reason": early} if early else None,
        "error": None,
        "model": told.asked.model,
        "output": output,
        "usage": {
            "input_tokens": given,
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + made,
        },
    }


def _no_stream(document: dict[str, Any]) -> None:
    if document.get("stream"):
        raise BadRequest("'stream' is not supported by stand-ins")
