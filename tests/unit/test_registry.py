"""What are a platform's settings, and where from?"""

from __future__ import annotations

import pytest

from brandvane.platforms.protocols import PROTOCOL_NAMES
from brandvane.platforms.registry import base_url_complaint, is_loopback, parse_rows, platform_rows, resolve

TABLE = """\
[p]
protocol = "openai_chat"
base_url = "https://p.example/v1"
models = ["a"]
rate = 2
parameters = { max_tokens = 10, temperature = 0 }
prices = { a = [1, 2] }
"""
ROWS = parse_rows(TABLE)


def test_the_shipped_table_has_the_nine_platforms_and_three_that_search_over_https() -> None:
    rows = platform_rows()
    nine = {"openai", "hunyuan", "deepseek", "qwen", "doubao", "kimi", "gemini", "anthropic", "perplexity"}
    assert set(rows) == nine | {"openai-search", "deepseek-search", "qwen-search"}
    assert all(resolve(name, {}).base_url.startswith("https://") for name in rows)


def test_every_shipped_platform_has_a_price_for_its_usual_model() -> None:
    for name in platform_rows():
        settings = resolve(name, {})
        assert min(settings.price_of(settings.models[0])) > 0


def test_every_shipped_platform_speaks_a_protocol_of_this_release() -> None:
    assert {resolve(name, {}).protocol for name in platform_rows()} <= PROTOCOL_NAMES


def test_endpoints_and_models_that_are_gone_are_not_in_the_table() -> None:
    text = str([(resolve(name, {}).base_url, resolve(name, {}).models) for name in platform_rows()])
    for gone in (
        "hunyuan.cloud.tencent.com",
        "hunyuan.tencentcloudapi.com",
        "deepseek-chat",
        "qwen-turbo",
        "kimi-latest",
    ):
        assert gone not in text


def test_without_overrides_every_value_is_of_the_table() -> None:
    settings = resolve("p", {}, ROWS)
    assert (settings.rate, settings.parameters, settings.prices) == (
        2.0,
        {"max_tokens": 10, "temperature": 0},
        {"a": (1.0, 2.0)},
    )
    assert set(settings.origins.values()) == {"platforms.toml"}


def test_overrides_win_and_their_origin_is_written_down() -> None:
    settings = resolve("p", {"rate": 7, "models": ("b", "c"), "parameters": {"temperature": 1}}, ROWS)
    assert (settings.rate, settings.models, settings.parameters) == (
        7.0,
        ("b", "c"),
        {"max_tokens": 10, "temperature": 1},
    )
    assert settings.origins == {
        "protocol": "platforms.toml",
        "base_url": "platforms.toml",
        "models": "monitor.yaml",
        "rate": "monitor.yaml",
        "parameters.max_tokens": "platforms.toml",
        "parameters.temperature": "monitor.yaml",
        "prices.a": "platforms.toml",
    }


def test_a_monitors_price_holds_for_all_models() -> None:
    settings = resolve("p", {"price_input": 9.0}, ROWS)
    assert settings.price_of("a") == (9.0, 0.0)


def test_resolving_does_not_change_the_table() -> None:
    resolve("p", {"parameters": {"max_tokens": None}}, ROWS)
    assert resolve("p", {}, ROWS).parameters == {"max_tokens": 10, "temperature": 0}


def test_an_unknown_platform_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="nobody"):
        resolve("nobody", {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rate = 2", "rat = 2"), r"\[p\] has unknown fields: rat"),
        (('models = ["a"]\n', ""), r"\[p\] lacks models"),
        (("https://p", "http://p"), r"\[p\] base_url must use https"),
        (("rate = 2", "rate ="), "Invalid value"),
    ],
)
def test_a_broken_table_is_a_value_error(change: tuple[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_rows(TABLE.replace(*change))


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "http://localhost:8000",
        "http://127.0.0.1:1/v1",
        "http://127.9.9.9",
        "http://[::1]:80/v1",
    ],
)
def test_https_anywhere_and_http_on_this_machine_are_right(url: str) -> None:
    assert base_url_complaint(url) is None


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://api.openai.com", "must use https (http is allowed for loopback hosts only)"),
        ("http://127.0.0.1.nip.io", "must use https (http is allowed for loopback hosts only)"),
        ("http://0.0.0.0:80", "must use https (http is allowed for loopback hosts only)"),
        ("http://localhost@evil.example", "must not carry a user or password: keys live in SSM"),
        ("https://key:secret@host", "must not carry a user or password: keys live in SSM"),
        ("https://host/v1?key=1", "must not have a query or fragment"),
        ("https://host/#x", "must not have a query or fragment"),
        ("https://ho st/", "must not contain spaces"),
        ("https://host:port", "is not a URL"),
        ("https://[::1", "is not a URL"),
        ("https://", "is not an https URL"),
        ("file:///etc/passwd", "is not an https URL"),
        ("", "is not an https URL"),
    ],
)
def test_other_addresses_are_refused(url: str, complaint: str) -> None:
    assert base_url_complaint(url) == complaint


def test_loopback_is_this_machine_only() -> None:
    assert [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "localhost.example", "10.0.0.1", "")] == [
        *[True] * 3,
        *[False] * 3,
    ]
