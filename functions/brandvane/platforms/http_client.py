"""How does one call travel? One HTTP request under one total timeout, its body capped, never retried here."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import anyio
import h11
import httpx

from brandvane.answer import RAW_MAX_BYTES, Answer, Failure
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.capped_body import ACCEPTED, TooLarge, read_capped
from brandvane.platforms.errors import NO_CONNECTION, failure, transport_failure
from brandvane.platforms.key_strike import KeyStrike
from brandvane.platforms.protocols import MODULES, OWN_FIELDS
from brandvane.policy import ErrorKind
from brandvane.ports import Clock, MaySend, Unavailable

CONNECT_TIMEOUT_S = 10.0
READY_TIMEOUT_S = 12.0  # names, connection and TLS
PREPARE_TIMEOUT_S = 2.0
NO_KEY = "none"  # as ``key_header``: the platform wants no key
_MODEL = frozenset({"model"})
_SAID = ("system", "search")  # parameters that a protocol words in its own way
KEEP_ALIVE_S = 20.0  # below what servers commonly close at, so that no call meets a closing connection


class Secrets(Protocol):
    """Where keys come from."""

    async def key(self, platform: str, *, fresh: bool = False, parameter: str = "") -> str | None:
        """The platform's key, or None where there is none. ``parameter``: where it lies, if not where keys usually lie."""
        ...


class ProtocolModule(Protocol):
    """What a protocol module offers."""

    def path(self, settings: PlatformSettings, model: str) -> str:
        """What is appended to the base URL."""
        ...

    def request_body(self, settings: PlatformSettings, model: str, prompt: str) -> dict[str, Any]:
        """The JSON to send."""
        ...

    def headers(self, settings: PlatformSettings, key: str, content: bytes, now: float) -> dict[str, str]:
        """What carries the key; ``content`` is the body as it is sent, for protocols that sign it."""
        ...

    def read(
        self, settings: PlatformSettings, status: int, headers: Mapping[str, str], body: bytes, now: float
    ) -> Answer | Failure:
        """Read a response."""
        ...


class NotSent(Exception):
    """The call was not allowed to begin."""


async def at_once() -> bool:
    """Send as soon as all is ready."""
    return True


def protocol(name: str) -> ProtocolModule:
    """The module of a protocol.

    Raises:
        KeyError: this release does not speak it.
    """
    module: ProtocolModule = importlib.import_module(MODULES[name])
    return module


class HttpPlatformClient:
    """Asks any platform whose protocol is known. One ``httpx.AsyncClient`` serves the whole execution environment."""

    def __init__(self, *, http: httpx.AsyncClient, secrets: Secrets, clock: Clock) -> None:
        self._http = http
        self._secrets = secrets
        self._clock = clock
        self._prepared: set[str] = set()

    async def prepare(self, settings: PlatformSettings) -> None:
        """Once in an environment: key, protocol module, the network libraries' own lazy imports, the name's address.

        A first call that did all this after its slot had come would arrive too near to the next one's.

        Raises:
            Unavailable: the key cannot be read just now, which is not the platform's failure.
        """
        if settings.key_header != NO_KEY:
            await self._key(settings)
        if settings.base_url in self._prepared:
            return
        self._prepared.add(settings.base_url)
        with contextlib.suppress(OSError, TimeoutError, KeyError):  # the call itself will say what is wrong
            protocol(settings.protocol)
            await self._ask_ourselves()
            url = httpx.URL(settings.base_url)
            async with asyncio.timeout(PREPARE_TIMEOUT_S):
                stream = await anyio.connect_tcp(url.host, url.port or (443 if url.scheme == "https" else 80))
                await stream.aclose()

    async def _ask_ourselves(self) -> None:
        """One request over loopback: a first request loads and compiles what later ones find ready (measured: 50 ms and more)."""

        async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
            await writer.drain()
            writer.close()

        async with asyncio.timeout(PREPARE_TIMEOUT_S), await asyncio.start_server(reply, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            await self._fetch(f"http://{host}:{port}/", b"{}", {"X-Client-Request-Id": "rehearsal"}, at_once)

    async def ask(
        self,
        settings: PlatformSettings,
        model: str,
        prompt: str,
        locale: str,
        request_id: str,
        timeout: float,
        may_send: MaySend = at_once,
    ) -> Answer | Failure | None:
        """One call; from ``may_send`` on, ``timeout`` seconds bound all of it, to the last byte."""
        try:
            key = await self._key(settings)
        except Unavailable:
            return failure(ErrorKind.SERVER_ERROR, f"the key of {settings.name} cannot be read just now")
        if not key and settings.key_header != NO_KEY:
            return failure(
                ErrorKind.AUTH_ERROR, f"no key is stored for {settings.name}: brandvane keys set {settings.name}"
            )
        if not (key.isascii() and key.isprintable()) and key:
            return failure(ErrorKind.AUTH_ERROR, f"the key of {settings.name} is not plain ASCII: set it anew")
        speaks = protocol(settings.protocol)
        body = speaks.request_body(settings, model, prompt)
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        spoken = locale or settings.locale
        if (wrong := _not_carriable(settings, spoken)) is not None:
            return wrong
        headers = httpx.Headers({"Content-Type": "application/json", "X-Client-Request-Id": request_id})
        headers["Accept-Encoding"] = ACCEPTED
        if key:
            headers.update(speaks.headers(settings, key, content, self._clock.now()))
        headers.update(settings.headers)  # a row may ask for another version of a protocol; its checks let no key in
        if spoken:
            headers.setdefault("Accept-Language", spoken)
        url = settings.base_url.rstrip("/") + speaks.path(settings, model)
        begun = [self._clock.now()]

        async def sending() -> bool:
            if not await may_send():
                return False
            begun[0] = self._clock.now()
            return True

        reply = await self._exchange(settings, speaks, url, content, headers, timeout, sending)
        if reply is None:
            return None
        latency = round(self._clock.now() - begun[0], 3)
        strike = KeyStrike(key)  # platforms say keys back, in errors above all
        if isinstance(reply, Failure):
            reply = strike.failure(reply)
            if reply.kind is ErrorKind.AUTH_ERROR and reply.http_status is not None:
                reply = await self._with_fresh_key(settings, key, reply)
            return replace(reply, latency_s=latency)
        reply = strike.answer(reply)
        parameters = {name: value for name, value in body.items() if name not in OWN_FIELDS or name in _MODEL}
        parameters |= {name: settings.parameters[name] for name in _SAID if settings.parameters.get(name)}
        cost = reply.cost_microusd or reply.usage.cost_microusd(settings.price_of(model), settings.price_search)
        request = parameters | {"model": model, "locale": spoken}
        return replace(reply, request=request, latency_s=latency, cost_microusd=cost)

    async def _key(self, settings: PlatformSettings, *, fresh: bool = False) -> str:
        if settings.key_header == NO_KEY:
            return ""
        key = await self._secrets.key(settings.name, fresh=fresh, parameter=settings.key_parameter)
        return (key or "").strip()

    async def _with_fresh_key(self, settings: PlatformSettings, used: str, reply: Failure) -> Failure:
        """Read a refused key anew, once: a warm worker may hold the old one after a person has set another."""
        try:
            stored = await self._key(settings, fresh=True)
        except Unavailable:
            return reply
        if stored and stored != used:
            return replace(
                reply, kind=ErrorKind.SERVER_ERROR, scope="task", message="an old key was refused; the new one is used"
            )
        return reply

    async def _exchange(
        self,
        settings: PlatformSettings,
        speaks: ProtocolModule,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        timeout: float,
        may_send: MaySend,
    ) -> Answer | Failure | None:
        loop = asyncio.get_running_loop()
        what = NO_CONNECTION
        try:
            async with asyncio.timeout(READY_TIMEOUT_S) as limit:

                async def sending() -> bool:
                    nonlocal what
                    limit.reschedule(None)  # waiting for the slot is not the platform's doing
                    what = f"no complete answer within {timeout:g} s"
                    may = await may_send()
                    limit.reschedule(loop.time() + timeout)
                    return may

                status, got, content = await self._fetch(url, body, headers, sending)
        except NotSent:
            return None
        except TimeoutError:
            return failure(ErrorKind.TIMEOUT, what)
        except TooLarge:
            return failure(ErrorKind.MALFORMED, f"the answer is larger than {RAW_MAX_BYTES} bytes")
        except (
            httpx.HTTPError,
            httpx.InvalidURL,
            h11.LocalProtocolError,
        ) as error:  # h11's own: a stated length is wrong
            return transport_failure(error)
        return speaks.read(settings, status, got, content, self._clock.now())

    async def _fetch(
        self, url: str, body: bytes, headers: Mapping[str, str], may_send: MaySend
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body.

        Raises:
            NotSent: the connection stood, and ``may_send`` said no.
        """

        async def trace(event: str, _info: Mapping[str, Any]) -> None:
            # The transport awaits this between having a connection and sending the first byte.
            if event.endswith(".send_request_headers.started") and not await may_send():
                raise NotSent

        traced = {"trace": trace}
        async with self._http.stream("POST", url, content=body, headers=headers, extensions=traced) as response:
            content = await read_capped(response, RAW_MAX_BYTES)
            lower = {name.lower(): value for name, value in response.headers.items()}
            return response.status_code, lower, content


def _not_carriable(settings: PlatformSettings, spoken: str) -> Failure | None:
    """The failure of a header that no request can carry; a catalogue's check refuses them, older catalogues may hold some."""
    for name, value in (*settings.headers.items(), ("Accept-Language", spoken)):
        if not (name + value).isascii() or not (name + value).isprintable():
            message = f"no request can carry the header {name!a} of {settings.name}"
            return failure(ErrorKind.CLIENT_ERROR, message)
    return None


def new_http() -> httpx.AsyncClient:
    """The one client of an execution environment: no retries, no redirects, connections kept alive between calls."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=KEEP_ALIVE_S)
    transport = httpx.AsyncHTTPTransport(retries=0, limits=limits)
    return httpx.AsyncClient(
        transport=transport, timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S), trust_env=False
    )
