"""``brandvane run status | watch | list``: how do runs stand?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.lookup import time_zone_of
from brandvane.cli.run_view import run_document, status_document, status_lines, watch_line
from brandvane.cli.view import json_line, say, say_json, table
from brandvane.cli.when import local
from brandvane.engine.refusal import NoSuchRun
from brandvane.engine.standing import Standing, Tally
from brandvane.run import Run, RunState

LIST_MAX = 50
GLANCE_S = (
    2.0,
    30.0,
)  # a look at the indexes: every 2 s, for large runs every 1 s for 1,000 tasks, at least every 30 s
TASKS_A_SECOND = 1000.0
ROWS_A_SECOND = 100.0  # all rows are read anew at most this often in the mean: reading costs money

_JSON = click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")


@click.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@_JSON
@desk_options
def status(run_id: str | None, as_json: bool, desk: Desk) -> None:
    """Show how a run stands (the latest one).

    What has ended and how, what is left and in which state, what waits for what, and when it will be through.
    """
    standing = desk.run(_look(desk, run_id))
    if as_json:
        say_json(status_document(standing, desk.bucket))
    else:
        say(*status_lines(standing, desk.bucket))


async def _look(desk: Desk, run_id: str | None) -> Standing:
    return await desk.onlooker.look(await _run(desk, run_id))


async def _run(desk: Desk, run_id: str | None) -> Run:
    run = await desk.onlooker.run(run_id)
    if run is None:
        if run_id is not None:
            raise NoSuchRun(run_id)
        raise CliError("there is no run yet: 'brandvane run start' starts one")
    return run


@click.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document a line, whenever something has changed.")
@desk_options
def watch(run_id: str | None, as_json: bool, desk: Desk) -> None:
    """Watch a run (the latest one) to its end.

    That is when it is reported, or cancelled and all its tasks have ended. On a terminal the whole standing is shown and
    renewed; a pipe gets a line whenever something has changed. Exit code 1 says that the run was cancelled.
    """
    on_screen = sys.stdout.isatty() and not as_json
    live = Live(console=Console(), auto_refresh=False, vertical_overflow="visible") if on_screen else None
    line = (lambda standing: json_line(status_document(standing, desk.bucket))) if as_json else watch_line
    show = _printer(line) if live is None else _screen(live, desk.bucket)
    around: AbstractContextManager[object] = nullcontext() if live is None else live
    with around:
        run = desk.run(watched(desk, run_id, show))
    if run.state is RunState.CANCELLED:
        raise CliError(f"run {run.run_id} was cancelled")
    if not as_json:
        say(f"report: s3://{desk.bucket}/{run.report_prefix}report.html (brandvane run report {run.run_id})")


def _printer(line_of: Callable[[Standing], str]) -> Callable[[Standing], None]:
    last = ""

    def show(standing: Standing) -> None:
        nonlocal last
        said = watch_line(standing)  # a JSON line holds the time as well, which alone is no news
        if said != last:
            say(line_of(standing))
            sys.stdout.flush()
        last = said

    return show


def _screen(live: Live, bucket: str) -> Callable[[Standing], None]:
    return lambda standing: live.update(Text("\n".join(status_lines(standing, bucket))), refresh=True)


async def watched(desk: Desk, run_id: str | None, show: Callable[[Standing], None]) -> Run:
    """Show a run's standing again and again, until nobody need act on it any more; the run as it is then."""
    run = await _run(desk, run_id)
    every = min(max(run.total / TASKS_A_SECOND, GLANCE_S[0]), GLANCE_S[1])
    rows: Tally = {}
    read_at = float("-inf")
    while True:
        now = desk.clock.now()
        if not run.waits or now - read_at >= max(run.total / ROWS_A_SECOND, every):
            standing = await desk.onlooker.look(run)
            rows, read_at = standing.tally, now
        else:
            standing = await desk.onlooker.glance(run, rows)
        show(standing)
        if not run.waits:
            return run
        await desk.clock.sleep(every)
        run = await _run(desk, run.run_id)


@click.command("list")
@_JSON
@desk_options
def list_runs(as_json: bool, desk: Desk) -> None:
    """List the latest runs, newest first."""
    runs = desk.run(desk.runs.recent(LIST_MAX))
    if as_json:
        say_json([run_document(run) for run in runs])
        return
    if not runs:
        say("there is no run yet")
        return
    zone = desk.run(time_zone_of(desk))
    header = ("run", "state", "planned", "created", "deadline", "report")
    rows = [
        (
            run.run_id,
            run.state,
            f"{run.total:,}",
            local(run.created_at, zone),
            local(run.deadline, zone),
            "yes" if run.report_prefix else "",
        )
        for run in runs
    ]
    say(*table(header, rows, frozenset({2})))
