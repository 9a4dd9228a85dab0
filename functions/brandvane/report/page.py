"""How does a run's report look? One self-contained HTML page: no scripts, nothing loaded, every text of others escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from brandvane.catalogue import Brand, Catalogue
from brandvane.mentions.cell import Cell
from brandvane.mentions.roles import Role
from brandvane.mentions.statistics import Interval, answers_for
from brandvane.mentions.tally import Tally
from brandvane.report.examples import Example, Examples, shown
from brandvane.report.figures import FEW, Line, Target, endings, lines, served, totals
from brandvane.report.material import Material
from brandvane.report.parts import Part, Parts
from brandvane.report.sources import sites
from brandvane.report.trend import ALL, Place, whole_cells
from brandvane.report.wording import WORDING, Language
from brandvane.run import Run

DIVIDED_MAX = 60  # brands whose figures are shown by topic and language; the rest of them stand in figures.csv
REREAD_MAX = 40  # figures that another reading changed and that are listed
GOAL_WIDTH = 0.10  # the interval that the page says how many answers are needed for


@dataclass(frozen=True, slots=True)
class Behind:
    """The answers behind one number: ``anchor`` is where they stand on the page."""

    anchor: str
    role: Role
    target: Target
    total: int
    examples: Sequence[Example]


@dataclass(frozen=True, slots=True)
class BrandAnswers:
    """One brand's part of the answers section."""

    brand: Brand
    groups: tuple[Behind, ...]


@dataclass(frozen=True, slots=True)
class Divided:
    """One brand's figures by topic and language."""

    brand: Brand
    parts: tuple[Part, ...]


def render(material: Material, examples: Examples, language: Language) -> str:
    """The page as HTML. It depends on its arguments alone, so two reporters of one pass write the same."""
    run, catalogue, tally, targets = material.run, material.catalogue, material.tally, material.targets
    cells = whole_cells(tally)
    chosen = [b for b in catalogue.brands if not run.selection.brands or b.id in run.selection.brands]
    rest = [b for b in catalogue.brands if b not in chosen]
    whole, platforms = totals(tally, run.planned)
    unread = {name: sum(t.numbers[name] for t in tally.targets.values()) for name in ("unreadable", "blank", "minimal")}
    zone, zone_name = _zone(run, catalogue)
    end = _local(run.window_end, zone)
    unbranded = lines(cells, Role.UNBRANDED, chosen, targets)
    return _template().render(
        w=WORDING[language],
        run=run,
        zone=zone_name,
        at=lambda at: _local(at, zone),
        until=end.removeprefix(_local(run.window_start, zone)[:11]),  # the date is not said twice
        parser=", ".join(material.parsers),
        targets=targets,
        whole=whole,
        platforms=platforms,
        unbranded=unbranded,
        unbranded_rest=_present(cells, Role.UNBRANDED, rest, targets),
        branded=_present(cells, Role.BRANDED, catalogue.brands, targets),
        also=_present(cells, Role.ALSO, catalogue.brands, targets),
        divided=_divided(tally, chosen[:DIVIDED_MAX]),
        divided_rest=len(chosen) > DIVIDED_MAX,
        sites=sites(tally, catalogue.brands, targets),
        trend=material.trend,
        corrections=material.corrections,
        reread=material.reread,
        reread_max=REREAD_MAX,
        brand_name={brand.id: brand.name for brand in catalogue.brands},
        endings=endings(tally, targets),
        unread=unread,
        served=served(tally, targets),
        behind=_behind(catalogue.brands, targets, cells, examples),
        open_all=examples.total <= 40,
        anchor=lambda role, target, brand: (
            _anchor(role, target, brand) if examples.of((role, target.name, brand)) else ""
        ),
        roles=Role,
        everywhere=ALL,
        few=FEW,
        goal=f"{100 * GOAL_WIDTH:.0f}",
        goal_answers=answers_for(GOAL_WIDTH),
        percent=_percent,
        bounds=_bounds,
        range=_range,
        signed=lambda points: f"{points:+.1f}".replace("-", "\u2212"),
        shown=shown,
    )


def _present(cells: Mapping[Place, Cell], role: Role, brands: Sequence[Brand], targets: Sequence[Target]) -> list[Line]:
    return [line for line in lines(cells, role, brands, targets) if not line.empty]


def _divided(tally: Tally, brands: Sequence[Brand]) -> list[Divided]:
    parts = Parts(tally, Role.UNBRANDED)
    found = (Divided(brand, parts.of(brand)) for brand in brands)
    return [each for each in found if each.parts]


def _behind(
    brands: Sequence[Brand], targets: Sequence[Target], cells: Mapping[Place, Cell], examples: Examples
) -> tuple[BrandAnswers, ...]:
    parts = []
    for brand in brands:
        groups = tuple(
            Behind(
                _anchor(role, target, brand.id),
                role,
                target,
                cells[role, target.name, brand.id].mentioned,
                examples.of((role, target.name, brand.id)),
            )
            for role in Role
            for target in targets
            if examples.of((role, target.name, brand.id))
        )
        if groups:
            parts.append(BrandAnswers(brand, groups))
    return tuple(parts)


def _anchor(role: Role, target: Target, brand: str) -> str:
    return f"{role.value}--{target.id}--{brand}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _bounds(cell: Cell) -> tuple[float, float, float]:
    """Low, high and the share itself, in percent with one decimal; for cells with answers."""
    interval, rate = cell.interval, cell.rate
    if interval is None or rate is None:
        raise ValueError("a cell without answers has no bounds")
    return round(100 * interval.low, 1), round(100 * interval.high, 1), round(100 * rate, 1)


def _range(interval: Interval) -> str:
    return f"{100 * interval.low:.1f}–{100 * interval.high:.1f}%"


def _zone(run: Run, catalogue: Catalogue) -> tuple[tzinfo, str]:
    monitor = catalogue.monitor
    zones = {schedule.id: schedule.time_zone for schedule in monitor.schedules}
    name = zones.get(run.schedule_id or "", monitor.time_zone)
    try:
        return ZoneInfo(name), name
    except (ZoneInfoNotFoundError, ValueError):  # a zone that this machine does not know: the instants stay right
        return UTC, "UTC"


def _local(at: float | None, zone: tzinfo) -> str:
    return "–" if at is None else datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H:%M")


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html")
