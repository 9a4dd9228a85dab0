"""What does a catalogue ask that is pushed to the local stack for play?"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from brandvane.catalogue_files.faults import Fault
from brandvane.cli import play_stack as module
from brandvane.cli.aws_context import AwsContext
from brandvane.cli.errors import CliError
from brandvane.cli.local_state import LocalState
from brandvane.cli.play_stack import answers_name, play_stack, with_standins, without_standin
from brandvane.simulation.standin_server import serving
from unit.catalogue_samples import read
from unit.standin_client import config

STATE = LocalState(
    home=Path("/nowhere"),
    stack="brandvane-local",
    port=4566,
    platforms=("hunyuan", "openai"),
    base_urls={"openai": "http://127.0.0.1:9/openai/v1", "hunyuan": "http://127.0.0.1:9/hunyuan"},
    protocols={"openai": "openai_responses", "hunyuan": "anthropic_messages"},
)
HEAD = "schedules: [{id: daily, window: 02:00-04:00, deadline: '06:00', time_zone: UTC}]\n"


def _moved(platforms: str) -> tuple[list[tuple[str, str, str, float, int]], tuple[str, ...]]:
    found = read({"monitor.yaml": f"{HEAD}platforms: {platforms}\n"}).catalogue
    assert found is not None
    moved, names = with_standins(found, STATE)
    return [(p.name, p.base_url, p.protocol, p.rate, p.in_flight) for p in moved.monitor.platforms], names


def test_platforms_without_an_address_of_their_own_are_the_stand_ins() -> None:
    assert _moved("[openai, hunyuan]") == (
        [
            ("openai", "http://127.0.0.1:9/openai/v1", "openai_responses", 10, 60),
            ("hunyuan", "http://127.0.0.1:9/hunyuan", "anthropic_messages", 10, 60),
        ],
        ("openai", "hunyuan"),
    )


def test_a_platform_with_an_address_of_its_own_keeps_it() -> None:
    platforms, names = _moved("{openai: {base_url: 'https://proxy.example/v1'}, hunyuan: }")
    assert (platforms[0][:2], names) == (("openai", "https://proxy.example/v1"), ("hunyuan",))


def test_a_lower_limit_of_the_monitor_stays_and_a_higher_one_gives_way() -> None:
    platforms, _ = _moved("{openai: {rate: 2, in_flight: 500}}")
    assert platforms == [("openai", "http://127.0.0.1:9/openai/v1", "openai_responses", 2, 60)]


def test_a_platform_without_a_stand_in_is_told_with_those_there_are() -> None:
    fault = Fault(
        "monitor.yaml", "the platform has no deployed worker", "Add 'Kimi' and deploy", 3, "platforms", "kimi"
    )
    assert str(without_standin(fault, STATE)) == (
        "monitor.yaml, row 3: platforms 'kimi': this local stack has no simulated platform of this name"
        " (it has hunyuan, openai). Leave it out of monitor.yaml for play. To have it here: add 'Kimi' and deploy,"
        " with 'brandvane local down' and 'brandvane local up'."
    )


@pytest.mark.parametrize(
    ("stack", "endpoint", "state", "is_play"),
    [
        ("brandvane-local", "http://127.0.0.1:4566", STATE, True),
        ("other", "http://127.0.0.1:4566", STATE, False),
        ("brandvane-local", "http://127.0.0.1:4567", STATE, False),
        ("brandvane-local", "http://127.0.0.1:4566", replace(STATE, base_urls={}), False),  # real platforms
        ("brandvane-local", "http://127.0.0.1:4566", None, False),
    ],
)
def test_only_the_running_stack_with_stand_ins_is_for_play(
    stack: str, endpoint: str, state: LocalState | None, is_play: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "stands", lambda path: state)
    found = play_stack(AwsContext(stack, endpoint_url=endpoint))
    assert (found is not None) == is_play


async def test_the_stand_ins_are_told_the_catalogues_brands() -> None:
    found = read({}).catalogue
    assert found is not None
    async with serving(config()) as server:
        await asyncio.to_thread(answers_name, found, replace(STATE, standins_url=server.url))
        assert server.desk.brands == ("Nike", "Bose")


def test_stand_ins_that_are_gone_are_one_sentence() -> None:
    found = read({}).catalogue
    assert found is not None
    with pytest.raises(CliError, match="the stand-ins do not answer"):
        answers_name(found, replace(STATE, standins_url="http://127.0.0.1:1"))
