"""Do brands, questions and schedules fit together? Every reference is followed, and each question's brands are settled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from brandvane.catalogue import Question
from brandvane.catalogue_files.brands import ALL, BrandDraft
from brandvane.catalogue_files.faults import did_you_mean
from brandvane.catalogue_files.nodes import Scalar
from brandvane.catalogue_files.questions import QuestionDraft
from brandvane.catalogue_files.record import Record
from brandvane.catalogue_files.topics import folded
from brandvane.mentions.folding import fold_term

_ALL_WORDS = frozenset({ALL, "*", "全部", "所有"})


class BrandIndex:
    """Brands by id, and what people may have written instead of an id."""

    def __init__(self, drafts: Sequence[BrandDraft]) -> None:
        self.ids = tuple(draft.brand.id for draft in drafts if draft.brand.id)
        self._known = frozenset(self.ids)
        # Brands whose own id is at fault: what refers to them is not at fault on top of it.
        nameless = [draft for draft in drafts if not draft.brand.id]
        self._excused = frozenset(draft.written_id for draft in nameless)
        self._excused_topics = frozenset(folded(topic) for draft in nameless for topic in draft.brand.topics)
        self._by_term = {fold_term(text): draft.brand.id for draft in drafts for text, _, _ in draft.terms()}
        topics: dict[str, dict[str, None]] = defaultdict(dict)
        for draft in drafts:
            for topic in draft.brand.topics if draft.brand.id else ():
                topics[folded(topic)][draft.brand.id] = None
        self._topics: Mapping[str, Mapping[str, None]] = topics
        self._sets: dict[frozenset[str], tuple[str, ...]] = {}

    def check(self, items: Iterable[Scalar], record: Record, field: str) -> tuple[str, ...]:
        """Those of the ids that are brands, each once; the others are faults of ``record``."""
        good: dict[str, None] = {}
        for item in items:
            if item.text in self._known:
                good[item.text] = None
            if item.text in self._known or item.text in self._excused:
                continue
            named = self._by_term.get(fold_term(item.text))
            remedy = f"Write its id: '{named}'" if named else did_you_mean(item.text, self.ids, "Add it to the brands")
            record.fault(field, "unknown brand", remedy, row=item.row, value=item.text)
        return tuple(good)

    def excuses(self, topics: Iterable[str]) -> bool:
        """Is one of the topics that of a brand whose own id is at fault?"""
        return not self._excused_topics.isdisjoint(folded(topic) for topic in topics)

    def sharing(self, topics: Iterable[str]) -> tuple[str, ...]:
        """Ids of the brands that have one of the topics, in the file's order; equal sets are one object."""
        key = frozenset(folded(topic) for topic in topics)
        if key not in self._sets:
            found: set[str] = set().union(*(self._topics.get(topic, {}) for topic in key))
            self._sets[key] = tuple(brand_id for brand_id in self.ids if brand_id in found)
        return self._sets[key]


def check_brands(drafts: Sequence[BrandDraft], index: BrandIndex) -> None:
    """Competitors exist and are others; each name or alias can be found, and none is that of two brands to the matcher."""
    owners: dict[str, tuple[str, int]] = {}
    for draft in drafts:
        index.check(draft.competitors, draft.record, "competitors")
        for item in draft.competitors:
            if item.text == draft.brand.id:
                draft.record.fault("competitors", "a brand's own id", "Remove it", row=item.row, value=item.text)
        for text, field, row in draft.terms():
            label = draft.brand.id or draft.brand.name
            term = fold_term(text)
            if not any(character.isalnum() for character in term):
                remedy = (
                    "Write a name with a letter or digit: a mere sign stands in every answer, an invisible one in none"
                )
                draft.record.fault(field, "a name without a letter or digit", remedy, row=row, value=text)
                continue
            owner, owner_row = owners.setdefault(term, (label, row))
            if owner != label:
                draft.record.fault(
                    field,
                    f"also a name of '{owner}' (row {owner_row})",
                    "A name must lead to one brand: keep it with one of the two",
                    row=row,
                    value=text,
                )


def track(drafts: Sequence[QuestionDraft], index: BrandIndex) -> list[Question]:
    """Each question with the brands that track it: named ones, else all that share a topic. None at all is a fault."""
    return [replace(draft.question, brands=_tracking(draft, index)) for draft in drafts]


def _tracking(draft: QuestionDraft, index: BrandIndex) -> tuple[str, ...]:
    record = draft.record
    if draft.named is not None:
        if any(item.text.casefold() in _ALL_WORDS for item in draft.named):
            return index.ids
        if not draft.named:
            remedy = "Name brands, write 'all', or remove the field to go by topic"
            record.fault("brands", "no brand tracks this question", remedy)
        return index.check(draft.named, record, "brands")
    brands = index.sharing(draft.question.topics)
    if not brands and not index.excuses(draft.question.topics):
        topics = ", ".join(draft.question.topics)
        reason = f"no brand has the topic {topics}" if topics else "it names neither brands nor topics"
        remedy = "Name brands (or 'all'), or a topic that a brand has"
        record.fault("brands", f"no brand tracks this question: {reason}", remedy)
    return brands
