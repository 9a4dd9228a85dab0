"""How does a stand-in read and answer the protocols of Anthropic, Gemini, DashScope and Tencent Cloud?"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from brandvane.simulation.standin_reply import QUERY, Asked, BadRequest, Told, asked, rows_of, text_of

GENERATE = ":generateContent"
_STOP = {"whole": "end_turn", "truncated": "max_tokens", "filtered": "refusal", "refused": "refusal"}
_GEMINI = {"whole": "STOP", "truncated": "MAX_TOKENS", "filtered": "SAFETY", "refused": "PROHIBITED_CONTENT"}
_DASHSCOPE = {"whole": "stop", "truncated": "length", "filtered": "content_filter", "refused": "content_filter"}
_TENCENT = {"whole": "stop", "truncated": "length", "filtered": "sensitive", "refused": "sensitive"}


def read_messages(path: str, document: dict[str, Any]) -> Asked:
    """A request of Anthropic's protocol, which demands ``max_tokens``.

    Raises:
        BadRequest: a field is missing.
    """
    if not isinstance(document.get("max_tokens"), int):
        raise BadRequest("max_tokens: Field required")
    messages = rows_of(document.get("messages"), "messages")
    texts = (text_of(message.get("content")) for message in messages if message.get("role") == "user")
    return asked(document.get("model"), texts, searched=bool(document.get("tools")), where="messages")


def message(told: Told) -> dict[str, Any]:
    """A message: the search and its results stand before the text."""
    given, made = told.tokens
    blocks: list[dict[str, Any]] = []
    text: dict[str, Any] = {"type": "text", "text": told.text}
    usage: dict[str, Any] = {"input_tokens": given, "output_tokens": made}
    if told.sources:
        use = f"srvtoolu_{told.answer_id}"
        found = [{"type": "web_search_result", "url": url, "title": title} for url, title in told.sources]
        blocks.append({"type": "server_tool_use", "id": use, "name": "web_search", "input": {"query": QUERY}})
        blocks.append({"type": "web_search_tool_result", "tool_use_id": use, "content": found})
        url, title = told.sources[0]
        text["citations"] = [{"type": "web_search_result_location", "url": url, "title": title, "cited_text": title}]
        usage["server_tool_use"] = {"web_search_requests": 1}
    if told.text:
        blocks.append(text)
    return {
        "id": told.answer_id,
        "type": "message",
        "role": "assistant",
        "model": told.asked.model,
        "content": blocks,
        "stop_reason": _STOP[told.ended],
        "usage": usage,
    }


def read_gemini(path: str, document: dict[str, Any]) -> Asked:
    """A request of Gemini's protocol; the model stands in the path.

    Raises:
        BadRequest: nothing is asked.
    """
    model = unquote(path.rpartition("/")[2].removesuffix(GENERATE))
    contents = [row for row in rows_of(document.get("contents"), "contents") if row.get("role", "user") == "user"]
    texts = [text_of(row.get("parts")) for row in contents]
    return asked(model, texts, searched=bool(document.get("tools")), where="contents")


def generated(told: Told) -> dict[str, Any]:
    """A Gemini answer. A filtered candidate has no content."""
    given, made = told.tokens
    candidate: dict[str, Any] = {"index": 0, "finishReason": _GEMINI[told.ended]}
    if told.ended in ("whole", "truncated"):
        candidate["content"] = {"role": "model", "parts": [{"text": told.text}]}
    if told.sources:
        candidate["groundingMetadata"] = {
            "webSearchQueries": [QUERY],
            "groundingChunks": [{"web": {"uri": url, "title": title}} for url, title in told.sources],
            "groundingSupports": [{"segment": {"startIndex": 0}, "groundingChunkIndices": [0]}],
        }
    counts = {"promptTokenCount": given, "candidatesTokenCount": made, "totalTokenCount": given + made}
    return {
        "candidates": [candidate],
        "usageMetadata": counts,
        "modelVersion": told.asked.model,
        "responseId": told.answer_id,
    }


def read_dashscope(path: str, document: dict[str, Any]) -> Asked:
    """A request of DashScope's own protocol.

    Raises:
        BadRequest: a field is missing.
    """
    given, parameters = document.get("input"), document.get("parameters")
    if not isinstance(given, dict):
        raise BadRequest("Required body invalid, please check the request body format: 'input' is missing")
    messages = rows_of(given.get("messages"), "input.messages")
    texts = (text_of(row.get("content")) for row in messages if row.get("role") == "user")
    searched = isinstance(parameters, dict) and bool(parameters.get("enable_search"))
    return asked(document.get("model"), texts, searched=searched, where="input.messages")


def generation(told: Told) -> dict[str, Any]:
    """A DashScope answer, with ``[ref_1]`` where it uses a source."""
    given, made = told.tokens
    text = f"{told.text}[ref_1]" if told.sources else told.text
    choice = {"finish_reason": _DASHSCOPE[told.ended], "message": {"role": "assistant", "content": text}}
    output: dict[str, Any] = {"choices": [choice]}
    if told.sources:
        rows = [{"index": n, "title": title, "url": url} for n, (url, title) in enumerate(told.sources, start=1)]
        output["search_info"] = {"search_results": rows}
    usage = {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}
    return {"request_id": told.answer_id, "output": output, "usage": usage}


def read_tencent(path: str, document: dict[str, Any]) -> Asked:
    """A ``ChatCompletions`` of Tencent Cloud API 3.0.

    Raises:
        BadRequest: a field is missing, or a stream is wanted.
    """
    if document.get("Stream"):
        raise BadRequest("'Stream' is not supported by stand-ins")
    messages = rows_of(document.get("Messages"), "Messages")
    texts = (text_of(row.get("Content")) for row in messages if row.get("Role") == "user")
    searched = bool(document.get("ForceSearchEnhancement"))
    return asked(document.get("Model"), texts, searched=searched, where="Messages")


def chat_completions(told: Told) -> dict[str, Any]:
    """A Tencent Cloud answer, with ``[1](@ref)`` where it uses a source."""
    given, made = told.tokens
    text = f"{told.text}[1](@ref)" if told.sources else told.text
    choice = {"FinishReason": _TENCENT[told.ended], "Message": {"Role": "assistant", "Content": text}}
    response: dict[str, Any] = {
        "RequestId": told.answer_id,
        "Id": told.answer_id,
        "Created": told.created,
        "Choices": [choice],
        "Usage": {"PromptTokens": given, "CompletionTokens": made, "TotalTokens": given + made},
    }
    if told.sources:
        rows = [{"Index": n, "Title": title, "Url": url} for n, (url, title) in enumerate(told.sources, start=1)]
        response["SearchInfo"] = {"SearchResults": rows}
    return {"Response": response}
