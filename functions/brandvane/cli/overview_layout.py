"""How are lines of a screen laid out: wrapped, cut, indented, and figures in few cells?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from brandvane.cli.overview import Overview
from brandvane.cli.view import table

WIDE = 120
INDENT = "  "


def share_text(value: float | None) -> str:
    """A share (0 to 1) as per cent, never rounded up to 100; ``-`` where there is none."""
    return "-" if value is None else f"{math.floor(value * 1000) / 10:.1f}%" if value < 1 else "100%"


def seconds_text(value: float | None) -> str:
    """Seconds with one decimal; ``-`` where there are none."""
    return "-" if value is None else f"{value:.1f}s"


def clock_text(at: float, found: Overview) -> str:
    """``06:30``, with the date when it is another day."""
    zone = ZoneInfo(found.time_zone)
    moment, today = datetime.fromtimestamp(at, zone), datetime.fromtimestamp(found.at, zone)
    return f"{moment:%H:%M}" if moment.date() == today.date() else f"{moment:%m-%d %H:%M}"


def indented_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int]) -> list[str]:
    """Rows below a header, indented; ``right``: columns of figures."""
    return [INDENT + line for line in table(header, rows, right)]


def wrapped(texts: Any, width: int | None) -> list[str]:
    """Sentences, each on as many lines as it needs."""
    if width is None:
        return [INDENT + text for text in texts]
    console, lines = Console(width=width), []
    for text in texts:
        parts = [str(part).rstrip() for part in Text(text).wrap(console, max(width - 2 * len(INDENT), 10))]
        lines += [INDENT * (1 + (place > 0)) + part for place, part in enumerate(parts)]
    return lines


def cut(line: str, width: int | None) -> str:
    """A line of at most ``width`` cells; what is left out is shown by an ellipsis."""
    if width is None or cell_len(line) <= width:
        return line
    return set_cell_size(line, width - 1).rstrip() + "…"
