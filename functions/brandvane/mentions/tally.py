"""What do a run's answers add up to? Counts per target, and per role, target, slice and brand; one bucket's adds to another's.

The stored form (``scores/…/bucket-kk.json``) holds whole numbers only, so that sums are exact in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brandvane.answer import Answer
from brandvane.mentions.cell import EMPTY, Around, Cell, Seen, cell_of, why_left_out
from brandvane.mentions.citations import NOTHING_CITED, SourceReader, Sources
from brandvane.mentions.mention import Reading
from brandvane.mentions.roles import Role, Slice
from brandvane.result import ResultRow
from brandvane.task import ANSWERED, Outcome

TALLY_VERSION = 2  # 2: cells by slice; ranks, voices, sources, corrections
_NUMBERS = ("rows", "unreadable", "blank", "minimal", "paid_calls", "retries", "throttles", "cost_microusd", "citing")
_NOBODY: frozenset[str] = frozenset()
_NO_SLICE = Slice()
_EVERYBODY_APART = SourceReader(())


@dataclass(slots=True)
class TargetTally:
    """One target's rows. ``endings``: outcome -> error kind ("" where there is none) -> rows. ``served``: model -> answers.

    ``cited`` and ``retrieved``: registrable domain -> sources of counted answers, each address once an answer; ``citing`` of
    ``numbers`` counts the answers that cite anything.
    """

    numbers: Counter[str] = field(default_factory=Counter)
    endings: dict[str, Counter[str]] = field(default_factory=dict)
    served: Counter[str] = field(default_factory=Counter)
    cited: Counter[str] = field(default_factory=Counter)
    retrieved: Counter[str] = field(default_factory=Counter)

    def ended(self, outcome: Outcome) -> int:
        """Rows of one outcome."""
        return sum(self.endings.get(outcome.value, Counter()).values())


@dataclass(slots=True)
class Tally:
    """Counts of any number of rows. ``groups``: (role, target, slice) -> brand -> cell."""

    targets: dict[str, TargetTally] = field(default_factory=dict)
    groups: dict[tuple[Role, str, Slice], dict[str, Cell]] = field(default_factory=dict)

    def cell(
        self, role: Role, target: str, brand: str, *, topic: str | None = None, language: str | None = None
    ) -> Cell:
        """A brand's answers on a target, all or those of one topic or language; empty where nothing was counted."""
        whole = Cell()
        for (its_role, its_target, its_slice), cells in self.groups.items():
            if (its_role, its_target) != (role, target) or brand not in cells:
                continue
            if (topic is None or topic in its_slice.topics) and (language is None or language == its_slice.language):
                whole.merge(cells[brand])
        return whole

    def cells(self) -> dict[tuple[Role, str, str], Cell]:
        """Every cell by role, target and brand, slices summed."""
        whole: dict[tuple[Role, str, str], Cell] = {}
        for (role, target, _), cells in self.groups.items():
            for brand, cell in cells.items():
                whole.setdefault((role, target, brand), Cell()).merge(cell)
        return whole

    def add(
        self,
        row: ResultRow,
        answer: Answer | None,
        reading: Reading,
        roles: Mapping[str, Role],
        *,
        about: Slice = _NO_SLICE,
        sources: Sources = NOTHING_CITED,
        reader: SourceReader = _EVERYBODY_APART,
        corrected: frozenset[str] = _NOBODY,
    ) -> None:
        """Count one row. ``answer`` is None where there is none or it cannot be read; ``roles`` and ``about`` are the prompt's.

        ``corrected``: brands whose mentions in this answer a person has put right.
        """
        text = answer.text if answer is not None else None
        self._add_row(row, answer, sources, why_left_out(row.outcome, text, mentioned=True) is None)
        seen = seen_in(reading)
        silent = why_left_out(row.outcome, text, mentioned=False)
        loud = why_left_out(row.outcome, text, mentioned=True)
        around = Around(
            voices=sum(not its.echo for its in seen.values()),
            sources=len(sources.cited),
            corrected=False,
            voice_corrected=bool(corrected),
        )  # the same for every brand that has nothing of its own here
        special = bool(corrected or sources.by_brand)
        for brand, role in roles.items():
            cell = self._cell(role, row.target, about, brand)
            its = seen.get(brand)
            reason = silent if its is None else loud
            if reason is not None:
                cell.leave_out(reason)
            else:
                cell.count(its, _around(around, brand, sources, reader, corrected) if special else around)
        for brand, its in seen.items():
            if brand not in roles and loud is None:  # in no rate, so there is nothing that it could be left out of
                cell = self._cell(Role.ALSO, row.target, about, brand)
                cell.count(its, _around(around, brand, sources, reader, corrected) if special else around)

    def _cell(self, role: Role, target: str, about: Slice, brand: str) -> Cell:
        cells = self.groups.get((role, target, about))
        if cells is None:
            cells = self.groups[role, target, about] = {}
        cell = cells.get(brand)
        if cell is None:
            cell = cells[brand] = Cell()
        return cell

    def _add_row(self, row: ResultRow, answer: Answer | None, sources: Sources, counted: bool) -> None:
        target = self.targets.setdefault(row.target, TargetTally())
        target.numbers.update(
            {
                "rows": 1,
                "unreadable": int(row.outcome in ANSWERED and answer is None),
                "blank": int(answer is not None and why_left_out(row.outcome, answer.text, True) == EMPTY),
                "minimal": int(row.minimal),
                "paid_calls": row.paid_calls,
                "retries": row.retry_count,
                "throttles": row.throttle_count,
                "cost_microusd": answer.cost_microusd if answer is not None else 0,
                "citing": int(counted and bool(sources.cited)),
            }
        )
        target.endings.setdefault(row.outcome.value, Counter())[row.error_kind or ""] += 1
        if answer is not None:
            target.served[answer.served_model] += 1
        if counted:
            target.cited.update(source.domain for source in sources.cited)
            target.retrieved.update(source.domain for source in sources.retrieved)

    def merge(self, other: Tally) -> None:
        """Add another tally's counts to this one."""
        for name, theirs in other.targets.items():
            ours = self.targets.setdefault(name, TargetTally())
            for mine, its in (
                (ours.numbers, theirs.numbers),
                (ours.served, theirs.served),
                (ours.cited, theirs.cited),
                (ours.retrieved, theirs.retrieved),
            ):
                mine.update(its)
            for outcome, kinds in theirs.endings.items():
                ours.endings.setdefault(outcome, Counter()).update(kinds)
        for (role, target, about), cells in other.groups.items():
            for brand, cell in cells.items():
                self._cell(role, target, about, brand).merge(cell)

    def to_document(self) -> dict[str, Any]:
        """The stored form (JSON-ready): the slices, and the groups by role, target and the slice's place among them."""
        slices = sorted({about for _, _, about in self.groups}, key=lambda about: (about.language, about.topics))
        places = {about: str(place) for place, about in enumerate(slices)}
        cells: dict[str, dict[str, dict[str, Any]]] = {}
        for (role, target, about), brands in self.groups.items():
            stored = {brand: cell.to_document() for brand, cell in brands.items()}
            cells.setdefault(role.value, {}).setdefault(target, {})[places[about]] = stored
        targets = {
            name: {
                **{number: target.numbers[number] for number in _NUMBERS},
                "endings": {outcome: dict(kinds) for outcome, kinds in target.endings.items()},
                "served": dict(target.served),
                "cited": dict(target.cited),
                "retrieved": dict(target.retrieved),
            }
            for name, target in self.targets.items()
        }
        kept = [{"language": about.language, "topics": list(about.topics)} for about in slices]
        return {"v": TALLY_VERSION, "targets": targets, "slices": kept, "cells": cells}


def seen_in(reading: Reading) -> dict[str, Seen]:
    """Brand -> what the answer says of it, for the brands that it mentions in a way that counts."""
    found: dict[str, Seen] = {}
    for mention in reading.mentions:
        if not mention.visible:
            continue
        known = found.get(mention.brand)
        if known is None:
            seen = Seen(1, mention.rank, mention.order, mention.doubtful, mention.self_mention, mention.echo)
        else:
            rank = (
                known.rank if known.rank is not None else mention.rank
            )  # as Reading.rank_of: the first ranked mention's
            doubtful, own = known.doubtful and mention.doubtful, known.self_named and mention.self_mention
            seen = Seen(known.times + 1, rank, known.order, doubtful, own, known.echo)
        found[mention.brand] = seen
    return found


def _around(around: Around, brand: str, sources: Sources, reader: SourceReader, corrected: frozenset[str]) -> Around:
    own, rivals = sources.by_brand.get(brand, 0), reader.rivals(sources, brand) if sources.by_brand else 0
    return Around(around.voices, around.sources, own, rivals, brand in corrected, around.voice_corrected)


def from_document(document: Mapping[str, Any]) -> Tally:
    """Read the stored form back, that of version 1 as well.

    Raises:
        ValueError: written by newer code.
    """
    if document["v"] > TALLY_VERSION:
        raise ValueError(f"scores have format {document['v']}; this release reads {TALLY_VERSION}")
    tally = Tally()
    for name, stored in document["targets"].items():
        tally.targets[name] = TargetTally(
            Counter({number: stored.get(number, 0) for number in _NUMBERS}),
            {outcome: Counter(kinds) for outcome, kinds in stored["endings"].items()},
            Counter(stored["served"]),
            Counter(stored.get("cited", {})),
            Counter(stored.get("retrieved", {})),
        )
    slices = [Slice(each["language"], tuple(each["topics"])) for each in document.get("slices", ())]
    for role, by_target in document["cells"].items():
        for target, groups in by_target.items():
            parts = {"": groups} if document["v"] == 1 else groups
            for place, brands in parts.items():
                about = slices[int(place)] if place else _NO_SLICE
                cells = {brand: cell_of(stored) for brand, stored in brands.items()}
                tally.groups[Role(role), target, about] = cells
    return tally
