"""How does a run's report look? One self-contained HTML page: no scripts, nothing loaded, every text of others escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from brandvane.catalogue import Brand, Catalogue
from brandvane.mentions.roles import Role
from brandvane.mentions.statistics import Cell
from brandvane.mentions.tally import Tally
from brandvane.report.examples import Example, Examples, shown
from brandvane.report.figures import FEW, Target, endings, lines, served, targets_of, totals
from brandvane.report.wording import WORDING, Language
from brandvane.run import Run


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


def render(
    run: Run, catalogue: Catalogue, tally: Tally, examples: Examples, parser_version: str, language: Language
) -> str:
    """The page as HTML. It depends on its arguments alone, so two reporters of one pass write the same."""
    words = WORDING[language]
    asked = [name for platform in catalogue.monitor.platforms for name in platform.targets]
    targets = targets_of(tally, asked)
    chosen = [b for b in catalogue.brands if not run.selection.brands or b.id in run.selection.brands]
    rest = [b for b in catalogue.brands if b not in chosen]
    whole, platforms = totals(tally, run.planned)
    unread = {name: sum(t.numbers[name] for t in tally.targets.values()) for name in ("unreadable", "blank", "minimal")}
    zone, zone_name = _zone(run, catalogue)
    start, end = _local(run.window_start, zone), _local(run.window_end, zone)
    behind = _behind(catalogue.brands, targets, tally, examples)
    return _template().render(
        w=words,
        run=run,
        zone=zone_name,
        at=lambda at: _local(at, zone),
        until=end.removeprefix(start[:11]),  # the date is not said twice
        parser=parser_version,
        targets=targets,
        whole=whole,
        platforms=platforms,
        unbranded=lines(tally, Role.UNBRANDED, chosen, targets),
        unbranded_rest=_present(tally, Role.UNBRANDED, rest, targets),
        branded=_present(tally, Role.BRANDED, catalogue.brands, targets),
        also=_present(tally, Role.ALSO, catalogue.brands, targets),
        endings=endings(tally, targets),
        unread=unread,
        served=served(tally, targets),
        behind=behind,
        open_all=examples.total <= 40,
        anchor=lambda role, target, brand: (
            _anchor(role, target, brand) if examples.of((role, target.name, brand)) else ""
        ),
        roles=Role,
        few=FEW,
        percent=_percent,
        bounds=_bounds,
        shown=shown,
    )


def _present(tally: Tally, role: Role, brands: Sequence[Brand], targets: Sequence[Target]) -> list[object]:
    return [line for line in lines(tally, role, brands, targets) if not line.empty]


def _behind(
    brands: Sequence[Brand], targets: Sequence[Target], tally: Tally, examples: Examples
) -> tuple[BrandAnswers, ...]:
    parts = []
    for brand in brands:
        groups = tuple(
            Behind(
                _anchor(role, target, brand.id),
                role,
                target,
                tally.cell(role, target.name, brand.id).mentioned,
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
