"""Do the product's own readers understand what stand-ins answer, in every protocol, and errors in every dialect? Over loopback."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass

import httpx
import pytest

from brandvane.answer import Answer, Failure
from brandvane.platforms.http_client import HttpPlatformClient
from brandvane.policy import ErrorKind
from brandvane.simulation.memory_clock import ManualClock
from brandvane.simulation.standin_behaviour import Behaviour, StandinFault, changed
from brandvane.simulation.standin_config import StandinConfig, configured
from brandvane.simulation.standin_dialects import DIALECTS
from brandvane.simulation.standin_errors import Wrong, chat_errors
from brandvane.simulation.standin_reply import QUERY, SOURCES
from brandvane.simulation.standin_row import CallOutcome, CallRow
from brandvane.simulation.standin_server import serving
from builders import platform

K = ErrorKind
PROTOCOLS = tuple(DIALECTS)
SEARCHING = tuple(name for name in PROTOCOLS if name != "openai_chat")
FAILURES = {
    "error_500": K.SERVER_ERROR,
    "error_503": K.SERVER_ERROR,
    "inside_200": K.SERVER_ERROR,
    "injected_429": K.RATE_LIMITED,
    "no_credit": K.QUOTA_EXHAUSTED,
    "bad_key": K.AUTH_ERROR,
    "model_gone": K.MODEL_GONE,
    "cut": K.TIMEOUT,
    "empty": K.EMPTY,
    "malformed": K.MALFORMED,
}
VENDORS = ("azure", "deepseek", "qwen", "doubao", "kimi", "hunyuan", "openai")

_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # reading the machine's certificates takes longer than a test


def new_http() -> httpx.AsyncClient:
    """A client for loopback."""
    return httpx.AsyncClient(verify=_NO_TLS, trust_env=False)


class OneKey:
    """Any key opens a stand-in."""

    async def key(self, platform: str, *, fresh: bool = False, parameter: str = "") -> str:
        """The key."""
        return "id:key"


@dataclass(frozen=True, slots=True)
class Came:
    """What the client made of a call, and what the stand-in wrote down of it."""

    reply: Answer | Failure
    row: CallRow


async def asked(protocol: str, fault: str = "", *, name: str = "gpt", search: bool = False, call: int = 1) -> Came:
    """One call through the real client."""
    behaviour = Behaviour(median=0.0, protocol=protocol, retry_after=7)
    if fault:
        behaviour = changed(behaviour, {fault: 1.0}, "test")
    async with serving(StandinConfig(platforms={name: behaviour})) as server, new_http() as http:
        base = server.description()["platforms"][name]["base_url"]
        row = platform(name, protocol=protocol, base_url=base, parameters={"search": True} if search else {})
        client = HttpPlatformClient(http=http, secrets=OneKey(), clock=ManualClock())
        reply = await client.ask(row, "m-1", "Which kettle?", "", f"t/{call}", 5.0)
        while not server.desk.log.rows:  # noqa: ASYNC110 - written when the connection is seen to be gone
            await asyncio.sleep(0)
        assert reply is not None
        return Came(reply, server.desk.log.rows[0])


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_answer_is_read_with_its_model_usage_and_id(protocol: str) -> None:
    came = await asked(protocol)
    assert isinstance(came.reply, Answer)
    assert (came.reply.status, came.row.outcome, came.row.complete) == ("ok", CallOutcome.OK, True)
    assert (came.row.prompt, came.row.model) == ("Which kettle?", "m-1")
    assert came.reply.text
    assert came.reply.usage.input_tokens == 4  # 13 characters, one token for four and one more
    assert came.reply.usage.output_tokens == len(came.reply.text) // 4 + 1
    assert came.reply.provider_request_id.startswith("chatcmpl-")
    assert came.reply.citations == ()


@pytest.mark.parametrize("protocol", SEARCHING)
async def test_a_search_gives_one_cited_and_two_retrieved_sources(protocol: str) -> None:
    reply = (await asked(protocol, search=True)).reply
    assert isinstance(reply, Answer)
    kinds = [(citation.kind, citation.url, citation.title) for citation in reply.citations]
    assert kinds == [("cited", *SOURCES[0]), ("retrieved", *SOURCES[0]), ("retrieved", *SOURCES[1])]
    if protocol not in ("dashscope", "tencent_tc3"):  # which do not tell what they searched for
        assert reply.search_queries == (QUERY,)
    assert reply.usage.searches == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("fault", FAILURES)
async def test_every_fault_is_read_as_what_it_is(protocol: str, fault: str) -> None:
    came = await asked(protocol, fault)
    assert isinstance(came.reply, Failure)
    assert came.reply.kind is FAILURES[fault]
    assert (came.row.outcome, came.row.complete) == (CallOutcome(fault), False)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_429_asks_for_its_wait_where_the_platform_does(protocol: str) -> None:
    reply = (await asked(protocol, "injected_429")).reply
    assert isinstance(reply, Failure)
    assert reply.retry_after == (None if protocol == "tencent_tc3" else 7.0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_blank_lines_before_an_answer_do_not_harm_it(protocol: str) -> None:
    came = await asked(protocol, "keep_alive")
    assert isinstance(came.reply, Answer)
    assert (came.reply.status, came.row.complete) == ("ok", True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_truncated_answer_is_told_as_such(protocol: str) -> None:
    came = await asked(protocol, "truncated")
    assert isinstance(came.reply, Answer)
    assert (came.reply.status, came.row.complete) == ("truncated", True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("fault", ["filtered", "refused"])
async def test_filters_and_refusals_are_answers_whatever_their_form(protocol: str, fault: str) -> None:
    reply = (await asked(protocol, fault)).reply
    if isinstance(reply, Failure):
        assert reply.kind is K.CONTENT_FILTERED
    else:
        assert reply.status in ("filtered", "refused")


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("fault", ["error_500", "error_503", "injected_429", "no_credit", "bad_key", "model_gone"])
async def test_the_errors_of_a_vendor_are_those_of_its_name(vendor: str, fault: str) -> None:
    reply = (await asked("openai_chat", fault, name=vendor)).reply
    assert isinstance(reply, Failure)
    assert reply.kind is FAILURES[fault]


def test_vendors_word_the_same_fault_differently() -> None:
    bodies = {chat_errors(vendor).reply(Wrong.CREDIT).body for vendor in VENDORS}
    assert len(bodies) == len(VENDORS)


async def test_another_protocols_path_is_not_there() -> None:
    async with serving(StandinConfig(platforms={"gpt": Behaviour(protocol="gemini")})) as server, new_http() as http:
        wrong = await http.post(f"{server.url}/gpt/v1/chat/completions", json={})
        right = await http.post(f"{server.url}/gpt/v1beta/models/m:generateContent", json={})
    assert (wrong.status_code, right.status_code) == (404, 400)
    assert "/gpt/v1beta…:generateContent" in wrong.json()["error"]["message"]
    assert right.json()["error"]["status"] == "INVALID_ARGUMENT"


def test_a_protocol_is_a_field_of_a_platform() -> None:
    config = configured(None, ["gpt:protocol=anthropic_messages,rate=5"], [])
    assert config.platforms == {"gpt": Behaviour(rate=5.0, protocol="anthropic_messages")}
    with pytest.raises(StandinFault) as caught:
        configured(None, ["gpt:protocol=soap"], [])
    assert str(caught.value) == (
        "--platform gpt: protocol='soap' is not spoken; write one of openai_chat, openai_responses, anthropic_messages, "
        "gemini, perplexity_agent, dashscope, tencent_tc3"
    )
