"""Does a platform take a key? Asked by its list of models, and by nothing that costs."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from brandvane.platforms.key_probe import KeyVerdict, probe
from brandvane.simulation.standin_behaviour import Behaviour, changed
from brandvane.simulation.standin_config import StandinConfig
from brandvane.simulation.standin_server import serving
from builders import NOW, platform


async def asked(
    status: int, body: Any = None, *, seen: list[httpx.Request] | None = None, **settings: Any
) -> KeyVerdict:
    """What comes of a platform that replies so."""

    def reply(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        return httpx.Response(status, json=body or {})

    async with httpx.AsyncClient(transport=httpx.MockTransport(reply)) as http:
        return await probe(http, platform(**settings), "secret-key", NOW)


@pytest.mark.parametrize(
    ("protocol", "base", "url", "header"),
    [
        ("openai_chat", "https://a.example/v1", "https://a.example/v1/models", "Authorization"),
        ("openai_responses", "https://a.example/v1", "https://a.example/v1/models", "Authorization"),
        ("anthropic_messages", "https://a.example", "https://a.example/v1/models", "x-api-key"),
        ("anthropic_messages", "https://a.example/v1", "https://a.example/v1/models", "x-api-key"),
        ("gemini", "https://a.example/v1beta", "https://a.example/v1beta/models", "x-goog-api-key"),
    ],
)
async def test_the_list_of_models_is_asked_for_with_the_key(protocol: str, base: str, url: str, header: str) -> None:
    seen: list[httpx.Request] = []
    assert await asked(200, seen=seen, protocol=protocol, base_url=base) == KeyVerdict("accepted")
    assert (seen[0].method, str(seen[0].url)) == ("GET", url)
    assert "secret-key" in seen[0].headers[header]


async def test_a_refused_key_and_an_empty_account_are_told_apart_from_trouble() -> None:
    refused = await asked(401, {"error": {"code": "invalid_api_key"}})
    assert (refused.verdict, refused.why) == ("refused", "the platform refuses the key (HTTP 401: invalid_api_key)")
    assert (await asked(429, {"error": {"code": "insufficient_quota"}})).verdict == "refused"
    assert (await asked(503)).verdict == "unknown"
    assert "secret-key" not in repr(refused)


@pytest.mark.parametrize("protocol", ["perplexity_agent", "dashscope", "tencent_tc3"])
async def test_where_asking_is_not_free_that_is_said(protocol: str) -> None:
    told = await asked(200, protocol=protocol)
    assert told == KeyVerdict("unknown", f"{protocol} has no free way to ask: a run will tell")


@pytest.mark.parametrize("protocol", ["openai_chat", "openai_responses", "anthropic_messages", "gemini"])
async def test_a_stand_in_takes_its_key(protocol: str) -> None:
    config = StandinConfig(platforms={"gpt": changed(Behaviour(), {"protocol": protocol}, "test")})
    async with serving(config) as server, httpx.AsyncClient(trust_env=False) as http:
        base = str(server.description()["platforms"]["gpt"]["base_url"])
        verdict = await probe(http, platform(protocol=protocol, base_url=base), "local-stand-in-key", NOW)
    assert verdict == KeyVerdict("accepted")
