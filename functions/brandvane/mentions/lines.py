"""What is each line of an answer: a heading, an item of a list (with which marker and number), a row of a table, or prose?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CHINESE = "零〇一二三四五六七八九十两"
_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_INDENT = re.compile(r"[ \t\u3000]*(?:>[ \t]?){0,5}[ \t]*")
_HASHES = re.compile(r"#{1,6}[ \t]+")
_BULLET = re.compile(
    r"(?:[-*+\u2013\u2014][ \t]+|[\u2022\u00b7\u25cf\u25cb\u25aa\u25e6\u2023\u25a0\u25c6\u2705\u2714]\ufe0f?[ \t]*)"
)
_BOLD = re.compile(r"(?:\*\*|__)?")
_NUMBER = re.compile(
    rf"""(?:
        (?P<dot>[0-9０-９]{{1,3}})[ \t]?(?:[.．](?![0-9])|、)
      | (?P<colon>[0-9]{{1,3}})[:：](?![0-9])
      | (?P<paren>[0-9０-９]{{1,3}})[)）]
      | [(（【](?P<closed>[0-9０-９]{{1,3}}|[{_CHINESE}]{{1,3}})[)）】]
      | (?P<keycap>[0-9])\ufe0f?\u20e3
      | (?P<chinese>[{_CHINESE}]{{1,3}})[、.．]
      | (?P<circled>[\u2460-\u2473\u2776-\u277f\u2780-\u2793])
      | (?:top|no\.?|number|rank|option|\#)[ \t]?(?P<named>[0-9]{{1,3}})(?:[:：.)、]|[ \t]|(?=\*\*))
      | 第(?P<place>[0-9]{{1,3}}|[{_CHINESE}]{{1,3}})(?:名|位|款)?(?:[:：、，,.]|[ \t]|(?=\*\*))
    )[ \t]*""",
    re.VERBOSE | re.IGNORECASE,
)
_BOLD_LINE = re.compile(r"(?:\*\*|__)[^*\n]{1,80}(?:\*\*|__)[:：]?[ \t]*")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*")
_DIVIDER = re.compile(r"[-*_ \t]{3,}")


class LineKind(StrEnum):
    """What a line is."""

    HEADING = "heading"
    ITEM = "item"
    ROW = "row"
    RULE = "rule"  # the line under a table's head
    PROSE = "prose"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank: ``text[start:end]``; what it says begins at ``content``, after indent and marker.

    ``indent`` is in columns (a tab is four). ``style`` tells markers of one list from those of another ("" for a line without
    one); ``number`` is what the marker says, 0 for a bullet. ``gap``: a blank line stands before it.
    """

    kind: LineKind
    start: int
    end: int
    content: int
    indent: int = 0
    style: str = ""
    number: int = 0
    level: int = 0  # of a heading: hashes, 7 for a bold line
    gap: bool = False


def lines_of(text: str) -> list[Line]:
    """All lines of the text that are not blank; linear in the text."""
    found: list[Line] = []
    last_end = 0
    for match in _LINE.finditer(text):
        if match[0].isspace():
            continue
        breaks = text[last_end : match.start()]
        gap = breaks.replace("\r\n", "\n").count("\n") + breaks.count("\r") - breaks.count("\r\n") > 1 or last_end == 0
        found.append(_line(text, match.start(), match.end(), gap))
        last_end = match.end()
    return found


def _line(text: str, start: int, end: int, gap: bool) -> Line:
    lead = _INDENT.match(text, start, end)
    content = lead.end() if lead else start
    indent = sum(4 if character == "\t" else 2 if character == "\u3000" else 1 for character in text[start:content])
    if text[content : content + 1] == "|" or text.count("|", content, end) > 1:
        rule = _RULE.fullmatch(text, content, end)
        return Line(LineKind.RULE if rule else LineKind.ROW, start, end, content, indent, gap=gap)
    if _RULE.fullmatch(text, content, end) and "|" in text[content:end]:
        return Line(LineKind.RULE, start, end, content, indent, gap=gap)
    if _DIVIDER.fullmatch(text, content, end):
        return Line(LineKind.HEADING, start, end, end, indent, level=8, gap=gap)
    hashes = _HASHES.match(text, content, end)
    level = len(hashes[0].rstrip()) if hashes else 0
    at = hashes.end() if hashes else content
    bullet = None if hashes else _BULLET.match(text, at, end)
    at = bullet.end() if bullet else at
    bold = _BOLD.match(text, at, end)
    after = bold.end() if bold else at
    number = _NUMBER.match(text, after, end)
    if number and number.end() < end:
        group = number.lastgroup or ""
        # A bold mark that opened before the number closes after the name: what is said begins behind the number.
        style = f"{'#' if hashes else ''}{group}"
        return Line(LineKind.ITEM, start, end, number.end(), indent, style, value_of(number[group]), level, gap)
    if bullet:
        return Line(LineKind.ITEM, start, end, at, indent, f"bullet{bullet[0].strip()}", 0, 0, gap)
    if hashes:
        return Line(LineKind.HEADING, start, end, at, indent, level=level, gap=gap)
    if _BOLD_LINE.fullmatch(text, content, end):
        return Line(LineKind.HEADING, start, end, content, indent, level=7, gap=gap)
    return Line(LineKind.PROSE, start, end, content, indent, gap=gap)


def value_of(numeral: str) -> int:
    """The number that a marker writes: digits, Chinese up to 99, circled."""
    if numeral.isdecimal():
        return int(numeral)
    for first, last, base in (
        ("\u2460", "\u2473", 1),
        ("\u2776", "\u277f", 1),
        ("\u2780", "\u2789", 1),
        ("\u278a", "\u2793", 1),
    ):
        if first <= numeral <= last:
            return ord(numeral) - ord(first) + base
    tens, ten, ones = numeral.rpartition("十")
    if not ten:
        return sum(_DIGITS.get(character, 0) for character in numeral[-1:])
    return (_DIGITS.get(tens[-1:], 0) if tens else 1) * 10 + _DIGITS.get(ones[-1:], 0)
