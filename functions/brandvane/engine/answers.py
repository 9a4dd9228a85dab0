"""Which answers does a bucket of results hold? Rows in one order, each with its answer or the reason why there is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from brandvane.answer import Answer, unpack
from brandvane.ports import BlobStore, ResultStore
from brandvane.result import ResultRow
from brandvane.task import ANSWERED

READ_AHEAD = 32  # answers fetched from S3 at once


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A result row and its answer; None where it has none, or where ``fault`` says why it cannot be read."""

    row: ResultRow
    answer: Answer | None
    fault: str = ""


async def read_rows(run_id: str, bucket: int, results: ResultStore, blobs: BlobStore) -> AsyncIterator[ReadRow]:
    """The rows of a bucket in the order of their sort keys, each with its answer; the answers are not all held at once.

    Raises:
        Unavailable: a store refused; what is only late must not be recorded as unreadable.
    """
    rows = sorted([row async for row in results.bucket(run_id, bucket)], key=lambda row: row.sk)
    for first in range(0, len(rows), READ_AHEAD):
        for read in await asyncio.gather(*(read_row(row, blobs) for row in rows[first : first + READ_AHEAD])):
            yield read


async def read_row(row: ResultRow, blobs: BlobStore) -> ReadRow:
    """One row with its answer.

    Raises:
        Unavailable: the store refused.
    """
    if row.outcome not in ANSWERED:
        return ReadRow(row, None)
    packed = row.answer
    if packed is None and row.answer_key is not None:
        packed = await blobs.get(row.answer_key)
    if packed is None:
        return ReadRow(row, None, f"no answer at {row.answer_key}" if row.answer_key else "the row has no answer")
    try:
        answer = unpack(packed)
    except Exception as error:  # whatever bytes were stored, one of them must not stop the others
        return ReadRow(row, None, f"{type(error).__name__} while unpacking")
    if not isinstance(answer.text, str):
        return ReadRow(row, None, "its text is no text")
    if not _countable(answer):
        return ReadRow(row, None, "its model or its numbers are none")
    return ReadRow(row, answer)


def _countable(answer: Answer) -> bool:
    """Is what gets counted and written out of the kind that it should be? JSON can hold anything in its place."""
    numbers = isinstance(answer.cost_microusd, int) and isinstance(answer.latency_s, int | float)
    return numbers and isinstance(answer.served_model, str)
