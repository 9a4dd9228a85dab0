"""What does a table from a spreadsheet hold? Its rows become the same nodes that YAML gives.

Separated by comma, semicolon or tab; cells may be quoted and span lines. Lists in a cell are separated by ``|`` ``;`` ``；`` ``、``
``，``, or by commas where the cell has none of those; a comma before "Inc." or inside a number is a piece of the name.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from brandvane.catalogue_files.faults import Findings, did_you_mean
from brandvane.catalogue_files.nodes import ListNode, MapNode, Node, Scalar

DELIMITERS = (",", ";", "\t")
_LIST = re.compile(r"[|;、；｜，]")
_FORM = r"(?:inc|incorporated|ltd|limited|llc|llp|lp|plc|co|company|corp|corporation|gmbh|ag|kg|s\.?a|n\.?v|b\.?v|pty)"
_COMMA = re.compile(rf"(?<![0-9]),(?!\s*{_FORM}\b)|,(?![0-9]|\s*{_FORM}\b)", re.IGNORECASE)
_DECLARATION = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # Excel's own first line


@dataclass(frozen=True, slots=True)
class Columns:
    """A table's columns: field by header name (folded, in any language), which fields are lists, and which must be there."""

    fields: Mapping[str, str]
    lists: frozenset[str]
    required: tuple[str, ...]

    @classmethod
    def of(cls, headers: Mapping[str, str], *, lists: str, required: str) -> Columns:
        """From field -> its other headers; all names are separated by spaces."""
        fields = {_folded(header): field for field, others in headers.items() for header in (field, *others.split())}
        return cls(fields, frozenset(lists.split()), tuple(required.split()))


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    cells: tuple[str, ...]


def read_csv(text: str, columns: Columns, file: str, findings: Findings) -> ListNode | None:
    """One mapping a row, holding its cells that are not empty; None with a fault when the columns are not clear."""
    rows = _rows(text, columns, file, findings)
    if not rows:
        if findings.readable(file):
            findings.fault(file, "the file is empty", "Its first row must name the columns, such as id and name")
        return None
    header, names = rows[0], _header(rows[0], columns, file, findings)
    if not set(columns.required) <= set(names):
        return None
    records = tuple(_record(row, names, columns, file, findings) for row in rows[1:])
    _warn_of_commas(rows[1:], names, columns, file, findings)
    return ListNode(records, header.number)


def _rows(text: str, columns: Columns, file: str, findings: Findings) -> list[_Row]:
    skipped = 0
    declared = _DECLARATION.match(text)
    if declared is not None:
        text, skipped = text[declared.end() :], 1
    delimiter = declared.group(1) if declared is not None else _delimiter(text, columns)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    rows: list[_Row] = []
    number = 1 + skipped
    try:
        for cells in reader:
            stripped = tuple(cell.strip().replace("\r\n", "\n").replace("\r", "\n") for cell in cells)
            if any(stripped):
                rows.append(_Row(number, stripped))
            number = reader.line_num + 1 + skipped
    except csv.Error as error:
        message, remedy = str(error), "Quote the cell, and double the quotes inside it"
        if "unexpected end" in message:
            message = "a quote that opens in this row is never closed"
        findings.fault(file, f"not valid CSV: {message}", remedy, row=number)
        findings.unreadable(file)
    return rows


def _delimiter(text: str, columns: Columns) -> str:
    """The one that yields most known columns."""
    first = next((line for line in text.splitlines() if line.strip()), "")

    def known(delimiter: str) -> int:
        try:
            cells = next(csv.reader([first], delimiter=delimiter, skipinitialspace=True), [])
        except csv.Error:  # a field that is longer than any may be: the reading itself complains, with its row
            return 0
        return sum(_folded(cell) in columns.fields for cell in cells)

    return max(DELIMITERS, key=known)  # the comma where none does better


def _folded(header: str) -> str:
    return "".join(unicodedata.normalize("NFKC", header).casefold().split()).replace("_", "").replace("-", "")


def _header(row: _Row, columns: Columns, file: str, findings: Findings) -> list[str | None]:
    names: list[str | None] = []  # None: a column that was complained about; "": one without a name
    for cell in row.cells:
        name = columns.fields.get(_folded(cell)) if cell else ""
        if name is None:
            known = ", ".join(dict.fromkeys(columns.fields.values()))
            remedy = did_you_mean(cell, columns.fields, f"Columns are: {known}")
            findings.fault(file, "unknown column", remedy, row=row.number, field=cell)
        elif name and name in names:
            findings.fault(file, f"a second column for {name}", "Remove one", row=row.number, field=cell)
            name = None
        names.append(name)
    if missing := [name for name in columns.required if name not in names]:
        findings.fault(
            file,
            f"no column {' and no column '.join(missing)}",
            f"The first row must name the columns, among them {' and '.join(columns.required)}",
            row=row.number,
        )
    return names


def _record(row: _Row, names: list[str | None], columns: Columns, file: str, findings: Findings) -> MapNode:
    entries: list[tuple[Scalar, Node]] = []
    for place, cell in enumerate(row.cells):
        if not cell:
            continue
        if place >= len(names):
            findings.fault(
                file,
                f"{len(row.cells)} cells, but the header names {len(names)} columns",
                "Quote cells that contain the separator, or remove the surplus",
                row=row.number,
                value=cell,
            )
            break
        name = names[place]
        if name is None:
            continue
        if not name:
            remedy = "Name the column in the first row, or empty the cell"
            findings.fault(file, "a cell in a column without a name", remedy, row=row.number, value=cell)
            continue
        node: Node = Scalar(cell, row.number, plain=False)
        if name in columns.lists:
            node = ListNode(tuple(Scalar(part.strip(), row.number, plain=False) for part in _parts(cell)), row.number)
        entries.append((Scalar(name, row.number), node))
    return MapNode(tuple(entries), row.number)


def _parts(cell: str) -> list[str]:
    """The items of a list in a cell."""
    return (_LIST if _LIST.search(cell) else _COMMA).split(cell)


def _warn_of_commas(rows: list[_Row], names: list[str | None], columns: Columns, file: str, findings: Findings) -> None:
    """A comma may separate or be a piece of a name: tell once where it was taken for the one, and each time for the other."""
    told = False
    for row in rows:
        for name, cell in zip(names, row.cells, strict=False):
            if name not in columns.lists or "," not in cell:
                continue
            for part in _parts(cell):
                if "," in part:
                    message, remedy = "the comma counts as a piece of this item", "To separate there, write | instead"
                    findings.warn(file, message, remedy, row=row.number, field=name or "", value=part.strip())
            if name == "aliases" and not told and len(_parts(cell)) > 1 and not _LIST.search(cell):
                told = True
                message, remedy = "separated at its commas", "Where a name itself has a comma, separate with | instead"
                findings.warn(file, message, remedy, row=row.number, field=name, value=cell)
