"""``brandvane doctor``: what is wrong here, or with the deployed stack, and what is to be done?"""

from __future__ import annotations

import sys

import click
from rich.console import Console

from brandvane.cli import doctor_machine
from brandvane.cli.aws_context import AwsContext, aws_options
from brandvane.cli.checks import Verdict, carried_out, check_document, check_lines
from brandvane.cli.doctor_stack import StackDoctor
from brandvane.cli.errors import CliError
from brandvane.cli.view import number, say, say_json


@click.command()
@click.option("--aws", "on_aws", is_flag=True, help="Check the deployed stack instead of this machine.")
@click.option("--drift/--no-drift", default=True, show_default=True, help="Look for changes by hand (takes a minute).")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@aws_options
def doctor(on_aws: bool, drift: bool, as_json: bool, aws: AwsContext) -> None:
    """Check this machine; with --aws the account and the stack in it.

    On AWS: quotas, reserved executions, queues that are consumed, schedules, catalogue, keys, dead letters, alarms, who hears
    them, and drift from the template. Nothing is changed. Exit code 1 when something fails.
    """
    looks = StackDoctor(aws, drift=drift).looks() if on_aws else doctor_machine.looks()
    checks = list(carried_out(looks))
    if as_json:
        say_json(check_document(checks))
    else:
        say(*check_lines(checks, Console().width if sys.stdout.isatty() else None))
    failed = sum(each.verdict is Verdict.FAIL for each in checks)
    if failed:
        raise CliError(f"{number(failed, 'check')} failed")
