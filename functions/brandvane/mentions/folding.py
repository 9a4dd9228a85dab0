"""Which spellings are the same to the matcher? Text folded code point by code point, so that every offset stays the original's.

Letter case, full width, canonical variants and typographic quotes, hyphens and spaces are folded; whatever would change the
length (ligatures, ß) or turn a list marker into a digit (①, ²) is left as it is.
"""

from __future__ import annotations

import unicodedata

# Latin letters and digits as they look after folding: the characters that a Latin term must not touch.
LATIN = "0-9a-z\u00df-\u00f6\u00f8-\u024f"
_KEPT_MAX = 20_000  # folded code points remembered; hostile text must not fill the memory
_TAGS = ("<wide>", "<narrow>", "<noBreak>")
_TYPOGRAPHY = {
    **dict.fromkeys("\u2018\u2019\u201b\u02bc\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201f", '"'),
    **dict.fromkeys("\u2010\u2011\u2212", "-"),
}


class _Table(dict[int, int]):
    """Filled on demand: most texts use a few hundred code points."""

    def __missing__(self, code: int) -> int:
        folded = _fold(chr(code))
        if len(self) < _KEPT_MAX:
            self[code] = folded
        return folded


def _fold(character: str) -> int:
    plain = unicodedata.normalize("NFKC", character)
    tag = unicodedata.decomposition(character).partition(" ")[0]
    if tag.startswith("<") and tag not in _TAGS and plain != " ":
        plain = character
    plain = _TYPOGRAPHY.get(plain, plain).casefold()
    return ord(plain) if len(plain) == 1 else ord(character)


_TABLE = _Table()


def fold(text: str) -> str:
    """The folded text, exactly as long as ``text`` in code points: a span of one is the same span of the other."""
    return text.translate(_TABLE)
