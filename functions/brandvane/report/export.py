"""Every result of a run as lines of JSON and as a table for spreadsheets. Answers are untrusted: cells cannot become formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from brandvane.answer import Answer
from brandvane.result import ResultRow

EXPORT_VERSION = 1
ANSWER_START = 200  # code points of the answer in the table; the whole of it is in the JSON lines
CSV_COLUMNS = (
    "run_id",
    "task_id",
    "platform",
    "model",
    "served_model",
    "question_ids",
    "question",
    "locale",
    "sample",
    "outcome",
    "error_kind",
    "brands",
    "planned_at",
    "started_at",
    "finished_at",
    "latency_s",
    "calls",
    "retries",
    "throttles",
    "cost_usd",
    "unreadable",
    "answer_start",
)
# What spreadsheets take for the beginning of a formula (OWASP, CSV Injection), full-width forms included.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# A program that separates cells by semicolon or tab ignores the quotes of ours, and finds cells and rows of its own inside.
_FORMULA_INSIDE = re.compile("([;\t\r\n][\\s\"']*)(?=[=+@＝＋－＠-])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def instant(at: float | None) -> str | None:
    """ISO 8601 in UTC with milliseconds; None stays None."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def guarded(cell: str) -> str:
    """The cell as text that no spreadsheet evaluates, whatever it takes for the end of a cell.

    An apostrophe goes before a character that could begin a formula: the first one, and one after a ``;``, tab or line break.
    """
    inside = _FORMULA_INSIDE.sub(r"\1'", _CONTROL.sub("\ufffd", cell))
    return f"'{inside}" if inside.startswith(_FORMULA) else inside


def line(row: ResultRow, answer: Answer | None, question: str, brands: Sequence[str], fault: str) -> dict[str, Any]:
    """One result as a JSON-ready object; ``brands`` are the ids it mentions, ``fault`` why its answer cannot be read.

    ``answer`` is null where there is none; the platform's raw body stays in the results table.
    """
    return {
        "v": EXPORT_VERSION,
        "run_id": row.run_id,
        "task_id": row.task_id,
        "target": row.target,
        "platform": row.platform,
        "model": row.model,
        "question_ids": list(row.question_ids),
        "question": question,
        "brand_group": row.brand_group,
        "locale": row.locale,
        "sample": row.sample,
        "outcome": row.outcome.value,
        "error_kind": row.error_kind,
        "unreadable": fault or None,
        "minimal": row.minimal,
        "brands": list(brands),
        "planned_at": instant(row.planned_time),
        "started_at": instant(row.started_at),
        "finished_at": instant(row.finished_at),
        "written_at": instant(row.written_at),
        "round": row.round,
        "paid_calls": row.paid_calls,
        "retry_count": row.retry_count,
        "throttle_count": row.throttle_count,
        "give_backs": row.give_backs,
        "write_backs": row.write_backs,
        "answer": None if answer is None else _answer(answer),
    }


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "text": answer.text,
        "status": answer.status,
        "served_model": answer.served_model,
        "finish_reason": answer.finish_reason,
        "request_id": answer.provider_request_id,
        "request": dict(answer.request),
        "latency_s": answer.latency_s,
        "usage": asdict(answer.usage),
        "cost_microusd": answer.cost_microusd,
        "citations": [asdict(citation) for citation in answer.citations],
        "search_queries": list(answer.search_queries),
    }


class Table:
    """The results as CSV: UTF-8 with a byte order mark, as spreadsheet programs want it, rows ended by CR LF."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        # A lone surrogate cannot be encoded; it becomes a question mark.
        self._text = io.TextIOWrapper(self._bytes, encoding="utf-8-sig", errors="replace", newline="")
        # Every text in quotes, so that no program sees the end of a cell in one.
        self._writer = csv.writer(self._text, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
        self._writer.writerow(CSV_COLUMNS)

    def add(self, row: ResultRow, answer: Answer | None, question: str, brands: Sequence[str], fault: str) -> None:
        """Write one result."""
        start = " ".join(answer.text[: 2 * ANSWER_START].split())[:ANSWER_START] if answer is not None else ""
        cells = (
            row.run_id,
            row.task_id,
            row.platform,
            row.model,
            answer.served_model if answer is not None else "",
            " ".join(row.question_ids),
            question,
            row.locale,
            row.sample,
            row.outcome.value,
            row.error_kind or "",
            " ".join(brands),
            instant(row.planned_time),
            instant(row.started_at) or "",
            instant(row.finished_at) or "",
            Decimal(f"{answer.latency_s:.3f}") if answer is not None else "",
            row.paid_calls,
            row.retry_count,
            row.throttle_count,
            Decimal(f"{answer.cost_microusd / 1_000_000:.6f}") if answer is not None else "",
            fault,
            start,
        )
        self._writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in cells])

    def packed(self) -> bytes:
        """The whole file."""
        self._text.flush()
        return self._bytes.getvalue()
