"""``brandvane catalogue``: is a folder's catalogue right, what changes, and which version is current?"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import asdict
from pathlib import Path

import click

from brandvane.aws.catalogue_store import Pushed, S3CatalogueStore
from brandvane.aws.schedules import NameTaken, Synced, Targets, check_names, sync
from brandvane.catalogue import Catalogue, to_document
from brandvane.catalogue_files.deployed import deployment_findings
from brandvane.catalogue_files.difference import Difference, difference
from brandvane.catalogue_files.folder import Reading, read_folder
from brandvane.cli import push_windows
from brandvane.cli.aws_context import AwsContext, aws_options
from brandvane.cli.catalogue_output import (
    FaultsFound,
    print_difference,
    print_findings,
    print_json,
    summary,
    summary_lines,
)
from brandvane.cli.errors import CliError, explain
from brandvane.cli.play_stack import answers_name, play_stack, with_standins, without_standin
from brandvane.cli.push_windows import asks_real_platforms, begin_at_once, window_line
from brandvane.run import Run

_FOLDER = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
_JSON = click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
_YES = click.option("--yes", is_flag=True, help="Do not ask before something is removed, or a run begins.")
NEXT_RUN = "It takes effect in the next run; runs under way keep their version."


@click.group()
def catalogue() -> None:
    """Brands, questions and monitor: check a folder, push it, compare and roll back versions."""


@catalogue.command()
@_FOLDER
@_JSON
def check(folder: Path, as_json: bool) -> None:
    """Say everything that is wrong with the catalogue in DIR. Needs no AWS."""
    reading, found = _read(folder, as_json, "The catalogue cannot be used")
    facts = summary(found)
    if as_json:
        print_json({"ok": True, "faults": [], "warnings": [w.to_json() for w in reading.warnings], "summary": facts})
        return
    print_findings(reading.warnings, "warning")
    click.echo(f"{folder}: no faults")
    for line in summary_lines(facts):
        click.echo(line)


@catalogue.command()
@_FOLDER
@_JSON
@_YES
@aws_options
def push(folder: Path, as_json: bool, yes: bool, aws: AwsContext) -> None:
    """Store the catalogue in DIR as a new version and make it current; schedules follow the monitor."""
    reading, found = _read(folder, as_json, "Nothing was pushed")
    play = play_stack(aws)
    simulated: tuple[str, ...] = ()
    if play is not None:
        found, simulated = with_standins(found, play)
    faults, unfit = deployment_findings(found, aws.platforms(), reading.platform_rows)
    if play is not None:
        faults = tuple(without_standin(fault, play) for fault in faults)
    warnings = (*reading.warnings, *unfit)
    if faults:
        raise FaultsFound(faults, warnings, as_json=as_json, consequence="Nothing was pushed")
    store, targets = _store(aws), _targets(aws, found)
    change = asyncio.run(_change(store, found))
    if not yes:
        _confirm(change, "Push")
    _tell_begin(aws, found, yes=yes)
    if play is not None and simulated:
        answers_name(found, play)  # before the push: should the stand-ins be gone, nothing is half done
    pushed = asyncio.run(store.push(found, time.time()))
    synced = _sync(aws, found, targets, pushed)
    if as_json:
        document = {
            "simulated": list(simulated),
            "version": pushed.version,
            "previous": pushed.previous,
            "changed": pushed.changed,
            "difference": change.to_json() if change is not None else None,
            "schedules": asdict(synced),
            "warnings": [warning.to_json() for warning in warnings],
        }
        print_json(document)
        return
    print_findings(warnings, "warning")
    _tell(pushed, synced, f"{pushed.version} is current already, with the same content: nothing was changed.")
    if pushed.changed and change is not None:
        click.echo(f"Different from {pushed.previous}:")
        print_difference(change)
    if simulated:
        click.echo(
            f"On this local stack {', '.join(simulated)} {'is' if len(simulated) == 1 else 'are'} simulated,"
            " and the answers are made up; they name your brands."
        )


@catalogue.command("list")
@_JSON
@aws_options
def list_versions(as_json: bool, aws: AwsContext) -> None:
    """Show all versions, newest first; * marks the current one."""
    versions = asyncio.run(_store(aws).versions())
    if as_json:
        print_json([asdict(version) for version in versions])
        return
    if not versions:
        click.echo("no catalogue has been pushed yet")
    for version in versions:
        click.echo(f"{'*' if version.current else ' '} {version.version}  {version.pushed_at}  {version.size:,} bytes")


@catalogue.command()
@click.argument("version", required=False)
@_JSON
@aws_options
def show(version: str | None, as_json: bool, aws: AwsContext) -> None:
    """Show a version (the current one); --json prints all of it."""
    found = _load(_store(aws), version or "current")
    if as_json:
        print_json(to_document(found))
        return
    click.echo(found.version)
    for line in summary_lines(summary(found)):
        click.echo(line)
    for platform in found.monitor.platforms:
        origin = platform.origins.get("rate", "default")
        click.echo(
            f"{platform.name}: {platform.base_url}, {platform.rate:g} calls/s ({origin}), {platform.in_flight} in flight"
        )


@catalogue.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@_JSON
@aws_options
def diff(before: str, after: str, as_json: bool, aws: AwsContext) -> None:
    """Show what version B has that A has not; 'current' names the current one."""
    store = _store(aws)
    found = difference(_load(store, before), _load(store, after))
    if as_json:
        print_json(found.to_json())
    else:
        print_difference(found)


@catalogue.command()
@click.argument("version")
@_JSON
@_YES
@aws_options
def rollback(version: str, as_json: bool, yes: bool, aws: AwsContext) -> None:
    """Make an earlier VERSION current again; schedules follow its monitor."""
    store = _store(aws)
    found = _load(store, version)
    faults, _ = deployment_findings(found, aws.platforms(), {})
    if faults:
        raise FaultsFound(faults, (), as_json=as_json, consequence="Nothing was changed")
    targets = _targets(aws, found)
    change = asyncio.run(_change(store, found))
    if not yes:
        _confirm(change, "Roll back")
    rolled = asyncio.run(store.rollback(version))
    synced = _sync(aws, found, targets, rolled)
    if as_json:
        print_json({**asdict(rolled), "schedules": asdict(synced)})
        return
    _tell(rolled, synced, f"{version} is current already: nothing was changed.")


def _read(folder: Path, as_json: bool, consequence: str) -> tuple[Reading, Catalogue]:
    reading = read_folder(folder)
    if reading.catalogue is None:
        raise FaultsFound(reading.faults, reading.warnings, as_json=as_json, consequence=consequence)
    return reading, reading.catalogue


def _store(aws: AwsContext) -> S3CatalogueStore:
    return S3CatalogueStore(s3=aws.client("s3"), bucket=aws.output("DataBucket"))


def _load(store: S3CatalogueStore, version: str) -> Catalogue:
    async def load() -> Catalogue:
        wanted = await store.current() if version == "current" else version
        if wanted is None:
            raise CliError("no catalogue has been pushed yet: run 'brandvane catalogue push DIR'")
        return await store.load(wanted)

    try:
        return asyncio.run(load())
    except LookupError as error:
        raise CliError(f"{error.args[0]}: 'brandvane catalogue list' shows those there are", 2) from error
    except ValueError as error:
        raise CliError(f"{error}: use a newer brandvane") from error


async def _change(store: S3CatalogueStore, found: Catalogue) -> Difference | None:
    """From the current version to ``found``; None when there is none, or none that this release can read."""
    current = await store.current()
    if current is None:
        return None
    try:
        return difference(await store.load(current), found)
    except (LookupError, ValueError):
        return None


def _confirm(change: Difference | None, verb: str) -> None:
    """Ask somebody who sits there before something is removed. Scripts are not asked: the way back is one command."""
    if change is None or not change.removed or not _interactive():
        return
    for line in change.lines():
        click.echo(line, err=True)
    counts = ", ".join(f"{len(ids):,} {kind if len(ids) > 1 else kind[:-1]}" for kind, ids in change.removed.items())
    click.confirm(f"This removes {counts}. {verb}?", abort=True, err=True)


def _tell_begin(aws: AwsContext, found: Catalogue, *, yes: bool) -> None:
    """Say which runs this push begins; where they cost money, ask somebody who sits there."""
    from brandvane.aws.keys import tables_of
    from brandvane.aws.run_store import DynamoRunStore

    async def get(name: str) -> Run | None:
        return await DynamoRunStore(clients=aws.clients(), tables=tables_of(aws.stack)).get(name)

    begun = asyncio.run(begin_at_once(found, push_windows.clock(), get))
    for schedule in begun:
        click.echo(window_line(found, schedule), err=True)
    if begun and not yes and asks_real_platforms(found) and _interactive():
        click.confirm("Push, and begin?", abort=True, err=True)


def _interactive() -> bool:
    return sys.stdin.isatty()


def _targets(aws: AwsContext, found: Catalogue) -> Targets:
    """What schedules call; anything that would keep them from being set is found before something is written."""
    targets = Targets(
        group=aws.stack,
        planner=aws.output("PlannerArn"),
        role=aws.output("ScheduleRoleArn"),
        dead_letters=aws.output("ScheduleDeadLettersArn"),
    )
    try:
        check_names(aws.client("scheduler"), found.monitor.schedules, targets.group)
    except NameTaken as error:
        raise CliError(str(error), 2) from error
    return targets


def _sync(aws: AwsContext, found: Catalogue, targets: Targets, pushed: Pushed) -> Synced:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return sync(aws.client("scheduler"), found.monitor.schedules, targets)
    except (BotoCoreError, ClientError) as error:
        reason = explain(error) or error
        raise CliError(
            f"{pushed.version} is current, but its schedules are not all set ({reason}): run the same command again"
        ) from error


def _tell(pushed: Pushed, synced: Synced, unchanged: str) -> None:
    if pushed.changed:
        click.echo(f"{pushed.version} is current now. {NEXT_RUN}")
        if pushed.previous is not None:
            click.echo(f"The way back: brandvane catalogue rollback {pushed.previous}")
    else:
        click.echo(unchanged)
    for verb, names in (("created", synced.created), ("updated", synced.updated), ("removed", synced.removed)):
        if names:
            click.echo(f"schedules {verb}: {', '.join(names)}")
