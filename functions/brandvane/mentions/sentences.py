"""Which sentence does a span stand in? Boundaries found once a text, looked up in order."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

PIECE_MAX = 300  # code points: a text without full stops must not put itself whole beside every mention
# A run of dots is looked at from its first dot only: from each of them, a long run that ends no sentence would be quadratic.
_BOUNDARY = re.compile(r"[。！？!?]+[\"'”’」』）)\]]*|(?<!\.)\.+[\"'”’)\]]*(?=\s|$)|[\r\n]+")


class Sentences:
    """The sentences of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [match.end() for match in _BOUNDARY.finditer(text)]
        self._piece = (0, 0, "")

    def around(self, start: int, end: int) -> tuple[str, int]:
        """The sentence that holds ``text[start:end]`` and where it begins, in code points.

        A sentence longer than ``PIECE_MAX`` is cut into pieces of that length; the piece grows where the span needs it.
        """
        first, last = self.bounds(start, end)
        if self._piece[:2] != (first, last):  # mentions of one sentence share its text
            self._piece = (first, last, self._text[first:last])
        piece = self._piece[2]
        lead = min(len(piece) - len(piece.lstrip()), start - first)
        trail = min(len(piece) - len(piece.rstrip()), last - end)
        return piece[lead : len(piece) - trail], first + lead

    def bounds(self, start: int, end: int) -> tuple[int, int]:
        """Where the sentence (or its piece) that holds the span begins and ends, outer spaces included."""
        before, after = bisect_right(self._ends, start), bisect_left(self._ends, end)
        first = self._ends[before - 1] if before else 0
        last = self._ends[after] if after < len(self._ends) else len(self._text)
        first += (start - first) // PIECE_MAX * PIECE_MAX
        return first, max(end, min(last, first + PIECE_MAX))
