"""OpenAI's Responses protocol. Bodies of our own writing after the API reference (*Create a model response*; *Web search*)."""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.answer import Citation, Usage
from brandvane.policy import ErrorKind
from unit.protocol_reading import Speaker

K = ErrorKind
SPEAKER = Speaker("openai_responses")
TEXT = "Acme leads. Zeta follows."
ACME = {"type": "url_citation", "url": "https://acme.example/a", "title": "Acme", "start_index": 5, "end_index": 9}


def message(text: str = TEXT, *annotations: Any) -> dict[str, Any]:
    """An item of the output."""
    part = {"type": "output_text", "text": text, "annotations": list(annotations)}
    return {"type": "message", "role": "assistant", "status": "completed", "content": [part]}


def search(*urls: str, query: str = "best makers") -> dict[str, Any]:
    """A web search that was made."""
    sources = [{"type": "url", "url": url} for url in urls]
    return {
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "query": query, "sources": sources},
    }


def response(*output: Any, **more: Any) -> dict[str, Any]:
    """A response."""
    usage = {"input_tokens": 10, "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 20}}
    document = {"id": "resp_1", "object": "response", "status": "completed", "model": "m1-2026", "output": list(output)}
    return {**document, "usage": usage, **more}


def test_a_question_is_the_input_and_nothing_is_stored() -> None:
    assert SPEAKER.asks() == {"model": "m1", "input": "Who leads?", "store": False}
    assert SPEAKER.module.path(SPEAKER.settings, "m1") == "/responses"
    assert SPEAKER.module.headers(SPEAKER.settings, "k-1", b"", 0.0) == {"Authorization": "Bearer k-1"}


def test_the_search_switch_names_the_tool_and_asks_for_all_sources() -> None:
    body = SPEAKER.asks(search=True, system="Be brief.", max_output_tokens=9)
    assert body["tools"] == [{"type": "web_search"}]
    assert body["include"] == ["web_search_call.action.sources"]
    assert (body["instructions"], body["max_output_tokens"]) == ("Be brief.", 9)
    assert "search" not in body


def test_an_answer_is_read_with_what_it_cites_and_what_was_looked_at() -> None:
    reply = SPEAKER.answer(
        response(
            {"type": "reasoning", "summary": [{"text": "Hm, Omega?"}]},
            search("https://acme.example/a", "https://zeta.example/"),
            message(TEXT, ACME),
        )
    )
    assert (reply.status, reply.text, reply.served_model, reply.provider_request_id) == (
        "ok",
        TEXT,
        "m1-2026",
        "resp_1",
    )
    assert reply.citations == (
        Citation("https://acme.example/a", "Acme", "cited", 5),
        Citation("https://acme.example/a", "", "retrieved", 1),
        Citation("https://zeta.example/", "", "retrieved", 2),
    )
    assert reply.search_queries == ("best makers",)
    assert reply.usage == Usage(10, 30, 20, 1)


def test_positions_count_from_the_beginning_of_the_whole_text() -> None:
    reply = SPEAKER.answer(response(message("0123456789"), message(TEXT, ACME)))
    assert reply.citations[0].position == 15


@pytest.mark.parametrize(("reason", "status"), [("max_output_tokens", "truncated"), ("content_filter", "filtered")])
def test_an_incomplete_response_is_an_answer_cut_short_or_filtered(reason: str, status: str) -> None:
    reply = SPEAKER.answer(response(message(), status="incomplete", incomplete_details={"reason": reason}))
    assert (reply.status, reply.text, reply.finish_reason) == (status, TEXT, reason)


def test_an_output_budget_that_reasoning_used_up_is_truncated_without_text() -> None:
    reply = SPEAKER.answer(
        response({"type": "reasoning"}, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    )
    assert (reply.status, reply.text) == ("truncated", "")


def test_a_refusal_is_an_answer() -> None:
    item = {"type": "message", "content": [{"type": "refusal", "refusal": "I cannot help."}]}
    reply = SPEAKER.answer(response(item))
    assert (reply.status, reply.text) == ("refused", "I cannot help.")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": "server_error", "message": "Oops."}, K.SERVER_ERROR),
        ({"code": "rate_limit_exceeded", "message": "Slow."}, K.RATE_LIMITED),
        ({"code": "insufficient_quota", "message": "Pay."}, K.QUOTA_EXHAUSTED),
        ({"code": "invalid_prompt", "message": "Flagged."}, K.CONTENT_FILTERED),
        (None, K.SERVER_ERROR),
    ],
)
def test_a_failure_inside_a_success_is_a_failure(error: Any, kind: ErrorKind) -> None:
    assert SPEAKER.kind(response(status="failed", error=error)) is kind


@pytest.mark.parametrize(
    ("document", "status", "kind"),
    [
        (response(status="in_progress"), 200, K.MALFORMED),
        (response(), 200, K.MALFORMED),
        (response({"type": "reasoning"}), 200, K.EMPTY),
        (response(message("")), 200, K.EMPTY),
        ({}, 200, K.MALFORMED),
        (b"", 200, K.EMPTY),
        (b"<html>", 200, K.MALFORMED),
        ({"error": {"code": "invalid_api_key"}}, 401, K.AUTH_ERROR),
        ({"error": {"code": "model_not_found"}}, 404, K.MODEL_GONE),
        ({"error": {"code": "context_length_exceeded"}}, 400, K.CONTEXT_TOO_LONG),
        ({"error": {"code": "unsupported_parameter"}}, 400, K.CLIENT_ERROR),
        (b"<html>", 502, K.SERVER_ERROR),
        (b"", 504, K.TIMEOUT),
    ],
)
def test_what_is_no_answer_is_a_failure_of_its_kind(document: Any, status: int, kind: ErrorKind) -> None:
    assert SPEAKER.kind(document, status) is kind
