"""``brandvane mentions``: which brands does a text mention, why, and how well does the matcher agree with people's readings?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from brandvane.catalogue import Brand
from brandvane.catalogue_files.folder import read_brand_folder
from brandvane.cli.catalogue_output import FaultsFound, print_findings
from brandvane.cli.correct_commands import correct, corrections, export
from brandvane.cli.errors import CliError
from brandvane.cli.mentions_view import document_of, lines_of
from brandvane.cli.samples_command import samples
from brandvane.cli.view import say, say_json
from brandvane.mentions.agreement import Agreement, Judged, brand_ids
from brandvane.mentions.folding import fold_term
from brandvane.mentions.matcher import matcher_for

_FOLDER = click.option(
    "--catalogue", "folder", type=Path, required=True, metavar="DIR", help="Folder with brands.yaml or brands.csv."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")


@click.group()
def mentions() -> None:
    """See which brands an answer mentions, and why; put right what is wrong."""


for command in (correct, corrections, export, samples):
    mentions.add_command(command)


@mentions.command()
@_FOLDER
@click.option("--prompt", default="", help="The question that was answered.")
@click.option("--platform", default="", help="The platform that answered.")
@click.option("--colour/--no-colour", default=None, help="Mark with colours [default: on a terminal].")
@_JSON
def show(folder: Path, prompt: str, platform: str, colour: bool | None, as_json: bool) -> None:
    """Read an answer from standard input and print it with what it mentions: brands in green, what only looks like one in red,
    what the words do not decide in yellow; below, the reason for each."""
    brands = _brands(folder, as_json)
    text = _text(sys.stdin.buffer.read())
    reading = matcher_for(brands).read(text, prompt=prompt, platform=platform)
    if as_json:
        say_json(document_of(reading))
        return
    for line in lines_of(text, reading):
        click.echo(line, color=colour)


@mentions.command()
@_FOLDER
@click.option("--answers", type=Path, required=True, metavar="FILE", help="JSONL: id, answer, question.")
@click.option(
    "--truth",
    type=Path,
    required=True,
    metavar="FILE",
    help="JSONL: answer_id, brand, mentioned, count, first_offset, rank.",
)
@_JSON
def score(folder: Path, answers: Path, truth: Path, as_json: bool) -> None:
    """Compare the matcher with answers that people have read.

    Rows with doubtful: true are left out. A brand is named by its id, name or an alias; offsets count code points.
    """
    brands = _brands(folder, as_json)
    found = _compare(brands, _answers(answers), truth)
    if not found.pairs:
        raise CliError(
            f"{truth}: no row to compare that is not doubtful; write one for each pair of answer and brand", 2
        )
    document = found.to_document()
    if as_json:
        say_json(document)
        return
    mentioned = document["mentioned"]
    say(
        f"{document['pairs']:,} pairs of answer and brand",
        f"mentioned            precision {mentioned['precision']:.4f}  recall {mentioned['recall']:.4f}  F1 {mentioned['f1']:.4f}",
        *(f"{name.replace('_', ' '):<20} {document[name]:.4f}" for name in _SHARES),
        *(f"  {error['answer_id']} {error['brand']}: {wrong_text(error)}" for error in document["errors"]),
    )


def wrong_text(error: Mapping[str, Any]) -> str:
    """What was found and what people read, in words."""
    if error["what"] != "mentioned":
        return f"{error['what'].replace('_', ' ')} {error['found']}, should be {error['truth']}"
    if error["truth"]:
        return "not found, but people read it there"
    return f"found at character {error['found']}, but people do not read it there"


_SHARES = ("exact_counts", "exact_first_offsets", "exact_ranks", "no_rank_where_none")


def _answers(path: Path) -> dict[str, tuple[str, str]]:
    """Answer and question by id."""
    texts: dict[str, tuple[str, str]] = {}
    for row, where in _rows(path, "--answers"):
        name = _field(row, "id", str, where)
        if name in texts:
            raise CliError(f"{where}: a second answer with the id '{name}'; remove one, or give it another id", 2)
        question = "" if row.get("question") is None else _field(row, "question", str, where)
        texts[name] = _field(row, "answer", str, where), question
    return texts


def _compare(brands: tuple[Brand, ...], texts: dict[str, tuple[str, str]], truth: Path) -> Agreement:
    ids, matcher = brand_ids(brands), matcher_for(brands)
    found = Agreement()
    last, reading = "", matcher.read("")
    for row, where in _rows(truth, "--truth"):
        judged = _judged(row, where)
        if judged.answer_id not in texts:
            raise CliError(
                f"{where}: answer_id '{judged.answer_id}' is not in --answers; add it there or remove the row", 2
            )
        brand = ids.get(fold_term(judged.brand))
        if brand is None:
            raise CliError(
                f"{where}: brand '{judged.brand}' is not in the catalogue; add it there or remove the row", 2
            )
        if judged.answer_id != last:
            text, prompt = texts[judged.answer_id]
            last, reading = judged.answer_id, matcher.read(text, prompt=prompt)
        found.add(judged, reading, brand)
    return found


def _judged(row: dict[str, Any], where: str) -> Judged:
    return Judged(
        answer_id=_field(row, "answer_id", str, where),
        brand=_field(row, "brand", str, where),
        mentioned=_field(row, "mentioned", bool, where),
        count=_from(0, row, "count", where),
        first_offset=None if row.get("first_offset") is None else _from(0, row, "first_offset", where),
        rank=None if row.get("rank") is None else _from(1, row, "rank", where),
        doubtful=row.get("doubtful") is not None and _field(row, "doubtful", bool, where),
    )


def _from(least: int, row: dict[str, Any], name: str, where: str) -> int:
    value: int = _field(row, name, int, where)
    if value < least:
        raise CliError(f"{where}: {name} is {value}; write a whole number from {least}", 2)
    return value


def _field(row: dict[str, Any], name: str, kind: type, where: str) -> Any:
    value = row.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        wanted = {str: "a text", int: "a whole number", bool: "true or false"}[kind]
        raise CliError(f"{where}: {name} is missing or not {wanted}; write it as {wanted}", 2)
    return value


def _rows(path: Path, option: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The rows of a JSONL file, each with what an error message calls it."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CliError(f"{path}: cannot be read ({reason}); {option} names a JSONL file", 2) from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, row {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise CliError(f"{where}: not JSON; write one object on each line", 2) from None
        if not isinstance(row, dict):
            raise CliError(f"{where}: not a JSON object; write one on each line", 2)
        yield row, where


def _brands(folder: Path, as_json: bool) -> tuple[Brand, ...]:
    read = read_brand_folder(folder)
    if read.faults:
        raise FaultsFound(read.faults, read.warnings, as_json=as_json, consequence="nothing was read")
    print_findings(read.warnings, "warning")
    return read.brands


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CliError(f"standard input: not UTF-8 at byte {error.start}; save the answer as UTF-8", 2) from None
