"""``brandvane run cancel | deadline``: end a run now, or later than planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from brandvane.cli.consent import Consent, consent_options
from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.estimate import BASIS, Estimate, estimate, planned_calls
from brandvane.cli.lookup import instant_given, run_named
from brandvane.cli.run_plan_view import estimate_document, last_planned
from brandvane.cli.run_view import run_document
from brandvane.cli.view import dollars, number, say, say_json
from brandvane.cli.when import FORMS, local, span
from brandvane.engine.cancel import cancel as cancel_run
from brandvane.engine.deadline import move_deadline
from brandvane.engine.standing import Standing
from brandvane.expansion import Expansion
from brandvane.run import Run, RunState
from brandvane.task import Outcome

_JSON = click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")


@click.command()
@click.argument("run_id", metavar="RUN")
@consent_options
@_JSON
@desk_options
def cancel(run_id: str, consent: Consent, as_json: bool, desk: Desk) -> None:
    """End a run.

    No call starts any more, calls under way are let finish, every task that is left ends as cancelled. A
    cancelled run gets no report; what has been answered stays in its results.
    """
    run = desk.run(run_named(desk, run_id))
    left, cost = 0, Estimate()
    if run.state is RunState.OPEN:
        left, cost = desk.run(_left(desk, run))
        tasks = f"{number(left, 'task')} of {run.total:,}"
        price = f"their calls would cost about {dollars(cost.total_usd)} ({BASIS})"
        details = f"{tasks} have not ended; {price}."
        if not consent.given(f"cancel {run_id}", details, interactive=desk.interactive, quiet=as_json):
            if as_json:
                say_json(_document(run, left, cost, already=False, dry_run=True))
            return
    if consent.dry_run:
        raise CliError(f"run {run_id} is {run.state}: there is nothing to cancel")
    ended = desk.run(cancel_run(run_id, runs=desk.runs, clock=desk.clock, telemetry=desk.telemetry))
    if as_json:
        say_json(_document(ended.run, left, cost, already=ended.already, dry_run=False))
    elif ended.already:
        say(f"run {run_id} has been cancelled before; nothing was changed")
    else:
        say(
            f"run {run_id} is cancelled: {number(left, 'task')} not asked, about {dollars(cost.total_usd)} not spent",
            "the scanner ends them within a minute or two; calls under way are let finish",
        )


def _document(run: Run, left: int, cost: Estimate, *, already: bool, dry_run: bool) -> dict[str, Any]:
    told = {"already_cancelled": already, "tasks_left": left, "estimate": estimate_document(cost), "dry_run": dry_run}
    return {**run_document(run), **told}


async def _left(desk: Desk, run: Run) -> tuple[int, Estimate]:
    """How many tasks have no result yet, and what their calls would cost."""
    standing = await desk.onlooker.look(run)
    catalogue = await desk.catalogues.load(run.catalogue_version)
    whole = estimate(
        planned_calls(Expansion(catalogue, run.selection, run.priority, run.seed)),
        catalogue.monitor,
    )
    left = _without_result(standing)
    return sum(left.values()), whole.scaled(left)


def _without_result(standing: Standing) -> Mapping[str, int]:
    return {each.platform: max(each.planned - each.results, 0) for each in standing.platforms}


@click.command(help=f"Move a run's deadline. WHEN is {FORMS}; local times are those of the monitor's time zone.")
@click.argument("run_id", metavar="RUN")
@click.argument("when", metavar="WHEN")
@_JSON
@desk_options
def deadline(run_id: str, when: str, as_json: bool, desk: Desk) -> None:
    """Move a run's deadline."""
    run = desk.run(run_named(desk, run_id))
    zone = desk.run(desk.catalogues.load(run.catalogue_version)).monitor.time_zone
    at = instant_given(when, "WHEN", desk.clock.now(), zone)
    moved = desk.run(move_deadline(run_id, at, runs=desk.runs, clock=desk.clock, telemetry=desk.telemetry))
    if as_json:
        say_json(run_document(moved.run))
        return
    now = desk.clock.now()
    say(f"run {run_id}: deadline {local(at, zone)} (in {span(at - now)}), was {local(moved.before, zone)}")
    last = max((last_planned(run, platform) for platform, count in run.planned.items() if count), default=at)
    if last > at:
        say(f"its last task is planned for {local(last, zone)}: what is left at the deadline ends as expired")
    if moved.before <= now:
        say(
            "tasks that the old deadline has ended stay ended; to ask them again:"
            f" brandvane run retry-failed {run_id} --outcome {Outcome.EXPIRED}"
        )
