"""How does a run's standing look: lines for people, one line for a pipe that watches, a document for scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from brandvane.cli.view import number, table
from brandvane.cli.when import iso, local, span
from brandvane.engine.projection import Wait
from brandvane.engine.standing import PlatformStanding, Standing
from brandvane.run import Run, RunState
from brandvane.task import State

STATES = (State.PENDING, State.DISPATCHED, State.PULLED, State.RUNNING, State.WRITEBACK)
UNFINISHED = frozenset({RunState.OPEN, RunState.CANCELLED})


def status_lines(standing: Standing, bucket: str) -> list[str]:
    """The standing for people."""
    run = standing.run
    again = f", pass {run.pass_no}" if run.pass_no > 1 else ""
    lines = [
        f"run {run.run_id}: {run.state}{again}, catalogue {run.catalogue_version}",
        f"{run.total:,} planned, {standing.results:,} results: {standing.done:,} done, {standing.failed:,} failed",
    ]
    if not run.plan_complete:
        lines.append(f"still being planned: {len(run.chunks_done)} of {number(run.chunks, 'chunk')} written")
    lines += [f"  {line}" for line in _platform_table(standing)]
    lines += _times(standing)
    lines += [f"waits: {wait_text(wait, standing.time_zone)}" for each in standing.platforms for wait in each.waits]
    if run.report_prefix is not None:
        lines.append(f"report: s3://{bucket}/{run.report_prefix}report.html (brandvane run report {run.run_id})")
    return lines


def _platform_table(standing: Standing) -> list[str]:
    open_states = [state for state in STATES if standing.unfinished[state]]
    header = ["platform", "planned", "done", "failed", *(state.lower() for state in open_states), "through"]
    rows = [
        [
            each.platform,
            f"{each.planned:,}",
            f"{each.done:,}",
            f"{sum(each.failed.values()):,}",
            *(f"{each.unfinished.get(state, 0):,}" for state in open_states),
            _finish(each.finish, standing.time_zone) or ("" if each.results < each.planned else "yes"),
        ]
        for each in standing.platforms
    ]
    lines = table(header, rows, frozenset(range(1, len(header) - 1)))
    for each in standing.platforms:
        if each.failed:
            kinds = ", ".join(f"{count:,} {outcome}" for outcome, count in each.failed.items())
            lines.append(f"{each.platform} failed: {kinds}")
    return lines


def _finish(at: float | None, time_zone: str) -> str:
    if at is None:
        return ""
    return "not by itself" if math.isinf(at) else f"about {local(at, time_zone)}"


def _times(standing: Standing) -> list[str]:
    run, zone = standing.run, standing.time_zone
    lines = []
    if run.planned:
        last = max(each.last_planned for each in standing.platforms)
        lines.append(f"planned from {local(run.window_start, zone)} to {local(last, zone)}")
    if run.state not in UNFINISHED:
        ended = run.finished_at
        lines.append(f"deadline {local(run.deadline, zone)}" + (f", finished {local(ended, zone)}" if ended else ""))
        return lines
    if run.cancelled_at is not None:
        done = "all its tasks have ended" if run.swept else "what is left is being ended"
        lines.append(f"cancelled {local(run.cancelled_at, zone)}: {done}")
        return lines
    left = run.deadline - standing.at
    tense = f"in {span(left)}" if left > 0 else f"{span(left)} ago: what is left ends as expired"
    lines.append(f"deadline {local(run.deadline, zone)} ({tense})")
    lines += _projection(standing)
    return lines


def _projection(standing: Standing) -> list[str]:
    finish = standing.finish
    if finish is None:
        return []
    if math.isinf(finish):
        return ["projected: some tasks wait for a person and will end as expired at the deadline"]
    when = local(finish, standing.time_zone)
    if standing.late_by:
        return [f"projected: through {when}, {span(standing.late_by)} after the deadline"]
    return [f"projected: through {when}, {span(standing.run.deadline - finish)} before the deadline"]


def wait_text(wait: Wait, time_zone: str) -> str:
    """Who waits for what, and how it goes on."""
    subject = f"{number(wait.tasks, 'task')} of {wait.target or wait.platform}"
    if wait.since is None:
        return f"{subject}: the day's {wait.why} is used up, until {_until(wait, time_zone)}"
    who = f"paused by {wait.who} ({wait.why}) since {local(wait.since, time_zone)}"
    if wait.until is not None:
        return f"{subject}: {who}, until {_until(wait, time_zone)}"
    return f"{subject}: {who}, until 'brandvane platform resume {wait.platform}'"


def _until(wait: Wait, time_zone: str) -> str:
    return local(wait.until, time_zone) if wait.until is not None else "a person resumes"


def watch_line(standing: Standing) -> str:
    """One line that changes when something happens."""
    run = standing.run
    states = [f"{state.lower()} {count:,}" for state in STATES if (count := standing.unfinished[state])]
    planning = [] if run.plan_complete else [f"chunks {len(run.chunks_done)}/{run.chunks}"]
    paused = [
        f"{wait.target or wait.platform} waits ({wait.why})" for each in standing.platforms for wait in each.waits
    ]
    figures = f"{standing.results:,}/{run.total:,} results, {standing.done:,} done, {standing.failed:,} failed"
    return ", ".join([f"{run.run_id} {run.state}: {figures}", *planning, *states, *paused])


def status_document(standing: Standing, bucket: str) -> dict[str, Any]:
    """The standing as JSON; instants are ISO 8601 in UTC."""
    run = standing.run
    prefix = run.report_prefix
    return {
        **run_document(run),
        "at": iso(standing.at),
        "results": standing.results,
        "done": standing.done,
        "failed": standing.failed,
        "unfinished": {state: standing.unfinished[state] for state in STATES if standing.unfinished[state]},
        "projected_finish": _projected(standing.finish),
        "late_by_s": None if math.isinf(standing.late_by) else round(standing.late_by, 1),
        "report": None if prefix is None else f"s3://{bucket}/{prefix}report.html",
        "platforms": {each.platform: _platform_document(each) for each in standing.platforms},
    }


def _platform_document(each: PlatformStanding) -> dict[str, Any]:
    return {
        "planned": each.planned,
        "results": each.results,
        "done": each.done,
        "failed": dict(each.failed),
        "unfinished": {state: each.unfinished[state] for state in STATES if each.unfinished.get(state)},
        "first_planned": iso(each.first_planned),
        "last_planned": iso(each.last_planned),
        "projected_finish": _projected(each.finish),
        "waits": [_wait_document(wait) for wait in each.waits],
    }


def _wait_document(wait: Wait) -> Mapping[str, Any]:
    return {
        "target": wait.target,
        "tasks": wait.tasks,
        "why": wait.why,
        "who": wait.who,
        "since": iso(wait.since),
        "until": iso(wait.until),
    }


def _projected(at: float | None) -> str | None:
    """``never`` says that it is not before a person acts."""
    return "never" if at is not None and math.isinf(at) else iso(at)


def run_document(run: Run) -> dict[str, Any]:
    """A run item as JSON."""
    return {
        "run_id": run.run_id,
        "schedule_id": run.schedule_id,
        "state": run.state,
        "pass": run.pass_no,
        "catalogue_version": run.catalogue_version,
        "created_at": iso(run.created_at),
        "window_start": iso(run.window_start),
        "deadline": iso(run.deadline),
        "finished_at": iso(run.finished_at),
        "cancelled_at": iso(run.cancelled_at),
        "reported_at": iso(run.reported_at),
        "planned": run.total,
        "plan_complete": run.plan_complete,
        "swept": run.swept,
        "report_prefix": run.report_prefix,
    }
