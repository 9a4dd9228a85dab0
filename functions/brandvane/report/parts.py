"""How do a brand's figures differ by topic and language? The same cells once more, for a part of the questions each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from brandvane.catalogue import Brand
from brandvane.mentions.cell import Cell
from brandvane.mentions.roles import Role, Slice
from brandvane.mentions.tally import Tally
from brandvane.report.trend import ALL

ANY = "all"  # in place of a topic or language, in files; no topic of a catalogue is compared with it


@dataclass(frozen=True, slots=True)
class Part:
    """A topic, a language or both (None: any), with the brand's cell of each target and of all together."""

    topic: str | None
    language: str | None
    cells: dict[str, Cell]

    def of(self, target: str) -> Cell:
        """A target's cell, or with ALL that of all; empty where nothing was counted."""
        return self.cells.get(target) or Cell()


class Parts:
    """Every brand's parts under one role. A question with two topics is in both, so topics do not add up to the whole."""

    def __init__(self, tally: Tally, role: Role) -> None:
        self._slices: dict[str, list[tuple[str, Slice, Cell]]] = {}
        for (its_role, target, about), cells in tally.groups.items():
            if its_role is role:
                for brand, cell in cells.items():
                    self._slices.setdefault(brand, []).append((target, about, cell))

    def of(self, brand: Brand) -> tuple[Part, ...]:
        """By topic, then by language, then by both; a division into one part is left out, for it says nothing new."""
        return tuple(self._divided(brand.id))

    def whole(self, brand: Brand) -> Part:
        """All of a brand's questions."""
        return self._part(brand.id, None, None)

    def _divided(self, brand: str) -> Iterator[Part]:
        topics, languages = self._names(brand)
        if len(topics) > 1:
            yield from (self._part(brand, topic, None) for topic in topics)
        if len(languages) > 1:
            yield from (self._part(brand, None, language) for language in languages)
        if len(topics) > 1 and len(languages) > 1:
            both = (self._part(brand, topic, language) for topic in topics for language in languages)
            yield from (part for part in both if part.cells)

    def _names(self, brand: str) -> tuple[Sequence[str], Sequence[str]]:
        slices = [about for _, about, _ in self._slices.get(brand, ())]
        return sorted({topic for about in slices for topic in about.topics}), sorted({a.language for a in slices})

    def _part(self, brand: str, topic: str | None, language: str | None) -> Part:
        cells: dict[str, Cell] = {}
        for target, about, cell in self._slices.get(brand, ()):
            if (topic is None or topic in about.topics) and (language is None or language == about.language):
                for name in (target, ALL):
                    cells.setdefault(name, Cell()).merge(cell)
        return Part(topic, language, cells)
