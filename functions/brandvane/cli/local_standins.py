"""How do the simulated platforms of a local stack come up? One program for all of them, on a free port, with a log of its calls."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brandvane.cli.local_process import StepFailed, end_group, is_running, start, without_aws
from brandvane.platforms.registry import platform_rows
from brandvane.simulation.standin_dialects import USUAL

MODULE = "brandvane.cli.standin_command"  # also the word that its process is known by
READY_TIMEOUT_S = 30.0
_POLL_S = 0.05
DEFAULT_SEED = 20

# What every simulated platform allows and how it answers. The cap stays below the local call timeout of 8 s, so that only a
# hang runs into it; the template gives them 60 slots (Sizes.StandIn).
LIMITS: Mapping[str, float] = {"rate": 10, "in_flight": 60, "median": 1.2, "sigma": 0.5, "cap": 6.0}
FAULTS: Mapping[str, float] = {
    "error_500": 0.02,
    "error_503": 0.01,
    "hang": 0.01,
    "cut": 0.01,
    "empty": 0.01,
    "malformed": 0.01,
    "injected_429": 0.003,
    "retry_after": 1,
    "inside_200": 0.01,
    "keep_alive": 0.02,
    "truncated": 0.01,
    "filtered": 0.005,
}
# Protocols that these platforms speak too, so that a local run speaks three; every other one speaks that of its row.
PROTOCOLS: Mapping[str, str] = {"openai": "openai_responses", "hunyuan": "anthropic_messages"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How platforms behave (fields of the stand-ins' behaviour, the same for all), and the answers to replay, if any."""

    behaviour: Mapping[str, float]
    seed: int = DEFAULT_SEED
    brands: tuple[str, ...] = ()
    answers: Path | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    protocols: Mapping[str, str] = field(default_factory=dict)  # of platforms that speak another one than the usual


@dataclass(frozen=True, slots=True)
class Standins:
    """Running stand-ins: process (and group) id, address, and for each platform the base URL to ask it at, and how."""

    pid: int
    url: str
    base_urls: Mapping[str, str]
    protocols: Mapping[str, str]


def bring_up(wish: Wish, platforms: Sequence[str], *, calls: Path, home: Path, port: int = 0) -> Standins:
    """Start the stand-ins and wait until they listen; ``calls`` is where they log, and an earlier log is removed.

    Raises:
        StepFailed: they did not come up (nothing is left running).
    """
    home.mkdir(parents=True, exist_ok=True)
    ready, config, log = home / "standins.json", home / "standins-config.json", home / "standins.log"
    for old in (ready, calls):
        old.unlink(missing_ok=True)
    config.write_text(json.dumps(_config(wish, platforms), ensure_ascii=False, indent=1), encoding="utf-8")
    command = [sys.executable, "-m", MODULE, "--config", str(config), "--port", str(port)]
    command += ["--log", str(calls), "--ready-file", str(ready)]
    if wish.answers is not None:
        command += ["--answers", str(wish.answers)]
    pid = start(command, log=log, env=without_aws(os.environ))
    try:
        told = _wait(pid, ready, log)
    except BaseException:  # also Ctrl-C: what was started is ended first
        end_group(pid)
        raise
    urls = {name: str(platform["base_url"]) for name, platform in told["platforms"].items()}
    protocols = {name: str(platform["protocol"]) for name, platform in told["platforms"].items()}
    return Standins(pid, str(told["url"]), urls, protocols)


def _config(wish: Wish, platforms: Sequence[str]) -> dict[str, Any]:
    told: dict[str, Any] = {"platforms": {name: _platform(wish, name) for name in platforms}}
    told |= {"seed": wish.seed, "models": dict(wish.models)}
    return told | ({"brands": list(wish.brands)} if wish.brands else {})


def _platform(wish: Wish, name: str) -> dict[str, Any]:
    row = platform_rows().get(name)
    usual = str(row.values["protocol"]) if row is not None else USUAL
    return {**wish.behaviour, "protocol": wish.protocols.get(name, usual)}


def _wait(pid: int, ready: Path, log: Path) -> dict[str, Any]:
    end = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < end:
        if ready.is_file():
            told: dict[str, Any] = json.loads(ready.read_text(encoding="utf-8"))
            return told
        if not is_running(pid, MODULE):
            raise StepFailed("The simulated platforms ended while starting", log)
        time.sleep(_POLL_S)
    raise StepFailed(f"The simulated platforms did not answer within {READY_TIMEOUT_S:g} s", log)
