"""``brandvane doctor``: what is wrong here, or with the deployed stack, and what is to be done?"""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from brandvane.cli import doctor_machine
from brandvane.cli.aws_context import AwsContext, aws_options
from brandvane.cli.checks import Check, Verdict, carried_out, check_document, check_lines
from brandvane.cli.doctor_stack import StackDoctor
from brandvane.cli.errors import CliError
from brandvane.cli.view import number, say, say_json


@click.command()
@click.option("--aws", "on_aws", is_flag=True, help="Check the deployed stack instead of this machine.")
@click.option("--drift/--no-drift", default=True, show_default=True, help="Look for changes by hand (takes a minute).")
@click.option(
    "--platforms", "on_platforms", is_flag=True, help="Ask every target of the monitor once (costs a little)."
)
@click.option(
    "--catalogue", type=Path, metavar="DIR", help="With --platforms: a folder's monitor, not the deployed one."
)
@click.option(
    "--platform", "names", multiple=True, metavar="NAME", help="With --platforms: only this one (repeatable)."
)
@click.option("--dotenv", type=Path, metavar="FILE", help="With --platforms: keys from this file, not from SSM.")
@click.option("--dry", is_flag=True, help="With --platforms: look at keys and limits, ask nobody.")
@click.option("--yes", is_flag=True, help="With --platforms: do not ask whether to ask.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@aws_options
def doctor(
    on_aws: bool,
    drift: bool,
    on_platforms: bool,
    catalogue: Path | None,
    names: tuple[str, ...],
    dotenv: Path | None,
    dry: bool,
    yes: bool,
    as_json: bool,
    aws: AwsContext,
) -> None:
    """Check this machine; with --aws the account and the stack in it; with --platforms what the platforms answer.

    On AWS: quotas, reserved executions, queues that are consumed, schedules, catalogue, keys, dead letters, alarms, who hears
    them, and drift from the template. Of each target: key, model, search, citations, clock, limits. Nothing is changed. Exit
    code 1 when something fails.
    """
    if on_platforms:
        from brandvane.cli.doctor_monitor import platform_checks

        checks = platform_checks(aws, catalogue, names, dotenv, dry=dry, yes=yes, quiet=as_json)
        _tell(checks, as_json=as_json)
        return
    if catalogue or names or dotenv or dry:
        raise CliError("--catalogue, --platform, --dotenv and --dry go with --platforms", 2)
    looks = StackDoctor(aws, drift=drift).looks() if on_aws else doctor_machine.looks()
    _tell(list(carried_out(looks)), as_json=as_json)


def _tell(checks: list[Check], *, as_json: bool) -> None:
    if as_json:
        say_json(check_document(checks))
    else:
        say(*check_lines(checks, Console().width if sys.stdout.isatty() else None))
    failed = sum(each.verdict is Verdict.FAIL for each in checks)
    if failed:
        raise CliError(f"{number(failed, 'check')} failed")
