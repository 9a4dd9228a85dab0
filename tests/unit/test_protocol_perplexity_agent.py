"""Perplexity's Agent API. Bodies of our own writing after perplexity-py's types and the vendor's migration guide."""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.answer import Citation, Usage
from brandvane.policy import ErrorKind
from unit.protocol_reading import Speaker

K = ErrorKind
SPEAKER = Speaker("perplexity_agent", base_url="https://api.perplexity.ai/v1")
RESULTS = {
    "type": "search_results",
    "queries": ["best makers"],
    "results": [
        {"id": 1, "url": "https://acme.example/", "title": "Acme", "snippet": "…"},
        {"id": 2, "url": "https://zeta.example/", "title": "Zeta", "snippet": "…"},
    ],
}


def message(text: str, *annotations: Any) -> dict[str, Any]:
    """An item of the output."""
    return {"type": "message", "content": [{"type": "output_text", "text": text, "annotations": list(annotations)}]}


def response(*output: Any, **more: Any) -> dict[str, Any]:
    """A response."""
    usage = {"input_tokens": 10, "output_tokens": 20, "cost": {"total_cost": 0.00512, "currency": "USD"}}
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "sonar-9",
        "output": list(output),
        "usage": usage,
        **more,
    }


def test_the_strict_body_gets_nothing_that_was_not_asked_for() -> None:
    assert SPEAKER.asks() == {"model": "m1", "input": "Who leads?"}
    assert SPEAKER.asks(search=True, system="Be brief.") == {
        "model": "m1",
        "input": "Who leads?",
        "instructions": "Be brief.",
        "tools": [{"type": "web_search"}],
    }
    assert SPEAKER.module.path(SPEAKER.settings, "m1") == "/agent"


def test_sources_are_cited_where_the_text_points_at_them_by_number() -> None:
    reply = SPEAKER.answer(response(RESULTS, message("Zeta leads [2], it is said [web:2].")))
    assert reply.citations == (
        Citation("https://zeta.example/", "Zeta", "cited", 11),
        Citation("https://acme.example/", "Acme", "retrieved", 1),
        Citation("https://zeta.example/", "Zeta", "retrieved", 2),
    )
    assert reply.search_queries == ("best makers",)
    assert reply.usage == Usage(10, 20, 0, 1)


def test_annotations_go_before_numbers() -> None:
    note = {"type": "url_citation", "url": "https://acme.example/", "title": "Acme", "start_index": 3}
    reply = SPEAKER.answer(response(RESULTS, message("Zeta [2].", note)))
    assert [c.url for c in reply.citations if c.kind == "cited"] == ["https://acme.example/"]


def test_the_cost_is_the_one_that_the_platform_tells() -> None:
    assert SPEAKER.answer(response(message("Acme."))).cost_microusd == 5120


def test_an_incomplete_response_is_truncated() -> None:
    reply = SPEAKER.answer(
        response(message("Ac"), status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    )
    assert (reply.status, reply.finish_reason) == ("truncated", "max_output_tokens")


@pytest.mark.parametrize(
    ("document", "status", "kind"),
    [
        (response(status="failed", error={"message": "x", "type": "internal_error", "code": 500}), 200, K.SERVER_ERROR),
        (response(status="cancelled"), 200, K.SERVER_ERROR),
        (response(), 200, K.MALFORMED),
        (response(RESULTS), 200, K.EMPTY),
        (
            {"error": {"message": "You have insufficient credits", "type": "unauthorized", "code": 401}},
            401,
            K.QUOTA_EXHAUSTED,
        ),
        (
            {"error": {"message": "You have insufficient credits", "type": "insufficient_credits", "code": 401}},
            401,
            K.QUOTA_EXHAUSTED,
        ),
        ({"error": {"message": "x", "type": "invalid_model", "code": 400}}, 400, K.MODEL_GONE),
        ({"error": {"message": "x", "type": "request_rate_limit_exceeded", "code": 429}}, 429, K.RATE_LIMITED),
    ],
)
def test_what_is_no_answer_is_a_failure_of_its_kind(document: Any, status: int, kind: ErrorKind) -> None:
    assert SPEAKER.kind(document, status) is kind
