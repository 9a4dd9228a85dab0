"""Which numbers does the report show, and in which tables? Counts of a run turned into rows and cells, words not yet chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brandvane.catalogue import Brand
from brandvane.mentions.cell import Cell
from brandvane.mentions.roles import Role
from brandvane.mentions.tally import Tally, TargetTally
from brandvane.report.trend import ALL, Place
from brandvane.task import ANSWERED, Outcome

FEW = 10  # below so many answers a figure is marked as resting on little

# How each ending counts in the rates (DESIGN §9).
TREATMENT: Mapping[Outcome, str] = {Outcome.OK: "counted", Outcome.TRUNCATED: "counted_if"}


@dataclass(frozen=True, slots=True)
class Target:
    """A column: platform and model, and a short id that is safe in an anchor."""

    name: str
    id: str

    @property
    def platform(self) -> str:
        """The part before the first slash."""
        return self.name.partition("/")[0]

    @property
    def model(self) -> str:
        """The part after it."""
        return self.name.partition("/")[2]


@dataclass(frozen=True, slots=True)
class Line:
    """A brand's row of cells, one a target, and ``whole``, all targets together."""

    brand: Brand
    cells: tuple[Cell, ...]
    whole: Cell

    @property
    def empty(self) -> bool:
        """Is there nothing to say in any of them?"""
        return all(cell.empty for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Totals:
    """A platform's (or the run's) planned questions and what became of them."""

    name: str
    planned: int
    results: int
    done: int
    paid_calls: int
    retries: int
    throttles: int
    cost_usd: float

    @property
    def failed(self) -> int:
        """Results without an answer."""
        return self.results - self.done

    @property
    def complete(self) -> bool:
        """Has every planned question exactly one result?"""
        return self.planned == self.results


@dataclass(frozen=True, slots=True)
class Ending:
    """One way results ended, with how many of each target did. ``kind`` is the error kind ("" for none)."""

    outcome: Outcome
    kind: str
    numbers: tuple[int, ...]

    @property
    def total(self) -> int:
        """Of all targets."""
        return sum(self.numbers)

    @property
    def treatment(self) -> str:
        """``counted``, ``counted_if`` or ``not_counted``."""
        return TREATMENT.get(self.outcome, "not_counted")


@dataclass(frozen=True, slots=True)
class Served:
    """A model that answered for a target, as the platform named it ("" where it does not say)."""

    target: Target
    model: str
    answers: int

    @property
    def differs(self) -> bool:
        """Is it another one than was asked? A dated name of the same model is not."""
        return bool(self.model) and not self.model.lower().startswith(self.target.model.lower())


def targets_of(tally: Tally, asked: Sequence[str] = ()) -> tuple[Target, ...]:
    """The columns: targets in the monitor's order, then whatever else has results."""
    names = [name for name in asked if name in tally.targets]
    names += sorted(set(tally.targets) - set(names))
    return tuple(Target(name, f"t{number}") for number, name in enumerate(names))


def lines(
    cells: Mapping[Place, Cell], role: Role, brands: Sequence[Brand], targets: Sequence[Target]
) -> tuple[Line, ...]:
    """A table of cells: brands down, targets across."""

    def cell(target: str, brand: Brand) -> Cell:
        return cells.get((role, target, brand.id)) or Cell()

    return tuple(Line(b, tuple(cell(t.name, b) for t in targets), cell(ALL, b)) for b in brands)


def totals(tally: Tally, planned: Mapping[str, int]) -> tuple[Totals, tuple[Totals, ...]]:
    """The whole run's totals, and each platform's (those planned for, then others that have results)."""
    by_platform: dict[str, list[TargetTally]] = {name: [] for name in planned}
    for target, counts in sorted(tally.targets.items()):
        by_platform.setdefault(target.partition("/")[0], []).append(counts)
    rows = tuple(_totals(name, planned.get(name, 0), counts) for name, counts in by_platform.items())
    return _totals("", sum(planned.values()), list(tally.targets.values())), rows


def _totals(name: str, planned: int, counts: Sequence[TargetTally]) -> Totals:
    def number(key: str) -> int:
        return sum(target.numbers[key] for target in counts)

    done = sum(target.ended(outcome) for target in counts for outcome in ANSWERED)
    cost = number("cost_microusd") / 1_000_000
    return Totals(
        name, planned, number("rows"), done, number("paid_calls"), number("retries"), number("throttles"), cost
    )


def endings(tally: Tally, targets: Sequence[Target]) -> tuple[Ending, ...]:
    """Every way results ended that occurred, answers first."""
    found = {(o, kind) for t in targets for o, kinds in tally.targets[t.name].endings.items() for kind in kinds}
    order = {outcome.value: place for place, outcome in enumerate(Outcome)}
    return tuple(
        Ending(
            Outcome(outcome),
            kind,
            tuple(tally.targets[t.name].endings.get(outcome, Counter())[kind] for t in targets),
        )
        for outcome, kind in sorted(found, key=lambda pair: (order[pair[0]], pair[1]))
    )


def served(tally: Tally, targets: Sequence[Target]) -> tuple[Served, ...]:
    """The models that answered, most frequent first within a target."""
    return tuple(
        Served(target, model, answers)
        for target in targets
        for model, answers in sorted(tally.targets[target.name].served.items(), key=lambda item: (-item[1], item[0]))
    )
