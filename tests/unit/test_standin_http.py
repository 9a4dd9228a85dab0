"""Request heads and chat bodies, as bytes."""

from __future__ import annotations

import json

import pytest

from brandvane.simulation.standin_dialects import DIALECTS
from brandvane.simulation.standin_http import HttpFault, encode, parse_head
from brandvane.simulation.standin_reply import Asked, BadRequest, Told, malformed

PATH = "/v1/chat/completions"
ASKED = Asked("m", "Which kettle?")
CHAT = DIALECTS["openai_chat"]


def chat(**fields: object) -> bytes:
    """A valid body with some fields changed."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Which kettle?"}], **fields}
    return json.dumps(body).encode()


def test_a_head_is_read_with_lower_case_names_and_without_its_query() -> None:
    head = parse_head(b"POST /gpt/v1/x?y=1 HTTP/1.1\r\nHost: h\r\nX-Client-Request-Id:  t/1 \r\nContent-Length: 12")
    assert (head.method, head.path, head.length, head.keep_alive) == ("POST", "/gpt/v1/x", 12, True)
    assert head.headers["x-client-request-id"] == "t/1"


def test_a_connection_stays_open_unless_asked_or_of_version_1_0() -> None:
    assert not parse_head(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Close").keep_alive
    assert not parse_head(b"GET / HTTP/1.0").keep_alive


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"hello", 400),
        (b"GET  / HTTP/1.1\r\nHost: h", 400),
        (b"GET x HTTP/1.1\r\nHost: h", 400),
        (b"GET / HTTP/2.0\r\nHost: h", 505),
        (b"GET / FTP/1.1\r\nHost: h", 400),
        (b"GET / HTTP/1.1", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nbroken", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nName : x", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: a\nb", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked", 411),
    ],
)
def test_a_malformed_head_is_refused(raw: bytes, status: int) -> None:
    with pytest.raises(HttpFault) as caught:
        parse_head(raw)
    assert caught.value.status == status


def test_an_answer_has_its_length_in_bytes() -> None:
    assert encode(200, "好".encode(), keep_alive=False) == (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\nConnection: close\r\n\r\n\xe5\xa5\xbd"
    )


def test_the_prompt_is_the_text_of_the_user_messages() -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Which "}, {"type": "text", "text": "kettle?"}]},
    ]
    assert CHAT.read(PATH, chat(messages=messages)) == ASKED


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        b'{"model": "\xff"}',
        chat(model=""),
        chat(model=None),
        chat(messages=[]),
        chat(messages=["x"]),
        chat(messages=[{"role": "system", "content": "x"}]),
        chat(messages=[{"role": "user", "content": None}]),
        chat(messages=[{"role": "user", "content": [{"type": "image_url"}]}]),
        chat(messages=[{"role": "user", "content": "\ud800"}]),
        chat(stream=True),
    ],
)
def test_what_is_no_chat_request_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        CHAT.read(PATH, body)


def test_a_good_answer_has_the_shape_of_a_chat_completion() -> None:
    body = json.loads(CHAT.answer(Told("id", 5, ASKED, "This one.")).body)
    assert body["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": "This one."}, "finish_reason": "stop"}
    ]
    assert (body["object"], body["model"], body["created"]) == ("chat.completion", "m", 5)
    assert body["usage"] == {"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7}


def test_an_empty_answer_is_no_text_or_no_body() -> None:
    assert json.loads(CHAT.empty(Told("id", 5, ASKED, ""), 0).body)["choices"][0]["message"]["content"] == ""
    assert CHAT.empty(Told("id", 5, ASKED, ""), 1).body == b""


@pytest.mark.parametrize("form", range(4))
def test_no_malformed_answer_can_be_read_as_a_completion(form: int) -> None:
    reply = malformed(CHAT.answer(Told("id", 5, ASKED, "This one.")).body, form)
    assert reply.status == 200
    with pytest.raises((ValueError, KeyError)):
        json.loads(reply.body)["choices"][0]["message"]["content"]
