"""``brandvane run report | results``: fetch what a run has found."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Literal

import click

from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.lookup import run_named
from brandvane.cli.view import number
from brandvane.engine.results_so_far import results_so_far
from brandvane.run import Run

STDOUT = "-"
Format = Literal["csv", "jsonl"]


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--output", metavar="FILE", help="Where to write it; - is stdout [default: RUN.html].")
@click.option("--figures", is_flag=True, help="Not the page but its figures as a table [default: RUN-figures.csv].")
@desk_options
def report(run_id: str, output: str | None, figures: bool, desk: Desk) -> None:
    """Fetch a run's report, one HTML page, or all its figures as CSV."""
    run = desk.run(run_named(desk, run_id))
    if run.report_prefix is None:
        raise CliError(
            f"run {run_id} has no report: it is {run.state} ('brandvane run status {run_id}' says how it stands)"
        )
    name, default = ("figures.csv", f"{run_id}-figures.csv") if figures else ("report.html", f"{run_id}.html")
    _write(output or default, desk.run(_object(desk, f"{run.report_prefix}{name}")))


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--output", metavar="FILE", help="Where to write them; - is stdout [default: RUN-results.csv, or .jsonl]."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl"]),
    help="A table with the beginning of each answer, or JSON lines with all of it [default: by FILE's name, else csv].",
)
@desk_options
def results(run_id: str, output: str | None, form: Format | None, desk: Desk) -> None:
    """Fetch a run's results, one row for every task.

    Before the run is reported, and of a cancelled run, these are the results that there are.
    """
    run = desk.run(run_named(desk, run_id))
    kind: Format = form or ("jsonl" if (output or "").endswith((".jsonl", ".jsonl.gz")) else "csv")
    output = output or f"{run_id}-results.{kind}"
    body = desk.run(_results(desk, run, kind))
    _write(output, gzip.compress(body, mtime=0) if output.endswith(".gz") else body)


async def _results(desk: Desk, run: Run, kind: Format) -> bytes:
    if run.report_prefix is not None:
        if kind == "csv":
            return await _object(desk, f"{run.report_prefix}results.csv")
        return gzip.decompress(await _object(desk, f"{run.report_prefix}results.jsonl.gz"))
    catalogue = await desk.catalogues.load(run.catalogue_version)
    found = await results_so_far(run, catalogue, results=desk.results, blobs=desk.blobs)
    click.echo(f"run {run.run_id} is {run.state}: {number(found.rows, 'result')} of {run.total:,}", err=True)
    return found.csv if kind == "csv" else found.jsonl


async def _object(desk: Desk, key: str) -> bytes:
    body = await desk.blobs.get(key)
    if body is None:
        raise CliError(f"s3://{desk.bucket}/{key} is not there any more: reports are kept for a limited time")
    return body


def _write(output: str, body: bytes) -> None:
    if output == STDOUT:
        sys.stdout.buffer.write(body)
        sys.stdout.flush()
        return
    path = Path(output)
    beside = path.with_name(f".{path.name}.part")
    try:
        # Written beside it, then renamed: nobody ever reads half of it.
        beside.write_bytes(body)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise CliError(f"--output: {output} cannot be written ({error.strerror})", 2) from None
    click.echo(f"{output}: {len(body):,} bytes", err=True)
