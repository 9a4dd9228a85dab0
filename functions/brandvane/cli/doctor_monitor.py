"""Whose platforms does ``brandvane doctor --platforms`` ask, with which keys, and may it? A folder's, or the deployed catalogue's."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from brandvane.aws.system import SystemClock
from brandvane.catalogue import Monitor, PlatformSettings
from brandvane.cli.aws_context import AwsContext
from brandvane.cli.checks import Check, carried_out
from brandvane.cli.demo_catalogue import checked
from brandvane.cli.desk import Desk, DeskOf, desk_of
from brandvane.cli.doctor_platforms import NO_KEY, PlatformDoctor
from brandvane.cli.errors import CliError, explain
from brandvane.cli.local_keys import parse, variable_of
from brandvane.cli.lookup import current_catalogue
from brandvane.cli.view import ask, dollars, number, say
from brandvane.engine.rehearse import near
from brandvane.ports import Deployed


def platform_checks(
    aws: AwsContext,
    folder: Path | None,
    names: Sequence[str],
    dotenv: Path | None,
    *,
    dry: bool,
    yes: bool,
    quiet: bool,
) -> list[Check]:
    """Ask every target of the monitor once, after somebody has agreed to what that costs.

    Raises:
        CliError: no catalogue, no such platform, a file that cannot be read, or the answer is no.
    """
    deployed: dict[str, Deployed] | None = None
    if folder is not None and (dotenv is not None or _nowhere(aws)):
        rows = _chosen(checked(folder).monitor, names)
        found = {} if dotenv is None else _from_file(dotenv, rows)
    else:
        desk = _desk(aws)
        try:
            catalogue = checked(folder) if folder is not None else desk.run(current_catalogue(desk))
            if catalogue is None:
                raise CliError("no catalogue has been pushed: name a folder with --catalogue DIR", 2)
            rows = _chosen(catalogue.monitor, names)
            deployed = {worker.platform: worker for worker in desk.run(_workers(desk))}
            found = _from_file(dotenv, rows) if dotenv is not None else {}
            for row in rows if dotenv is None else ():
                key = None if row.key_header == NO_KEY else desk.run(desk.keys.value(row.name, row.key_parameter))
                if key and key.strip():
                    found[row.name] = key.strip()
        finally:
            desk.close()
    doctor = PlatformDoctor(rows, found, deployed=deployed, clock=SystemClock(), dry=dry, dotenv=dotenv)
    if doctor.calls:
        if not quiet:
            say(f"{number(doctor.calls, 'call')}, about {dollars(doctor.cost_usd)} by the price rows")
        ask("Ask the platforms?", yes=yes, interactive=sys.stdin.isatty())
    return list(carried_out(doctor.looks()))


def _nowhere(aws: AwsContext) -> bool:
    """Is there no account to look into? A folder is looked at all the same; what is known of keys and workers is then nothing."""
    try:
        aws.client("ssm")
    except Exception as error:
        if explain(error) is None:
            raise
        return True
    return False


def _desk(aws: AwsContext) -> Desk:
    context = click.get_current_context(silent=True)
    found = None if context is None else context.find_object(DeskOf)
    return (found or DeskOf(desk_of)).make(aws)


async def _workers(desk: Desk) -> tuple[Deployed, ...]:
    return await desk.deployment.platforms()


def _chosen(monitor: Monitor, names: Sequence[str]) -> tuple[PlatformSettings, ...]:
    for name in names:
        if name not in monitor.platform_names:
            raise CliError(f"--platform: the monitor has no '{name}'; {near(name, list(monitor.platform_names))}", 2)
    return tuple(row for row in monitor.platforms if not names or row.name in names)


def _from_file(path: Path, rows: Sequence[PlatformSettings]) -> dict[str, str]:
    try:
        told = parse(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CliError(
            f"{path}: cannot be read ({reason}); --dotenv names a file of lines {variable_of('openai')}=…", 2
        ) from None
    return {row.name: told[variable_of(row.name)] for row in rows if variable_of(row.name) in told}
