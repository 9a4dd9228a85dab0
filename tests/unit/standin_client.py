"""A stand-in server in this process, a clock that the test moves, and clients of both kinds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from brandvane.simulation.standin_behaviour import Behaviour, changed
from brandvane.simulation.standin_config import StandinConfig
from brandvane.simulation.standin_row import CallRow
from brandvane.simulation.standin_server import StandinServer

CHAT = "/gpt/v1/chat/completions"
NEVER = 3600.0


class HandClock:
    """Time that stands still until it is set."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def config(seed: int = 0, answers: Path | None = None, log: Path | None = None, **behaviour: float) -> StandinConfig:
    """One platform that answers at once unless told otherwise."""
    quick: dict[str, Any] = {"median": 0.0, **behaviour}
    return StandinConfig(platforms={"gpt": Behaviour(**quick)}, seed=seed, answers=answers, log=log)


def faulty(fault: str) -> StandinConfig:
    """Every call meets this fault."""
    return StandinConfig(platforms={"gpt": changed(Behaviour(median=0.0), {fault: 1.0}, "test")})


def long_answer(folder: Path) -> Path:
    """A recorded answer that is longer than the socket buffers of both sides hold."""
    row = {"question": "Which kettle?", "model": "m", "answer": "x" * 32_000_000}
    path = folder / "answers.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    return path


def client(server: StandinServer) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=server.url, timeout=20.0, trust_env=False)


def question(text: str = "Which kettle?") -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


async def ask(http: httpx.AsyncClient, request_id: str = "t/1", text: str = "Which kettle?") -> httpx.Response:
    return await http.post(CHAT, json=question(text), headers={"X-Client-Request-Id": request_id})


def raw_request(text: str = "Which kettle?", request_id: str = "t/1") -> bytes:
    body = json.dumps(question(text)).encode()
    head = (
        f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nX-Client-Request-Id: {request_id}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def until(condition: Callable[[], object]) -> None:
    """Let the loop turn until something holds."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what is waited for is the server's state, which sets no event
            await asyncio.sleep(0.001)


def in_flight(server: StandinServer) -> int:
    return len(server.desk.platforms["gpt"].in_flight)


def outcomes(rows: list[CallRow]) -> list[str]:
    return [row.outcome.value for row in rows]
