"""Which brands does an answer mention, and where? Folded, masked, one pass over all names, and a verdict on every hit.

A matcher is a pure function of (text, prompt, platform, brands, its own version): reading the same answer again gives the same
mentions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Protocol

from brandvane.catalogue import Brand
from brandvane.mentions.alternation import compile_terms
from brandvane.mentions.folding import Folded, fold
from brandvane.mentions.layout import Layout
from brandvane.mentions.masking import labels, masked
from brandvane.mentions.mention import Kind, Mention, Reading, Stance
from brandvane.mentions.names import Name, names_of
from brandvane.mentions.own_company import is_own
from brandvane.mentions.senses import Hit, Sense, Verdict, sense_of, settle
from brandvane.mentions.sentences import Sentences
from brandvane.mentions.stance import stance_of

__all__ = ("BrandMatcher", "Kind", "Matcher", "Mention", "Reading", "Stance", "matcher_for")

_HOST = re.compile(
    r"\.(?:com|net|org|cn|io|ai|co|app|dev|info|biz|me|tv|shop|store|de|fr|uk|jp|kr|in|us|eu|ru|br|it|es|hk|tw|sg)(?![a-z0-9-])"
)
_PROMPTS_KEPT = 4_096  # prompts whose brands are remembered; a run asks each prompt of several targets


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


class BrandMatcher:
    """Whole names, longest first, none overlapping, all brands in one pass; what a hit means is decided by its brand's rules."""

    version = "3"

    def __init__(self, brands: Iterable[Brand]) -> None:
        self._names = names_of(brands)
        self._pattern = compile_terms(self._names)
        self._named_in = lru_cache(maxsize=_PROMPTS_KEPT)(self._prompt_brands)
        self._own: dict[tuple[str, str], bool] = {}

    def find(self, text: str, prompt: str = "") -> tuple[Folded, str, list[Hit], list[Sense]]:
        """The text folded, the same masked, every hit in its order and the verdict on each."""
        folded = fold(text)
        prose = masked(folded.text)
        hits: list[Hit] = []
        senses: list[Sense] = []
        at = 0
        while found := self._pattern.search(prose, at):
            start, end = found.span()
            at = end
            span = folded.span(start, end)
            if span is None:
                at = start + 1
                continue
            begins, ends = span
            hit = Hit(
                self._names[found[0]],
                start,
                end,
                text[begins:ends],
                text.startswith("*", begins - 1) if begins else False,
                text.startswith("*", ends),
            )
            sense = sense_of(prose, hit)
            if sense.verdict is Verdict.NO:
                at = start + 1  # a name may begin inside what is none
            hits.append(hit)
            senses.append(sense)
        if any(sense.verdict is Verdict.OPEN for sense in senses):
            senses = settle(hits, senses, fold(prompt).text)
        return folded, prose, hits, senses

    def read(self, text: str, *, prompt: str = "", platform: str = "") -> Reading:
        """All mentions in ``text``, and the hits that are none."""
        folded, prose, hits, senses = self.find(text, prompt)
        if not hits:
            return Reading()
        page = _Page(text, folded, prose)
        good = [hit for hit, sense in zip(hits, senses, strict=True) if sense.verdict is not Verdict.NO]
        ranks = enumerate(page.layout.ranks([page.span(hit) for hit in good]))
        orders: dict[str, int] = {}
        echoed = self._named_in(prompt) if prompt else frozenset()
        mentions, rejected = [], []
        for hit, sense in zip(hits, senses, strict=True):
            if sense.verdict is Verdict.NO:
                rejected.append(page.mention(hit, sense, visible=False))
                continue
            brand = hit.name.brand
            stance = page.stance(hit)
            index, rank = next(ranks)
            if stance is Stance.NEUTRAL and index in page.layout.warned:
                stance = Stance.NEGATIVE
            mentions.append(
                page.mention(
                    hit,
                    sense,
                    visible=stance is not Stance.ABSENT,
                    rank=rank,
                    order=orders.setdefault(brand, len(orders) + 1),
                    stance=stance,
                    self_mention=bool(platform) and self._is_own(platform, hit.name),
                    echo=brand in echoed,
                )
            )
        return Reading(tuple(mentions), tuple(rejected))

    def _prompt_brands(self, prompt: str) -> frozenset[str]:
        _, _, hits, senses = self.find(prompt)
        return frozenset(
            hit.name.brand for hit, sense in zip(hits, senses, strict=True) if sense.verdict is not Verdict.NO
        )

    def _is_own(self, platform: str, name: Name) -> bool:
        known = self._own.get((platform, name.brand))
        if known is None:
            known = self._own[platform, name.brand] = is_own(platform, (*name.shared, name.brand))
        return known


class _Page:
    """One answer, looked at from several sides."""

    def __init__(self, text: str, folded: Folded, prose: str) -> None:
        self.layout = Layout(text)
        self._folded = folded
        self._prose = prose
        self._sentences = Sentences(text)
        self._folded_sentences = self._sentences if not folded.at else Sentences(folded.text)
        self._labels = labels(folded.text)
        self._label_starts = [start for start, _ in self._labels]

    def span(self, hit: Hit) -> tuple[int, int]:
        """Where the hit stands in the original."""
        span = self._folded.span(hit.start, hit.end)
        return span if span is not None else (0, 0)  # hits are made only where there is one

    def stance(self, hit: Hit) -> Stance:
        """What the sentence says about the brand."""
        first, last = self._folded_sentences.bounds(hit.start, hit.end)
        return stance_of(self._prose, hit.start, hit.end, (first, last))

    def mention(
        self,
        hit: Hit,
        sense: Sense,
        *,
        visible: bool,
        rank: int | None = None,
        order: int = 0,
        stance: Stance = Stance.NEUTRAL,
        self_mention: bool = False,
        echo: bool = False,
    ) -> Mention:
        """The record of a hit."""
        start, end = self.span(hit)
        sentence, sentence_start = self._sentences.around(start, end)
        return Mention(
            brand=hit.name.brand,
            alias=hit.name.alias,
            start=start,
            end=end,
            sentence=sentence,
            sentence_start=sentence_start,
            visible=visible,
            kind=self._kind(hit, start),
            rank=rank,
            order=order,
            stance=stance,
            self_mention=self_mention,
            echo=echo,
            doubtful=sense.doubtful,
            reason=sense.reason,
        )

    def _kind(self, hit: Hit, start: int) -> Kind:
        if _HOST.match(self._prose, hit.end):
            return Kind.DOMAIN
        label = bisect_right(self._label_starts, hit.start) - 1
        if label >= 0 and hit.end <= self._labels[label][1]:
            return Kind.LINK_LABEL
        return self.layout.kind_of(start)


def matcher_for(brands: Sequence[Brand] | Iterable[Brand]) -> Matcher:
    """The matcher that runs are scored with."""
    return BrandMatcher(brands)
