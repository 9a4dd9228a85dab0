"""``brandvane status | watch``: how does the stack stand, now and from now on?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import click
from rich.console import Console
from rich.live import Live

from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.overview import Overview
from brandvane.cli.overview_document import change_line, overview_document
from brandvane.cli.overview_reading import overview
from brandvane.cli.overview_spending import Spending
from brandvane.cli.overview_style import styled
from brandvane.cli.overview_view import overview_lines, watch_lines
from brandvane.cli.view import json_line, say, say_json
from brandvane.cli.when import local
from brandvane.run import RunState

INTERVAL_S = 5.0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@desk_options
def status(as_json: bool, desk: Desk) -> None:
    """Show the whole stack on one screen.

    Runs and whether they will make their deadlines, platforms with rate, tasks by state, pauses, success, retries and
    latency of the last five minutes, queues and dead letters, what is stuck, alarms, today's calls and dollars.
    """
    found = desk.run(overview(desk))
    if as_json:
        say_json(overview_document(found))
    elif sys.stdout.isatty():
        console = Console()
        console.print(styled(overview_lines(found, console.width)), soft_wrap=True)
    else:  # a pipe gets lines uncut
        say(*overview_lines(found))


@click.command()
@click.option(
    "--interval",
    type=click.FloatRange(1, 3600),
    default=INTERVAL_S,
    show_default=True,
    metavar="SECONDS",
    help="From one look to the next.",
)
@click.option("--until-done", is_flag=True, help="End when no run needs anybody any more; 1 if one was cancelled.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document a look, each on a line of its own.")
@desk_options
def watch(interval: float, until_done: bool, as_json: bool, desk: Desk) -> None:
    """Show the whole stack, again and again.

    On a terminal the screen is renewed; a pipe gets a line whenever something has changed. Ctrl-C ends it.
    """
    on_screen = sys.stdout.isatty() and not as_json
    live = Live(console=Console(), auto_refresh=False, vertical_overflow="visible") if on_screen else None
    show = _documents() if as_json else _lines() if live is None else _screen(live, interval)
    around: AbstractContextManager[object] = nullcontext() if live is None else live
    with around:
        cancelled = desk.run(watched(desk, show, interval, until_done=until_done))
    if cancelled:
        raise CliError(f"run {', '.join(sorted(cancelled))} was cancelled")


def _documents() -> Callable[[Overview], None]:
    def show(found: Overview) -> None:
        say(json_line(overview_document(found)))
        sys.stdout.flush()

    return show


def _lines() -> Callable[[Overview], None]:
    last = ""

    def show(found: Overview) -> None:
        nonlocal last
        line = change_line(found)
        if line != last:
            say(f"{local(found.at, found.time_zone)} {line}")
            sys.stdout.flush()
        last = line

    return show


def _screen(live: Live, interval: float) -> Callable[[Overview], None]:
    def show(found: Overview) -> None:
        live.update(styled(watch_lines(found, live.console.width, interval)), refresh=True)

    return show


async def watched(desk: Desk, show: Callable[[Overview], None], interval: float, *, until_done: bool) -> frozenset[str]:
    """Show the overview until, if wanted, nothing is left to do; which of the runs that were seen open were cancelled."""
    open_runs: set[str] = set()
    spending = Spending()
    while True:
        found = await overview(desk, spending)
        show(found)
        for glance in found.runs or ():
            if glance.run.waits:
                open_runs.add(glance.run.run_id)
        if until_done and found.done:
            ended = [await desk.runs.get(run_id) for run_id in open_runs]
            return frozenset(run.run_id for run in ended if run is not None and run.state is RunState.CANCELLED)
        await desk.clock.sleep(interval)
