"""How does the overview look on a screen of a given width?"""

from __future__ import annotations

import math
from datetime import datetime
from zoneinfo import ZoneInfo

from brandvane.cli.alarm_reader import Alarm
from brandvane.cli.overview import Overview, QueueDepth, RunGlance, Stuck
from brandvane.cli.overview_layout import WIDE, clock_text, cut, indented_table, share_text, wrapped
from brandvane.cli.overview_platforms import platform_lines
from brandvane.cli.overview_style import ALL_WELL
from brandvane.cli.run_view import wait_text
from brandvane.cli.view import dollars, number, shown
from brandvane.cli.when import span
from brandvane.run import Run, RunState


def overview_lines(found: Overview, width: int | None = None) -> list[str]:
    """The screen; no line is wider than ``width`` cells (None: as wide as they come)."""
    wide = width is None or width >= WIDE
    at = datetime.fromtimestamp(found.at, ZoneInfo(found.time_zone))
    lines = [f"stack {found.stack}, {at:%Y-%m-%d %H:%M:%S} {found.time_zone}", verdict(found)]
    lines += wrapped((f"{each.part}: cannot be read: {each.why}" for each in found.unread), width)
    lines += _alarms(found, width)
    lines += _stuck(found, width)
    lines += _runs(found, wide, width)
    lines += platform_lines(found, wide, width)
    lines += _queues(found, wide)
    lines += _spend(found)
    return [cut(line, width) for line in lines]


def watch_lines(found: Overview, width: int, interval: float) -> list[str]:
    """The same for a screen that is renewed."""
    return [*overview_lines(found, width), cut(f"renewed every {interval:g} s, Ctrl-C ends it", width)]


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
    silent = [each.name for each in found.platforms or () if each.recent.worst is not None]
    if silent:
        said.append(f"no call is answered by {', '.join(silent)}")
    if found.unread:
        said.append(f"{number(len(found.unread), 'part')} could not be read")
    return ", ".join(said) or ALL_WELL


def _alarms(found: Overview, width: int | None) -> list[str]:
    if found.alarms is None:
        return []
    if not found.alarms:
        return ["alarms: the stack has none"]
    ringing = found.ringing
    head = f"alarms: {len(ringing)} of {len(found.alarms)} in ALARM"
    return [head, *wrapped((_alarm(each, found) for each in ringing), width)]


def _alarm(alarm: Alarm, found: Overview) -> str:
    about = shown(alarm.description or alarm.reason)
    return f"{alarm.name} since {clock_text(alarm.since, found)}{f': {about}' if about else ''}"


def _runs(found: Overview, wide: bool, width: int | None) -> list[str]:
    if found.runs is None:
        return []
    if not found.runs:
        return ["runs: there is none yet"]
    header = ["run", "state", "results", *(["share"] if wide else []), "through", "deadline", "spare"]
    rows = [_run(each, found, wide) for each in found.runs]
    lines = indented_table(header, rows, frozenset({2, 3} if wide else {2}))
    waits = [f"{each.run.run_id}: {wait_text(wait, found.time_zone)}" for each in found.runs for wait in each.waits]
    return ["runs", *lines, *wrapped((f"waits: {text}" for text in waits), width)]


def _run(glance: RunGlance, found: Overview, wide: bool) -> list[str]:
    run = glance.run
    state = str(run.state) if run.plan_complete else f"{run.state}, plan {len(run.chunks_done)}/{run.chunks}"
    name = run.run_id + (f" (pass {run.pass_no})" if wide and run.pass_no > 1 else "")
    return [
        name,
        state + (", calls fail" if _all_fail(run, found) else ""),
        f"{glance.results:,}/{run.total:,}",
        *([share_text(glance.results / run.total if run.total else None)] if wide else []),
        _through(glance, found),
        clock_text(run.deadline, found),
        spare_text(glance, found),
    ]


def _all_fail(run: Run, found: Overview) -> bool:
    """Were this run's platforms asked in the last minutes, and none of them answered once?"""
    asked = [each.recent for each in found.platforms or () if each.name in run.planned and each.recent.calls]
    return run.state is RunState.OPEN and bool(asked) and all(recent.worst is not None for recent in asked)


def _through(glance: RunGlance, found: Overview) -> str:
    if glance.finish is None:
        return clock_text(glance.run.finished_at, found) if glance.run.finished_at else ""
    return "never" if math.isinf(glance.finish) else clock_text(glance.finish, found)


def spare_text(glance: RunGlance, found: Overview) -> str:
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
    return ["queues", *indented_table(("queue", "messages", "dead", ""), rows, frozenset({1, 2}))]


def _redrive(each: QueueDepth) -> str:
    return f"brandvane dead-letters redrive {each.name}" if each.dead else ""


def _stuck(found: Overview, width: int | None) -> list[str]:
    return ["stuck", *wrapped((_stuck_of(each) for each in found.stuck), width)] if found.stuck else []


def _stuck_of(each: Stuck) -> str:
    brand = f", {each.brand}" if each.brand else ""
    of = f"{number(each.tasks, 'task')} of {each.platform} in {each.state}"
    return f"{of}, the oldest for {span(each.oldest_s)} ({each.task_id}{brand})"


def _spend(found: Overview) -> list[str]:
    if found.platforms is None:
        return []
    budget = "" if found.budget_usd is None else f" of {dollars(found.budget_usd)}"
    return [f"today: {number(found.calls_today, 'call')}, {dollars(found.spent_usd)}{budget} spent"]
