"""Results as JSON lines and as a table; no cell may become a formula."""

from __future__ import annotations

import csv
import io
import json

import pytest

from brandvane.report.export import CSV_COLUMNS, Table, guarded, instant, line
from unit.scored_samples import answer, row


def read(table: Table) -> list[dict[str, str]]:
    """The table as a spreadsheet program reads it."""
    return list(csv.DictReader(io.StringIO(table.packed().decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_a_cell_that_could_begin_a_formula_gets_an_apostrophe(first: str) -> None:
    assert guarded(f"{first}1+1") == f"'{first}1+1"


@pytest.mark.parametrize("cell", ["", "plain", "a=1", "'=1", " =1"])
def test_any_other_cell_is_left_alone(cell: str) -> None:
    assert guarded(cell) == cell


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ("a;=1+1", "a;'=1+1"),
        ("a; -1", "a; '-1"),
        ('a;"=1+1"', 'a;"\'=1+1"'),
        ("a\t@sum", "a\t'@sum"),
        ("a\n＝1", "a\n'＝1"),
        ("=a;=b", "'=a;'=b"),
        ("a; b=1", "a; b=1"),
        ("well-known, +5 %", "well-known, +5 %"),
    ],
)
def test_a_formula_behind_another_separator_gets_an_apostrophe_too(cell: str, safe: str) -> None:
    assert guarded(cell) == safe


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_separator_the_program_goes_by(delimiter: str) -> None:
    table = Table()
    said = "x;=cmd|'/C calc'!A0;\"=1+1\";\t=2+2\n=3+3"
    table.add(row("x"), answer(said), f"q,{said}", [], said)
    read = csv.reader(io.StringIO(table.packed().decode("utf-8-sig"), newline=""), delimiter=delimiter)
    cells = [cell.strip('" ') for cells in read for cell in cells]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_texts_stand_in_quotes_and_numbers_do_not() -> None:
    table = Table()
    table.add(row("x"), answer("x"), "q", [], "")
    line = table.packed().decode().splitlines()[1]
    assert line.endswith(',1.500,1,0,0,0.000250,"","x"')


def test_the_table_begins_with_a_byte_order_mark_and_its_columns() -> None:
    assert Table().packed() == b"\xef\xbb\xbf" + ",".join(f'"{name}"' for name in CSV_COLUMNS).encode() + b"\r\n"


def test_an_answer_that_looks_like_a_formula_is_guarded_in_the_table() -> None:
    table = Table()
    table.add(row("x"), answer('=HYPERLINK("https://evil.example","x")'), "@sum", [], "-cmd")
    cells = read(table)[0]
    assert cells["answer_start"] == '\'=HYPERLINK("https://evil.example","x")'
    assert cells["question"] == "'@sum"
    assert cells["unreadable"] == "'-cmd"


def test_an_answer_over_several_lines_stays_in_one_cell_on_one_line() -> None:
    table = Table()
    table.add(row("x"), answer('a,"b"\r\nc\x00d'), "q", ["oolong", "sencha"], "")
    cells = read(table)
    assert len(cells) == 1
    assert cells[0]["answer_start"] == 'a,"b" c\ufffdd'
    assert cells[0]["brands"] == "oolong sencha"


def test_the_table_holds_the_beginning_of_a_long_answer() -> None:
    table = Table()
    table.add(row("x"), answer("煎" * 1000), "q", [], "")
    assert read(table)[0]["answer_start"] == "煎" * 200


def test_half_a_surrogate_pair_does_not_break_the_table() -> None:
    table = Table()
    table.add(row("x"), answer("a\ud83db"), "q", [], "")
    assert read(table)[0]["answer_start"] == "a?b"


def test_a_result_without_an_answer_has_empty_cells() -> None:
    table = Table()
    table.add(row(None), None, "q", [], "")
    cells = read(table)[0]
    assert (cells["served_model"], cells["latency_s"], cells["cost_usd"], cells["answer_start"]) == ("", "", "", "")


def test_a_line_carries_the_answer_and_the_facts_of_the_call() -> None:
    document = json.loads(json.dumps(line(row("x"), answer("x"), "q", ["oolong"], "")))
    assert document["answer"]["text"] == "x"
    assert document["answer"]["cost_microusd"] == 250
    assert document["answer"]["latency_s"] == 1.5
    assert document["brands"] == ["oolong"]
    assert document["unreadable"] is None
    assert document["paid_calls"] == 1


def test_a_line_without_an_answer_says_why() -> None:
    assert line(row(None), None, "q", [], "gone")["unreadable"] == "gone"
    assert line(row(None), None, "q", [], "gone")["answer"] is None


def test_an_instant_is_utc_with_milliseconds() -> None:
    assert instant(0.0) == "1970-01-01T00:00:00.000Z"
    assert instant(None) is None
