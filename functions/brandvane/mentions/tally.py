"""What do a run's answers add up to? Counts per target, and per role, target and brand; one bucket's adds to another's.

The stored form (``scores/…/bucket-kk.json``) holds whole numbers only, so that sums are exact in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brandvane.answer import Answer
from brandvane.mentions.matcher import Reading
from brandvane.mentions.roles import Role
from brandvane.mentions.statistics import EMPTY, Cell, why_left_out
from brandvane.result import ResultRow
from brandvane.task import ANSWERED, Outcome

TALLY_VERSION = 1
_NUMBERS = ("rows", "unreadable", "blank", "minimal", "paid_calls", "retries", "throttles", "cost_microusd")


@dataclass(slots=True)
class TargetTally:
    """One target's rows. ``endings``: outcome -> error kind ("" where there is none) -> rows. ``served``: model -> answers."""

    numbers: Counter[str] = field(default_factory=Counter)
    endings: dict[str, Counter[str]] = field(default_factory=dict)
    served: Counter[str] = field(default_factory=Counter)

    def ended(self, outcome: Outcome) -> int:
        """Rows of one outcome."""
        return sum(self.endings.get(outcome.value, Counter()).values())


@dataclass(slots=True)
class Tally:
    """Counts of any number of rows."""

    targets: dict[str, TargetTally] = field(default_factory=dict)
    cells: dict[tuple[Role, str, str], Cell] = field(default_factory=dict)  # role, target, brand

    def cell(self, role: Role, target: str, brand: str) -> Cell:
        """A cell; empty where nothing was counted."""
        return self.cells.get((role, target, brand), Cell())

    def add(self, row: ResultRow, answer: Answer | None, reading: Reading, roles: Mapping[str, Role]) -> None:
        """Count one row. ``answer`` is None where there is none or it cannot be read; ``roles`` are the prompt's."""
        self._add_row(row, answer)
        text = answer.text if answer is not None else None
        occurrences = reading.occurrences
        silent = _one(row.outcome, text, 0)  # the same for every brand that is not mentioned
        for brand, role in roles.items():
            times = occurrences.get(brand, 0)
            self._plus((role, row.target, brand), _one(row.outcome, text, times) if times else silent)
        for brand, times in occurrences.items():
            if brand not in roles:
                one = _one(row.outcome, text, times)
                if one.answers:  # in no rate, so there is nothing that it could be left out of
                    self._plus((Role.ALSO, row.target, brand), one)

    def _add_row(self, row: ResultRow, answer: Answer | None) -> None:
        target = self.targets.setdefault(row.target, TargetTally())
        numbers = {
            "rows": 1,
            "unreadable": int(row.outcome in ANSWERED and answer is None),
            "blank": int(answer is not None and why_left_out(row.outcome, answer.text, True) == EMPTY),
            "minimal": int(row.minimal),
            "paid_calls": row.paid_calls,
            "retries": row.retry_count,
            "throttles": row.throttle_count,
            "cost_microusd": answer.cost_microusd if answer is not None else 0,
        }
        target.numbers.update(numbers)
        target.endings.setdefault(row.outcome.value, Counter())[row.error_kind or ""] += 1
        if answer is not None:
            target.served[answer.served_model] += 1

    def merge(self, other: Tally) -> None:
        """Add another tally's counts to this one."""
        for name, theirs in other.targets.items():
            ours = self.targets.setdefault(name, TargetTally())
            ours.numbers.update(theirs.numbers)
            ours.served.update(theirs.served)
            for outcome, kinds in theirs.endings.items():
                ours.endings.setdefault(outcome, Counter()).update(kinds)
        for key, cell in other.cells.items():
            self._plus(key, cell)

    def _plus(self, key: tuple[Role, str, str], cell: Cell) -> None:
        known = self.cells.get(key)
        self.cells[key] = cell if known is None else known.plus(cell)

    def to_document(self) -> dict[str, Any]:
        """The stored form (JSON-ready)."""
        cells: dict[str, dict[str, dict[str, Any]]] = {}
        for (role, target, brand), cell in self.cells.items():
            numbers = {"mentioned": cell.mentioned, "answers": cell.answers, "occurrences": cell.occurrences}
            cells.setdefault(role.value, {}).setdefault(target, {})[brand] = {
                **numbers,
                "left_out": dict(cell.left_out),
            }
        targets = {
            name: {
                **{number: target.numbers[number] for number in _NUMBERS},
                "endings": {outcome: dict(kinds) for outcome, kinds in target.endings.items()},
                "served": dict(target.served),
            }
            for name, target in self.targets.items()
        }
        return {"v": TALLY_VERSION, "targets": targets, "cells": cells}


def _one(outcome: Outcome, text: str | None, times: int) -> Cell:
    """One answer's part in a brand's cell; ``times`` is how often it mentions the brand."""
    reason = why_left_out(outcome, text, mentioned=times > 0)
    return Cell(1 if times else 0, 1, times) if reason is None else Cell(left_out={reason: 1})


def from_document(document: Mapping[str, Any]) -> Tally:
    """Read the stored form back.

    Raises:
        ValueError: written by newer code.
    """
    if document["v"] > TALLY_VERSION:
        raise ValueError(f"scores have format {document['v']}; this release reads {TALLY_VERSION}")
    tally = Tally()
    for name, stored in document["targets"].items():
        tally.targets[name] = TargetTally(
            Counter({number: stored[number] for number in _NUMBERS}),
            {outcome: Counter(kinds) for outcome, kinds in stored["endings"].items()},
            Counter(stored["served"]),
        )
    for role, by_target in document["cells"].items():
        for target, by_brand in by_target.items():
            for brand, stored in by_brand.items():
                tally.cells[Role(role), target, brand] = Cell(**stored)
    return tally
