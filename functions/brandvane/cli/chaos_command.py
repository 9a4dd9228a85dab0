"""``brandvane chaos``: a run on this machine while its workers are killed, its messages doubled and its scanner is off."""

from __future__ import annotations

import asyncio
import json

import click
from rich.console import Console

from brandvane.aws.deployment import SsmDeployment
from brandvane.catalogue import Catalogue, Selection
from brandvane.cli.chaos_account import LEAST_TASKS, Account
from brandvane.cli.chaos_explain import explain, rescues
from brandvane.cli.chaos_kills import Kill
from brandvane.cli.chaos_trouble import Trouble
from brandvane.cli.demo_catalogue import Pace, example_questions
from brandvane.cli.demo_command import prepare
from brandvane.cli.demo_view import progress
from brandvane.cli.errors import CliError
from brandvane.cli.local_deploy import ROOT
from brandvane.cli.local_product import brandvane
from brandvane.cli.local_reading import Reading, Show, call_rows
from brandvane.cli.local_stack import Wanted, clients_of, environment_for, local_stack
from brandvane.cli.local_standins import LIMITS, PROTOCOLS, Wish
from brandvane.cli.local_state import LocalState
from brandvane.cli.local_warm import warm
from brandvane.run import Run
from brandvane.simulation.run_audit import audit_run, plan_of

RUN_ID = "chaos"
STACK = "brandvane-chaos"
HOME = ROOT / "build" / "chaos"
KILLS = HOME / "kills.jsonl"
RUN_TIMEOUT_S = 1800.0
# 60 slots held for 16 s: a little over 3 calls a second are planned of the 10 that are allowed, so that the run outlasts the
# time without scanner, and a halved rate after 429s is still enough.
PACE = Pace(expected_hold_s=16.0)
FAULTS = {
    "error_500": 0.02,
    "error_503": 0.02,
    "hang": 0.01,
    "cut": 0.02,
    "empty": 0.02,
    "malformed": 0.02,
    "filtered": 0.01,
    "refused": 0.01,
    "inside_200": 0.01,
    "keep_alive": 0.02,
    "truncated": 0.01,
    "retry_after": 1,
}


@click.command()
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Of every choice of what is killed and sent again."
)
def chaos(seed: int) -> None:
    """Ask at least 2,000 questions of three simulated platforms on a local stack while worker processes are killed with
    SIGKILL, some of them right after an answer, messages are sent twice, platforms fail in every way they can, and the
    scanner is switched off for three minutes. Then check from first sources that the promise was kept.

    Takes about ten minutes. Everything is stopped at the end. Leaves build/chaos/summary.json and build/chaos/kills.jsonl.
    """
    console = Console(soft_wrap=True)
    summary_file = HOME / "summary.json"
    for old in (summary_file, KILLS):
        old.unlink(missing_ok=True)
    folder = HOME / "catalogue"
    example_questions(ROOT / "examples" / "en", folder)
    wish = Wish(behaviour={**LIMITS, **FAULTS}, protocols=PROTOCOLS)
    wanted = Wanted(home=HOME, state=HOME / "state.json", stack=STACK, standins=wish)
    with local_stack(wanted, lambda text: console.print(text, highlight=False)) as state:
        catalogue = prepare(state, folder, LEAST_TASKS, PACE)
        account = asyncio.run(_attacked(state, catalogue, console, seed))
        console.print("Stopping everything", highlight=False)
    told = account.document()
    summary_file.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, value in told.items():
        console.print(f"  {name:<22}{value}", highlight=False)
    console.print(f"Summary: {summary_file}", highlight=False)
    if account.complaints:
        raise CliError(f"the run did not keep its promise: {'; '.join(account.complaints)}")


async def _attacked(state: LocalState, catalogue: Catalogue, console: Console, seed: int) -> Account:
    """Start a run, make trouble until it is reported, and take its account."""
    clients = clients_of(state)
    deployed = await SsmDeployment(clients=clients, stack=state.stack).platforms()
    console.print(f"Starting the workers of {', '.join(state.platforms)}", highlight=False)
    await asyncio.to_thread(warm, state, deployed)
    console.print(f"Starting run {RUN_ID}", highlight=False)
    await asyncio.to_thread(brandvane, environment_for(state), "run", "start", "--label", RUN_ID, "--yes")
    reading, trouble = Reading(state, clients), Trouble(state, clients, seed, _tell)
    with progress(console) as show:
        run, _ = await asyncio.gather(_watched(reading, trouble, show), trouble.make())
    rows, calls = await reading.rows(RUN_ID), call_rows(state.call_log)
    took = None if run.reported_at is None else run.reported_at - run.created_at
    rates = dict.fromkeys(state.platforms, float(LIMITS["rate"]))
    killer = trouble.killer
    return Account(
        run=audit_run(RUN_ID, plan_of(RUN_ID, catalogue, Selection()), rows, calls, rates, run_s=took),
        kills=killer.kills,
        duplicates=trouble.duplicates,
        off=trouble.off,
        repeats=explain(calls, killer.kills),
        rescues=rescues(killer.left, calls, rows, trouble.off),
    )


async def _watched(reading: Reading, trouble: Trouble, show: Show) -> Run:
    def seen(run: Run, rows: int) -> None:
        trouble.results, trouble.total = rows, run.total
        show(run, rows)

    try:
        return await reading.watch(RUN_ID, seen, RUN_TIMEOUT_S)
    finally:
        trouble.over.set()


def _tell(kill: Kill) -> None:
    with KILLS.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(kill.document(), ensure_ascii=False) + "\n")
