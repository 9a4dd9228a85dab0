"""``brandvane run report | results``: does what a run has found arrive as files?"""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from brandvane.answer import pack
from brandvane.cli.run_commands import run
from brandvane.result import row_of
from brandvane.run import RunState
from brandvane.task import Outcome, State
from builders import NOW, answer, catalogue, placed, run_of, tasks_of
from operator_desk import Office, laid_out, office

GIVEN = catalogue(questions=3)
PREFIX = "reports/day/pass-1/"
FILES = {
    "report.html": b"<html>report</html>",
    "results.csv": b"run_id\r\nday\r\n",
    "figures.csv": b"role,brand\r\n",
    "results.jsonl.gz": gzip.compress(b'{"run_id":"day"}\n'),
}


def _reported() -> Office:
    here = office(GIVEN)
    laid_out(here, run_of(GIVEN, "day", state=RunState.REPORTED, report_prefix=PREFIX), GIVEN)
    here.world.blobs.objects.update({PREFIX + name: body for name, body in FILES.items()})
    return here


def _open(*ended: Outcome | State, **fields: Any) -> Office:
    here = office(GIVEN)
    made = run_of(GIVEN, "day", **fields)
    laid_out(here, made, GIVEN, *ended)
    task = placed(tasks_of(made, GIVEN)[0], State.DONE, answer=pack(answer("Acme, then =Zeta.")))
    asyncio.run(here.world.results.put(row_of(task, NOW)))
    return here


def test_the_report_is_written_to_the_file(tmp_path: Path) -> None:
    result = _reported().say(run, "report", "day", "--output", str(tmp_path / "out.html"))

    assert result.exit_code == 0
    assert (tmp_path / "out.html").read_bytes() == FILES["report.html"]
    assert result.stderr == f"{tmp_path / 'out.html'}: 19 bytes\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]


def test_without_a_name_the_report_is_called_after_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert _reported().say(run, "report", "day").exit_code == 0
    assert (tmp_path / "day.html").read_bytes() == FILES["report.html"]


def test_the_figures_of_a_report_are_had_as_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert _reported().say(run, "report", "day", "--figures").exit_code == 0
    assert (tmp_path / "day-figures.csv").read_bytes() == FILES["figures.csv"]


def test_a_dash_writes_to_stdout() -> None:
    result = _reported().say(run, "report", "day", "--output", "-")

    assert result.stdout_bytes == FILES["report.html"]
    assert result.stderr == ""


def test_a_run_without_a_report_says_its_state() -> None:
    result = _open().say(run, "report", "day")

    assert result.exit_code == 1
    assert result.stderr.startswith("brandvane: run day has no report: it is OPEN")


def test_a_report_that_has_been_removed_is_said_to_be() -> None:
    here = _reported()
    here.world.blobs.objects.clear()

    result = here.say(run, "report", "day", "--output", "-")

    assert result.exit_code == 1
    assert "s3://data/reports/day/pass-1/report.html is not there any more" in result.stderr


def test_a_file_that_cannot_be_written_is_wrong_input(tmp_path: Path) -> None:
    result = _reported().say(run, "report", "day", "--output", str(tmp_path / "none" / "out.html"))

    assert result.exit_code == 2
    assert "cannot be written (No such file or directory)" in result.stderr


@pytest.mark.parametrize(
    ("name", "words", "holds"),
    [
        ("out.csv", (), FILES["results.csv"]),
        ("out.jsonl", (), b'{"run_id":"day"}\n'),
        ("out.dat", (), FILES["results.csv"]),
        ("out.dat", ("--format", "jsonl"), b'{"run_id":"day"}\n'),
    ],
)
def test_results_come_in_the_format_of_the_files_name_or_as_asked(
    tmp_path: Path, name: str, words: tuple[str, ...], holds: bytes
) -> None:
    assert _reported().say(run, "results", "day", "--output", str(tmp_path / name), *words).exit_code == 0
    assert (tmp_path / name).read_bytes() == holds


def test_results_for_a_gz_file_are_packed(tmp_path: Path) -> None:
    _reported().say(run, "results", "day", "--output", str(tmp_path / "out.jsonl.gz"))

    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == b'{"run_id":"day"}\n'


def test_results_before_the_report_are_those_that_there_are() -> None:
    result = _open(State.PENDING, Outcome.EXPIRED).say(run, "results", "day", "--output", "-", "--format", "jsonl")

    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.stderr == "run day is OPEN: 2 results of 3\n"
    assert sorted((row["outcome"], tuple(row["brands"])) for row in rows) == [
        ("expired", ()),
        ("ok", ("acme", "zeta")),
    ]
    assert {row["question"].startswith("Which maker is number") for row in rows} == {True}


def test_results_of_a_cancelled_run_can_be_had_as_a_table() -> None:
    here = _open(state=RunState.CANCELLED, cancelled_at=NOW, swept=True)

    result = here.say(run, "results", "day", "--output", "-")

    rows = list(csv.DictReader(io.StringIO(result.stdout_bytes.decode("utf-8-sig"))))
    assert [(row["outcome"], row["brands"], row["answer_start"]) for row in rows] == [
        ("ok", "acme zeta", "Acme, then =Zeta.")
    ]


def test_results_without_a_files_name_are_named_after_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _reported().say(run, "results", "day").exit_code == 0
    assert _reported().say(run, "results", "day", "--format", "jsonl").exit_code == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["day-results.csv", "day-results.jsonl"]
