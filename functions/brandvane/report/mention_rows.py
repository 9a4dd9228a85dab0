"""Which mentions does a bucket of answers have? One row each, as lines of JSON and as a table for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from brandvane.mentions.corrections import Corrected
from brandvane.mentions.mention import Mention
from brandvane.mentions.roles import Role
from brandvane.report.export import guarded
from brandvane.result import ResultRow

MENTIONS_VERSION = 2  # 2: kind, rank, order, stance, flags, correction
CSV_COLUMNS = (
    "run_id",
    "task_id",
    "target",
    "question_ids",
    "locale",
    "sample",
    "outcome",
    "brand",
    "role",
    "alias",
    "start",
    "end",
    "sentence",
    "sentence_start",
    "visible",
    "kind",
    "rank",
    "order",
    "stance",
    "self_mention",
    "echo",
    "doubtful",
    "reason",
    "correction",
    "parser_version",
)


def mention_rows(row: ResultRow, found: Corrected, roles: Mapping[str, Role], version: str) -> Iterator[dict[str, Any]]:
    """The rows of one answer, JSON-ready, in the order of the text, then what a correction took out of it.

    ``start`` and ``end`` are code points of the original answer. ``correction`` is the id of the one that made the mention, or
    that took it out: then ``visible`` is false.
    """
    about = {
        "v": MENTIONS_VERSION,
        "run_id": row.run_id,
        "task_id": row.task_id,
        "target": row.target,
        "question_ids": list(row.question_ids),
        "locale": row.locale,
        "sample": row.sample,
        "outcome": row.outcome.value,
        "parser_version": version,
    }
    for mention in found.reading.mentions:
        yield {**about, **_facts(mention, roles, mention.visible, found.made.get(mention))}
    for mention, correction in found.removed:
        yield {**about, **_facts(mention, roles, False, correction)}


def _facts(mention: Mention, roles: Mapping[str, Role], visible: bool, correction: str | None) -> dict[str, Any]:
    return {
        "brand": mention.brand,
        "role": roles.get(mention.brand, Role.ALSO).value,
        "alias": mention.alias,
        "start": mention.start,
        "end": mention.end,
        "sentence": mention.sentence,
        "sentence_start": mention.sentence_start,
        "visible": visible,
        "kind": mention.kind.value,
        "rank": mention.rank,
        "order": mention.order,
        "stance": mention.stance.value,
        "self_mention": mention.self_mention,
        "echo": mention.echo,
        "doubtful": mention.doubtful,
        "reason": mention.reason,
        "correction": correction,
    }


class MentionTable:
    """Mentions as CSV: UTF-8 with a byte order mark, rows ended by CR LF, no cell a formula."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        # A lone surrogate cannot be encoded; it becomes a question mark.
        self._text = io.TextIOWrapper(self._bytes, encoding="utf-8-sig", errors="replace", newline="")
        # Every text in quotes, so that no program sees the end of a cell in one.
        self._writer = csv.writer(self._text, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
        self._writer.writerow(CSV_COLUMNS)

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one mention."""
        self._writer.writerow([_cell(row[name]) for name in CSV_COLUMNS])

    def packed(self) -> bytes:
        """The whole file."""
        self._text.flush()
        return self._bytes.getvalue()


def _cell(value: Any) -> str | int:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        value = " ".join(value)
    return value if isinstance(value, int) else guarded(value)
