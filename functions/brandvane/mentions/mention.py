"""What is a mention, and what is the reading of one answer? Plain records that matchers make and that everything else counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What part of the answer a mention stands in."""

    PROSE = "prose"
    HEADING = "heading"
    LIST_ITEM = "list_item"
    TABLE_CELL = "table_cell"
    LINK_LABEL = "link_label"
    DOMAIN = "domain"  # the name is the name of a host: "nike.com"


class Stance(StrEnum):
    """How the words around a mention stand to the brand, where words decide it; everything else is neutral."""

    NEUTRAL = "neutral"
    ABSENT = "absent"  # "no information about X"
    NEGATIVE = "negative"  # "I do not recommend X"


@dataclass(frozen=True, slots=True)
class Mention:
    """One occurrence of a brand: ``text[start:end]`` in code points of the original answer.

    ``alias`` is the catalogue's spelling of what was found; ``sentence`` begins at ``sentence_start``. ``visible`` is False
    where the mention must not count as visibility (stance ``absent``). ``rank`` is the ordinal of the item of a list of
    recommendations whose heading names the brand, 1-based; ``order`` numbers brands by their first mention, 1-based, the
    same for all mentions of one brand. ``self_mention``: the answering platform names its own company. ``echo``: the prompt
    itself names the brand. ``doubtful``: the words around it do not decide; ``reason`` says why, and for a rejected hit why
    it is none (empty where nothing had to be decided).
    """

    brand: str
    alias: str
    start: int
    end: int
    sentence: str
    sentence_start: int
    visible: bool = True
    kind: Kind = Kind.PROSE
    rank: int | None = None
    order: int = 0
    stance: Stance = Stance.NEUTRAL
    self_mention: bool = False
    echo: bool = False
    doubtful: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """All mentions of one answer, in the order of the text; ``rejected`` are hits that are none, each with its reason."""

    mentions: tuple[Mention, ...] = ()
    rejected: tuple[Mention, ...] = ()

    @property
    def occurrences(self) -> Mapping[str, int]:
        """Brand id -> how often it is mentioned in a way that counts; brands that are not are absent."""
        return Counter(mention.brand for mention in self.mentions if mention.visible)

    def of(self, brand: str) -> tuple[Mention, ...]:
        """One brand's mentions."""
        return tuple(mention for mention in self.mentions if mention.brand == brand)

    def rank_of(self, brand: str) -> int | None:
        """The brand's list rank: of its first ranked mention; None without one."""
        return next((m.rank for m in self.mentions if m.brand == brand and m.rank is not None), None)
