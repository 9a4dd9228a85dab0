"""``brandvane local``: a whole stack on this machine, kept for play until it is told to go."""

from __future__ import annotations

import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from brandvane.catalogue import Selection
from brandvane.cli import emulator
from brandvane.cli.demo_catalogue import Pace, brand_names, checked, example_questions, write_play_monitor
from brandvane.cli.errors import CliError
from brandvane.cli.estimate import BASIS, estimate, planned_calls
from brandvane.cli.local_deploy import ROOT
from brandvane.cli.local_keys import keys_from
from brandvane.cli.local_process import interruptible, uninterrupted
from brandvane.cli.local_product import brandvane
from brandvane.cli.local_stack import LOCAL_STACK, Wanted, bring_all_up, environment_for, stands, take_down
from brandvane.cli.local_standins import FAULTS, LIMITS, PROTOCOLS, Wish
from brandvane.cli.local_state import LocalState
from brandvane.cli.view import ask, dollars, number, say
from brandvane.expansion import Expansion

DEFAULT_PORT = 4566
STATE = ROOT / ".tools" / "local.json"
HOME = ROOT / "build" / "local"
EXAMPLE = ROOT / "examples" / "en"
DOTENV = ROOT / ".env"


@click.group()
def local() -> None:
    """Keep a whole stack on this machine: AWS emulator, simulated platforms, the real template."""


@local.command()
@click.option("--port", type=click.IntRange(1, 65535), default=DEFAULT_PORT, show_default=True, help="Of the emulator.")
@click.option(
    "--real", is_flag=True, help="Ask real platforms, with keys from .env (BRANDVANE_KEY_OPENAI=…). Costs money."
)
@click.option(
    "--platform", "platforms", multiple=True, metavar="NAME", help="Only this platform (repeatable; with --real)."
)
@click.option("--yes", is_flag=True, help="Do not ask (with --real).")
def up(port: int, real: bool, platforms: tuple[str, ...], yes: bool) -> None:
    """Start the stack and leave it running, with the English example pushed. Nothing is asked until you start a run."""
    if platforms and not real:
        raise CliError("--platform goes with --real: simulated platforms cost nothing", 2)
    running = stands(STATE)
    if running is not None:
        say(f"A local stack is running already, on port {running.port}; 'brandvane local down' stops it.")
        _tell(running)
        return
    take_down(STATE)  # what is left of one whose emulator has died
    keys = _real_keys(platforms, yes=yes) if real else {}
    wish = None if real else Wish(behaviour={**LIMITS, **FAULTS}, brands=brand_names(EXAMPLE), protocols=PROTOCOLS)
    wanted = Wanted(home=HOME, state=STATE, stack=LOCAL_STACK, port=port, standins=wish, keys=keys)
    with interruptible():
        try:
            state = bring_all_up(wanted, say)
            _push(state, tuple(keys) or state.platforms)
        except BaseException:  # also Ctrl-C: either all of it runs or nothing does
            with uninterrupted():
                take_down(STATE)
            raise
    _tell(state)


@local.command()
def down() -> None:
    """Stop the stack; its data is gone with it."""
    with uninterrupted():
        found = take_down(STATE)
    say("The local stack is stopped." if found else "No local stack is running.")


def _real_keys(platforms: tuple[str, ...], *, yes: bool) -> dict[str, str]:
    """Keys of the platforms to ask, after somebody has agreed to what the example's run will cost."""
    catalogue = checked(EXAMPLE)
    names = platforms or catalogue.monitor.platform_names
    strange = sorted(set(names) - set(catalogue.monitor.platform_names))
    if strange:
        raise CliError(
            f"--platform: the example has no {', '.join(strange)}; it has {_names(catalogue.monitor.platform_names)}", 2
        )
    keys = keys_from(DOTENV, names)
    calls = Expansion(catalogue, Selection(platforms=tuple(names)), "normal", 0)
    cost = estimate(planned_calls(calls), catalogue.monitor)
    whole = number(sum(cost.calls.values()), "call")
    say(f"A run of the whole example asks {_names(names)}: {whole}, about {dollars(cost.total_usd)} ({BASIS}).")
    ask("Start the stack with your keys?", yes=yes, interactive=sys.stdin.isatty())
    return keys


def _push(state: LocalState, platforms: tuple[str, ...]) -> None:
    folder = HOME / "catalogue"
    example_questions(EXAMPLE, folder)
    write_play_monitor(EXAMPLE, folder, platforms, state.base_urls, Pace(), datetime.now(UTC), state.protocols)
    brandvane(environment_for(state), "catalogue", "push", str(folder), "--yes")


def _tell(state: LocalState) -> None:
    told = {**emulator.environment_of(state.endpoint), "BRANDVANE_STACK": state.stack}
    program, first = "brandvane", []
    if not shutil.which("brandvane"):  # its environment is not activated
        activate = Path(sys.prefix) / "bin" / "activate"
        first = [f"  source {_shown(activate)}"] if activate.is_file() else []
        program = "brandvane" if first else _shown(Path(sys.argv[0]).absolute())
    say(
        "",
        f"The stack {state.stack} is there, and this shell is free again. Go on with:",
        "",
        *first,
        *(f"  export {name}={value}" for name, value in told.items()),
        f"  {program} run start --limit 10",
        f"  {program} run watch",
        "",
        f"Catalogue: {_shown(state.home / 'catalogue')}   logs: {_shown(state.home)}   stop: {program} local down",
    )


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names)
