"""What does the matcher look for? Every name of every brand, folded, with what is known of it before a text is seen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from brandvane.catalogue import Brand
from brandvane.mentions.common_words import COMMON
from brandvane.mentions.folding import HAN, LATIN, fold_term
from brandvane.mentions.rules import BrandRules, read_rules

_HAN = re.compile(f"[{HAN}]")
# Words that speak for a company where the catalogue names none of its own.
_BUSINESS = (
    "company",
    "brand",
    "inc",
    "corp",
    "ceo",
    "founder",
    "shares",
    "stock price",
    "revenue",
    "headquarters",
    "app",
    "website",
    "products",
    "公司",
    "集团",
    "股价",
    "股票",
    "市值",
    "创始人",
    "总裁",
    "旗下",
    "品牌",
    "电子产品",
    "官网",
    "专卖店",
    "手机",
    "电脑",
    "汽车",
    "家电",
    "app",
)


@dataclass(frozen=True)
class Name:
    """One folded name of a brand. ``alias`` is the catalogue's spelling, ``spellings`` all that fold to it.

    ``phrases``: excluded phrases that hold it, with where in the phrase it begins. ``everyday``: an English word of its own.
    ``supporters``: the brand's other names, of which each speaks for it, and its competitors.
    """

    brand: str
    term: str
    alias: str
    spellings: frozenset[str]
    minds_case: bool
    everyday: bool
    phrases: tuple[tuple[str, int], ...]
    required: tuple[str, ...]
    excluded: tuple[str, ...]
    supporters: tuple[str, ...]
    shared: tuple[str, ...] = field(default=())  # all folded names of the brand

    @cached_property
    def chinese(self) -> bool:
        """Does it begin or end in Chinese, so that only words tell its edge?"""
        return bool(_HAN.match(self.term[0]) or _HAN.match(self.term[-1]))

    @cached_property
    def speaks_for(self) -> re.Pattern[str] | None:
        """What speaks for the brand near a hit."""
        return _any_of((*(self.required or _BUSINESS), *self.supporters))

    @cached_property
    def speaks_against(self) -> re.Pattern[str] | None:
        """What speaks against it."""
        return _any_of(self.excluded)


def names_of(brands: Iterable[Brand]) -> dict[str, Name]:
    """Folded name -> what is looked for. A name of two brands is a fault of the catalogue; here the first keeps it."""
    found: dict[str, Name] = {}
    everyone = tuple(brands)
    read = {brand.id: read_rules(brand.rules, brand.terms)[0] for brand in everyone}
    plain = {brand.id: _plain_names(brand, read[brand.id]) for brand in everyone}
    for brand in everyone:
        rules = read[brand.id]
        competitors = tuple(name for other in brand.competitors for name in plain.get(other, ()))
        folded = [(fold_term(alias), alias) for alias in brand.terms]
        shared = tuple(dict.fromkeys(term for term, _ in folded if term))
        for term, alias in folded:
            if term and term not in found and term not in rules.exclude_aliases:
                found[term] = _name(brand, rules, (term, alias), shared, competitors)
    return found


def _plain_names(brand: Brand, rules: BrandRules) -> tuple[str, ...]:
    """Names that need no context themselves, so that they can give it to others."""
    terms = dict.fromkeys(fold_term(alias) for alias in brand.terms)
    return tuple(term for term in terms if term and not rules.required(term) and term not in rules.exclude_aliases)


def _name(
    brand: Brand,
    rules: BrandRules,
    found: tuple[str, str],
    shared: tuple[str, ...],
    competitors: tuple[str, ...],
) -> Name:
    term, alias = found
    spellings = frozenset(each.strip() for each in brand.terms if fold_term(each) == term)
    everyday = term in COMMON and not rules.case_free
    others = tuple(other for other in shared if other not in (term, *rules.exclude_aliases) and not _holds(term, other))
    return Name(
        brand=brand.id,
        term=term,
        alias=alias,
        spellings=spellings,
        minds_case=rules.minds_case(term),
        everyday=everyday,
        phrases=tuple(
            (phrase, match.start())
            for phrase in rules.exclude_phrases
            for match in re.finditer(re.escape(term), phrase)
        ),
        required=rules.required(term),
        excluded=rules.excluded(term),
        supporters=(*others, *competitors),
        shared=shared,
    )


def _holds(name: str, other: str) -> bool:
    """Is the other name a piece of this one? Then it says nothing that this one does not."""
    return other in name


def _any_of(words: Iterable[str]) -> re.Pattern[str] | None:
    """Finds any of the folded words; those in Latin letters as whole words, a plural's s allowed."""
    patterns = []
    for word in sorted({word for word in words if word}, key=lambda word: (-len(word), word)):
        head = f"(?<![{LATIN}])" if re.match(f"[{LATIN}]", word) else ""
        tail = f"(?:e?s)?(?![{LATIN}])" if re.match(f"[{LATIN}]", word[-1]) else ""
        patterns.append(head + re.escape(word) + tail)
    return re.compile("|".join(patterns)) if patterns else None
