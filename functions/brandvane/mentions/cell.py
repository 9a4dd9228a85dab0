"""What do answers say of one brand? One cell of a table: counted answers, mentions, ranks, voices, sources, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brandvane.mentions.statistics import Interval, Ratio, wilson
from brandvane.task import ANSWERED, Outcome

UNREADABLE = "unreadable"
EMPTY = "empty"
_NUMBERS = (
    "mentioned",
    "answers",
    "occurrences",
    "doubtful",
    "self_named",
    "ranked",
    "rank_sum",
    "order_sum",
    "rivals",
    "corrected",
    "voice_corrected",
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one answer says of one brand. ``rank``: its list rank, ``order``: its place among the brands, both from 1.

    ``doubtful`` and ``self_named`` hold for the brand when they hold for each of its mentions that count; ``echo``: the
    question itself names it.
    """

    times: int
    rank: int | None = None
    order: int = 0
    doubtful: bool = False
    self_named: bool = False
    echo: bool = False


@dataclass(frozen=True, slots=True)
class Around:
    """What one answer holds beside a brand: ``voices`` brands mentioned that the question does not name; ``sources`` cited,
    ``own`` and ``rivals`` of them the brand's and its competitors'; ``corrected``: an analyst's correction touches this
    brand, ``voice_corrected``: any brand.
    """

    voices: int = 0
    sources: int = 0
    own: int = 0
    rivals: int = 0
    corrected: bool = False
    voice_corrected: bool = False


@dataclass(slots=True)
class Cell:
    """One brand on one target under one role: ``mentioned`` of ``answers`` counted ones, and what was left out by reason.

    ``occurrences`` counts repeated mentions inside the counted answers; it is never part of a rate. ``rank_sum`` adds the
    list ranks of the ``ranked`` answers that have one, ``order_sum`` the places of first mention of all ``mentioned``.
    ``voice``: of the brands mentioned in the counted answers (each once an answer, none that the question put into the
    answer's mouth but this one), this one. ``sources``: of the sources
    cited there (each address once an answer), this brand's. ``doubtful``, ``self_named`` and ``corrected`` count answers.
    """

    mentioned: int = 0
    answers: int = 0
    occurrences: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    doubtful: int = 0
    self_named: int = 0
    ranked: int = 0
    rank_sum: int = 0
    order_sum: int = 0
    rivals: int = 0
    corrected: int = 0
    voice_corrected: int = 0
    voice: Ratio = field(default_factory=Ratio)
    sources: Ratio = field(default_factory=Ratio)

    @property
    def rate(self) -> float | None:
        """Visibility, 0 … 1; None without a counted answer."""
        return self.mentioned / self.answers if self.answers else None

    @property
    def interval(self) -> Interval | None:
        """Its 95 % interval; None without a counted answer."""
        return wilson(self.mentioned, self.answers) if self.answers else None

    @property
    def average_rank(self) -> float | None:
        """Mean list rank over the ``ranked`` answers, 1 the best; None without one."""
        return self.rank_sum / self.ranked if self.ranked else None

    @property
    def average_order(self) -> float | None:
        """Mean place of first mention over the ``mentioned`` answers, 1 the first; None without one."""
        return self.order_sum / self.mentioned if self.mentioned else None

    @property
    def left_out_total(self) -> int:
        """Answers and failures that are not in ``answers``."""
        return sum(self.left_out.values())

    @property
    def empty(self) -> bool:
        """Is there nothing in it?"""
        return not (self.answers or self.left_out)

    def count(self, seen: Seen | None, around: Around) -> None:
        """Add a counted answer; ``seen`` is None where it does not mention the brand."""
        self.answers += 1
        self.corrected += around.corrected
        self.voice_corrected += around.voice_corrected
        if around.sources:
            self.rivals += around.rivals
            self.sources.take(around.own, around.sources)
        if seen is None:
            self.voice.take(0, around.voices)
            return
        self.mentioned += 1
        self.occurrences += seen.times
        self.doubtful += seen.doubtful
        self.self_named += seen.self_named
        self.order_sum += seen.order
        if seen.rank is not None:
            self.ranked += 1
            self.rank_sum += seen.rank
        self.voice.take(1, around.voices + seen.echo)

    def leave_out(self, reason: str) -> None:
        """Add an answer or failure that is in no rate."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1

    def merge(self, other: Cell) -> None:
        """Add another cell's answers."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for reason, number in other.left_out.items():
            self.left_out[reason] = self.left_out.get(reason, 0) + number
        self.voice.merge(other.voice)
        self.sources.merge(other.sources)

    def to_document(self) -> dict[str, Any]:
        """The stored form (JSON-ready); what is 0 is left out."""
        document: dict[str, Any] = {name: number for name in _NUMBERS if (number := getattr(self, name))}
        if self.left_out:
            document["left_out"] = dict(self.left_out)
        for name, ratio in (("voice", self.voice), ("sources", self.sources)):
            if ratio.total:
                document[name] = ratio.numbers()
        return document


def cell_of(document: Mapping[str, Any]) -> Cell:
    """Read the stored form back; numbers that a newer release adds are passed over."""
    cell = Cell(**{name: document[name] for name in _NUMBERS if name in document})
    cell.left_out = dict(document.get("left_out", {}))
    cell.voice = Ratio(*document.get("voice", ()))
    cell.sources = Ratio(*document.get("sources", ()))
    return cell


def why_left_out(outcome: Outcome, text: str | None, mentioned: bool) -> str | None:
    """Why an answer is not in the denominator for a brand; None when it is (DESIGN §9).

    Counted are ``ok`` answers, and truncated ones that mention the brand: what a cut answer does not say is unknown.
    ``text`` is None where no answer could be read. The reason is an outcome's name, ``unreadable`` or ``empty``.
    """
    if outcome not in ANSWERED or outcome in (Outcome.REFUSED, Outcome.FILTERED):
        return outcome.value
    if text is None:
        return UNREADABLE
    if not text.strip():
        return EMPTY
    if outcome is Outcome.TRUNCATED and not mentioned:
        return outcome.value
    return None
