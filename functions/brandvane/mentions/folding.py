"""Which spellings are the same to the matcher? Text folded to one spelling, with a way back to every original code point.

Folded are letter case, compatibility forms (full width, ligatures), accents of Latin letters, typographic quotes, hyphens and
spaces, traditional characters (to simplified ones), canonical variants; invisible characters and the stars of emphasis inside a
Chinese word are dropped. List markers (①, ²) stay as they are: they are no digits of a name.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from importlib.resources import files

# Latin letters and digits as they look after folding: the characters that a Latin term must not touch.
LATIN = "0-9a-z\u00df-\u00f6\u00f8-\u024f"
HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_KEPT_MAX = 20_000  # folded code points remembered; hostile text must not fill the memory
_CLUSTER_MAX = 32  # marks on one letter; more are hostile, and ordering them is quadratic
_SPECIAL = "\uffff"  # a noncharacter: stands for what does not fold to exactly one code point
_KEPT_TAGS = ("<circle>", "<super>", "<sub>", "<fraction>")
_TYPOGRAPHY = {
    **dict.fromkeys("\u2018\u2019\u201b\u02bc\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201f", '"'),
    **dict.fromkeys("\u2010\u2011\u2212", "-"),
    _SPECIAL: " ",
}
_SIMPLIFIED = {pair[0]: pair[1] for pair in (files(__package__) / "traditional.txt").read_text("utf-8").splitlines()}
_RUN = re.compile(f"[^{_SPECIAL}]?{_SPECIAL}+")
_HAN = re.compile(f"[{HAN}]")
# Between two Chinese characters only: a Latin name that is marked ends at its mark ("**Nike**Air").
_EMPHASIS = re.compile(f"(?<=[{HAN}])\\*{{1,3}}(?=[{HAN}])")


def _invisible(character: str) -> bool:
    return (
        character == "*"  # only asked where it splits a word
        or unicodedata.category(character) == "Cf"
        or "\ufe00" <= character <= "\ufe0f"
        or character in "\u034f\u115f\u1160\u3164\u180b\u180c\u180d\u20e3"
        or "\U000e0100" <= character <= "\U000e01ef"
    )


def _joins(character: str, before: str = "\u1100") -> bool:
    """Does it belong to the character before it (a mark, a vowel or final of a Korean syllable)?"""
    if "\u1161" <= character <= "\u11ff":
        return "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    return unicodedata.combining(unicodedata.normalize("NFKC", character)[0]) != 0


def _folded(cluster: str) -> str:
    """A character with its marks, folded; of any length."""
    plain = unicodedata.normalize("NFKC", cluster)
    tag = unicodedata.decomposition(cluster).partition(" ")[0] if len(cluster) == 1 else ""
    spelled_out = len(plain) > 1 and len(cluster) == 1 and not plain.isalnum()
    if tag in _KEPT_TAGS or (tag.startswith("<") and spelled_out):
        plain = cluster
    pieces: list[str] = []
    for character in _TYPOGRAPHY.get(plain, plain).casefold():
        base = unicodedata.normalize("NFD", character)
        if len(base) > 1 and base[0].isascii():
            character = base[0]  # accents fall for Latin letters only: ガ is not カ
        elif unicodedata.combining(character) and pieces and (pieces[-1].isascii() or _HAN.match(pieces[-1])):
            continue
        pieces.append(_SIMPLIFIED.get(character, _TYPOGRAPHY.get(character, character)))
    return "".join(pieces)


class _Table(dict[int, str]):
    """Filled on demand: most texts use a few hundred code points."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        special = character != "*" and (_invisible(character) or _joins(character))
        folded = _SPECIAL if special else _folded(character)
        if len(folded) != 1:
            folded = _SPECIAL
        if len(self) < _KEPT_MAX:
            self[code] = folded
        return folded


_TABLE = _Table()


@dataclass(slots=True)
class Folded:
    """``text`` folded, and where each of its pieces comes from.

    Piece ``i`` begins at ``at[i]`` of the folded text and at ``origin[i]`` of the original; ``until[i]`` is where its original
    ends if all of the piece comes from there as a whole (a ligature, a letter with its mark), or -1 if it goes code point by
    code point. Without pieces the two texts have the same offsets.
    """

    text: str
    at: list[int] = field(default_factory=list)
    origin: list[int] = field(default_factory=list)
    until: list[int] = field(default_factory=list)

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """The original's span of ``text[start:end]``; None where an edge falls inside one original character."""
        if not self.at:
            return start, end
        first = bisect_right(self.at, start) - 1
        last = bisect_right(self.at, end - 1) - 1
        whole_first, whole_last = self.until[first] >= 0, self.until[last] >= 0
        if whole_first and start != self.at[first]:
            return None
        if whole_last and end != (self.at[last + 1] if last + 1 < len(self.at) else len(self.text)):
            return None
        begins = self.origin[first] + (0 if whole_first else start - self.at[first])
        ends = self.until[last] if whole_last else self.origin[last] + end - self.at[last]
        return begins, ends


def fold(text: str) -> Folded:
    """The folded text and the way back; linear in the text."""
    quick = text.translate(_TABLE)
    if "*" in quick:
        quick = _EMPHASIS.sub(lambda stars: _SPECIAL * len(stars[0]), quick)
    if _SPECIAL not in quick:
        return Folded(quick)
    folded = Folded("")
    pieces: list[str] = []
    length = 0

    def add(piece: str, begins: int, ends: int) -> None:
        nonlocal length
        if piece:
            pieces.append(piece)
            folded.at.append(length)
            folded.origin.append(begins)
            folded.until.append(ends)
            length += len(piece)

    done = 0
    for run in _RUN.finditer(quick):
        add(quick[done : run.start()], done, -1)
        done = run.end()
        begins = ends = run.start()
        cluster = ""
        for at in range(run.start(), done):
            character = text[at]
            if _invisible(character) and (character != "*" or quick[at] == _SPECIAL):
                continue
            if cluster and _joins(character, cluster[-1]):
                if len(cluster) < _CLUSTER_MAX:
                    cluster += character
                ends = at + 1
                continue
            add(_folded(cluster) if cluster else "", begins, ends)
            cluster, begins, ends = character, at, at + 1
        add(_folded(cluster) if cluster else "", begins, ends)
    add(quick[done:], done, -1)
    folded.text = "".join(pieces)
    return folded


def fold_term(term: str) -> str:
    """An alias, a phrase or a word of context as the matcher looks for it."""
    return " ".join(fold(term).text.split())
