"""``brandvane demo``: everything once on this machine, from a catalogue to a report, with an account of what happened."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console

from brandvane.aws.deployment import SsmDeployment
from brandvane.catalogue import Catalogue
from brandvane.cli import emulator
from brandvane.cli.demo_catalogue import (
    ANSWERS_FILE,
    Pace,
    brand_names,
    checked,
    corpus_questions,
    example_questions,
    samples_for,
    write_monitor,
)
from brandvane.cli.demo_view import print_summary, progress
from brandvane.cli.errors import CliError
from brandvane.cli.local_deploy import ROOT
from brandvane.cli.local_process import StepFailed, is_running
from brandvane.cli.local_product import brandvane
from brandvane.cli.local_reading import Reading, account_of
from brandvane.cli.local_stack import EMULATOR_PROGRAM, Wanted, clients_of, environment_for, local_stack
from brandvane.cli.local_standins import FAULTS, LIMITS, PROTOCOLS, Wish
from brandvane.cli.local_state import LocalState
from brandvane.cli.local_warm import warm
from brandvane.ports import Unavailable
from brandvane.run import Run
from brandvane.simulation.run_audit import Summary

LEAST_TASKS = 600
RUN_ID = "demo"
RUN_TIMEOUT_S = 900.0
HOME = ROOT / "build" / "demo"


@click.command()
@click.option("--corpus", type=Path, metavar="DIR", help="Ask the questions of a folder of recorded answers.")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="Which example to ask.")
def demo(corpus: Path | None, lang: str) -> None:
    """Start an AWS emulator and simulated AI platforms that fail now and then, deploy the real stack, ask at least 600
    questions at 10 calls a second and platform, write the report, and check from first sources that nothing was lost.

    Everything is stopped at the end. Leaves build/demo/report.html and build/demo/summary.json.
    """
    console = Console(soft_wrap=True)
    report, summary_file = HOME / "report.html", HOME / "summary.json"
    for old in (report, summary_file):
        old.unlink(missing_ok=True)
    answers = None if corpus is None else corpus / ANSWERS_FILE
    folder = HOME / "catalogue"
    if corpus is None:
        example_questions(ROOT / "examples" / lang, folder)
    else:
        corpus_questions(corpus, folder)
    wish = Wish(behaviour={**LIMITS, **FAULTS}, brands=brand_names(folder), answers=answers, protocols=PROTOCOLS)
    wanted = Wanted(home=HOME, state=HOME / "state.json", standins=wish)
    with local_stack(wanted, lambda text: console.print(text, highlight=False)) as state:
        catalogue = prepare(state, folder, None if corpus is not None else LEAST_TASKS)
        try:
            summary, page = asyncio.run(_ask(state, catalogue, console))
        except Unavailable:
            if is_running(state.emulator, EMULATOR_PROGRAM):
                raise
            raise StepFailed("The emulator ended while the run was under way", emulator.log_of(HOME)) from None
        console.print("Stopping everything", highlight=False)
    summary_file.write_text(json.dumps(summary.document(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    report.write_bytes(page)
    print_summary(console, summary)
    console.print(f"Summary: {summary_file}\nReport:  {report}", highlight=False)
    if not summary.passed:
        raise CliError(f"the run did not keep its promise: {'; '.join(summary.complaints)}")


def prepare(state: LocalState, folder: Path, least: int | None, pace: Pace | None = None) -> Catalogue:
    """Complete the catalogue for the deployed platforms and push it; with ``least``, as many samples as that takes.

    Raises:
        CliError: the catalogue has faults.
    """
    pace = pace or Pace()
    write_monitor(folder, state.platforms, state.base_urls, pace, 1, datetime.now(UTC), state.protocols)
    samples = 1 if least is None else samples_for(checked(folder), least)
    write_monitor(folder, state.platforms, state.base_urls, pace, samples, datetime.now(UTC), state.protocols)
    brandvane(environment_for(state), "catalogue", "push", str(folder), "--yes")
    return checked(folder)


async def _ask(state: LocalState, catalogue: Catalogue, console: Console) -> tuple[Summary, bytes]:
    """Start the run the way people do, watch it to its report, and take its account."""
    clients = clients_of(state)
    deployed = await SsmDeployment(clients=clients, stack=state.stack).platforms()
    console.print(f"Starting the workers of {', '.join(state.platforms)}", highlight=False)
    await asyncio.to_thread(warm, state, deployed)
    console.print(f"Starting run {RUN_ID}", highlight=False)
    brandvane(environment_for(state), "run", "start", "--label", RUN_ID, "--yes")
    reading = Reading(state, clients)
    with progress(console) as show:
        run = await reading.watch(RUN_ID, show, RUN_TIMEOUT_S)
    rates = dict.fromkeys(state.platforms, float(LIMITS["rate"]))
    summary = await account_of(reading, run, catalogue, state.call_log, rates)
    return summary, await _page(reading, run)


async def _page(reading: Reading, run: Run) -> bytes:
    page = await reading.object(f"{run.report_prefix}report.html") if run.report_prefix else None
    if page is None:
        raise CliError(f"run {run.run_id} is {run.state} and has no report page")
    return page
