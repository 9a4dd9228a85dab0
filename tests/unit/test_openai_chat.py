"""How a question is asked in the OpenAI chat protocol and how the answer is read. Bodies are of our own writing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brandvane.answer import Answer, Citation, Failure, Usage, pack, unpack
from brandvane.platforms.openai_chat import PATH, read, request_body
from brandvane.policy import ErrorKind
from builders import NOW, platform

SETTINGS = platform(price_input=2.0, price_output=8.0)


def body(content: Any = "Acme, then Zeta.", finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    """A completion; ``message=…`` and ``choices=…`` replace their part."""
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    given = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(NOW),
        "model": "m1-2025-08-07",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46},
    }
    return {**given, **more}


def reading(document: Any, status: int = 200) -> Answer | Failure:
    """What is made of a response."""
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read(SETTINGS, status, {}, raw, NOW)


def answered(document: Any) -> Answer:
    """What must be an answer."""
    reply = reading(document)
    assert isinstance(reply, Answer)
    return reply


def failed(document: Any, status: int = 200) -> ErrorKind:
    """The kind of what must be a failure."""
    reply = reading(document, status)
    assert isinstance(reply, Failure)
    return reply.kind


def test_a_question_is_one_user_message() -> None:
    assert PATH == "/chat/completions"
    assert request_body(SETTINGS, "m1", "Who?") == {"model": "m1", "messages": [{"role": "user", "content": "Who?"}]}


def test_the_system_prompt_comes_first_and_other_parameters_go_in_as_they_are() -> None:
    settings = replace(SETTINGS, parameters={"system": "Be brief.", "temperature": 0, "enable_search": True})
    assert request_body(settings, "m1", "Who?") == {
        "model": "m1",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}],
        "temperature": 0,
        "enable_search": True,
    }
    assert "system" in settings.parameters


def test_an_answer_is_read_with_all_that_belongs_to_it() -> None:
    reply = answered(body())
    assert (reply.status, reply.text, reply.finish_reason) == ("ok", "Acme, then Zeta.", "stop")
    assert (reply.served_model, reply.provider_request_id) == ("m1-2025-08-07", "chatcmpl-1")
    assert reply.usage == Usage(12, 34, 0)
    assert json.loads(reply.raw) == body()


def test_cost_is_tokens_times_dollars_a_million() -> None:
    assert answered(body()).usage.cost_microusd((2.0, 8.0)) == 12 * 2 + 34 * 8


def test_reasoning_tokens_are_told_apart() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 7}}
    assert answered(body(usage=usage)).usage == Usage(1, 9, 7)


@pytest.mark.parametrize(
    "usage", [None, [], {}, {"prompt_tokens": "12"}, {"prompt_tokens": -1, "completion_tokens": None}]
)
def test_usage_that_is_not_told_is_nothing(usage: Any) -> None:
    reply = answered(body(usage=usage))
    assert reply.usage == Usage()


@pytest.mark.parametrize(
    ("finish", "status"),
    [("stop", "ok"), (None, "ok"), ("length", "truncated"), ("content_filter", "filtered"), ("sensitive", "filtered")],
)
def test_the_finish_reason_says_how_the_answer_ended(finish: str | None, status: str) -> None:
    assert answered(body(finish=finish)).status == status


def test_a_refusal_is_an_answer_whose_text_is_the_refusal() -> None:
    reply = answered(body(content=None, message={"refusal": "I cannot help with that."}))
    assert (reply.status, reply.text) == ("refused", "I cannot help with that.")


def test_a_filtered_answer_may_have_no_text() -> None:
    assert answered(body(content="", finish="content_filter")).status == "filtered"


@pytest.mark.parametrize("content", [None, "", "  \n", [], "<think>long thoughts</think>\n", {"text": "odd"}])
def test_an_answer_without_text_is_empty(content: Any) -> None:
    assert failed(body(content=content)) is ErrorKind.EMPTY


def test_thoughts_before_the_answer_are_left_out() -> None:
    assert answered(body("<think>Acme?\nor Zeta?</think>\n\nZeta.")).text == "Zeta."


def test_text_in_parts_is_put_together() -> None:
    parts = [{"type": "text", "text": "Acme "}, {"type": "reasoning", "text": "hm"}, {"text": "wins."}, "odd"]
    assert answered(body(parts)).text == "Acme wins."


def test_cited_sources_are_kept() -> None:
    cited = {
        "type": "url_citation",
        "url_citation": {"url": "https://acme.example/a", "title": "Acme", "start_index": 0},
    }
    untitled = {"type": "url_citation", "url_citation": {"url": "https://zeta.example/"}}
    odd: list[Any] = [
        {"type": "url_citation"},
        {"type": "file_citation"},
        "odd",
        {"type": "url_citation", "url_citation": {"url": 5}},
    ]
    reply = answered(body(message={"annotations": [cited, *odd, untitled]}))
    assert reply.citations == (
        Citation("https://acme.example/a", "Acme", position=0),
        Citation("https://zeta.example/", ""),
    )


@pytest.mark.parametrize("finish", ["insufficient_system_resource", "error"])
def test_an_answer_broken_off_by_the_platform_is_a_server_error(finish: str) -> None:
    assert failed(body(finish=finish)) is ErrorKind.SERVER_ERROR


@pytest.mark.parametrize("raw", [b"", b"   \n\n  "])
def test_an_empty_body_is_empty(raw: bytes) -> None:
    assert failed(raw) is ErrorKind.EMPTY


@pytest.mark.parametrize(
    "raw",
    [
        b"<html>busy</html>",
        b'{"id": "chatcmpl-1", "choi',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"null",
        b"[]",
        b'"text"',
        b"{}",
    ],
)
def test_a_body_that_is_no_completion_is_malformed(raw: bytes) -> None:
    assert failed(raw) is ErrorKind.MALFORMED


@pytest.mark.parametrize("choices", [None, [], {}, ["odd"], [{}], [{"message": None}], [{"message": "text"}]])
def test_a_completion_without_a_message_is_malformed(choices: Any) -> None:
    assert failed(body(choices=choices)) is ErrorKind.MALFORMED


def test_an_error_inside_a_success_is_an_error() -> None:
    assert failed({"error": {"code": "rate_limit_exceeded", "message": "slow"}}) is ErrorKind.RATE_LIMITED


def test_any_other_status_is_read_as_an_error() -> None:
    assert failed(body(), 500) is ErrorKind.SERVER_ERROR
    assert failed(b"", 302) is ErrorKind.CLIENT_ERROR


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda of: st.lists(of) | st.dictionaries(st.text(), of),
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "model", "usage", "error"), JSON)),
    st.fixed_dictionaries({}, optional=dict.fromkeys(("content", "refusal", "annotations"), JSON)) | JSON,
    JSON,
)
def test_no_completion_raises(document: dict[str, Any], message: Any, finish: Any) -> None:
    reply = reading({**document, "choices": [{"message": message, "finish_reason": finish}]})
    if isinstance(reply, Answer):
        assert unpack(pack(reply)) == reply


@given(st.binary())
def test_no_body_raises(raw: bytes) -> None:
    assert isinstance(reading(raw), Failure)


def test_half_a_character_at_the_end_of_a_cut_answer_does_not_cost_the_answer() -> None:
    raw = json.dumps(body("Acme wins \N{PARTY POPPER}", finish="length")).replace("\\udf89", "").encode()
    reply = answered(raw)
    kept = unpack(pack(reply))
    assert kept.text == "Acme wins ?"
    assert (kept.status, kept.raw) == ("truncated", raw.decode())
