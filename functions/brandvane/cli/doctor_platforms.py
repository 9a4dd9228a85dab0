"""Does each platform answer as the monitor wants it to? One cheap call to every target, and what can be seen from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from brandvane.answer import Answer, Failure
from brandvane.catalogue import PlatformSettings
from brandvane.cli.checks import Check, Looks, fail, ok, warn
from brandvane.cli.local_keys import variable_of
from brandvane.cli.view import number
from brandvane.engine.canary import TEXT
from brandvane.platforms.errors import not_reached
from brandvane.policy import ErrorKind
from brandvane.ports import Clock, Deployed
from brandvane.task import target_name

if TYPE_CHECKING:
    import httpx

SEARCH_TEXT = "Name one company that makes kettles, in one sentence, and the page that says so."
# What one such call comes to, for the estimate that is shown first: tokens in and out, thoughts included.
TOKENS = (100, 500)
CLOCK_WARN_S = 5.0
CLOCK_SIGNED_S = 300.0  # a TC3 signature holds so long
NO_KEY = "none"
_REQUEST_LIMITS = ("x-ratelimit-limit-requests", "anthropic-ratelimit-requests-limit")
_REMEDIES: Mapping[ErrorKind, str] = {
    ErrorKind.AUTH_ERROR: "set a key that is good: brandvane keys set {platform}",
    ErrorKind.QUOTA_EXHAUSTED: "top the account up, or raise its limit",
    ErrorKind.MODEL_GONE: "name a model that is there, in monitor.yaml",
    ErrorKind.CLIENT_ERROR: "look at the platform's parameters in monitor.yaml",
    ErrorKind.RATE_LIMITED: "lower rate in monitor.yaml, or wait and look again",
}


@dataclass(slots=True)
class Heard:
    """Headers of the last response, and when they came (POSIX seconds)."""

    headers: Mapping[str, str] = field(default_factory=dict)
    at: float = 0.0


class PlatformDoctor:
    """Looks at targets. ``keys``: what was found by platform; ``deployed``: workers by platform, None where no stack is looked at;
    ``dotenv``: the file that the keys come from, None where they are the stored ones."""

    def __init__(
        self,
        settings: Sequence[PlatformSettings],
        keys: Mapping[str, str],
        *,
        deployed: Mapping[str, Deployed] | None,
        clock: Clock,
        dry: bool = False,
        dotenv: Path | None = None,
        http: Callable[[], httpx.AsyncClient] | None = None,
    ) -> None:
        self._settings = settings
        self._keys = keys
        self._deployed = deployed
        self._clock = clock
        self._dry = dry
        self._dotenv = dotenv
        self._http = http

    @property
    def calls(self) -> int:
        """How many calls it makes."""
        return 0 if self._dry else sum(len(row.models) for row in self._settings if self._key_of(row) is not None)

    @property
    def cost_usd(self) -> float:
        """About what they come to, by the price rows."""
        total = 0.0
        for row in self._settings:
            if self._key_of(row) is not None and not self._dry:
                prices = [row.price_of(model) for model in row.models]
                total += sum((TOKENS[0] * given + TOKENS[1] * made) / 1e6 for given, made in prices)
                total += row.price_search * len(row.models) * bool(row.parameters.get("search"))
        return total

    def looks(self) -> Looks:
        """A look a platform."""
        return tuple((row.name, lambda row=row: self._platform(row)) for row in self._settings)

    def _key_of(self, row: PlatformSettings) -> str | None:
        """The key; "" for a platform that wants none, None where it is missing."""
        return "" if row.key_header == NO_KEY else self._keys.get(row.name)

    def _platform(self, row: PlatformSettings) -> Iterator[Check]:
        name, key = row.name, self._key_of(row)
        if key is None:
            remedy = f"brandvane keys set {name}, or {variable_of(name)} in the file that --dotenv names"
            if self._dotenv is not None:
                remedy = f"a line {variable_of(name)}=… in {self._dotenv}, or without --dotenv the stored key"
            yield fail(name, "key: there is none", remedy)
        else:
            there = "key: there is one" if self._dotenv is None else f"key: there is one in {self._dotenv}"
            yield ok(name, "key: it wants none" if row.key_header == NO_KEY else there)
            if not self._dry:
                yield from asyncio.run(self._asked(row, key))
        yield self._limits(row)

    def _limits(self, row: PlatformSettings) -> Check:
        said = f"limits: {row.rate:g} calls/s, {row.in_flight} in flight"
        worker = None if self._deployed is None else self._deployed.get(row.name)
        if self._deployed is not None and worker is None:
            return fail(
                row.name, f"{said}; no worker is deployed", "brandvane catalogue check DIR names the lines to add"
            )
        if worker is not None and worker.slots > max(row.in_flight, 2):
            remedy = "lower Invocations or BatchSize in template.yaml, or raise in_flight"
            return warn(row.name, f"{said}; its worker can hold {worker.slots} calls open", remedy)
        return ok(row.name, said)

    async def _asked(self, row: PlatformSettings, key: str) -> list[Check]:
        from brandvane.platforms.http_client import HttpPlatformClient, at_once, new_http

        heard = Heard()

        async def listen(response: httpx.Response) -> None:
            heard.headers, heard.at = {k.lower(): v for k, v in response.headers.items()}, self._clock.now()

        checks: list[Check] = []
        text = SEARCH_TEXT if row.parameters.get("search") else TEXT
        async with (self._http or new_http)() as http:
            http.event_hooks["response"].append(listen)
            client = HttpPlatformClient(http=http, secrets=_OneKey(key), clock=self._clock)
            for model in row.models:
                reply = await client.ask(row, model, text, "", f"doctor-{model}/1", row.call_timeout_s, at_once)
                if reply is not None:
                    checks += target_checks(row, model, reply, self._dotenv)
        return checks + clock_checks(row, heard) + limit_checks(row, heard)


class _OneKey:
    def __init__(self, key: str) -> None:
        self._key = key

    async def key(self, platform: str, *, fresh: bool = False, parameter: str = "") -> str:
        """The key that was found."""
        return self._key


def target_checks(
    row: PlatformSettings, model: str, reply: Answer | Failure, dotenv: Path | None = None
) -> list[Check]:
    """Model, search and citations, by what came back."""
    target = target_name(row.name, model)
    if isinstance(reply, Failure):
        remedy = _REMEDIES.get(reply.kind, "look again; if it stays so, ask the platform's status page")
        remedy = remedy.format(platform=row.name)
        said = f"model: {reply.kind}: {reply.message}"
        passing = reply.kind in (ErrorKind.RATE_LIMITED, ErrorKind.TIMEOUT, ErrorKind.SERVER_ERROR, ErrorKind.EMPTY)
        if reply.kind is ErrorKind.AUTH_ERROR and dotenv is not None:
            remedy = f"write a key that is good to {dotenv}: {variable_of(row.name)}=…"
        if not_reached(reply):
            passing, remedy = (
                False,
                f"look at base_url in monitor.yaml ({row.base_url}), and whether it can be reached from here",
            )
        return [(warn if passing else fail)(target, said, remedy)]
    served = f" as {reply.served_model}" if reply.served_model not in ("", model) else ""
    checks = [ok(target, f"model: answered{served} in {reply.latency_s:.1f} s ({reply.status})")]
    if not row.parameters.get("search"):
        return [*checks, ok(target, "search: off")]
    cited = sum(citation.kind == "cited" for citation in reply.citations)
    looked = len(reply.citations) - cited
    if not (reply.citations or reply.search_queries or reply.usage.searches):
        remedy = "ask again; if it stays so, look at search_body and the account's search service"
        return [*checks, warn(target, "search: on, and nothing shows that it ran", remedy)]
    return [
        *checks,
        ok(target, f"search: on, {number(len(reply.search_queries), 'query', 'queries')} told"),
        ok(target, f"citations: {cited} cited, {looked} retrieved"),
    ]


def clock_checks(row: PlatformSettings, heard: Heard) -> list[Check]:
    """Does this machine's clock agree with the platform's? Nothing where it tells no time."""
    try:
        theirs = parsedate_to_datetime(heard.headers.get("date", "")).timestamp()
    except (TypeError, ValueError):
        return []
    off = heard.at - theirs
    said = f"clock: {abs(off):.0f} s {'ahead of' if off > 0 else 'behind'} the platform's"
    if row.protocol == "tencent_tc3" and abs(off) >= CLOCK_SIGNED_S:
        return [fail(row.name, said, "set this machine's clock: signatures are refused")]
    if abs(off) > CLOCK_WARN_S:
        return [warn(row.name, said, "set this machine's clock")]
    return [ok(row.name, "clock: agrees with the platform's")]


def limit_checks(row: PlatformSettings, heard: Heard) -> list[Check]:
    """Does the platform tell a limit of requests, and is more than that asked? Nothing where it tells none it counts by the minute."""
    told = next((heard.headers[name] for name in _REQUEST_LIMITS if name in heard.headers), "")
    if not (told.isascii() and told.isdigit() and len(told) < 10):
        return []
    asked, allowed = row.rate * 60, int(told)
    said = f"limits: the platform says {allowed:,} requests a minute, the monitor asks up to {asked:,.0f}"
    if asked > allowed:
        return [warn(row.name, said, f"set rate: {allowed / 60:.3g} in monitor.yaml")]
    return [ok(row.name, said)]
