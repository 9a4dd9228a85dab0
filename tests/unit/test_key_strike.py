"""Does a key that a platform says back stay out of everything that is kept?"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import httpx
import pytest

from brandvane.answer import Answer, Failure
from brandvane.platforms.http_client import HttpPlatformClient
from brandvane.platforms.key_probe import probe
from brandvane.platforms.key_strike import KeyStrike
from brandvane.platforms.protocols import PROTOCOL_NAMES
from brandvane.policy import ErrorKind
from brandvane.simulation.memory_clock import ManualClock
from builders import platform
from unit.test_http_client import Keys

KEY = "MySecretVllmPassword1"
PAIR = "AcmeIdentity:OtherSecret"


async def _answered(protocol: str, key: str, reply: Callable[[httpx.Request], httpx.Response]) -> Answer | Failure:
    async with httpx.AsyncClient(transport=httpx.MockTransport(reply)) as http:
        client = HttpPlatformClient(http=http, secrets=Keys(key), clock=ManualClock())
        answered = await client.ask(platform(protocol=protocol), "m1", "Who?", "", "t/1", 5.0)
    assert answered is not None
    return answered


@pytest.mark.parametrize("protocol", sorted(PROTOCOL_NAMES))
@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
@pytest.mark.parametrize(
    "body",
    [
        {"error": "invalid api key: KEY"},
        {"error": {"message": "invalid api key KEY", "code": "KEY", "type": "authentication_error"}},
        {"Response": {"Error": {"Code": "AuthFailure", "Message": "bad secret KEY"}}},
        "invalid api key: KEY",
    ],
)
async def test_no_failure_of_any_protocol_keeps_a_key_that_was_said_back(
    protocol: str, status: int, body: object
) -> None:
    key = PAIR if protocol == "tencent_tc3" else KEY
    said = (body if isinstance(body, str) else json.dumps(body)).replace("KEY", key)
    reply = await _answered(protocol, key, lambda _: httpx.Response(status, text=said))
    assert isinstance(reply, Failure)
    for part in key.split(":"):
        assert part.lower() not in repr(reply).lower()
    assert "[key]" in reply.raw


async def test_the_reason_of_a_refused_key_stays_readable() -> None:
    body = {"error": f"invalid api key: {KEY}"}
    reply = await _answered("openai_chat", KEY, lambda _: httpx.Response(401, json=body))
    assert isinstance(reply, Failure)
    assert (reply.kind, reply.message) == (ErrorKind.AUTH_ERROR, "HTTP 401: invalid api key: [key]")


async def test_an_answer_that_says_the_key_back_is_kept_without_it() -> None:
    note = {"type": "url_citation", "url_citation": {"url": f"https://a.example/?key={KEY}", "title": KEY}}
    message = {"content": f"It is {KEY}.", "annotations": [note]}
    body = {"id": KEY, "model": KEY, "choices": [{"message": message, "finish_reason": "stop"}], "asked_by": KEY}
    reply = await _answered("openai_chat", KEY, lambda _: httpx.Response(200, json=body))
    assert isinstance(reply, Answer)
    assert reply.text == "It is [key]."
    assert reply.citations[0].url == "https://a.example/?key=[key]"
    assert KEY not in repr(reply)


async def test_a_probe_of_a_key_does_not_say_it_back() -> None:
    def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(401, json={"error": f"invalid api key: {KEY}"})

    async with httpx.AsyncClient(transport=httpx.MockTransport(reply)) as http:
        verdict = await probe(http, platform(), KEY, 0.0)
    assert verdict.why == "the platform refuses the key (HTTP 401: invalid api key: [key])"


@pytest.mark.parametrize(
    ("key", "said", "kept"),
    [
        (KEY, "key MySecretVl********ssword1 is bad", "key [key]********ssword1 is bad"),
        (KEY, "key ****llmPassword1 is bad", "key ****[key] is bad"),
        (KEY, "key MYSECRETVLLMPASSWORD1", "key [key]"),
        ("pass/word+one two", quote("pass/word+one two", safe=""), "[key]"),
        ('pass"word\\one', json.dumps('pass"word\\one'), '"[key]"'),
        (PAIR, "id AcmeIdentity, secret OtherSecret", "id [key], secret [key]"),
        ("id.abc:short", "the secret short", "the secret [key]"),
        ("", "nothing is struck", "nothing is struck"),
        ("x", "no x is struck", "no x is struck"),
    ],
)
def test_a_key_is_struck_out_however_it_is_written(key: str, said: str, kept: str) -> None:
    assert KeyStrike(key).text(said) == kept


@pytest.mark.parametrize("user", ["", "u", "us", "user"])
def test_a_key_inside_of_base64_is_struck_out(user: str) -> None:
    told = base64.b64encode(f"{user}:{KEY}".encode()).decode()
    kept = KeyStrike(KEY).text(f"Basic {told}")
    shown = kept.replace("[key]", "").removeprefix("Basic ")
    assert "[key]" in kept
    assert len(shown) <= len(base64.b64encode(f"{user}:".encode())) + 4


def test_a_keys_beginning_is_struck_out_where_a_message_was_cut() -> None:
    failure = Failure(ErrorKind.AUTH_ERROR, "HTTP 401: your key MySecr")
    assert KeyStrike(KEY).failure(failure).message == "HTTP 401: your key [key]"
