"""What has changed since the run before, and may it be compared? Visibility of each brand now and then, with a verdict.

A figure whose questions, matching rules, request parameters, served models or matcher differ is shown with what differs and
without a verdict: the trend breaks visibly (DESIGN §9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from brandvane.catalogue import Brand, Catalogue, PlatformSettings
from brandvane.mentions.cell import Cell
from brandvane.mentions.change import LEVEL, Change, Verdict, beyond_chance, compared
from brandvane.mentions.roles import Role
from brandvane.mentions.tally import Tally

ALL = ""  # in place of a target: all of them together
# Which questions' answers stand under a role: one without {brand} that names the brand in plain words is counted as branded.
_COUNTED_BY = {Role.UNBRANDED: (Role.UNBRANDED,), Role.BRANDED: (Role.UNBRANDED, Role.BRANDED)}

Place = tuple[Role, str, str]  # role, target or ALL, brand


@dataclass(frozen=True, slots=True)
class Then:
    """The run before: its id, what it was asked with, what was counted, and the matcher's versions."""

    run_id: str
    catalogue: Catalogue
    tally: Tally
    parsers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One figure's change; ``breaks`` names what makes it incomparable (then the verdict is BROKEN)."""

    change: Change
    breaks: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """What may be said."""
        return Verdict.BROKEN if self.breaks else self.change.verdict

    @property
    def points(self) -> float:
        """The difference in percentage points."""
        return 100 * self.change.difference

    @property
    def bounds(self) -> tuple[float, float]:
        """Its 95 % interval in percentage points."""
        return 100 * self.change.interval.low, 100 * self.change.interval.high


@dataclass(frozen=True, slots=True)
class Trend:
    """All changes against one earlier run."""

    run_id: str = ""
    steps: Mapping[Place, Step] = field(default_factory=dict)

    def of(self, role: Role, target: str, brand: str) -> Step | None:
        """A figure's change; None where there is nothing to compare."""
        return self.steps.get((role, target, brand))


def trend(now: Tally, catalogue: Catalogue, parsers: Sequence[str], then: Then | None) -> Trend:
    """Compare every figure that both runs have. Of what is called a change, 5 % at most are chance in the mean, over the table."""
    if then is None:
        return Trend()
    old, new = whole_cells(then.tally), whole_cells(now)
    brands = {brand.id: brand for brand in catalogue.brands}
    before = {brand.id: brand for brand in then.catalogue.brands}
    same_matcher = tuple(sorted(parsers)) == tuple(sorted(then.parsers))
    of_target = _target_breaks(now, catalogue, then)
    asked_now, asked_then = _questions(catalogue), _questions(then.catalogue)
    steps: dict[Place, Step] = {}
    for (role, target, brand), cell in new.items():
        was = old.get((role, target, brand))
        if role is Role.ALSO or was is None or not was.answers or not cell.answers or brand not in brands:
            continue
        breaks = list(of_target.get(target, ()))
        if any(asked_now.get((each, brand)) != asked_then.get((each, brand)) for each in _COUNTED_BY[role]):
            breaks.append("questions")
        if brand not in before or _rules(brand, brands) != _rules(brand, before):
            breaks.append("aliases")
        if not same_matcher:
            breaks.append("parser")
        change = compared((was.mentioned, was.answers), (cell.mentioned, cell.answers))
        steps[role, target, brand] = Step(change, tuple(breaks))
    return Trend(then.run_id, _judged(steps))


def whole_cells(tally: Tally) -> dict[Place, Cell]:
    """Every cell, and under ALL those of all targets together."""
    cells: dict[Place, Cell] = dict(tally.cells())
    for (role, _, brand), cell in list(cells.items()):
        cells.setdefault((role, ALL, brand), Cell()).merge(cell)
    return cells


def _judged(steps: Mapping[Place, Step]) -> dict[Place, Step]:
    """Verdicts as ones of many: what is beyond chance by itself may not be so in a table of hundreds."""
    tested = [place for place, step in steps.items() if not step.breaks]
    firm = beyond_chance([steps[place].change.p for place in tested])
    judged = dict(steps)
    for number, place in enumerate(tested):
        change = steps[place].change
        if change.p < LEVEL and number not in firm:
            judged[place] = Step(replace(change, verdict=Verdict.MANY))
    return judged


def _target_breaks(now: Tally, catalogue: Catalogue, then: Then) -> dict[str, tuple[str, ...]]:
    """Target -> what differs in how it is asked or who answers; under ALL what differs anywhere, or the targets themselves."""
    settings = {
        p.name: (p.protocol, p.base_url, dict(p.parameters), dict(p.search_body), p.locale) for p in _of(catalogue)
    }
    earlier = {
        p.name: (p.protocol, p.base_url, dict(p.parameters), dict(p.search_body), p.locale) for p in _of(then.catalogue)
    }
    breaks: dict[str, tuple[str, ...]] = {}
    for target in now.targets:
        platform = target.partition("/")[0]
        found = []
        if settings.get(platform) != earlier.get(platform):
            found.append("parameters")
        if target in then.tally.targets and _served(now, target) != _served(then.tally, target):
            found.append("served")
        breaks[target] = tuple(found)
    everywhere = dict.fromkeys(each for found in breaks.values() for each in found)
    if set(now.targets) != set(then.tally.targets):
        everywhere["targets"] = None
    breaks[ALL] = tuple(everywhere)
    return breaks


def _of(catalogue: Catalogue) -> Sequence[PlatformSettings]:
    return catalogue.monitor.platforms


def _served(tally: Tally, target: str) -> frozenset[str]:
    return frozenset(name.lower() for name in tally.targets[target].served)


def _rules(brand: str, brands: Mapping[str, Brand]) -> tuple[object, ...]:
    """What decides which words are the brand: its own names and rules, and its competitors', which are context for them."""
    rivals = {each: _own_rules(brands[each]) for each in brands[brand].competitors if each in brands}
    return _own_rules(brands[brand]), rivals


def _own_rules(brand: Brand) -> tuple[object, ...]:
    return brand.name, frozenset(brand.terms), dict(brand.rules)


def _questions(catalogue: Catalogue) -> dict[tuple[Role, str], frozenset[tuple[str, str]]]:
    """(role, brand) -> texts and locales of what is asked for it."""
    asked: dict[tuple[Role, str], set[tuple[str, str]]] = {}
    for question in catalogue.questions:
        role = Role.BRANDED if question.branded else Role.UNBRANDED
        for brand in question.brands:
            locale = question.locale or catalogue.monitor.locale
            asked.setdefault((role, brand), set()).add((question.text.strip(), locale))
    return {key: frozenset(texts) for key, texts in asked.items()}
