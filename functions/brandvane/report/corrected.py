"""Which corrections stand behind a run's figures? Every entry of its list, and what became of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from brandvane.mentions.corrections import Correction, Wrong, standing

Fate = Literal["applied", "unfit", "withdrawn", "waiting"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A correction and its fate: ``applied``; ``unfit``: its words stand in the answer no more; ``withdrawn``; ``waiting`` for
    the next reading.
    """

    correction: Correction
    fate: Fate


def entries(listed: Iterable[Correction], applied: Collection[str], unfit: Collection[str]) -> tuple[Entry, ...]:
    """Every correction in the order made; an entry that takes another back is told by that one's fate."""
    everything = tuple(listed)
    stand = {each.id for each in standing(everything)}

    def fate(each: Correction) -> Fate:
        if each.id not in stand:
            return "withdrawn"
        if each.id in unfit:
            return "unfit"
        return "applied" if each.id in applied else "waiting"

    return tuple(Entry(each, fate(each)) for each in everything if each.wrong is not Wrong.WITHDRAWN)
