"""A run against a server that others wrote: llmock (PyPI) speaks four dialects, fails on command and judges its client.

In real time, some minutes; skipped where its program is not there (``make test-llmock`` installs and runs it).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from brandvane.aws.system import SystemClock
from brandvane.engine.plan import StartRequest
from brandvane.platforms.http_client import HttpPlatformClient, new_http
from brandvane.run import RunState
from brandvane.simulation.memory_queue import MemoryQueue
from brandvane.task import Outcome
from builders import catalogue, platform, together
from engine_rig import MemoryBench
from unit.test_engine_whole_run import Whole

_INSTALLED = Path(__file__).resolve().parents[2] / ".tools" / "llmock" / "bin" / "llmock"
PROGRAM = os.environ.get("BRANDVANE_LLMOCK") or (str(_INSTALLED) if _INSTALLED.exists() else shutil.which("llmock"))
DIALECTS = {
    "openai": ("openai_chat", "/v1", "gpt-4o"),
    "anthropic": ("anthropic_messages", "/anthropic", "claude-sonnet-4-5"),
    "gemini": ("gemini", "/gemini/v1beta", "gemini-2.0-flash"),
    "perplexity": ("openai_chat", "/perplexity/v1", "sonar"),
}
QUESTIONS = 50
THROTTLES = 12


class OneKey:
    """The same key for every platform, so that llmock's limit is one for all."""

    async def key(self, platform: str, *, fresh: bool = False, parameter: str = "") -> str | None:
        """The key."""
        return "test-key"


class AgainstLlmock(Whole):
    """The engine in memory, in real time, with calls that travel."""

    def __init__(self, address: str, http: httpx.AsyncClient) -> None:
        super().__init__(1)
        clock = SystemClock()
        platforms = tuple(
            platform(name, protocol=speaks, base_url=address + path, models=(model,), rate=3.0, in_flight=20)
            for name, (speaks, path, model) in DIALECTS.items()
        )
        self.bench = MemoryBench.new(catalogue(QUESTIONS, platforms=platforms), plan=False)
        world = self.bench.world
        self.bench.clock, self.bench.queue = clock, MemoryQueue(clock=clock)
        world.queue = self.bench.queue
        self.bench.client = HttpPlatformClient(http=http, secrets=OneKey(), clock=clock)  # type: ignore[assignment]
        self.workers = {name: self._named(name) for name in DIALECTS}

    def _named(self, name: str) -> MemoryBench:
        bench = self.bench.without()
        bench.platform = name
        return bench

    async def all_now(self) -> None:
        """A run by hand: everything is due at once."""
        await self.bench.planner.start(StartRequest(schedule_id="core", label="llmock"))
        pollers = [self._poll(name) for name in DIALECTS for _ in range(2)]
        await together(self._until_reported(), self._plan(), self._write_back(), *pollers)

    async def _until_reported(self) -> None:
        while not self.over:
            await self.bench.dispatcher.tick()
            await self.bench.sweep()
            await self._functions()
            await self.bench.clock.sleep(5)
            self.over = {run.state for run in self.bench.world.runs.runs.values()} == {RunState.REPORTED}


@pytest.fixture
def llmock() -> Iterator[str]:
    """A server that throttles at 300 a minute, answers one call in five with 503 and takes 20 ms."""
    assert PROGRAM is not None
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    options = ["--port", str(port), "--rpm", "300", "--error-rate", "503=0.2", "--latency-ms", "20"]
    process = subprocess.Popen([PROGRAM, "serve", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


async def ready(http: httpx.AsyncClient, address: str) -> None:
    """Wait until it listens."""
    for _ in range(100):
        try:
            await http.get(f"{address}/health")
        except httpx.TransportError:
            await asyncio.sleep(0.2)
        else:
            return
    raise AssertionError("llmock did not start")


@pytest.mark.skipif(PROGRAM is None, reason="no llmock: make test-llmock")
async def test_two_hundred_tasks_over_four_dialects_end_complete_and_the_verdict_is_clean(llmock: str) -> None:
    async with new_http() as http:
        await ready(http, llmock)
        faults = [{"type": "fail", "status": 429, "retry_after": 2} for _ in range(THROTTLES)]
        await http.post(f"{llmock}/_llmock/scenario", json={"behaviors": faults})
        whole = AgainstLlmock(llmock, http)
        await asyncio.wait_for(whole.all_now(), 420)
        journal: list[dict[str, Any]] = (await http.get(f"{llmock}/_llmock/requests")).json()["requests"]
        verdict = (await http.get(f"{llmock}/_llmock/verdict?format=text")).text

    rows = whole.bench.rows()
    statuses = Counter(row["status"] for row in journal)
    print(Counter(row.outcome for row in rows), statuses, verdict)
    assert len(rows) == QUESTIONS * len(DIALECTS)
    assert Counter(row.outcome for row in rows)[Outcome.OK] >= 195  # four 503 in a row end a task, rightly
    assert statuses[429] >= 10
    assert statuses[503] >= 10
    assert "PASS" in verdict, verdict
