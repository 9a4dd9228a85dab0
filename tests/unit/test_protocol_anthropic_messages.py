"""Anthropic's Messages protocol. Bodies of our own writing after the API reference (*Messages*; *Web search tool*; *Errors*)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane.answer import Citation, Usage
from brandvane.policy import ErrorKind
from unit.protocol_reading import Speaker

K = ErrorKind
SPEAKER = Speaker("anthropic_messages", base_url="https://api.anthropic.com")


def cited(url: str, title: str) -> dict[str, Any]:
    """A citation of a text block."""
    return {"type": "web_search_result_location", "url": url, "title": title, "cited_text": "…"}


def text(said: str, *citations: Any) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": said, **({"citations": list(citations)} if citations else {})}


def message(*content: Any, stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    """A message."""
    usage = {
        "input_tokens": 7,
        "cache_read_input_tokens": 3,
        "output_tokens": 20,
        "server_tool_use": {"web_search_requests": 2},
    }
    document = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-9-1", "content": list(content)}
    return {**document, "stop_reason": stop, "usage": usage, **more}


SEARCHED = (
    {"type": "thinking", "thinking": "Omega, perhaps."},
    {"type": "server_tool_use", "id": "st_1", "name": "web_search", "input": {"query": "best makers"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "st_1",
        "content": [
            {"type": "web_search_result", "url": "https://acme.example/", "title": "Acme", "encrypted_content": "x"},
            {"type": "web_search_result", "url": "https://zeta.example/", "title": "Zeta", "encrypted_content": "x"},
        ],
    },
)


def test_a_question_carries_the_number_of_tokens_that_the_protocol_demands() -> None:
    body = SPEAKER.asks(system="Be brief.")
    assert body == {
        "model": "m1",
        "messages": [{"role": "user", "content": "Who leads?"}],
        "max_tokens": 4096,
        "system": "Be brief.",
    }
    assert SPEAKER.asks(max_tokens=9)["max_tokens"] == 9


def test_the_key_goes_into_its_own_header_with_the_version() -> None:
    assert SPEAKER.module.headers(SPEAKER.settings, "k-1", b"", 0.0) == {
        "x-api-key": "k-1",
        "anthropic-version": "2023-06-01",
    }


@pytest.mark.parametrize(
    ("base", "path"), [("https://a.example", "/v1/messages"), ("https://a.example/v1", "/messages")]
)
def test_a_base_url_may_carry_the_version_or_not(base: str, path: str) -> None:
    assert SPEAKER.module.path(replace(SPEAKER.settings, base_url=base), "m1") == path


def test_the_search_switch_adds_the_tool_with_fewer_uses_than_pause_a_turn() -> None:
    assert SPEAKER.asks(search=True)["tools"] == [{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]


def test_an_answer_is_read_with_its_sources_and_without_its_thoughts() -> None:
    reply = SPEAKER.answer(
        message(*SEARCHED, text("Acme leads. "), text("Zeta follows.", cited("https://zeta.example/", "Zeta")))
    )
    assert (reply.status, reply.text) == ("ok", "Acme leads. Zeta follows.")
    assert (reply.served_model, reply.provider_request_id, reply.finish_reason) == ("claude-9-1", "msg_1", "end_turn")
    assert reply.citations == (
        Citation("https://zeta.example/", "Zeta", "cited", 12),
        Citation("https://acme.example/", "Acme", "retrieved", 1),
        Citation("https://zeta.example/", "Zeta", "retrieved", 2),
    )
    assert reply.search_queries == ("best makers",)
    assert reply.usage == Usage(10, 20, 0, 2)


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        ("end_turn", "ok"),
        ("stop_sequence", "ok"),
        ("max_tokens", "truncated"),
        ("model_context_window_exceeded", "truncated"),
        ("pause_turn", "truncated"),
        ("refusal", "refused"),
    ],
)
def test_the_stop_reason_says_how_the_answer_ended(stop: str, status: str) -> None:
    assert SPEAKER.answer(message(text("Acme."), stop=stop)).status == status


def test_a_refusal_may_have_no_text() -> None:
    assert SPEAKER.answer(message(stop="refusal")).status == "refused"


def test_a_turn_that_was_paused_before_it_said_anything_is_empty() -> None:
    assert SPEAKER.kind(message(*SEARCHED, stop="pause_turn")) is K.EMPTY


def test_a_search_that_was_throttled_and_left_no_text_is_tried_again() -> None:
    result = {
        "type": "web_search_tool_result",
        "content": {"type": "web_search_tool_result_error", "error_code": "too_many_requests"},
    }
    assert SPEAKER.kind(message(result)) is K.SERVER_ERROR
    assert SPEAKER.answer(message(result, text("Acme."))).status == "ok"


@pytest.mark.parametrize(
    ("document", "status", "kind"),
    [
        (message(), 200, K.EMPTY),
        (message(text(" \n")), 200, K.EMPTY),
        ({"type": "message"}, 200, K.MALFORMED),
        (b"[]", 200, K.MALFORMED),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 200, K.SERVER_ERROR),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529, K.SERVER_ERROR),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "Slow"}}, 429, K.RATE_LIMITED),
        (
            {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}},
            400,
            K.QUOTA_EXHAUSTED,
        ),
        ({"type": "error", "error": {"type": "not_found_error", "message": "model: x"}}, 404, K.MODEL_GONE),
        (
            {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}},
            401,
            K.AUTH_ERROR,
        ),
    ],
)
def test_what_is_no_answer_is_a_failure_of_its_kind(document: Any, status: int, kind: ErrorKind) -> None:
    assert SPEAKER.kind(document, status) is kind
