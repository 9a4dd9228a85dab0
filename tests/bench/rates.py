"""Are limits used to the full and never exceeded, and how late do calls start? Runs on simulated platforms without faults."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from brandvane.catalogue import Catalogue, Selection
from brandvane.cli.demo_catalogue import Pace
from brandvane.cli.local_reading import call_rows
from brandvane.simulation.run_audit import Summary, audit_run, plan_of

from .ground import RATE, SLOTS, Ground, cpu_used, wait_for

# A plan this fast puts every task into the same second; the limiter gets its real rate before that second comes.
AT_ONCE = Pace(rate=1000.0, in_flight=SLOTS, expected_hold_s=0.1)
LIMITER_OFF = 100_000.0
RUN_TIMEOUT_S = 240.0


def start_delay(ground: Ground) -> dict[str, Any]:
    """Planned at 90 % of 3 x 10 calls/s: how long after its planned instant does a task's first call arrive?"""
    catalogue = ground.push(200, Pace(rate=RATE, in_flight=SLOTS, expected_hold_s=SLOTS / RATE))
    ground.set_rates(None, SLOTS / RATE)
    ground.start("bench-delay")
    return _told(_finished(ground, catalogue, "bench-delay", RATE))


def backlog(ground: Ground) -> dict[str, Any]:
    """Everything due at once at 3 x 10 calls/s: the limiter alone keeps the platforms' limits."""
    return _backlog(ground, "bench-backlog", questions=600, limit=RATE, limiter=RATE)


def without_limiter(ground: Ground) -> dict[str, Any]:
    """The same with the limiter off: the platforms refuse."""
    return _backlog(ground, "bench-control", questions=100, limit=RATE, limiter=LIMITER_OFF)


def backlog_at_20(ground: Ground) -> dict[str, Any]:
    """Everything due at once at 3 x 20 calls/s."""
    return _backlog(ground, "bench-backlog-20", questions=800, limit=2 * RATE, limiter=2 * RATE)


def _backlog(ground: Ground, label: str, *, questions: int, limit: float, limiter: float) -> dict[str, Any]:
    ground.allow(limit)
    ground.set_rates(AT_ONCE.rate, AT_ONCE.expected_hold_s)
    catalogue = ground.push(questions, AT_ONCE)
    ground.start(label)
    ground.set_rates(limiter)
    before, began = cpu_used(ground.state), time.monotonic()
    summary = _finished(ground, catalogue, label, limit)
    took = time.monotonic() - began
    used = {name: round((seconds - before[name]) / took, 2) for name, seconds in cpu_used(ground.state).items()}
    return {**_told(summary), "processors_used": used}


def _finished(ground: Ground, catalogue: Catalogue, label: str, limit: float) -> Summary:
    """Wait until the run is finished, with all that the scanner does then; the account of this run's calls."""
    plan = plan_of(label, catalogue, Selection())
    # Seldom: each look costs the emulator as much as many tasks do.
    wait_for(lambda: _reported(ground, label), label, RUN_TIMEOUT_S, every_s=10.0)
    rows = asyncio.run(ground.reading.rows(label))
    calls = [call for call in call_rows(ground.state.call_log) if call.task in plan.ids]
    return audit_run(label, plan, rows, calls, dict.fromkeys(ground.state.platforms, limit))


def _reported(ground: Ground, label: str) -> bool:
    run = asyncio.run(ground.reading.run(label))
    return run is not None and run.reported_at is not None


def _told(summary: Summary) -> dict[str, Any]:
    document = summary.document()
    names = ("planned", "results", "done", "calls", "throttled", "repeated_calls", "start_delay_s", "rate_used")
    return {name: document[name] for name in names}
