"""Which brands does an answer mention, and where? The interface of matchers, and the plain whole-term one.

A matcher is a pure function of (text, brands, its own version): reading the same answer again gives the same mentions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from brandvane.catalogue import Brand
from brandvane.mentions.alternation import compile_terms
from brandvane.mentions.folding import fold
from brandvane.mentions.mention import Kind, Mention, Reading, Stance
from brandvane.mentions.sentences import Sentences

__all__ = ("Kind", "Matcher", "Mention", "PlainMatcher", "Reading", "Stance", "matcher_for")


class Matcher(Protocol):
    """Finds brands in a text."""

    @property
    def version(self) -> str:
        """Names the rules: another version may read the same text otherwise."""
        ...

    def read(self, text: str, *, prompt: str = "", platform: str = "") -> Reading:
        """All mentions in ``text``; never raises for what the text holds, linear in its length.

        ``prompt`` is the question as asked (for ``echo``), ``platform`` the name of who answered (for ``self_mention``).
        """
        ...


class PlainMatcher:
    """Whole terms, longest first, none overlapping, all brands in one pass; ``Brand.rules`` are not read."""

    version = "plain-1"

    def __init__(self, brands: Iterable[Brand]) -> None:
        self._terms: dict[str, tuple[str, str]] = {}
        for brand in brands:
            for alias in brand.terms:
                term = fold(alias.strip())
                if term:  # an alias of two brands is a fault of the catalogue; here the first keeps it
                    self._terms.setdefault(term, (brand.id, alias))
        self._pattern = compile_terms(self._terms)

    def read(self, text: str, *, prompt: str = "", platform: str = "") -> Reading:
        """All mentions in ``text``."""
        folded = fold(text)
        spans = [match.span() for match in self._pattern.finditer(folded)]
        if not spans:
            return Reading()
        sentences = Sentences(text)
        return Reading(tuple(self._mention(folded, sentences, start, end) for start, end in spans))

    def _mention(self, folded: str, sentences: Sentences, start: int, end: int) -> Mention:
        brand, alias = self._terms[folded[start:end]]
        sentence, sentence_start = sentences.around(start, end)
        return Mention(brand, alias, start, end, sentence, sentence_start)


def matcher_for(brands: Iterable[Brand]) -> Matcher:
    """The matcher that runs are scored with."""
    return PlainMatcher(brands)
