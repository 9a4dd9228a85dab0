"""What has a person put right in what the matcher found? Corrections of single answers, and how they change a reading.

A correction names the words it is about by their place *and* as they stand there: it holds for every later reading of the same
answer, whatever the matcher, and for no other text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from brandvane.mentions.layout import Layout
from brandvane.mentions.mention import Mention, Reading
from brandvane.mentions.sentences import Sentences

CORRECTIONS_VERSION = 1


class Wrong(StrEnum):
    """What was wrong, or that an earlier correction is taken back."""

    FALSE = "false"  # these words are no mention of the brand
    MISSING = "missing"  # these words are one
    WITHDRAWN = "withdrawn"  # the correction ``withdraws`` holds no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One entry of a run's list, which only grows. ``start`` and ``end`` are code points of the answer, ``quote`` the words
    there; ``at`` is POSIX seconds, ``by`` and ``reason`` are the person's.
    """

    id: str
    task_id: str
    brand: str
    wrong: Wrong
    start: int = 0
    end: int = 0
    quote: str = ""
    by: str
    reason: str
    at: float
    withdraws: str = ""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A reading after corrections. ``brands``: whose mentions are others now; ``made``: mention → the correction that made
    it; ``removed``: mentions that were taken out, each with its correction; ``unfit``: corrections of another text.
    """

    reading: Reading
    brands: frozenset[str] = frozenset()
    made: Mapping[Mention, str] = field(default_factory=dict)
    removed: tuple[tuple[Mention, str], ...] = ()
    unfit: tuple[str, ...] = ()


def standing(corrections: Iterable[Correction]) -> tuple[Correction, ...]:
    """Those that hold, in the order they were made."""
    listed = tuple(corrections)
    gone = {each.withdraws for each in listed if each.wrong is Wrong.WITHDRAWN}
    return tuple(each for each in listed if each.wrong is not Wrong.WITHDRAWN and each.id not in gone)


def by_task(corrections: Iterable[Correction]) -> dict[str, tuple[Correction, ...]]:
    """Those that hold, by the answer they are about."""
    tasks: dict[str, list[Correction]] = {}
    for each in standing(corrections):
        tasks.setdefault(each.task_id, []).append(each)
    return {task: tuple(those) for task, those in tasks.items()}


def corrected(reading: Reading, text: str, corrections: Sequence[Correction]) -> Corrected:
    """Carry out one answer's standing corrections, the later ones last.

    A false mention goes, with every other of that brand that overlaps its words; a missing one comes, unless the matcher finds
    it by now. Order of first mention and list ranks are told anew.
    """
    mentions = list(reading.mentions)
    made: dict[Mention, str] = {}
    removed: list[tuple[Mention, str]] = []
    brands: set[str] = set()
    unfit: list[str] = []
    for each in corrections:
        if text[each.start : each.end] != each.quote or not each.quote:
            unfit.append(each.id)
            continue
        there = [m for m in mentions if m.brand == each.brand and m.start < each.end and each.start < m.end]
        if each.wrong is Wrong.FALSE:
            mentions = [m for m in mentions if m not in there]
            removed += [(m, each.id) for m in there if m not in made]
        elif any(m.visible for m in there):
            continue
        else:
            mentions = [m for m in mentions if m not in there]
            mention = _added(each, text)
            made[mention] = each.id
            mentions.append(mention)
        if there or each.wrong is Wrong.MISSING:
            brands.add(each.brand)
    if not brands:
        return Corrected(reading, unfit=tuple(unfit))
    ordered = _placed(mentions, Layout(text))
    kept = {new: made[old] for old, new in ordered if old in made}
    after = Reading(tuple(new for _, new in ordered), (*reading.rejected, *(m for m, _ in removed)))
    return Corrected(after, frozenset(brands), kept, tuple(removed), tuple(unfit))


def _added(correction: Correction, text: str) -> Mention:
    start, end = correction.start, correction.end
    sentence, sentence_start = Sentences(text).around(start, end)
    kind = Layout(text).kind_of(start)
    return Mention(correction.brand, correction.quote, start, end, sentence, sentence_start, kind=kind)


def _placed(mentions: Iterable[Mention], layout: Layout) -> list[tuple[Mention, Mention]]:
    """Mentions in the order of the text, each beside itself with its brand's place and its list rank."""
    ordered = sorted(mentions, key=lambda m: (m.start, m.end, m.brand))
    ranks = layout.ranks([(m.start, m.end) for m in ordered])
    places: dict[str, int] = {}
    return [
        (mention, replace(mention, order=places.setdefault(mention.brand, len(places) + 1), rank=rank))
        for mention, rank in zip(ordered, ranks, strict=True)
    ]


def to_document(revision: int, corrections: Iterable[Correction]) -> dict[str, Any]:
    """The stored form of a run's whole list (JSON-ready)."""
    listed = [asdict(each) for each in corrections]
    return {"v": CORRECTIONS_VERSION, "revision": revision, "corrections": listed}


def from_document(document: Mapping[str, Any]) -> tuple[Correction, ...]:
    """Read the stored form back; fields that a newer release adds are passed over.

    Raises:
        ValueError: written by newer code.
    """
    if document["v"] > CORRECTIONS_VERSION:
        raise ValueError(f"corrections have format {document['v']}; this release reads {CORRECTIONS_VERSION}")
    names = {each.name for each in fields(Correction)}
    return tuple(
        Correction(**{name: value for name, value in row.items() if name in names} | {"wrong": Wrong(row["wrong"])})
        for row in document["corrections"]
    )
