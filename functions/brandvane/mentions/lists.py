"""Which lists does an answer hold, and where is the heading of each item? Numbered, bulleted, unmarked, tables, headed sections."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from brandvane.mentions.item_headings import BOLD, STOPS, STRAY, heading_of, label_end
from brandvane.mentions.lines import Line, LineKind, value_of

_STEP = re.compile(r"(?:step|phase|day|week)[ \t]?[0-9]|第[一二三四五六七八九十0-9]+[步天周]", re.IGNORECASE)
_RANK_HEAD = re.compile(r"[ \t*]*(?:rank(?:ing)?|position|排名|名次|排行|位次)[ \t*]*", re.IGNORECASE)
_NUMBER_HEAD = re.compile(r"[ \t*]*(?:\#|no\.?|nr\.?|№|序号|编号)[ \t*]*", re.IGNORECASE)  # only at the row's begin
_PLACE = re.compile(
    r"[ \t*]*(?:[^0-9|]{0,20}(?P<digits>[0-9]{1,3})|第?(?P<chinese>[一二三四五六七八九十]{1,3})[名位]?[ \t*]*$)"
)
_CIRCLED = re.compile("[\u2460-\u2473\u2776-\u277f\u2780-\u2793]")


class ListKind(StrEnum):
    """How a list is written."""

    NUMBERED = "numbered"
    BULLETED = "bulleted"
    UNMARKED = "unmarked"
    TABLE = "table"
    HEADED = "headed"


@dataclass(frozen=True, slots=True)
class Item:
    """An item: its ordinal (1-based) and the span of its heading; ``line`` is the number of its line, ``step`` a stage."""

    ordinal: int
    start: int
    end: int
    line: int
    step: bool = False


@dataclass(slots=True)
class ItemList:
    """A list; ``parent`` is the list in whose item it stands."""

    kind: ListKind
    style: str = ""
    indent: int = 0
    items: list[Item] = field(default_factory=list)
    last: int = 0
    parent: ItemList | None = None


def lists_of(text: str, lines: list[Line]) -> list[ItemList]:
    """All lists, in the order of their first items; linear in the text."""
    return [*_marked(text, lines), *_unmarked(text, lines), *_tables(text, lines), *_headed(lines)]


def _marked(text: str, lines: list[Line]) -> list[ItemList]:
    found: list[ItemList] = []
    open_lists: list[ItemList] = []
    loose: list[ItemList] = []  # bullets after a paragraph: nested if the numbers go on behind them
    broken = False
    for index, line in enumerate(lines):
        if line.kind in (LineKind.HEADING, LineKind.ROW, LineKind.RULE):
            broken = True
            if line.level and line.level <= 6:
                open_lists, loose = [], []
            continue
        if line.kind is LineKind.PROSE:
            broken = broken or (line.gap and (not open_lists or line.indent <= open_lists[0].indent + 1))
            continue
        if line.style.startswith("bullet"):
            current = _bullets(line, open_lists, broken, loose)
        else:
            current = _numbers(line, open_lists, broken, loose)
        if not current.items:
            found.append(current)
        ordinal = (
            len(current.items) + 1 if current.kind is ListKind.BULLETED or _repeats(current, line) else line.number
        )
        end = line.end
        more = _on_the_line(text, line) if line.style == "circled" else []
        if more:
            end = more[0].start()
        begins, ends = heading_of(text, line.content, end)
        current.items.append(Item(ordinal, begins, ends, index, bool(_STEP.match(text, line.content, line.end))))
        current.last = line.number
        for at, mark in enumerate(more):
            until = more[at + 1].start() if at + 1 < len(more) else line.end
            current.last += 1
            current.items.append(Item(current.last, *heading_of(text, mark.end(), until), index))
        broken = False
    return found


def _on_the_line(text: str, line: Line) -> list[re.Match[str]]:
    """The markers within a line that count on from its own: ①Sony②Bose."""
    found: list[re.Match[str]] = []
    for mark in _CIRCLED.finditer(text, line.content, line.end):
        if value_of(mark[0]) == line.number + len(found) + 1:
            found.append(mark)
    return found


def _repeats(current: ItemList, line: Line) -> bool:
    """Is each item numbered 1, as those write who leave the counting to the renderer?"""
    return line.number == 1 and current.last == 1 and bool(current.items)


def _numbers(line: Line, open_lists: list[ItemList], broken: bool, loose: list[ItemList]) -> ItemList:
    for depth in range(len(open_lists) - 1, -1, -1):
        known = open_lists[depth]
        goes_on = line.number == known.last + 1 or (line.number == known.last == 1)
        if known.style == line.style and abs(known.indent - line.indent) < 2 and goes_on:
            del open_lists[depth + 1 :]
            for bullets in loose:
                bullets.parent = known
            loose.clear()
            return known
    while open_lists and not _inside(open_lists[-1], line, broken):
        open_lists.pop()
    parent = open_lists[-1] if open_lists else None
    current = ItemList(ListKind.NUMBERED, line.style, line.indent, parent=parent)
    open_lists.append(current)
    return current


def _bullets(line: Line, open_lists: list[ItemList], broken: bool, loose: list[ItemList]) -> ItemList:
    for depth in range(len(open_lists) - 1, -1, -1):
        known = open_lists[depth]
        if known.style == line.style and abs(known.indent - line.indent) < 2 and not broken:
            del open_lists[depth + 1 :]
            return known
    numbered = [known for known in open_lists if known.kind is ListKind.NUMBERED]
    while open_lists and not _inside(open_lists[-1], line, broken):
        if open_lists[-1].kind is ListKind.NUMBERED:
            break  # its numbers may still go on
        open_lists.pop()
    top = open_lists[-1] if open_lists else None
    current = ItemList(
        ListKind.BULLETED, line.style, line.indent, parent=top if top and _inside(top, line, broken) else None
    )
    if current.parent is None and numbered:
        loose.append(current)
    open_lists.append(current)
    return current


def _inside(outer: ItemList, line: Line, broken: bool) -> bool:
    """Does the line begin a list within an item of ``outer``: further to the right, or another marker right behind it?"""
    if line.indent >= outer.indent + 2:
        return True
    if line.indent < outer.indent - 1 or broken:
        return False
    return outer.kind is ListKind.NUMBERED and outer.style != line.style


def _unmarked(text: str, lines: list[Line]) -> list[ItemList]:
    found = []
    at = 0
    while at < len(lines):
        lead = _leads_in(text, lines[at])
        at += 1
        if not lead:
            continue
        current = ItemList(ListKind.UNMARKED)
        first = at
        while at < len(lines) and (span := _unmarked_item(text, lines, at, first)):
            current.items.append(Item(len(current.items) + 1, *span, at))
            at += 1
        if len(current.items) > 1 and not (at < len(lines) and lines[at].kind is LineKind.ITEM):
            found.append(current)
    return found


def _leads_in(text: str, line: Line) -> bool:
    return line.kind in (LineKind.PROSE, LineKind.HEADING) and text[: line.end].endswith(
        (":", "：", ":**", "：**"), line.start
    )


def _unmarked_item(text: str, lines: list[Line], at: int, first: int) -> tuple[int, int] | None:
    line = lines[at]
    if line.kind is not LineKind.PROSE or (line.end - line.content > 2000):
        return None
    stray = STRAY.match(text, line.content, line.end)
    start = stray.end() if stray else line.content
    bold = BOLD.match(text, start, line.end)
    if bold:
        return bold.span(1)
    label = label_end(text, start, line.end)
    if label > start:
        return start, label
    short = text[start : line.end].rstrip()
    # Short lines of a run follow each other without a gap; what comes after one is prose again.
    if len(short) <= 30 and not STOPS.search(short) and short[-1] not in ".,，、" and (at == first or not line.gap):
        return start, start + len(short)
    return None


def _tables(text: str, lines: list[Line]) -> list[ItemList]:
    found = []
    for at, line in enumerate(lines):
        if line.kind is not LineKind.RULE or at == 0 or lines[at - 1].kind is not LineKind.ROW:
            continue
        column = _rank_column([text[slice(*head)] for head in _cells(text, lines[at - 1])])
        if column is None:
            continue  # rows of a table without a column of ranks are in no order
        current = ItemList(ListKind.TABLE)
        for index in range(at + 1, len(lines)):
            if lines[index].kind is not LineKind.ROW or lines[index].gap:
                break
            cells = _cells(text, lines[index])
            place = _PLACE.match(text[slice(*cells[column])]) if len(cells) > max(1, column) else None
            if place:
                named = cells[0 if column else 1]
                current.items.append(Item(value_of(place["digits"] or place["chinese"]), *named, index))
        if current.items:
            found.append(current)
    return found


def _rank_column(heads: list[str]) -> int | None:
    """The number of the column that ranks the rows; a mere number ranks them where it comes first, as in a list."""
    for column, head in enumerate(heads):
        if _RANK_HEAD.fullmatch(head) or (column == 0 and _NUMBER_HEAD.fullmatch(head)):
            return column
    return None


def _cells(text: str, line: Line) -> list[tuple[int, int]]:
    start = line.content + (text[line.content] == "|")
    cells = []
    while start < line.end:
        end = text.find("|", start, line.end)
        end = line.end if end < 0 else end
        cells.append((start, end))
        start = end + 1
    return cells


def _headed(lines: list[Line]) -> list[ItemList]:
    """Headings of one level that follow each other; whether they name brands is for the ranking to see."""
    found: dict[int, ItemList] = {}
    for index, line in enumerate(lines):
        if line.kind is LineKind.HEADING and line.level < 8:
            current = found.setdefault(line.level, ItemList(ListKind.HEADED))
            current.items.append(Item(len(current.items) + 1, line.content, line.end, index))
    return [current for current in found.values() if len(current.items) > 2]
