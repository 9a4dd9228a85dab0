"""``brandvane mentions correct | corrections | export``: what people put right in what the matcher found, and all of what it found."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any

import click

from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.lookup import run_named
from brandvane.cli.view import say, say_json, shown, table
from brandvane.cli.when import iso, local
from brandvane.engine.correct import Made, Wish
from brandvane.engine.corrections_of_run import corrections_of
from brandvane.engine.counted import counted
from brandvane.engine.scored_objects import mentions_key, mentions_table_key
from brandvane.mentions.corrections import Correction, Wrong
from brandvane.report.corrected import Entry, entries
from brandvane.run import Run, RunState
from brandvane.task import BUCKETS

_JSON = click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")


@click.command()
@click.argument("answer", metavar="RUN/TASK")
@click.option("--brand", metavar="ID", help="The brand it is about.")
@click.option("--false", "false", is_flag=True, help="What the matcher found is no mention of the brand.")
@click.option("--missing", is_flag=True, help="The matcher has missed a mention of the brand.")
@click.option("--withdraw", metavar="ID", help="Take this correction of RUN back (then RUN alone is enough).")
@click.option("--text", default="", help="The words as they stand in the answer [default with --false: every mention].")
@click.option("--occurrence", type=int, metavar="N", help="Which of several places where the words stand, from 1.")
@click.option("--by", required=True, metavar="NAME", help="Who says so.")
@click.option("--reason", required=True, help="Why.")
@click.option("--later", is_flag=True, help="Do not read the run anew now; its next reading will count it.")
@_JSON
@desk_options
def correct(
    answer: str,
    brand: str | None,
    false: bool,
    missing: bool,
    withdraw: str | None,
    text: str,
    occurrence: int | None,
    by: str,
    reason: str,
    later: bool,
    as_json: bool,
    desk: Desk,
) -> None:
    """Put a mention of one answer right: false, or missing. It holds for every later reading of this answer, and every
    figure that it touches says so. The run's report is made anew, unless --later."""
    run_id, _, task_id = answer.partition("/")
    _check(task_id, brand, false, missing, withdraw, by, reason)
    run = desk.run(run_named(desk, run_id))
    if withdraw is not None:
        made = desk.run(desk.corrector.withdraw(run, withdraw, by=by.strip(), reason=reason.strip(), later=later))
    else:
        wish = Wish(
            task_id=task_id,
            brand=brand or "",
            wrong=Wrong.FALSE if false else Wrong.MISSING,
            text=text,
            occurrence=occurrence,
            by=by.strip(),
            reason=reason.strip(),
        )
        made = desk.run(desk.corrector.correct(run, wish, later=later))
    _tell(made, as_json=as_json)


def _check(
    task_id: str, brand: str | None, false: bool, missing: bool, withdraw: str | None, by: str, reason: str
) -> None:
    if (false, missing, withdraw is not None).count(True) != 1:
        raise CliError("say one of --false, --missing and --withdraw ID", 2)
    if withdraw is None and not task_id:
        raise CliError("RUN/TASK: say which answer, as RUN/TASK; the report shows the task under each answer", 2)
    if withdraw is None and not brand:
        raise CliError("--brand: say the id of the brand that the correction is about", 2)
    for name, value in (("--by", by), ("--reason", reason)):
        if not value.strip():
            raise CliError(f"{name}: must not be blank; it stands beside every figure that is touched", 2)


def _tell(made: Made, *, as_json: bool) -> None:
    run = made.run
    anew = run.state is not RunState.REPORTED
    if as_json:
        listed = [_document(each) for each in made.corrections]
        say_json({"run_id": run.run_id, "state": run.state, "pass": run.pass_no, "corrections": listed})
        return
    for each in made.corrections:
        say(f"{each.id}: {_words(each)}")
    if anew:
        say(f"run {run.run_id} is being read anew (pass {run.pass_no})", f"brandvane run watch {run.run_id}")
    else:
        say(f"the figures stay as they are until 'brandvane reparse {run.run_id}'")


def _words(each: Correction) -> str:
    if each.wrong is Wrong.WITHDRAWN:
        return f"correction {each.withdraws} is taken back"
    what = "is no mention" if each.wrong is Wrong.FALSE else "is a mention"
    return f"'{shown(each.quote)}' ({each.start}–{each.end}) of {each.task_id} {what} of {each.brand}"


def _document(each: Correction) -> dict[str, Any]:
    return {
        "id": each.id,
        "task_id": each.task_id,
        "brand": each.brand,
        "wrong": each.wrong.value,
        "start": each.start,
        "end": each.end,
        "quote": each.quote,
        "by": each.by,
        "reason": each.reason,
        "at": iso(each.at),
        "withdraws": each.withdraws or None,
    }


@click.command()
@click.argument("run_id", metavar="RUN")
@_JSON
@desk_options
def corrections(run_id: str, as_json: bool, desk: Desk) -> None:
    """List a run's corrections, and what became of each."""
    run = desk.run(run_named(desk, run_id))
    listed, zone = desk.run(_listed(desk, run))
    if as_json:
        say_json([{**_document(entry.correction), "state": entry.fate} for entry in listed])
        return
    if not listed:
        say(f"nothing of run {run_id} was corrected by hand")
        return
    rows = [
        (c.id, local(c.at, zone), shown(c.by), c.brand, c.wrong.value, shown(c.quote), shown(c.reason), c.task_id, fate)
        for c, fate in ((entry.correction, entry.fate) for entry in listed)
    ]
    say(*table(("ID", "WHEN", "WHO", "BRAND", "WRONG", "WORDS", "REASON", "TASK", "STATE"), rows))


async def _listed(desk: Desk, run: Run) -> tuple[tuple[Entry, ...], str]:
    try:
        everything = await corrections_of(run, desk.blobs)
        catalogue = await desk.catalogues.load(run.catalogue_version)
        found = await counted(run.run_id, run.pass_no, desk.blobs) if run.state is RunState.REPORTED else None
    except (LookupError, ValueError) as error:
        raise CliError(str(error)) from error
    applied, unfit = (found.applied, found.unfit) if found is not None else (set[str](), set[str]())
    return entries(everything, applied, unfit), catalogue.monitor.time_zone


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--output", required=True, metavar="FILE", help="Where to write them; - is stdout.")
@click.option("--format", "form", type=click.Choice(["csv", "jsonl"]), help="[default: by FILE's name, else csv].")
@desk_options
def export(run_id: str, output: str, form: str | None, desk: Desk) -> None:
    """Fetch a scored run's mentions, one row each: span, sentence, kind, rank, stance, matcher version, correction."""
    run = desk.run(run_named(desk, run_id))
    as_csv = (form or ("jsonl" if output.endswith(".jsonl") else "csv")) == "csv"
    key_of = mentions_table_key if as_csv else mentions_key
    parts = []
    for bucket in range(BUCKETS):
        key = key_of(run.run_id, run.pass_no, bucket)
        body = desk.run(desk.blobs.get(key))
        if body is None:
            raise CliError(
                f"run {run_id} has no object {key}: it is {run.state}, and mentions are kept for a limited time"
            )
        part = gzip.decompress(body)
        parts.append(part if bucket == 0 or not as_csv else part[part.index(b"\r\n") + 2 :])  # one header is enough
    _write(output, b"".join(parts))


def _write(output: str, body: bytes) -> None:
    if output == "-":
        sys.stdout.buffer.write(body)
        sys.stdout.flush()
        return
    try:
        Path(output).write_bytes(body)
    except OSError as error:
        raise CliError(f"--output: {output} cannot be written ({error.strerror})", 2) from None
    click.echo(f"{output}: {len(body):,} bytes", err=True)
