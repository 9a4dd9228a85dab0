"""Which parts of the overview stand out on a terminal? Colours only; the text stays what it is, and a pipe gets it plain."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.text import Text

ALL_WELL = "nothing rings, nothing is stuck"
_HEADS = re.compile(r"(?:alarms|stuck|runs|platforms|queues|today)\b")
_COLUMNS = re.compile(r"\s+(?:run|platform|queue)\s{2,}")
_BAD = re.compile(r"\b(?:paused|breaker|no worker|\S+ \S+ late|over|cancelled|brandvane dead-letters redrive \S+)$")
_DOUBTFUL = re.compile(r"\b(?:slowed|some paused|waits)$")
BAD, DOUBTFUL, GOOD, HEAD, COLUMNS = "bold red", "yellow", "green", "bold", "dim"


def styled(lines: Sequence[str]) -> Text:
    """The screen's lines, joined; ``lines`` as ``overview_lines`` makes them."""
    section, screen = "", []
    for place, line in enumerate(lines):
        head = None if place < 2 else _HEADS.match(line)
        section = head.group() if head else section
        screen.append(_line(line, place, section, heads=head is not None))
    return Text("\n").join(screen)


def _line(line: str, place: int, section: str, *, heads: bool) -> Text:
    if place == 0:
        return Text(line, style=HEAD)
    if place == 1:
        return Text(line, style=GOOD if line == ALL_WELL else BAD)
    if heads:
        shown = Text(line)
        shown.stylize(HEAD, 0, len(section))
        return shown
    if section in ("alarms", "stuck"):  # only what rings or is stuck is listed below these
        return Text(line, style=BAD)
    if _COLUMNS.match(line):
        return Text(line, style=COLUMNS)
    shown = Text(line)
    shown.highlight_regex(_BAD, BAD)
    shown.highlight_regex(_DOUBTFUL, DOUBTFUL)
    return shown
