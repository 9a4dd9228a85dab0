"""Which simulated platforms does a local stack ask for, and in which protocol does each speak?"""

from __future__ import annotations

from brandvane.cli.local_standins import PROTOCOLS, Wish, _config


def spoken(wish: Wish, *names: str) -> dict[str, str]:
    """The protocol of each platform."""
    return {name: row["protocol"] for name, row in _config(wish, names)["platforms"].items()}


def test_a_simulated_platform_speaks_the_protocol_of_its_row() -> None:
    told = spoken(Wish(behaviour={}), "deepseek", "gemini", "qwen-search", "acme")
    assert told == {
        "deepseek": "openai_chat",
        "gemini": "gemini",
        "qwen-search": "dashscope",
        "acme": "openai_chat",
    }


def test_the_local_run_speaks_three_protocols() -> None:
    told = spoken(Wish(behaviour={}, protocols=PROTOCOLS), "deepseek", "hunyuan", "openai")
    assert told == {"deepseek": "openai_chat", "hunyuan": "anthropic_messages", "openai": "openai_responses"}


def test_behaviour_is_the_same_for_all() -> None:
    rows = _config(Wish(behaviour={"rate": 5.0}), ("openai", "kimi"))["platforms"]
    assert [row["rate"] for row in rows.values()] == [5.0, 5.0]
