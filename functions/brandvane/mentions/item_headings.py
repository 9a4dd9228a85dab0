"""What is the heading of a list's item: the bold words, the label before a colon or dash, or the whole of a short line?"""

from __future__ import annotations

import re

LABEL_MAX = 100  # code points of an item's label
_SHORT_MAX = 60  # of an item that is all heading
_SEPARATOR = re.compile(
    r"(?<![0-9])[:：]|[:：](?![0-9])|[ \t][-\u2013\u2014\uff5e~][ \t]|\u2014|\u2013(?![0-9])|[ \t]-(?=[^\s0-9-])"
)
STOPS = re.compile(r"[。！？；!?;]|(?<!\bInc)(?<!\bCo)(?<!\bCorp)(?<!\bLtd)(?<!\bNo)(?<!\bvs)\.(?=\s)")
BOLD = re.compile(r"(?:\*\*|__)(.{1,120}?)(?:\*\*|__)")
_COMMA = re.compile(r"[,，、(（]")
STRAY = re.compile(r"(?:\[[^\[\]\n]{1,20}\](?!\()[ \t]*)?")


def heading_of(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of an item's heading within its line: bold lead, label before a separator, or a short line as a whole.

    Empty (``start, start``) where the line is a sentence that heads nothing.
    """
    stray = STRAY.match(text, start, end)
    start = stray.end() if stray else start
    bold = BOLD.match(text, start, end)
    if bold:
        return bold.span(1)
    label = label_end(text, start, end)
    if label > start:
        return start, label
    rest = text[start:end].rstrip(" \t.")
    if len(rest) <= _SHORT_MAX and not STOPS.search(rest) and "，" not in rest:
        return start, start + len(rest)
    comma = _COMMA.search(text, start, min(end, start + 40))
    lead = text[start : comma.start()].strip() if comma else ""
    return (start, start + len(lead)) if lead and len(lead.split()) < 4 and lead[-1] not in ".。" else (start, start)


def label_end(text: str, start: int, end: int) -> int:
    """Where the label before a separator ends; ``start`` where there is none."""
    limit = min(end, start + LABEL_MAX + 3)
    depth = 0
    at = start
    for found in _SEPARATOR.finditer(text, start, limit):
        for character in text[at : found.start()]:
            depth += (character in "(（[") - (character in ")）]")
        at = found.start()
        if depth > 0:
            continue
        return start if STOPS.search(text, start, at) else at
    return start
