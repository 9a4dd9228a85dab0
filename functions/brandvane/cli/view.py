"""How are tables, amounts and questions put to people? Plain columns that a pipe gets uncut, and JSON for scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click
from rich.cells import cell_len

from brandvane.cli.errors import CliError, writable

GAP = "  "
SHOWN_MAX = 300


def table(header: Sequence[str], rows: Sequence[Sequence[object]], right: frozenset[int] = frozenset()) -> list[str]:
    """Lines of aligned columns; ``right`` are those of numbers. Wide characters count as two."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(cell_len(row[column]) for row in cells) for column in range(len(header))]
    return [
        GAP.join(_padded(cell, widths[column], column in right) for column, cell in enumerate(row)).rstrip()
        for row in cells
    ]


def _padded(cell: str, width: int, right: bool) -> str:
    fill = " " * (width - cell_len(cell))
    return fill + cell if right else cell + fill


def say(*lines: str) -> None:
    """Print lines."""
    for line in lines:
        click.echo(writable(line))


def say_json(document: Any) -> None:
    """Print a JSON document."""
    click.echo(writable(json.dumps(document, ensure_ascii=False, indent=2)))


def json_line(document: Any) -> str:
    """A JSON document on one line, for streams of them."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def dollars(usd: float) -> str:
    """``$12.30``; small amounts with as many places as they need."""
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def number(count: int, one: str, many: str | None = None) -> str:
    """``1 task``, ``2 tasks``, ``12,000 tasks``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def shown(text: str) -> str:
    """Somebody else's text on one line: control characters escaped, cut."""
    flat = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return flat if len(flat) <= SHOWN_MAX else flat[: SHOWN_MAX - 1] + "…"


def ask(question: str, *, yes: bool, interactive: bool) -> None:
    """Go on only when somebody says so, here or by ``--yes``.

    Raises:
        CliError: nobody is there to be asked (2), or the answer is no (1).
    """
    if yes:
        return
    if not interactive:
        raise CliError(f"{question} Nobody is here to answer: say --yes", 2)
    if not click.confirm(question, default=False, err=True):
        raise CliError("nothing was done")
