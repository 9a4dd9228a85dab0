"""How well does the matcher agree with people who read the same answers? Shares over pairs of answer and brand, and every error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brandvane.catalogue import Brand
from brandvane.mentions.folding import fold_term
from brandvane.mentions.matcher import Matcher, Reading


@dataclass(frozen=True, slots=True)
class Judged:
    """What somebody read in one answer about one brand; ``doubtful`` rows can be read either way and are left out."""

    answer_id: str
    brand: str
    mentioned: bool
    count: int
    first_offset: int | None
    rank: int | None
    doubtful: bool = False


@dataclass(slots=True)
class _Share:
    good: int = 0
    of: int = 0

    def add(self, good: bool) -> bool:
        """Count one pair, and pass on whether it was good."""
        self.good += good
        self.of += 1
        return good

    @property
    def value(self) -> float:
        """1.0 where there was nothing to get wrong."""
        return self.good / self.of if self.of else 1.0


@dataclass(slots=True)
class Agreement:
    """Counts of pairs, and the errors: answer, brand, what was wrong, what was read and what was found."""

    pairs: int = 0
    hits: int = 0
    missed: int = 0
    invented: int = 0
    counts: _Share = field(default_factory=_Share)
    offsets: _Share = field(default_factory=_Share)
    ranks: _Share = field(default_factory=_Share)
    no_ranks: _Share = field(default_factory=_Share)
    errors: list[dict[str, Any]] = field(default_factory=list)

    def add(self, truth: Judged, reading: Reading, brand: str) -> None:
        """Compare one pair; ``brand`` is the brand's id."""
        if truth.doubtful:
            return
        self.pairs += 1
        mentions = reading.of(brand)
        if not truth.mentioned and not mentions:
            return
        self.hits += truth.mentioned and bool(mentions)
        rank = reading.rank_of(brand)
        first = mentions[0].start if mentions else None
        if truth.mentioned and not mentions:
            self.missed += 1
            self._error(truth, "mentioned", True, False)
        elif mentions and not truth.mentioned:
            self.invented += 1
            self._error(truth, "mentioned", False, first)
        if not self.counts.add(len(mentions) == truth.count):
            self._error(truth, "count", truth.count, len(mentions))
        if truth.mentioned and not self.offsets.add(first == truth.first_offset):
            self._error(truth, "first_offset", truth.first_offset, first)
        share = self.no_ranks if truth.rank is None else self.ranks
        if not share.add(rank == truth.rank):
            self._error(truth, "rank", truth.rank, rank)

    def _error(self, truth: Judged, what: str, wanted: object, found: object) -> None:
        self.errors.append(
            {"answer_id": truth.answer_id, "brand": truth.brand, "what": what, "truth": wanted, "found": found}
        )

    def to_document(self) -> dict[str, Any]:
        """The figures, JSON-ready.

        Precision, recall and f1 are of *mentioned*; counts are over pairs mentioned in truth or by the matcher, offsets over pairs
        mentioned in truth, ranks over those ranked in truth, ``no_rank_where_none`` over mentioned pairs that are not.
        """
        precision = self.hits / (self.hits + self.invented) if self.hits + self.invented else 1.0
        recall = self.hits / (self.hits + self.missed) if self.hits + self.missed else 1.0
        return {
            "pairs": self.pairs,
            "mentioned": {
                "precision": precision,
                "recall": recall,
                "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
            },
            "exact_counts": self.counts.value,
            "exact_first_offsets": self.offsets.value,
            "exact_ranks": self.ranks.value,
            "no_rank_where_none": self.no_ranks.value,
            "errors": self.errors,
        }


def brand_ids(brands: Iterable[Brand]) -> dict[str, str]:
    """Folded id, name and alias -> id, to find the brand that somebody else names."""
    found: dict[str, str] = {}
    for brand in brands:
        for name in (brand.id, *brand.terms):
            found.setdefault(fold_term(name), brand.id)
    return found


def agreement(
    matcher: Matcher,
    brands: Iterable[Brand],
    answers: Mapping[str, tuple[str, str]],
    truth: Iterable[Judged],
) -> Agreement:
    """Read every judged answer (id -> text, prompt) and compare.

    Raises:
        KeyError: a judged answer or brand is not there.
    """
    ids = brand_ids(brands)
    readings: dict[str, Reading] = {}
    found = Agreement()
    for row in truth:
        if row.answer_id not in readings:
            text, prompt = answers[row.answer_id]
            readings[row.answer_id] = matcher.read(text, prompt=prompt)
        found.add(row, readings[row.answer_id], ids[fold_term(row.brand)])
    return found
