"""``brandvane run start``: what will be asked, what will it roughly cost, and go."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import click

from brandvane.catalogue import Selection
from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.estimate import BASIS, Estimate, estimate, planned_calls
from brandvane.cli.run_plan_view import plan_document, plan_lines
from brandvane.cli.view import ask, dollars, number, say, say_json
from brandvane.engine.plan import RunOver, StartRequest
from brandvane.engine.rehearse import Rehearsal, rehearse
from brandvane.run import Run

ASK_ABOVE_CALLS = 100
LABEL_MAX = 64  # it is part of every object key and row of the run
_LABEL = re.compile(r"[a-z0-9][a-z0-9-]*")


@click.command()
@click.option("--schedule", "schedule_id", metavar="ID", help="The monitor's schedule [default: its first].")
@click.option("--label", metavar="NAME", help="Name of a run of its own, which begins now.")
@click.option("--platform", "platforms", multiple=True, metavar="NAME", help="Only this platform (repeatable).")
@click.option("--brand", "brands", multiple=True, metavar="ID", help="Only questions of this brand (repeatable).")
@click.option("--question", "questions", multiple=True, metavar="ID", help="Only this question (repeatable).")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N calls, the platforms in turn.")
@click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="The run of this local date.")
@click.option("--dry-run", is_flag=True, help="Only show what would be planned.")
@click.option("--yes", is_flag=True, help=f"Do not ask before more than {ASK_ABOVE_CALLS} calls.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@desk_options
def start(
    schedule_id: str | None,
    label: str | None,
    platforms: tuple[str, ...],
    brands: tuple[str, ...],
    questions: tuple[str, ...],
    limit: int | None,
    day: datetime | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    desk: Desk,
) -> None:
    """Start a schedule's run of the day, or a run of its own.

    With a filter, a limit or a label it is a run of its own: it begins now and never stands in for the day's. Starting the
    day's run a second time reports the run that is there.
    """
    selection = Selection(_once(platforms), _once(brands), _once(questions), limit)
    request = StartRequest(
        schedule_id=schedule_id,
        date=None if day is None else day.date().isoformat(),
        # Named here, not by the planner: should the request be sent twice, it is the same run.
        label=_label(label) or (_adhoc(desk.clock.now()) if selection.filtered else None),
        selection=selection,
    )
    rehearsal = desk.run(_next_rehearsed(desk, request) if dry_run and day is None else _rehearsed(desk, request))
    cost = estimate(planned_calls(rehearsal.expansion), rehearsal.catalogue.monitor)
    if rehearsal.exists:
        _check_same(request, rehearsal)
    elif not dry_run:
        if cost.real_calls > ASK_ABOVE_CALLS:
            ask(_question(rehearsal.run, cost), yes=yes, interactive=desk.interactive)
        # What was shown is what is planned, though another catalogue may have been pushed in the meantime.
        shown = replace(request, version=rehearsal.run.catalogue_version)
        rehearsal = replace(rehearsal, run=desk.run(_planned(desk, shown, rehearsal.run)))
    if as_json:
        say_json(plan_document(rehearsal, cost, dry_run=dry_run))
    else:
        say(*plan_lines(rehearsal, cost, dry_run=dry_run))


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _label(label: str | None) -> str | None:
    if label is not None and (len(label) > LABEL_MAX or not _LABEL.fullmatch(label)):
        raise CliError(
            f"--label: '{label}' is no name: use small letters, digits and '-', {LABEL_MAX} characters at most", 2
        )
    return label


def _adhoc(now: float) -> str:
    return f"adhoc-{datetime.fromtimestamp(now, UTC):%Y%m%dt%H%M%Sz}"


async def _rehearsed(desk: Desk, request: StartRequest) -> Rehearsal:
    return await rehearse(
        request,
        tasks=desk.tasks,
        runs=desk.runs,
        controls=desk.controls,
        catalogues=desk.catalogues,
        deployment=desk.deployment,
        clock=desk.clock,
        chance=desk.chance,
    )


async def _next_rehearsed(desk: Desk, request: StartRequest) -> Rehearsal:
    """Whoever only wants to see what a day asks and costs is shown the next one, when today's is over."""
    try:
        return await _rehearsed(desk, request)
    except RunOver as over:
        click.echo("today's run is over; this is the next one", err=True)
        return await _rehearsed(desk, replace(request, date=over.next_date))


def _check_same(request: StartRequest, rehearsal: Rehearsal) -> None:
    """A label that is taken by a run which asks something else is a mistake; the same start once more is not."""
    schedules = rehearsal.catalogue.monitor.schedules
    chosen = next((s for s in schedules if s.id == request.schedule_id), schedules[0] if schedules else None)
    wanted = request.selection
    if not wanted.brands and chosen is not None:
        wanted = replace(wanted, brands=chosen.brands)
    if request.of_its_own and rehearsal.run.selection != wanted:
        raise CliError(f"label '{rehearsal.run.run_id}' is taken by a run that asks something else: choose another", 2)


def _question(run: Run, cost: Estimate) -> str:
    calls = number(cost.real_calls, "call")
    return f"Start {run.run_id} with {calls}, about {dollars(cost.total_usd)} ({BASIS})?"


async def _planned(desk: Desk, request: StartRequest, on_paper: Run) -> Run:
    """Ask the planner; the run as it says it is.

    Raises:
        CliError: it cannot be started, or the planner failed.
    """
    told = await desk.plan({"start": _event(request)})
    if "error" in told:
        raise CliError(str(told["error"]), int(told.get("code", 1)))
    return await desk.runs.get(str(told["run_id"])) or on_paper


def _event(request: StartRequest) -> Mapping[str, Any]:
    selection = request.selection
    return {
        "schedule_id": request.schedule_id,
        "date": request.date,
        "label": request.label,
        "version": request.version,
        "selection": {
            "platforms": list(selection.platforms),
            "brands": list(selection.brands),
            "questions": list(selection.questions),
            "limit": selection.limit,
        },
    }
