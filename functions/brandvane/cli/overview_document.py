"""What does the overview tell scripts? One JSON document, and one line for a pipe that watches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from brandvane.cli.alarm_reader import Alarm
from brandvane.cli.overview import Overview, PlatformGlance, RunGlance, Stuck
from brandvane.cli.overview_platforms import limit_of, state_word
from brandvane.cli.overview_view import spare_text, verdict
from brandvane.cli.platform_view import facts_document
from brandvane.cli.run_view import run_document
from brandvane.cli.when import iso
from brandvane.engine.gauges import HELD
from brandvane.task import State


def change_line(found: Overview) -> str:
    """One line that changes when something happens."""
    runs = [
        f"{each.run.run_id} {each.run.state} {each.results:,}/{each.run.total:,}"
        + (f" {spare_text(each, found)}" if each.late_by else "")
        for each in found.runs or ()
    ]
    platforms = []
    for each in found.platforms or ():
        states = [
            f"{state.lower()} {each.states[state]:,}" for state in (State.PENDING, *HELD) if each.states.get(state)
        ]
        paused = [state_word(each)] if state_word(each) not in ("asked",) else []
        if states or paused:
            platforms.append(f"{each.name} {' '.join([*paused, *states])}")
    dead = [f"{each.name} {each.dead:,} dead" for each in found.queues or () if each.dead]
    rings = [f"ALARM {each.name}" for each in found.ringing]
    unread = [f"{each.part} cannot be read" for each in found.unread]
    return "; ".join([*runs, *platforms, *dead, *rings, *unread]) or "nothing to do"


def overview_document(found: Overview) -> dict[str, Any]:
    """As JSON; what could not be read is null, and ``unread`` says why."""
    return {
        "stack": found.stack,
        "at": iso(found.at),
        "verdict": verdict(found),
        "runs": None if found.runs is None else [_run_document(each) for each in found.runs],
        "platforms": None if found.platforms is None else [_platform_document(each) for each in found.platforms],
        "queues": None
        if found.queues is None
        else {each.name: {"messages": each.waiting, "dead": each.dead} for each in found.queues},
        "stuck": None if found.stuck is None else [_stuck_document(each) for each in found.stuck],
        "alarms": None
        if found.alarms is None
        else {"all": len(found.alarms), "ringing": [_alarm_document(each) for each in found.ringing]},
        "today": {"calls": found.calls_today, "usd": round(found.spent_usd, 6), "budget_usd": found.budget_usd},
        "unread": [{"part": each.part, "why": each.why} for each in found.unread],
    }


def _run_document(each: RunGlance) -> Mapping[str, Any]:
    never = each.finish is not None and math.isinf(each.finish)
    return {
        **run_document(each.run),
        "results": each.results,
        "projected_finish": "never" if never else iso(each.finish),
        "late_by_s": None if math.isinf(each.late_by) else round(each.late_by, 1),
    }


def _platform_document(each: PlatformGlance) -> Mapping[str, Any]:
    recent = each.recent
    return {
        **facts_document(each.facts),
        "day_usd": round(each.spent_usd, 6),
        "states": {state: each.states.get(state, 0) for state in (State.PENDING, *HELD)},
        "due": each.backlog,
        "counts_are_at_least": each.capped,
        "calls_a_second": round(recent.rate, 3),
        "calls_a_second_allowed": limit_of(each),
        "last_5_min": {
            "calls": recent.calls,
            "success": recent.success,
            "retries": recent.retries,
            "failures": dict(recent.kinds),
            "latency_p50_s": recent.p50,
            "latency_p95_s": recent.p95,
        },
    }


def _stuck_document(each: Stuck) -> Mapping[str, Any]:
    return {
        "platform": each.platform,
        "state": each.state,
        "tasks": each.tasks,
        "oldest_s": round(each.oldest_s, 1),
        "task_id": each.task_id,
        "brand": each.brand or None,
    }


def _alarm_document(each: Alarm) -> Mapping[str, Any]:
    return {"name": each.name, "since": iso(each.since), "reason": each.reason, "description": each.description}
