"""In what part of an answer does a hit stand, and which rank does a list of recommendations give it?"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from brandvane.mentions.lines import Line, LineKind, lines_of
from brandvane.mentions.lists import Item, ItemList, ListKind, lists_of
from brandvane.mentions.mention import Kind

_YEAR = re.compile(r"(?<![0-9])(?:1[89]|20)[0-9]{2}(?![0-9]|[ \t]?款)")
_MODEL_YEARS = 3  # products on sale are of a few years; what tells a history goes over more
_ASKS = re.compile(r"[?？]")
# "Apple's reaction" is no product; "Apple's iPad" is one.
_MANNER = re.compile(
    r"(?:['’]s?(?![a-z])|的).*(?:re-?action|response|action|strateg|adapt|adjust|history|founding|impact|role|influence|success|failure|"
    r"decision|approach|founder|\bceo\b|growth|culture|mission|future|dominance|position|perspective|反应|回应|策略|战略|行动|举措|历史|影响|优势|劣势|特点|"
    r"发展|成功|失败|创新|文化|调整|定位|未来|地位|看法|观点)",
    re.IGNORECASE,
)
# What stands right before a name that is only an example or an adjunct of the heading.
_ADJUNCT = re.compile(
    r"\b(?:like|such as|e\.g\.,?|including|for example|alternatives? to|vs\.?|by|with|of|from|for|in|on|to|as|at|using|via)"
    r"(?: (?:the|other|an?))?\s+[\"'\[*]*$|(?:如|像|例如|比如|包括|诸如|对比|被|与|和|为)$",
    re.IGNORECASE,
)
# What follows a name where the heading tells of something that the brand did, and not of the brand.
_DEED = re.compile(
    r" (?:(?:co-?)?found\w*|acqui\w+|integration|reaction|response|strategy|history|lawsuit|partnership|is|was|has|had|will|can|"
    r"(?:lower|introduce|offer|announce|release|launche|focuse|adopt|respond|react|start|begin|provide|raise|cut|buy|sell)s|"
    r"[a-z]{3,}ed)\b|(?:收购|创立|成立|创始|反应|回应|战略|推出|发布|宣布)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"[\s*\"'\[]*(?:open|create|go|install|visit|use|search|check|download|copy|follow|sign|log|click|set|add|enable|navigate|find|look|"
    r"contact|ask|import|run|set up|make|read|write|connect|integrate|打开|访问|安装|下载|使用|搜索|点击|登录|创建)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“《][^\"”》]*$")
_QUOTES = ('"', "“")  # around the name that the heading is about
_CLAUSE = re.compile(r"[,;.!?，。；！？](?=.)")
_LEAD_MAX = 300  # code points of the line before a list that are looked at
# What announces a list of what is not recommended.
_WARNS = re.compile(
    r"(?:\bnot|\bcannot|n['’]t|\bnever)(?: \w+){0,2} (?:recommend(?:ed)?|suggest|advise|buy|choose|trust)\b(?!.*\b(?:enough|too))"
    r"|\b(?:avoid|steer clear of|stay away from|skip)(?: \w+){0,3}[ :：*_]*$"
    r"|不(?:太|大)?推荐|不建议(?:购买|选购|选择|使用|考虑|买|选)|避免(?:购买|选购|选择|买|选)|不要(?:购买|选购|选择|买|选|碰)|避雷|踩雷|黑榜|慎[买选购]",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"[,，、]")
_HEADING_MAX = 500  # code points; a longer cell or line heads nothing, and each name in it would be judged by all of it
_OPEN, _CLOSE = "(（[", ")）]"
Span = tuple[int, int]


class Layout:
    """Lines and lists of one answer; found when they are first asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.warned: set[int] = set()  # of the spans last ranked: those in lists of what is not recommended

    @cached_property
    def _lines(self) -> list[Line]:
        return lines_of(self._text)

    @cached_property
    def _starts(self) -> list[int]:
        return [line.start for line in self._lines]

    def _line_of(self, offset: int) -> int:
        return max(0, bisect_right(self._starts, offset) - 1)

    def kind_of(self, offset: int) -> Kind:
        """The kind of the line that holds the offset."""
        kinds = {
            LineKind.HEADING: Kind.HEADING,
            LineKind.ITEM: Kind.LIST_ITEM,
            LineKind.ROW: Kind.TABLE_CELL,
            LineKind.RULE: Kind.TABLE_CELL,
        }
        if not self._lines:
            return Kind.PROSE
        return kinds.get(self._lines[self._line_of(offset)].kind, Kind.PROSE)

    def ranks(self, spans: Sequence[Span]) -> list[int | None]:
        """For each span (in order of the text) the ordinal of the item whose heading names it, or None.

        Ranked are items of outermost lists of recommendations: not timelines, steps or questions, nothing in an item's body,
        no examples, nothing that somebody does ("Apple's reaction").
        """
        found: list[int | None] = [None] * len(spans)
        if not spans:
            return found
        starts = [start for start, _ in spans]
        held: dict[int, list[tuple[Item, int]]] = {}  # list -> its items that name a brand, with the hit's index
        lists = lists_of(self._text, self._lines)
        for current in lists:
            for item in current.items:
                if item.end - item.start > _HEADING_MAX:
                    continue
                for index in range(bisect_right(starts, item.start - 1), bisect_right(starts, item.end - 1)):
                    if spans[index][1] <= item.end and self._names(item, spans[index]):
                        held.setdefault(id(current), []).append((item, index))
        marked = any(current.kind is not ListKind.HEADED and id(current) in held for current in lists)
        for current in lists:
            named = held.get(id(current), [])
            if named and self._warned_of(current):
                self.warned.update(index for _, index in named)
                continue
            if not named or not self._recommends(current, named, held) or (current.kind is ListKind.HEADED and marked):
                continue
            for item, index in named:
                if found[index] is None:
                    found[index] = item.ordinal or None
        return found

    def _recommends(
        self, current: ItemList, named: list[tuple[Item, int]], held: dict[int, list[tuple[Item, int]]]
    ) -> bool:
        items = current.items
        if current.kind is ListKind.HEADED:
            return 2 * len({item.ordinal for item, _ in named}) > len(items)
        outer = current.parent
        if outer is not None:
            # Numbers under a numbered section ("一、", "## 1.") are a list of their own unless the section is a brand's.
            section = outer.style == "chinese" or outer.style.startswith("#")
            if not (section and current.kind is ListKind.NUMBERED and id(outer) not in held and outer.parent is None):
                return False
        half = len(items) / 2
        headings = [self._text[item.start : item.end] for item in items]
        lines = [self._lines[item.line] for item in items]
        asks = sum(bool(_ASKS.search(self._text, line.end - 3, line.end)) for line in lines)
        asks = max(asks, sum(bool(_ASKS.search(heading)) for heading in headings))
        staged = sum(item.step for item in items)
        return max(asks, staged) < max(half, 1) and not _is_timeline(headings)

    def _warned_of(self, current: ItemList) -> bool:
        """Does the line before the list say that what follows is not to be had?"""
        before = current.items[0].line - (3 if current.kind is ListKind.TABLE else 1)  # a table has a head and a rule
        if before < 0 or self._lines[before].kind not in (LineKind.PROSE, LineKind.HEADING):
            return False
        line = self._lines[before]
        clause = _CLAUSE.split(self._text[max(line.content, line.end - _LEAD_MAX) : line.end].rstrip())[-1]
        leads = line.kind is LineKind.HEADING or clause.rstrip("*_ ").endswith((":", "："))
        return leads and _WARNS.search(clause) is not None

    def _names(self, item: Item, span: Span) -> bool:
        """Does the heading name the brand itself, and not something of it, or as an example?"""
        start, end = span
        heading = self._text[item.start : item.end]
        if (
            _MANNER.match(self._text, end, item.end)
            or _DEED.match(self._text, end, item.end + 1)
            or _ORDER.match(heading)
        ):
            return False
        before = self._text[item.start : start]
        quoted = _QUOTED.search(before) and before.strip() not in _QUOTES
        if _ADJUNCT.search(before[-20:]) or quoted or len(_SEVERAL.findall(heading)) > 1:
            return False
        opened = max(before.rfind(sign) for sign in _OPEN)
        if opened < 0 or max(before.rfind(sign) for sign in _CLOSE) > opened:
            return True
        closes = min((at for sign in _CLOSE if (at := self._text.find(sign, end, item.end)) >= 0), default=item.end)
        inside = self._text[item.start + opened + 1 : closes]
        # A gloss is one name; several are examples.
        return not re.search(r"[,，、/]|e\.g|如|\blike\b|such as|\bor\b|\band\b", inside)


def _is_timeline(headings: Sequence[str]) -> bool:
    """Do most headings bear years that run in one direction over more than the years of models on sale?"""
    years = [int(found[0]) for heading in headings if (found := _YEAR.search(heading))]
    if len(years) < max(len(headings) / 2, 2) or max(years) - min(years) <= _MODEL_YEARS:
        return False
    return years in (sorted(years), sorted(years, reverse=True))
