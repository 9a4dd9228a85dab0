"""Which topics does a record name, and how is each of them spelt in the whole catalogue?"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from brandvane.catalogue_files.record import Record

EVERY = "all"  # what figures.csv says where a row is not divided by topic, hence no topic's name and no language


def folded(text: str) -> str:
    """A name as it is compared: NFKC, letter case and inner spaces levelled."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def read_topics(record: Record) -> tuple[str, ...]:
    """The topics of a record, each once whatever its letter case."""
    kept: dict[str, str] = {}
    for item in record.scalars("topics"):
        if folded(item.text) == EVERY:
            remedy = "Choose another name, or leave it out: every figure is there for all topics together too"
            record.fault("topics", "not a topic: it means every one", remedy, row=item.row, value=item.text)
        kept.setdefault(folded(item.text), item.text)
    return tuple(kept.values())


class Spellings:
    """One spelling for each topic: the first that the catalogue has, so that a report has one row for it."""

    def __init__(self, topics: Iterable[str]) -> None:
        self._first: dict[str, str] = {}
        for topic in topics:
            self._first.setdefault(folded(topic), topic)

    def of(self, topics: Iterable[str]) -> tuple[str, ...]:
        """The topics as they are spelt everywhere."""
        return tuple(dict.fromkeys(self._first.get(folded(topic), topic) for topic in topics))
