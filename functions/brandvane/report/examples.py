"""Which answers stand behind a number? The first few of every cell, with the brand's words marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from brandvane.answer import Answer
from brandvane.mentions.cell import why_left_out
from brandvane.mentions.roles import Role
from brandvane.mentions.tally import Tally
from brandvane.result import ResultRow

CELL_MAX = 5
PAGE_MAX = 1_500  # answers on the whole page, as far as every cell can have one
CLIP = 1_200  # code points of an answer that are shown
_LEAD = 300  # of them before the first mention, where the answer is longer
# What a page must not hold: controls, and halves of surrogate pairs.
_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

Key = tuple[Role, str, str]  # role, target, brand


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer, marked or not."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """One answer behind a number: ``quote`` is the sentence of its first mention of the brand, ``pieces`` more of it.

    ``corrected``: a person has added a mention to it; ``doubtful``: the words around every mention do not decide.
    """

    task_id: str
    question: str
    sample: int
    locale: str
    outcome: str
    served_model: str
    finished_at: float | None
    quote: tuple[Piece, ...]
    pieces: tuple[Piece, ...]
    cut_before: bool
    cut_after: bool
    rank: int | None = None
    corrected: bool = False
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """Where an answer mentions a brand, as the scorer found it, and the sentence around it (``text[begin:finish]``)."""

    brand: str
    role: Role
    start: int
    end: int
    begin: int = 0
    finish: int = 0
    rank: int | None = None
    corrected: bool = False
    doubtful: bool = False


def shown(text: str) -> str:
    """Text as a page can hold it: controls become U+FFFD, line ends LF. Escaping is the template's work."""
    return _UNSHOWN.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def marked(text: str, spans: Sequence[tuple[int, int]]) -> tuple[tuple[Piece, ...], bool, bool]:
    """The text in pieces, ``spans`` (in order, not overlapping) marked; and whether its beginning or end was cut off."""
    first = max(0, spans[0][0] - _LEAD) if spans and len(text) > CLIP else 0
    last = min(len(text), first + CLIP)
    return _pieces(text, spans, first, last), first > 0, last < len(text)


def _pieces(text: str, spans: Sequence[tuple[int, int]], first: int, last: int) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    position = first
    for start, end in spans:
        if not position <= start < end <= last:
            continue
        if start > position:
            pieces.append(Piece(shown(text[position:start])))
        pieces.append(Piece(shown(text[start:end]), marked=True))
        position = end
    if position < last:
        pieces.append(Piece(shown(text[position:last])))
    return tuple(pieces)


class Examples:
    """Collects examples while all results go by once; ``tally`` tells how many cells there are to fill."""

    def __init__(self, tally: Tally) -> None:
        filled = [key for key, cell in tally.cells().items() if cell.mentioned]
        self._limit = max(1, min(CELL_MAX, PAGE_MAX // max(1, len(filled))))
        # On a crowded page the mentions that are in no rate give way.
        self._also = len(filled) <= PAGE_MAX
        self._cells: dict[Key, list[Example]] = {}

    def of(self, key: Key) -> Sequence[Example]:
        """The examples of one cell, in the order of the results."""
        return self._cells.get(key, ())

    @property
    def total(self) -> int:
        """Examples of all cells."""
        return sum(map(len, self._cells.values()))

    def offer(self, row: ResultRow, answer: Answer, question: str, spans: Sequence[Span]) -> None:
        """Take the answer as an example where it was counted as a mention and the cell has room."""
        if why_left_out(row.outcome, answer.text, mentioned=True) is not None:
            return
        for brand, role in dict.fromkeys((span.brand, span.role) for span in spans):
            cell = self._cells.setdefault((role, row.target, brand), [])
            if len(cell) < self._limit and (self._also or role is not Role.ALSO):
                cell.append(_example(row, answer, question, [span for span in spans if span.brand == brand]))


def _example(row: ResultRow, answer: Answer, question: str, spans: Sequence[Span]) -> Example:
    places = [(span.start, span.end) for span in spans]
    pieces, before, after = marked(answer.text, places)
    first = spans[0]
    begin, finish = min(first.begin, first.start), max(first.finish, first.end)
    return Example(
        row.task_id,
        shown(question),
        row.sample,
        row.locale,
        row.outcome.value,
        shown(answer.served_model),
        row.finished_at,
        _pieces(answer.text, places, begin, finish),
        pieces,
        before,
        after,
        next((span.rank for span in spans if span.rank is not None), None),
        any(span.corrected for span in spans),
        all(span.doubtful for span in spans),
    )
