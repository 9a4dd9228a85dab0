"""``brandvane reparse``: read a run's answers anew, and say what that changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.lookup import run_named
from brandvane.cli.view import number, say, say_json, table
from brandvane.engine.counted import Counted, counted
from brandvane.engine.reparse import begin, ready, rehearsed
from brandvane.report.rereading import Changed, difference
from brandvane.run import Run, RunState

WAIT_S = 3.0
SHOWN_MAX = 40


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--dry-run", is_flag=True, help="Read them here, with this release's matcher, and write nothing.")
@click.option("--no-wait", is_flag=True, help="Do not wait for the new report.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@desk_options
def reparse(run_id: str, dry_run: bool, no_wait: bool, as_json: bool, desk: Desk) -> None:
    """Read a reported run's answers anew, asking no platform: mentions, figures and report by the deployed matcher and the
    corrections that stand. The earlier reading's files stay where they are."""
    run = desk.run(run_named(desk, run_id))
    if dry_run:
        _tell(run, run, *_rehearse(run, desk), as_json=as_json, dry=True)
        return
    desk.run(_check(run))
    before = _counted(desk, run)
    moved = desk.run(begin(run, runs=desk.runs, functions=desk.functions, clock=desk.clock))
    if no_wait:
        if as_json:
            say_json(_about(run, moved, dry=False))
        else:
            say(f"run {run_id} is being read anew (pass {moved.pass_no})", f"brandvane run watch {run_id}")
        return
    done = wait_for_report(desk, moved)
    _tell(run, done, before, _counted(desk, done), as_json=as_json, dry=False)


async def _check(run: Run) -> None:
    ready(run)


def wait_for_report(desk: Desk, run: Run) -> Run:
    """Wait until a pass of a run has its report; the run as it is then.

    Raises:
        CliError: somebody else has moved the run on, so that this pass gets none.
    """
    return desk.run(_waited(desk, run))


async def _waited(desk: Desk, run: Run) -> Run:
    while True:
        there = await run_named(desk, run.run_id)
        if there.pass_no != run.pass_no or there.state in (RunState.OPEN, RunState.CANCELLED):
            raise CliError(
                f"run {run.run_id} was changed by somebody else meanwhile: it is {there.state}, pass {there.pass_no}"
            )
        if there.state is RunState.REPORTED:
            return there
        await desk.clock.sleep(WAIT_S)


def _counted(desk: Desk, run: Run) -> Counted:
    try:
        return desk.run(counted(run.run_id, run.pass_no, desk.blobs))
    except (LookupError, ValueError) as error:
        raise CliError(str(error)) from error


def _rehearse(run: Run, desk: Desk) -> tuple[Counted, Counted]:
    before = _counted(desk, run)
    try:
        catalogue = desk.run(desk.catalogues.load(run.catalogue_version))
        return before, desk.run(rehearsed(run, catalogue, results=desk.results, blobs=desk.blobs))
    except LookupError as error:
        raise CliError(str(error)) from error


def _tell(run: Run, done: Run, before: Counted, after: Counted, *, as_json: bool, dry: bool) -> None:
    changed = difference(before.tally, after.tally)
    if as_json:
        document = _about(run, done, dry=dry)
        document |= {
            "parser_before": list(before.parsers),
            "parser_after": list(after.parsers),
            "mentions_before": before.mentions,
            "mentions_after": after.mentions,
            "changed": [_document(each) for each in changed],
        }
        say_json(document)
        return
    differ = "would differ" if dry else "differs" if len(changed) == 1 else "differ"
    say(
        f"matcher {', '.join(before.parsers)} → {', '.join(after.parsers)}; "
        f"mentions {before.mentions:,} → {after.mentions:,}; {number(len(changed), 'figure')} {differ}"
    )
    if changed:
        say(*_rows(changed[:SHOWN_MAX]))
    if len(changed) > SHOWN_MAX:
        say(f"… and {number(len(changed) - SHOWN_MAX, 'more figure')}: --json lists them all")
    if not dry:
        say(f"the report of {run.run_id} is new: brandvane run report {run.run_id}")


def _rows(changed: Sequence[Changed]) -> list[str]:
    rows = [
        (
            each.brand,
            each.target,
            each.role.value,
            f"{each.before[0]} of {each.before[1]} → {each.after[0]} of {each.after[1]}",
            f"{each.before[2]} → {each.after[2]}",
        )
        for each in changed
    ]
    return table(("BRAND", "TARGET", "QUESTIONS", "ANSWERS THAT MENTION IT", "OCCURRENCES"), rows)


def _about(run: Run, done: Run, *, dry: bool) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "dry_run": dry,
        "state": done.state,
        "pass_before": run.pass_no,
        "pass_after": done.pass_no,
    }


def _document(changed: Changed) -> dict[str, Any]:
    names = ("mentioned", "answers", "occurrences")
    return {
        "role": changed.role.value,
        "target": changed.target,
        "brand": changed.brand,
        "before": dict(zip(names, changed.before, strict=True)),
        "after": dict(zip(names, changed.after, strict=True)),
    }
