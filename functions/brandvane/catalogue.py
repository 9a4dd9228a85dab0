"""What is watched and what is asked: brands, questions and the monitor, and the prompts they expand to.

Plain data and pure functions; reading files and finding faults in them is ``catalogue_files``'s work. A pushed catalogue is
immutable and known by its version; ``to_document``/``from_document`` are its stored form (``catalogue.json``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from brandvane.task import Priority, prompt_hash_of, target_name

CATALOGUE_VERSION = 1
BRAND_SLOT = "{brand}"
PRIORITY_ORDER: Mapping[str, int] = {"high": 0, "normal": 1, "low": 2}


@dataclass(frozen=True, slots=True)
class Brand:
    """A brand to look for. ``rules`` are matching rules, left open for the matcher."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    competitors: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    priority: Priority = "normal"
    rules: Mapping[str, Any] = field(default_factory=dict)

    @property
    def terms(self) -> tuple[str, ...]:
        """Name and aliases, each once, in their order."""
        return tuple(dict.fromkeys((self.name, *self.aliases)))


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the brands that track it (resolved ids). ``{brand}`` in the text makes it branded."""

    id: str
    text: str
    language: str = ""
    locale: str = ""
    topics: tuple[str, ...] = ()
    brands: tuple[str, ...] = ()

    @property
    def branded(self) -> bool:
        """Is it asked once per tracking brand, with the brand's name in it?"""
        return BRAND_SLOT in self.text


@dataclass(frozen=True, slots=True)
class PlatformSettings:
    """One platform as resolved from ``platforms.toml`` < monitor file. Rates are calls a second; prices dollars a million tokens."""

    name: str
    protocol: str
    base_url: str
    models: tuple[str, ...]
    key_parameter: str = ""
    rate: float = 1.0
    in_flight: int = 1
    call_timeout_s: float = 60.0
    day_calls: int | None = None
    day_budget_usd: float | None = None
    price_input: float = 0.0
    price_output: float = 0.0
    parameters: Mapping[str, Any] = field(
        default_factory=dict
    )  # system, temperature, max_tokens, search, extra body fields
    headers: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)  # field -> "platforms.toml" or "monitor.yaml"

    @property
    def targets(self) -> tuple[str, ...]:
        """Platform and model pairs that are asked."""
        return tuple(target_name(self.name, model) for model in self.models)


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a run is due: local times ``HH:MM`` in ``time_zone``; an end or deadline not after the start is the next day's."""

    id: str
    start: str
    end: str
    deadline: str
    time_zone: str
    brands: tuple[str, ...] = ()  # empty: all
    priority: Priority = "normal"


@dataclass(frozen=True, slots=True)
class Monitor:
    """What is asked of whom, how often and until when."""

    platforms: tuple[PlatformSettings, ...]
    schedules: tuple[Schedule, ...]
    samples: int = 1
    locale: str = ""
    expected_hold_s: float = 40.0
    day_budget_usd: float | None = None
    time_zone: str = "UTC"

    def platform(self, name: str) -> PlatformSettings:
        """The settings of one platform.

        Raises:
            KeyError: the monitor has no such platform.
        """
        return next(p for p in self.platforms if p.name == name) if name in self.platform_names else _unknown(name)

    @property
    def platform_names(self) -> tuple[str, ...]:
        """Names in the file's order."""
        return tuple(p.name for p in self.platforms)

    def schedule(self, schedule_id: str) -> Schedule:
        """One schedule by id.

        Raises:
            KeyError: the monitor has no such schedule.
        """
        for schedule in self.schedules:
            if schedule.id == schedule_id:
                return schedule
        raise KeyError(schedule_id)


def _unknown(name: str) -> PlatformSettings:
    raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything a run needs to know, pinned by version."""

    brands: tuple[Brand, ...]
    questions: tuple[Question, ...]
    monitor: Monitor
    version: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of a catalogue a run asks; empty means all. ``limit`` counts tasks, not prompts."""

    platforms: tuple[str, ...] = ()
    brands: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def filtered(self) -> bool:
        """Does it leave anything out?"""
        return bool(self.platforms or self.brands or self.questions or self.limit is not None)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One text to ask, for all the questions that render to it."""

    text: str
    prompt_hash: str
    locale: str
    question_ids: tuple[str, ...]
    brand_group: str
    priority: Priority


def prompts(catalogue: Catalogue, selection: Selection, priority: Priority = "normal") -> tuple[Prompt, ...]:
    """Every distinct (text, locale) of the selection, in the catalogue's order; prompts of one text are merged.

    ``priority`` is the schedule's; a brand with a higher one of its own lifts its prompts.
    """
    brands = {brand.id: brand for brand in catalogue.brands}
    merged: dict[tuple[str, str], Prompt] = {}
    for question, brand_id, text in _rendered(catalogue, selection):
        locale = question.locale or catalogue.monitor.locale
        wish = (
            min((priority, brands[brand_id].priority), key=PRIORITY_ORDER.__getitem__)
            if brand_id in brands
            else priority
        )
        known = merged.get((text, locale))
        if known is None:
            merged[text, locale] = Prompt(text, prompt_hash_of(text), locale, (question.id,), brand_id, wish)
        else:
            ids = tuple(dict.fromkeys((*known.question_ids, question.id)))
            best = min((known.priority, wish), key=PRIORITY_ORDER.__getitem__)
            merged[text, locale] = Prompt(text, known.prompt_hash, locale, ids, known.brand_group, best)
    return tuple(merged.values())


def _rendered(catalogue: Catalogue, selection: Selection) -> Iterator[tuple[Question, str, str]]:
    names = {brand.id: brand.name for brand in catalogue.brands}
    wanted = frozenset(selection.brands)
    chosen = frozenset(selection.questions)
    for question in catalogue.questions:
        if chosen and question.id not in chosen:
            continue
        tracking = [b for b in question.brands if not wanted or b in wanted]
        if not tracking and (wanted or question.branded):
            continue
        if question.branded:
            for brand_id in tracking:
                yield question, brand_id, question.text.replace(BRAND_SLOT, names[brand_id]).strip()
        else:
            # The highest-priority tracking brand speaks for the question.
            for brand_id in tracking or [""]:
                yield question, brand_id, question.text.strip()


def chosen_platforms(catalogue: Catalogue, selection: Selection) -> tuple[PlatformSettings, ...]:
    """The platforms that a selection asks."""
    return tuple(p for p in catalogue.monitor.platforms if not selection.platforms or p.name in selection.platforms)


def to_document(catalogue: Catalogue) -> dict[str, Any]:
    """The stored form (JSON-ready)."""
    return {"v": CATALOGUE_VERSION, **asdict(catalogue)}


def from_document(document: Mapping[str, Any]) -> Catalogue:
    """Read the stored form back.

    Raises:
        ValueError: written by newer code.
    """
    if document["v"] > CATALOGUE_VERSION:
        raise ValueError(
            f"catalogue {document.get('version')} has format {document['v']}; this release reads {CATALOGUE_VERSION}"
        )
    monitor = dict(document["monitor"])
    monitor["platforms"] = tuple(PlatformSettings(**_tuples(row, ("models",))) for row in monitor["platforms"])
    monitor["schedules"] = tuple(Schedule(**_tuples(row, ("brands",))) for row in monitor["schedules"])
    lists = ("aliases", "domains", "competitors", "topics", "brands")
    return Catalogue(
        brands=tuple(Brand(**_tuples(row, lists)) for row in document["brands"]),
        questions=tuple(Question(**_tuples(row, lists)) for row in document["questions"]),
        monitor=Monitor(**monitor),
        version=document["version"],
    )


def _tuples(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {key: tuple(value) if key in names else value for key, value in row.items()}
