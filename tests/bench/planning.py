"""How long does the deployed planner take for 20,000 tasks, and how much memory does it need?"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, date, datetime, timedelta
from typing import Any

from brandvane.aws.keys import function_name
from brandvane.cli.demo_catalogue import Pace
from brandvane.schedule import occurrence

from .ground import RATE, SLOTS, Ground, processes, wait_for

QUESTIONS = 6_667  # x 3 platforms = 20,001 tasks
TIMEOUT_S = 300.0


def planning(ground: Ground) -> dict[str, Any]:
    """The coming run of the schedule, half a day ahead, so that nothing of it is asked."""
    catalogue = ground.push(QUESTIONS, Pace(rate=RATE, in_flight=SLOTS))
    latest = date.fromisoformat(occurrence(catalogue.monitor.schedules[0], datetime.now(UTC).timestamp()))
    word = f"-{function_name(ground.state.stack, 'planner')}-"
    began = time.monotonic()
    started = ground.invoke("planner", {"start": {"date": (latest + timedelta(days=1)).isoformat()}})
    peak = 0.0

    def complete() -> bool:
        nonlocal peak
        held = [process.megabytes for process in processes() if word in process.command]
        peak = max([peak, *held])
        run = asyncio.run(ground.reading.run(started["run_id"]))
        return run is not None and run.plan_complete

    wait_for(complete, "the plan is complete", TIMEOUT_S)
    took = time.monotonic() - began
    total = started["total"]
    return {
        "tasks": total,
        "seconds": round(took, 1),
        "tasks_a_second": round(total / took, 1),
        "planner_peak_mb": round(peak, 1),
    }
