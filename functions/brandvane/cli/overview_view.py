"""How does the overview look: a screen of a given width, one line for a pipe that watches, a document for scripts?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from brandvane.cli.alarm_reader import Alarm
from brandvane.cli.overview import Overview, PlatformGlance, QueueDepth, RunGlance, Stuck
from brandvane.cli.platform_view import facts_document, pause_text
from brandvane.cli.run_view import run_document, wait_text
from brandvane.cli.view import dollars, number, shown, table
from brandvane.cli.when import iso, span
from brandvane.engine.gauges import HELD
from brandvane.run import RunState
from brandvane.task import State

WIDE = 120
INDENT = "  "


def overview_lines(found: Overview, width: int | None = None) -> list[str]:
    """The screen; no line is wider than ``width`` cells (None: as wide as they come)."""
    wide = width is None or width >= WIDE
    at = datetime.fromtimestamp(found.at, ZoneInfo(found.time_zone))
    lines = [f"stack {found.stack}, {at:%Y-%m-%d %H:%M:%S} {found.time_zone}", verdict(found)]
    lines += _wrapped((f"{each.part}: cannot be read: {each.why}" for each in found.unread), width)
    lines += _alarms(found, width)
    lines += _stuck(found, width)
    lines += _runs(found, wide, width)
    lines += _platforms(found, wide, width)
    lines += _queues(found, wide)
    lines += _spend(found)
    return [_cut(line, width) for line in lines]


def watch_lines(found: Overview, width: int, interval: float) -> list[str]:
    """The same for a screen that is renewed."""
    return [*overview_lines(found, width), _cut(f"renewed every {interval:g} s, Ctrl-C ends it", width)]


def verdict(found: Overview) -> str:
    """The one thing to know."""
    ringing, late = len(found.ringing), [glance for glance in found.runs or () if glance.late_by]
    said = []
    if ringing:
        said.append(f"{number(ringing, 'alarm')} in ALARM")
    if found.stuck:
        said.append(f"{number(sum(each.tasks for each in found.stuck), 'task')} stuck")
    if late:
        said.append(f"{number(len(late), 'run')} will miss the deadline")
    if found.unread:
        said.append(f"{number(len(found.unread), 'part')} could not be read")
    return ", ".join(said) or "nothing rings, nothing is stuck"


def _alarms(found: Overview, width: int | None) -> list[str]:
    if found.alarms is None:
        return []
    if not found.alarms:
        return ["alarms: the stack has none"]
    ringing = found.ringing
    head = f"alarms: {len(ringing)} of {len(found.alarms)} in ALARM"
    return [head, *_wrapped((_alarm(each, found) for each in ringing), width)]


def _alarm(alarm: Alarm, found: Overview) -> str:
    about = shown(alarm.description or alarm.reason)
    return f"{alarm.name} since {_clock(alarm.since, found)}{f': {about}' if about else ''}"


def _runs(found: Overview, wide: bool, width: int | None) -> list[str]:
    if found.runs is None:
        return []
    if not found.runs:
        return ["runs: there is none yet"]
    header = ["run", "state", "results", *(["share"] if wide else []), "through", "deadline", "spare"]
    rows = [_run(each, found, wide) for each in found.runs]
    lines = _table(header, rows, frozenset({2, 3} if wide else {2}))
    waits = [wait_text(wait, found.time_zone) for each in found.runs for wait in each.waits]
    return ["runs", *lines, *_wrapped((f"waits: {text}" for text in waits), width)]


def _run(glance: RunGlance, found: Overview, wide: bool) -> list[str]:
    run = glance.run
    state = str(run.state) if run.plan_complete else f"{run.state}, plan {len(run.chunks_done)}/{run.chunks}"
    name = run.run_id + (f" (pass {run.pass_no})" if wide and run.pass_no > 1 else "")
    return [
        name,
        state,
        f"{glance.results:,}/{run.total:,}",
        *([_share(glance.results / run.total if run.total else None)] if wide else []),
        _through(glance, found),
        _clock(run.deadline, found),
        _spare(glance, found),
    ]


def _through(glance: RunGlance, found: Overview) -> str:
    if glance.finish is None:
        return _clock(glance.run.finished_at, found) if glance.run.finished_at else ""
    return "never" if math.isinf(glance.finish) else _clock(glance.finish, found)


def _spare(glance: RunGlance, found: Overview) -> str:
    """How the end stands to the deadline."""
    run = glance.run
    if run.state is RunState.CANCELLED or run.cancelled_at is not None:
        return "cancelled"
    if glance.finish is None:
        over = run.state is RunState.OPEN and found.at >= run.deadline
        return "over" if over else ""
    if math.isinf(glance.finish):
        return "waits"
    left = run.deadline - glance.finish
    return span(left) if left >= 0 else f"{span(left)} late"


def _platforms(found: Overview, wide: bool, width: int | None) -> list[str]:
    if found.platforms is None:
        return []
    if not found.platforms:
        return ["platforms: none is deployed, and no catalogue has been pushed"]
    header, right = (WIDE_HEADER, WIDE_RIGHT) if wide else (NARROW_HEADER, NARROW_RIGHT)
    rows = [_wide_row(each) if wide else _narrow_row(each) for each in found.platforms]
    notes = [note for each in found.platforms for note in _notes(each)]
    return ["platforms", *_table(header, rows, right), *_wrapped(notes, width)]


NARROW_HEADER = ("platform", "calls/s", "running", "waiting", "due", "ok", "retry", "p95", "state")
NARROW_RIGHT = frozenset(range(1, 8))
WIDE_HEADER = (
    "platform", "calls/s", "running", "waiting", "due", "dispatched", "pulled", "writeback",
    "ok 5 min", "retry", "p50", "p95", "calls today", "spent", "state",
)  # fmt: skip
WIDE_RIGHT = frozenset(range(1, 14))


def _narrow_row(each: PlatformGlance) -> tuple[str, ...]:
    recent = each.recent
    return (
        each.name,
        f"{recent.rate:.1f}/{_limit(each)}",
        _count(each, State.RUNNING),
        _count(each, State.PENDING),
        f"{each.backlog:,}",
        _share(recent.success),
        _share(recent.retries),
        _seconds(recent.p95),
        _state(each),
    )


def _wide_row(each: PlatformGlance) -> tuple[str, ...]:
    recent, deployed = each.recent, each.facts.known.deployed
    return (
        each.name,
        f"{recent.rate:.1f}/{_limit(each)}",
        f"{_count(each, State.RUNNING)}/{'-' if deployed is None else deployed.slots}",
        _count(each, State.PENDING),
        f"{each.backlog:,}",
        *(_count(each, state) for state in (State.DISPATCHED, State.PULLED, State.WRITEBACK)),
        _share(recent.success),
        _share(recent.retries),
        _seconds(recent.p50),
        _seconds(recent.p95),
        f"{each.facts.day_calls:,}",
        _spent(each),
        _state(each),
    )


def _limit(each: PlatformGlance) -> str:
    """Calls a second that are allowed now."""
    rate = limit_of(each)
    return "-" if rate is None else f"{rate:.3g}"


def limit_of(each: PlatformGlance) -> float | None:
    """The stated rate or an operator's, as far as refusals have lowered it; None: the platform is not in the monitor."""
    settings, control = each.facts.known.settings, each.facts.control
    stated = control.rate_override if control.rate_override is not None else settings.rate if settings else None
    return None if stated is None else stated * control.factor


def _count(each: PlatformGlance, state: State) -> str:
    return f"{each.states.get(state, 0):,}{'+' if each.capped and state is State.PENDING else ''}"


def _spent(each: PlatformGlance) -> str:
    settings = each.facts.known.settings
    if settings is None or settings.day_budget_usd is None:
        return ""
    return f"{dollars(each.facts.day_usd)} of {dollars(settings.day_budget_usd)}"


def _state(each: PlatformGlance) -> str:
    if each.facts.pause is not None:
        return "paused"
    if each.facts.known.deployed is None:
        return "no worker"
    if each.facts.control.breaker_wait_s:
        return "breaker"
    if each.facts.targets:
        return "some paused"
    return "slowed" if each.facts.control.factor < 1 else "asked"


def _notes(each: PlatformGlance) -> list[str]:
    """What holds a platform up."""
    facts, notes = each.facts, []
    if facts.pause is not None:
        notes.append(f"{each.name}: {pause_text(facts.pause, facts.time_zone)}")
    notes += [f"{target}: {pause_text(pause, facts.time_zone)}" for target, pause in facts.targets.items()]
    if facts.control.factor < 1:
        notes.append(f"{each.name}: lowered to {facts.control.factor:.0%} of its rate after refusals")
    if facts.control.breaker_wait_s and facts.pause is None:
        notes.append(
            f"{each.name}: too many calls failed in a row; one is tried every {span(facts.control.breaker_wait_s)}"
        )
    return notes


def _queues(found: Overview, wide: bool) -> list[str]:
    """On a narrow screen only those that hold something."""
    if found.queues is None:
        return []
    kept = [each for each in found.queues if wide or each.waiting or each.dead]
    dead = sum(each.dead for each in found.queues)
    if not dead and not any(each.waiting for each in kept):
        return ["queues: empty, no dead letters"]
    if wide and not dead:
        return ["queues: " + ", ".join(f"{each.name} {each.waiting:,}" for each in kept) + "; no dead letters"]
    rows = [(each.name, f"{each.waiting:,}", f"{each.dead:,}", _redrive(each)) for each in kept]
    return ["queues", *_table(("queue", "messages", "dead", ""), rows, frozenset({1, 2}))]


def _redrive(each: QueueDepth) -> str:
    return f"brandvane redrive {each.name}" if each.dead else ""


def _stuck(found: Overview, width: int | None) -> list[str]:
    return ["stuck", *_wrapped((_stuck_of(each) for each in found.stuck), width)] if found.stuck else []


def _stuck_of(each: Stuck) -> str:
    brand = f", {each.brand}" if each.brand else ""
    of = f"{number(each.tasks, 'task')} of {each.platform} in {each.state}"
    return f"{of}, the oldest for {span(each.oldest_s)} ({each.task_id}{brand})"


def _spend(found: Overview) -> list[str]:
    if found.platforms is None:
        return []
    budget = "" if found.budget_usd is None else f" of {dollars(found.budget_usd)}"
    counted = [each for each in found.platforms if each.facts.known.settings is not None]
    priced = [each for each in counted if _spent(each)]
    money = f", {dollars(found.spent_usd)}{budget} (platforms with a budget)" if priced else ""
    return [f"today: {number(found.calls_today, 'call')}{money}"]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{math.floor(value * 1000) / 10:.1f}%" if value < 1 else "100%"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}s"


def _clock(at: float, found: Overview) -> str:
    """``06:30``, with the date when it is another day."""
    zone = ZoneInfo(found.time_zone)
    moment, today = datetime.fromtimestamp(at, zone), datetime.fromtimestamp(found.at, zone)
    return f"{moment:%H:%M}" if moment.date() == today.date() else f"{moment:%m-%d %H:%M}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int]) -> list[str]:
    return [INDENT + line for line in table(header, rows, right)]


def _wrapped(texts: Any, width: int | None) -> list[str]:
    """Sentences, each on as many lines as it needs."""
    if width is None:
        return [INDENT + text for text in texts]
    console, lines = Console(width=width), []
    for text in texts:
        parts = [str(part).rstrip() for part in Text(text).wrap(console, max(width - 2 * len(INDENT), 10))]
        lines += [INDENT * (1 + (place > 0)) + part for place, part in enumerate(parts)]
    return lines


def _cut(line: str, width: int | None) -> str:
    if width is None or cell_len(line) <= width:
        return line
    return set_cell_size(line, width - 1).rstrip() + "…"


def change_line(found: Overview) -> str:
    """One line that changes when something happens."""
    runs = [
        f"{each.run.run_id} {each.run.state} {each.results:,}/{each.run.total:,}"
        + (f" {_spare(each, found)}" if each.late_by else "")
        for each in found.runs or ()
    ]
    platforms = []
    for each in found.platforms or ():
        states = [
            f"{state.lower()} {each.states[state]:,}" for state in (State.PENDING, *HELD) if each.states.get(state)
        ]
        paused = [_state(each)] if _state(each) not in ("asked",) else []
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
        "states": {state: each.states.get(state, 0) for state in (State.PENDING, *HELD)},
        "due": each.backlog,
        "counts_are_at_least": each.capped,
        "calls_a_second": round(recent.rate, 3),
        "calls_a_second_allowed": limit_of(each),
        "last_5_min": {
            "calls": recent.calls,
            "success": recent.success,
            "retries": recent.retries,
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
