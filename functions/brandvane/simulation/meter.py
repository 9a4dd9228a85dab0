"""What would AWS charge? Units of the tables by item size, requests to queues and bucket, gigabyte-seconds of functions.

Sizes follow DynamoDB's rules: names and text as UTF-8, numbers half a byte a digit and one more, a list or map 3 bytes and one
for each element. A write costs a unit a started KB, of the larger of the item before and after, and in an index again for
each entry that goes or comes; a consistent read costs a unit a started 4 KB, any other half of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any

from brandvane.result import ResultRow
from brandvane.task import Task

KB = 1024
NOT_ALWAYS = 20  # bytes of what only some records of a run have
INDEX_ENTRY = 1  # units of an entry of any of the indexes but those of runs


def item_size(record: Any) -> int:
    """Bytes of a record as an item."""
    size = 0
    for name, length in _names(type(record)):  # type: ignore[arg-type]  # a class is hashable
        value = getattr(record, name)
        if value is not None and value not in ("", b"", frozenset()):
            size += length + _size(value)
    return size


@lru_cache(maxsize=16)
def _names(kind: type[Any]) -> tuple[tuple[str, int], ...]:
    return tuple((field.name, len(field.name)) for field in fields(kind))


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode("utf-8", "replace"))
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, bool):
        return 1
    if isinstance(value, int | float):
        return len(repr(value).strip("0")) // 2 + 2
    if isinstance(value, tuple | frozenset):
        return 3 + sum(1 + _size(each) for each in value)
    if isinstance(value, Mapping):
        return 3 + sum(1 + len(str(key)) + _size(each) for key, each in value.items())
    return 3 + item_size(value) if is_dataclass(value) else 8


class Meter:
    """Counts by kind; all of a simulation."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.gb_seconds: Counter[str] = Counter()
        self._bare: dict[tuple[type[Any], str], int] = {}  # sizes without an answer, by kind of record and run

    def size(self, record: Task | ResultRow) -> int:
        """Bytes of a record with its answer; the rest of it is measured once a run, for it differs by a few bytes only."""
        key = (type(record), record.run_id)
        if key not in self._bare:
            self._bare[key] = item_size(replace(record, answer=None)) + NOT_ALWAYS
        return self._bare[key] + len(record.answer or b"")

    def wrote(self, table: str, size: int, index_units: float = 0) -> None:
        """One write request: ``size`` in bytes, of the larger of before and after."""
        self.counts[f"write_{table}"] += max(1, -(-size // KB))
        if index_units:
            self.counts[f"write_{table}_index"] += index_units  # type: ignore[assignment]

    def wrote_task(self, old: Task | None, new: Task | None) -> None:
        """A record was created or moved (``old`` None: created; ``new`` None: the condition failed)."""
        largest = 0
        for record in (old, new):
            if record is not None and record.answer is not None:
                largest = max(largest, self.size(record))
        units = 0
        if new is not None:
            was, now = old is not None and old.watch is not None, new.watch is not None
            same_key = old is not None and (old.watch, old.act_at) == (new.watch, new.act_at)
            units = INDEX_ENTRY if same_key and now else INDEX_ENTRY * (was + now)
        self.wrote("tasks", largest, units)

    def read(self, table: str, size: int, *, consistent: bool = True) -> None:
        """One read request."""
        units = max(1, -(-size // (4 * KB)))
        self.counts[f"read_{table}"] += units if consistent else units / 2  # type: ignore[assignment]

    def asked(self, service: str, operation: str, number: int = 1) -> None:
        """Requests to a queue, the bucket or a function."""
        self.counts[f"{service}_{operation}"] += number

    def ran(self, function: str, memory_gb: float, seconds: float) -> None:
        """An invocation (its cold start included, which is billed too)."""
        self.counts[f"lambda_{function}"] += 1
        self.gb_seconds[function] += memory_gb * math.ceil(seconds * 1e3) / 1e3  # type: ignore[assignment]

    def per_task(self, tasks: int) -> dict[str, Any]:
        """Operations a task, JSON-ready."""
        share = 1 / max(tasks, 1)
        sums = {kind: sum(n for name, n in self.counts.items() if name.startswith(kind)) for kind in
                ("write_", "read_", "sqs_", "s3_", "lambda_")}  # fmt: skip
        return {
            "write_units": round(sums["write_"] * share, 3),
            "read_units": round(sums["read_"] * share, 3),
            "sqs_requests": round(sums["sqs_"] * share, 3),
            "s3_requests": round(sums["s3_"] * share, 4),
            "lambda_invocations": round(sums["lambda_"] * share, 4),
            "lambda_gb_s": round(sum(self.gb_seconds.values()) * share, 4),
            "detail": {name: round(self.counts[name] * share, 4) for name in sorted(self.counts)},
            "gb_s_by_function": {name: round(self.gb_seconds[name] * share, 5) for name in sorted(self.gb_seconds)},
        }
