"""What is watched and what is asked: brands, questions and the monitor, and the prompts they expand to.

Plain data and pure functions; reading files and finding faults in them is ``catalogue_files.folder``'s work. A pushed catalogue is
immutable and known by its version; ``to_document``/``from_document`` are its stored form (``catalogue.json``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from brandvane.task import Priority, prompt_hash_of, target_name

CATALOGUE_VERSION = 2  # 2: fields of platforms that earlier releases do not know
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
    """One platform as resolved from ``platforms.toml`` < monitor file. Rates are calls a second; prices dollars a million tokens.

    ``price_input``/``price_output`` hold for every model that ``prices`` (model -> input, output) does not name.
    ``origins`` says for each field (``parameters`` by key: ``parameters.temperature``) which file its value came from.
    """

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
    price_search: float = 0.0  # dollars a web search, where the platform bills them apart
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)  # system, temperature, max_tokens, search, body fields
    headers: Mapping[str, str] = field(default_factory=dict)
    key_header: str = ""  # the header that carries the key; empty: the protocol's own
    locale: str = ""  # told where a question has none of its own
    search_body: Mapping[str, Any] = field(default_factory=dict)  # openai_chat: what the body gets when search is on
    origins: Mapping[str, str] = field(default_factory=dict)  # field -> "platforms.toml" or "monitor.yaml"

    @property
    def targets(self) -> tuple[str, ...]:
        """Platform and model pairs that are asked."""
        return tuple(target_name(self.name, model) for model in self.models)

    def price_of(self, model: str) -> tuple[float, float]:
        """Dollars a million tokens, input and output, of one model."""
        known = self.prices.get(model)
        return (known[0], known[1]) if known is not None else (self.price_input, self.price_output)


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
    """What is asked of whom, how often and until when. ``time_zone`` is the one budgets' days are counted in."""

    platforms: tuple[PlatformSettings, ...]
    schedules: tuple[Schedule, ...]
    samples: int = 1
    locale: str = ""
    expected_hold_s: float = 40.0
    day_budget_usd: float | None = None
    time_zone: str = "UTC"
    canary: bool = False  # ask every target whether it is there, some minutes before a scheduled run

    def platform(self, name: str) -> PlatformSettings:
        """The settings of one platform.

        Raises:
            KeyError: the monitor has no such platform.
        """
        for platform in self.platforms:
            if platform.name == name:
                return platform
        raise KeyError(name)

    def budgeted_by(self, other: Monitor) -> Monitor:
        """This monitor with another one's budgets of the day (calls and dollars) for the platforms that both have.

        A run is pinned to its catalogue; a budget belongs to a day, and holds for all its runs as it was pushed last.
        """
        platforms = tuple(
            replace(each, day_calls=now.day_calls, day_budget_usd=now.day_budget_usd)
            if (now := other.platform(each.name) if each.name in other.platform_names else None) is not None
            else each
            for each in self.platforms
        )
        return replace(self, platforms=platforms)

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

    ``priority`` is the schedule's. A brand whose own priority is not ``normal`` has that one instead; a prompt gets the highest
    of the (selected) brands that track it, and the first of those brands is its ``brand_group``. Linear in the prompts, plus one
    pass over each distinct set of tracking brands.
    """
    wishes: dict[str, Priority] = {
        brand.id: brand.priority if brand.priority != "normal" else priority for brand in catalogue.brands
    }
    rank = {brand_id: PRIORITY_ORDER[wish] for brand_id, wish in wishes.items()}
    wishes[""], rank[""] = priority, PRIORITY_ORDER[priority]  # a question that no brand tracks
    names = {brand.id: brand.name for brand in catalogue.brands}
    wanted, chosen = frozenset(selection.brands), frozenset(selection.questions)
    tracking: dict[tuple[str, ...], tuple[str, ...]] = {}  # questions share few distinct sets of brands
    speakers: dict[tuple[str, ...], str] = {}
    # By text and locale: its questions, and the first and the most urgent brand behind it.
    merged: dict[tuple[str, str], tuple[list[str], list[str]]] = {}

    def ask(text: str, locale: str, question_id: str, brand_id: str) -> None:
        known = merged.get((text, locale))
        if known is None:
            merged[text, locale] = ([question_id], [brand_id, brand_id])
            return
        ids, group = known
        if ids[-1] != question_id:  # all prompts of a question come one after another
            ids.append(question_id)
        if rank[brand_id] < rank[group[1]]:
            group[1] = brand_id

    for question in catalogue.questions:
        if chosen and question.id not in chosen:
            continue
        brands = question.brands
        if brands not in tracking:
            tracking[brands] = tuple(b for b in brands if b in wanted) if wanted else brands
            speakers[brands] = min(tracking[brands], key=rank.__getitem__, default="")
        locale = question.locale or catalogue.monitor.locale
        if question.branded:
            for brand_id in tracking[brands]:
                ask(question.text.replace(BRAND_SLOT, names[brand_id]).strip(), locale, question.id, brand_id)
        elif tracking[brands] or not wanted:
            ask(question.text.strip(), locale, question.id, speakers[brands])
    return tuple(
        Prompt(text, prompt_hash_of(text), locale, tuple(ids), first, wishes[most_urgent])
        for (text, locale), (ids, (first, most_urgent)) in merged.items()
    )


def chosen_platforms(catalogue: Catalogue, selection: Selection) -> tuple[PlatformSettings, ...]:
    """The platforms that a selection asks."""
    return tuple(p for p in catalogue.monitor.platforms if not selection.platforms or p.name in selection.platforms)


def to_document(catalogue: Catalogue) -> dict[str, Any]:
    """The stored form (JSON-ready). Questions name their brands by number in ``brand_sets``: sets repeat, and can be long."""
    sets: dict[tuple[str, ...], int] = {}
    questions = []
    for question in catalogue.questions:
        row = {f.name: getattr(question, f.name) for f in fields(question)}
        row["brands"] = sets.setdefault(question.brands, len(sets))
        questions.append(row)
    return {
        "v": CATALOGUE_VERSION,
        "version": catalogue.version,
        "brands": [asdict(brand) for brand in catalogue.brands],
        "brand_sets": list(sets),
        "questions": questions,
        "monitor": asdict(catalogue.monitor),
    }


def content_hash(catalogue: Catalogue) -> str:
    """SHA-256 (hex) of everything but the version: two catalogues with one hash are the same."""
    document = {**to_document(catalogue), "version": ""}
    return hashlib.sha256(json.dumps(document, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def from_document(document: Mapping[str, Any]) -> Catalogue:
    """Read the stored form back.

    Raises:
        ValueError: written by newer code.
    """
    if document["v"] > CATALOGUE_VERSION:
        raise ValueError(
            f"catalogue {document.get('version')} has format {document['v']}; this release reads {CATALOGUE_VERSION}"
        )
    sets = [tuple(ids) for ids in document["brand_sets"]]
    monitor = dict(document["monitor"])
    monitor["platforms"] = tuple(_platform(row) for row in monitor["platforms"])
    monitor["schedules"] = tuple(Schedule(**_tuples(row, ("brands",))) for row in monitor["schedules"])
    lists = ("aliases", "domains", "competitors", "topics")
    return Catalogue(
        brands=tuple(Brand(**_tuples(row, lists)) for row in document["brands"]),
        questions=tuple(
            Question(**{**_tuples(row, ("topics",)), "brands": sets[row["brands"]]}) for row in document["questions"]
        ),
        monitor=Monitor(**monitor),
        version=document["version"],
    )


def _platform(row: Mapping[str, Any]) -> PlatformSettings:
    prices = {model: (pair[0], pair[1]) for model, pair in row["prices"].items()}
    return PlatformSettings(**{**_tuples(row, ("models",)), "prices": prices})


def _tuples(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {key: tuple(value) if key in names else value for key, value in row.items()}
