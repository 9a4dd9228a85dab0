"""How one call travels: headers, one total timeout, broken connections, the cap, keys."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from brandvane.answer import RAW_MAX_BYTES, Answer, Failure
from brandvane.platforms.http_client import HttpPlatformClient, new_http, protocol
from brandvane.platforms.tencent_tc3 import authorization
from brandvane.policy import ErrorKind
from brandvane.ports import Unavailable
from brandvane.simulation.memory_clock import ManualClock
from builders import platform

COMPLETION = {"id": "c1", "model": "m1-x", "choices": [{"message": {"content": "Acme."}, "finish_reason": "stop"}]}
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Keys:
    """Keys by platform; remembers when one was asked for anew."""

    def __init__(self, *keys: str | None) -> None:
        self.keys = list(keys)
        self.asked: list[bool] = []

    async def key(self, platform: str, *, fresh: bool = False, parameter: str = "") -> str | None:
        """The first key, or the next one when asked anew."""
        self.asked.append(fresh)
        if fresh and len(self.keys) > 1:
            self.keys.pop(0)
        return self.keys[0]


async def ask(
    http: httpx.AsyncClient, keys: Keys | None = None, *, timeout: float = 5.0, **settings: Any
) -> Answer | Failure:
    """One call of the first task's third attempt."""
    client = HttpPlatformClient(http=http, secrets=keys or Keys("secret-key"), clock=ManualClock())
    async with http:
        return sent(await client.ask(platform(**settings), "m1", "Who leads?", "zh-CN", "task-1/3", timeout))


def sent(reply: Answer | Failure | None) -> Answer | Failure:
    """What came of a call that was made."""
    assert reply is not None
    return reply


def mocked(reply: Callable[[httpx.Request], httpx.Response]) -> httpx.AsyncClient:
    """A client whose requests go to ``reply``."""
    return httpx.AsyncClient(transport=httpx.MockTransport(reply))


def kind(reply: Answer | Failure) -> ErrorKind:
    """The kind of a failure."""
    assert isinstance(reply, Failure)
    return reply.kind


@asynccontextmanager
async def serving(serve: Serve) -> AsyncIterator[str]:
    """A server on loopback; its base URL."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await serve(reader, writer)
        except ConnectionError:
            pass  # the client went away, as it may
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


async def asked_of(serve: Serve, *, timeout: float = 5.0) -> Answer | Failure:
    """One call to a server that behaves like ``serve``."""
    async with serving(serve) as base_url:
        return await ask(new_http(), timeout=timeout, base_url=base_url)


def response(body: bytes, *, length: int | None = None, status: str = "200 OK") -> bytes:
    """A response's bytes, its stated length perhaps a lie."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length or len(body)}\r\n\r\n"
    return head.encode() + body


async def test_a_call_carries_key_request_id_language_and_the_platforms_own_headers() -> None:
    seen: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=COMPLETION)

    await ask(mocked(reply), base_url="http://127.0.0.1:9/v1/", headers={"X-Region": "eu"})
    headers = seen[0].headers
    assert (seen[0].method, str(seen[0].url)) == ("POST", "http://127.0.0.1:9/v1/chat/completions")
    assert headers["X-Client-Request-Id"] == "task-1/3"
    assert headers["Authorization"] == "Bearer secret-key"
    assert (headers["Accept-Language"], headers["X-Region"]) == ("zh-CN", "eu")
    assert json.loads(seen[0].content) == {"model": "m1", "messages": [{"role": "user", "content": "Who leads?"}]}


async def test_an_answer_keeps_the_parameters_as_sent_and_never_the_key() -> None:
    parameters = {"system": "Be brief.", "temperature": 0.2, "search": True}
    reply = await ask(mocked(lambda _: httpx.Response(200, json=COMPLETION)), parameters=parameters)
    assert isinstance(reply, Answer)
    assert reply.request == {
        "model": "m1",
        "temperature": 0.2,
        "search": True,
        "system": "Be brief.",
        "locale": "zh-CN",
    }
    assert "secret-key" not in repr(reply)


async def test_latency_is_the_calls_own() -> None:
    clock = ManualClock()

    async def reply(_: httpx.Request) -> httpx.Response:
        await clock.sleep(2.5)
        return httpx.Response(200, json=COMPLETION)

    async with httpx.AsyncClient(transport=httpx.MockTransport(reply)) as http:
        client = HttpPlatformClient(http=http, secrets=Keys("k"), clock=clock)
        answered = sent(await clock.run(client.ask(platform(), "m1", "Who?", "", "t/1", 60.0)))
    assert answered.latency_s == 2.5


async def test_without_a_key_nothing_is_sent() -> None:
    def reply(_: httpx.Request) -> httpx.Response:
        raise AssertionError("sent")

    answered = await ask(mocked(reply), Keys(None))
    assert kind(answered) is ErrorKind.AUTH_ERROR
    assert isinstance(answered, Failure)
    assert answered.message == "no key is stored for openai: brandvane keys set openai"
    assert answered.scope == "platform"


@pytest.mark.parametrize("key", ["schlüssel", "密钥", "two\nlines", "", "   "])
async def test_a_key_that_cannot_be_sent_is_told_without_showing_it(key: str) -> None:
    answered = await ask(mocked(lambda _: httpx.Response(200, json=COMPLETION)), Keys(key))
    assert kind(answered) is ErrorKind.AUTH_ERROR
    assert not key.strip() or key not in repr(answered)


async def test_a_key_stored_with_a_line_end_works() -> None:
    sent: list[str] = []

    def reply(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers["Authorization"])
        return httpx.Response(200, json=COMPLETION)

    assert isinstance(await ask(mocked(reply), Keys("secret-key\n")), Answer)
    assert sent == ["Bearer secret-key"]


async def test_a_refused_key_is_read_anew_once_and_pauses_nothing_when_another_one_is_stored() -> None:
    keys = Keys("old", "new")
    answered = await ask(mocked(lambda _: httpx.Response(401, json={"error": {"code": "invalid_api_key"}})), keys)
    assert kind(answered) is ErrorKind.SERVER_ERROR
    assert isinstance(answered, Failure)
    assert (answered.scope, answered.message) == ("task", "an old key was refused; the new one is used")
    assert keys.asked == [False, True]
    assert keys.keys == ["new"]


async def test_a_key_that_is_refused_although_it_is_the_stored_one_pauses_its_platform() -> None:
    keys = Keys("only")
    answered = await ask(mocked(lambda _: httpx.Response(401, json={"error": {"code": "invalid_api_key"}})), keys)
    assert isinstance(answered, Failure)
    assert (answered.kind, answered.scope, keys.asked) == (ErrorKind.AUTH_ERROR, "platform", [False, True])


async def test_a_platform_that_wants_no_key_gets_none() -> None:
    seen: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=COMPLETION)

    keys = Keys(None)
    assert isinstance(await ask(mocked(reply), keys, key_header="none"), Answer)
    assert "Authorization" not in seen[0].headers
    assert keys.asked == []


async def test_a_row_may_name_the_header_of_its_key() -> None:
    seen: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=COMPLETION)

    await ask(mocked(reply), key_header="api-key")
    assert seen[0].headers["api-key"] == "secret-key"
    assert "Authorization" not in seen[0].headers


async def test_a_complete_answer_over_the_wire_is_read() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(response(json.dumps(COMPLETION).encode()))
        await writer.drain()

    reply = await asked_of(serve)
    assert isinstance(reply, Answer)
    assert reply.text == "Acme."


async def test_a_server_that_never_answers_is_a_timeout() -> None:
    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    assert kind(await asked_of(serve, timeout=0.05)) is ErrorKind.TIMEOUT


async def test_the_timeout_bounds_the_whole_call_however_often_a_byte_comes() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(response(b"", length=10_000))
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    reply = await asked_of(serve, timeout=0.1)
    assert kind(reply) is ErrorKind.TIMEOUT
    assert isinstance(reply, Failure)
    assert reply.message == "no complete answer within 0.1 s"


async def test_a_connection_cut_before_the_answer_is_lost() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    reply = await asked_of(serve)
    assert kind(reply) is ErrorKind.TIMEOUT
    assert isinstance(reply, Failure)
    assert reply.message.startswith("connection lost")


async def test_a_connection_cut_within_the_answer_is_lost() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(response(b'{"id": "c1", "choi', length=5_000))
        await writer.drain()
        writer.close()

    assert kind(await asked_of(serve)) is ErrorKind.TIMEOUT


async def test_a_server_that_is_not_there_is_a_lost_connection() -> None:
    server = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    assert kind(await ask(new_http(), base_url=f"http://127.0.0.1:{port}/v1")) is ErrorKind.TIMEOUT


async def test_a_server_that_does_not_speak_http_is_a_lost_connection() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        await writer.drain()

    assert kind(await asked_of(serve)) is ErrorKind.TIMEOUT


async def test_an_answer_above_the_cap_is_not_read_to_its_end() -> None:
    sent = 0

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(response(b"", length=100 * RAW_MAX_BYTES))
        for _n in range(100):
            writer.write(b" " * RAW_MAX_BYTES)
            await writer.drain()
            sent += 1

    reply = await asked_of(serve)
    assert kind(reply) is ErrorKind.MALFORMED
    assert sent < 100


@pytest.mark.parametrize(
    ("status", "expected"),
    [(429, ErrorKind.RATE_LIMITED), (500, ErrorKind.SERVER_ERROR), (307, ErrorKind.CLIENT_ERROR)],
)
async def test_an_error_is_told_once_and_never_followed_or_repeated(status: int, expected: ErrorKind) -> None:
    calls = 0

    def reply(_: httpx.Request) -> httpx.Response:
        nonlocal calls
        calls += 1
        return httpx.Response(status, headers={"Location": "http://127.0.0.1:9/x", "Retry-After": "12"})

    answered = await ask(mocked(reply))
    assert (kind(answered), calls) == (expected, 1)
    assert isinstance(answered, Failure)
    assert answered.retry_after == (None if status == 307 else 12.0)


async def test_header_names_are_read_in_any_case() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 429 Slow\r\nRETRY-AFTER: 3\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    reply = await asked_of(serve)
    assert isinstance(reply, Failure)
    assert reply.retry_after == 3.0


async def test_a_base_url_that_is_none_is_the_requests_fault() -> None:
    assert kind(await ask(new_http(), base_url="http://[::1")) is ErrorKind.CLIENT_ERROR


async def test_a_gzip_body_that_is_none_does_not_raise() -> None:
    def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(b"not gzip"))

    assert kind(await ask(mocked(reply))) is ErrorKind.MALFORMED


async def test_a_body_that_grows_beyond_the_cap_when_unpacked_is_not_held() -> None:
    packed = gzip.compress(b" " * (RAW_MAX_BYTES + 1))

    def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(packed))

    assert len(packed) < 10_000
    answered = await ask(mocked(reply))
    assert isinstance(answered, Failure)
    assert answered.message == f"the answer is larger than {RAW_MAX_BYTES} bytes"


@pytest.mark.parametrize("packing", ["gzip", "deflate", "raw"])
async def test_a_packed_answer_is_read(packing: str) -> None:
    content = json.dumps(COMPLETION).encode()
    raw = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": gzip.compress(content),
        "deflate": zlib.compress(content),
        "raw": raw.compress(content) + raw.flush(),
    }[packing]
    asked: list[str] = []

    def reply(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["accept-encoding"])
        told = "gzip" if packing == "gzip" else "deflate"
        return httpx.Response(200, headers={"Content-Encoding": told}, stream=httpx.ByteStream(packed))

    answered = await ask(mocked(reply))
    assert isinstance(answered, Answer)
    assert (answered.text, asked) == ("Acme.", ["gzip"])


async def test_a_packed_answer_that_breaks_off_is_a_lost_connection() -> None:
    packed = gzip.compress(json.dumps(COMPLETION).encode())[:-12]

    def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(packed))

    assert kind(await ask(mocked(reply))) is ErrorKind.TIMEOUT


async def test_a_packing_that_was_not_asked_for_is_no_answer() -> None:
    def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Encoding": "br"}, stream=httpx.ByteStream(b"\x0b\x02"))

    assert kind(await ask(mocked(reply))) is ErrorKind.MALFORMED


def test_a_protocol_that_is_not_spoken_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        protocol("telepathy")


async def test_calls_in_flight_are_as_many_as_the_worker_makes() -> None:
    together = asyncio.Barrier(30)

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await together.wait()
        writer.write(response(json.dumps(COMPLETION).encode()))
        await writer.drain()

    async with serving(serve) as base_url, new_http() as http:
        client = HttpPlatformClient(http=http, secrets=Keys("k"), clock=ManualClock())
        asked = replace(platform(), base_url=base_url)
        replies = await asyncio.gather(*(client.ask(asked, "m1", "Who?", "", f"t{n}/1", 5.0) for n in range(30)))
    assert all(isinstance(reply, Answer) for reply in replies)


async def test_preparing_looks_for_the_key_each_time_and_connects_once() -> None:
    connected = 0

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connected
        connected += 1
        await reader.read()
        writer.close()

    server = await asyncio.start_server(counted, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    keys = Keys("k")
    async with new_http() as http:
        client = HttpPlatformClient(http=http, secrets=keys, clock=ManualClock())
        for _ in range(2):
            await client.prepare(platform(base_url=f"http://127.0.0.1:{port}/v1"))
    server.close()
    assert (connected, keys.asked) == (1, [False, False])  # what is known is not fetched again: the secrets' own work


async def test_preparing_without_a_key_that_can_be_read_is_not_the_platforms_failure() -> None:
    class NotNow(Keys):
        async def key(self, platform: str, *, fresh: bool = False, parameter: str = "") -> str | None:
            raise Unavailable("SSM refuses")

    async with new_http() as http:
        client = HttpPlatformClient(http=http, secrets=NotNow(None), clock=ManualClock())
        with pytest.raises(Unavailable):
            await client.prepare(platform(base_url="http://127.0.0.1:9/v1"))


async def test_preparing_for_a_platform_that_wants_no_key_asks_for_none() -> None:
    keys = Keys(None)
    async with new_http() as http:
        client = HttpPlatformClient(http=http, secrets=keys, clock=ManualClock())
        await client.prepare(platform(base_url="http://127.0.0.1:9/v1", key_header="none"))
    assert keys.asked == []


async def test_preparing_for_a_platform_that_is_not_there_says_nothing() -> None:
    server = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    async with new_http() as http:
        client = HttpPlatformClient(http=http, secrets=Keys(None), clock=ManualClock())
        await client.prepare(platform(base_url=f"http://127.0.0.1:{port}/v1"))
        await client.prepare(platform(base_url=f"http://127.0.0.1:{port}/v1", protocol="telepathy"))


async def test_a_call_waits_for_its_slot_with_an_open_connection_and_nothing_sent() -> None:
    events: list[str] = []
    opened = asyncio.Event()

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        events.append("connected")
        opened.set()
        await reader.readuntil(b"\r\n\r\n")
        events.append("received")
        writer.write(response(json.dumps(COMPLETION).encode()))
        await writer.drain()
        writer.close()

    async def may_send() -> bool:
        await opened.wait()
        events.append("slot")
        return True

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with new_http() as http:
        client = HttpPlatformClient(http=http, secrets=Keys("k"), clock=ManualClock())
        asked = platform(base_url=f"http://127.0.0.1:{port}/v1")
        reply = await client.ask(asked, "m1", "Who?", "", "t/1", 5.0, may_send)
    server.close()
    assert isinstance(reply, Answer)
    assert events == ["connected", "slot", "received"]


async def test_a_call_whose_slot_is_missed_is_not_sent() -> None:
    received = asyncio.get_running_loop().create_future()

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.set_result(await reader.read())
        writer.close()

    async def may_send() -> bool:
        return False

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with new_http() as http:
        client = HttpPlatformClient(http=http, secrets=Keys("k"), clock=ManualClock())
        asked = platform(base_url=f"http://127.0.0.1:{port}/v1")
        reply = await client.ask(asked, "m1", "Who?", "", "t/1", 5.0, may_send)
    server.close()
    assert (reply, await received) == (None, b"")


async def test_a_calls_time_runs_from_its_slot() -> None:
    async def answered(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(response(json.dumps(COMPLETION).encode()))
        await writer.drain()

    async def may_send() -> bool:
        await asyncio.sleep(0.6)  # longer than the call may take
        return True

    async with serving(answered) as base_url, new_http() as http:
        client = HttpPlatformClient(http=http, secrets=Keys("k"), clock=ManualClock())
        reply = await client.ask(platform(base_url=base_url), "m1", "Who?", "", "t/1", 0.5, may_send)
    assert isinstance(reply, Answer)


async def test_a_signed_protocol_signs_the_very_bytes_that_are_sent() -> None:
    seen: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        message = {"Message": {"Content": "Acme."}, "FinishReason": "stop"}
        return httpx.Response(200, json={"Response": {"Choices": [message], "RequestId": "r"}})

    base_url = "https://hunyuan.tencentcloudapi.com"
    parameters = {"system": "简短。", "search": True}
    answered = await ask(
        mocked(reply), Keys("id:secret"), protocol="tencent_tc3", base_url=base_url, parameters=parameters
    )
    assert isinstance(answered, Answer)
    request = seen[0]
    assert str(request.url) == f"{base_url}/"
    now, host = float(request.headers["X-TC-Timestamp"]), request.headers["host"]
    told = authorization(
        "id", "secret", "hunyuan", host, "ChatCompletions", request.content, now, request.headers["content-type"]
    )
    assert request.headers["Authorization"] == told
    assert answered.request["search"] is True
    assert "Messages" not in answered.request


async def test_a_row_may_ask_for_another_version_of_a_protocol() -> None:
    seen: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"content": [{"type": "text", "text": "Acme."}], "stop_reason": "end_turn"})

    headers = {"Anthropic-Version": "2026-10-21"}
    await ask(mocked(reply), protocol="anthropic_messages", base_url="https://a.example", headers=headers)
    assert str(seen[0].url) == "https://a.example/v1/messages"
    assert seen[0].headers.get_list("anthropic-version") == ["2026-10-21"]
    assert seen[0].headers["x-api-key"] == "secret-key"


async def test_a_cost_that_the_platform_tells_goes_before_the_price_row() -> None:
    output = [{"type": "message", "content": [{"type": "output_text", "text": "Acme."}]}]
    usage = {"input_tokens": 9, "output_tokens": 9, "cost": {"total_cost": 0.25}}
    body = {"status": "completed", "output": output, "usage": usage}
    settings: dict[str, Any] = {"protocol": "perplexity_agent", "price_input": 1.0, "price_output": 1.0}
    told = await ask(mocked(lambda _: httpx.Response(200, json=body)), **settings)
    assert isinstance(told, Answer)
    assert told.cost_microusd == 250_000


@pytest.mark.parametrize(
    "settings",
    [
        {"headers": {"X-Team": "中文"}},
        {"headers": {"X-Team": "a\rb"}},
        {"headers": {"X-Töam": "a"}},
    ],
)
async def test_a_header_that_no_request_can_carry_is_the_settings_fault(settings: dict[str, Any]) -> None:
    def reply(_: httpx.Request) -> httpx.Response:
        raise AssertionError("sent")

    assert kind(await ask(mocked(reply), **settings)) is ErrorKind.CLIENT_ERROR


async def test_a_locale_that_no_request_can_carry_is_the_settings_fault() -> None:
    async with mocked(lambda _: httpx.Response(200, json=COMPLETION)) as http:
        client = HttpPlatformClient(http=http, secrets=Keys("k"), clock=ManualClock())
        assert kind(sent(await client.ask(platform(), "m1", "Who?", "中文", "t/1", 5.0))) is ErrorKind.CLIENT_ERROR


async def test_a_stated_length_that_is_wrong_is_the_settings_fault() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(response(b"{}"))

    async with serving(serve) as base_url:
        answered = await ask(new_http(), base_url=base_url, headers={"Content-Length": "3"})
    assert kind(answered) is ErrorKind.CLIENT_ERROR
