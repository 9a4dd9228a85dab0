"""How does a plan look before it is carried out, and right after? For people, and as JSON."""

from __future__ import annotations

from itertools import islice
from typing import Any

from brandvane.cli.estimate import BASIS, Estimate
from brandvane.cli.view import dollars, number, shown, table
from brandvane.cli.when import iso, local, span
from brandvane.engine.rehearse import Rehearsal
from brandvane.expansion import Expansion
from brandvane.run import Run

PROMPTS_SHOWN = 5


def plan_lines(rehearsal: Rehearsal, cost: Estimate, *, dry_run: bool) -> list[str]:
    """The plan for people."""
    run, monitor = rehearsal.run, rehearsal.catalogue.monitor
    zone = monitor.time_zone
    if rehearsal.exists:
        return [_of_existing(run), f"brandvane run status {run.run_id}"]
    tasks = number(run.total, "task")
    lines = [f"run {run.run_id} would have {tasks}" if dry_run else f"run {run.run_id}: {tasks}"]
    rows = [
        (
            platform,
            f"{count:,}",
            f"{60 / run.spacing[platform]:.3g}" if count and run.spacing.get(platform) else "",
            local(last_planned(run, platform), zone) if count else "",
            f"{span(run.late_by[platform])} too late" if run.late_by.get(platform) else "yes",
            dollars(cost.usd.get(platform, 0.0)),
        )
        for platform, count in run.planned.items()
    ]
    header = ("platform", "tasks", "a minute", "last one planned", "fits", "about")
    lines += [f"  {line}" for line in table(header, rows, frozenset({1, 2, 5}))]
    lines.append(f"begins {local(run.window_start, zone)}, deadline {local(run.deadline, zone)}")
    lines.append(f"catalogue {run.catalogue_version}; cost about {dollars(cost.total_usd)} ({BASIS})")
    if cost.unpriced:
        lines.append(f"no price is known for {', '.join(cost.unpriced)}: the cost is more than that")
    if dry_run:
        lines += [f"  asks: {shown(prompt['text'])}" for prompt in _first_prompts(rehearsal.expansion)]
    if run.late_by:
        lines.append(
            "the plan does not fit before the deadline; nothing is dropped, but what is left then ends as expired:"
            f" move it with 'brandvane run deadline {run.run_id} WHEN'"
        )
    if not dry_run:
        lines.append(f"brandvane run watch {run.run_id}")
    return lines


def _of_existing(run: Run) -> str:
    again = "" if run.schedule_id is None else "; to ask its questions again today, give it a --label"
    return f"run {run.run_id} is there already: {run.state}, {number(run.total, 'task')}; nothing was started{again}"


def plan_document(rehearsal: Rehearsal, cost: Estimate, *, dry_run: bool) -> dict[str, Any]:
    """The plan as JSON. ``created`` is false for a dry run, and for a run that was there before."""
    run = rehearsal.run
    document: dict[str, Any] = {
        "run_id": run.run_id,
        "created": not (rehearsal.exists or dry_run),
        "dry_run": dry_run,
        "state": run.state,
        "planned": dict(run.planned),
        "total": run.total,
        "window_start": iso(run.window_start),
        "window_end": iso(run.window_end),
        "last_planned": {name: iso(last_planned(run, name)) for name, count in run.planned.items() if count},
        "deadline": iso(run.deadline),
        "late_by_s": dict(run.late_by),
        "catalogue_version": run.catalogue_version,
        "estimate": estimate_document(cost),
    }
    if dry_run:
        document["first_prompts"] = _first_prompts(rehearsal.expansion)
    return document


def estimate_document(cost: Estimate) -> dict[str, Any]:
    """An estimate as JSON, with what it rests on."""
    return {
        "usd": round(cost.total_usd, 4),
        "usd_by_platform": {name: round(usd, 4) for name, usd in cost.usd.items()},
        "real_calls": cost.real_calls,
        "no_price_for": list(cost.unpriced),
        "basis": BASIS,
    }


def last_planned(run: Run, platform: str) -> float:
    """When the last of a platform's tasks is planned for."""
    return run.window_start + max(run.planned[platform] - 1, 0) * run.spacing.get(platform, 0.0)


def _first_prompts(expansion: Expansion) -> list[dict[str, Any]]:
    texts = {planned.prompt.prompt_hash: planned.prompt for planned in expansion}
    return [
        {"text": prompt.text, "question_ids": list(prompt.question_ids), "locale": prompt.locale}
        for prompt in islice(texts.values(), PROMPTS_SHOWN)
    ]
