"""What has a run found that has no report yet, or gets none? Its rows as they are now, read as scorer and reporter would."""

from __future__ import annotations

from dataclasses import dataclass

from brandvane.catalogue import Catalogue
from brandvane.engine.answers import ReadRow, read_rows
from brandvane.engine.score import Reader, json_bytes
from brandvane.ports import BlobStore, ResultStore
from brandvane.report.export import Table, line
from brandvane.run import Run
from brandvane.task import BUCKETS


@dataclass(frozen=True, slots=True)
class ResultsSoFar:
    """The files that the reporter would write, and how many rows they have."""

    csv: bytes
    jsonl: bytes
    rows: int


async def results_so_far(run: Run, catalogue: Catalogue, *, results: ResultStore, blobs: BlobStore) -> ResultsSoFar:
    """Read every row of a run. A reopened task still has the row of its earlier round.

    Raises:
        Unavailable: a store refused.
    """
    reader, table = Reader.of(catalogue), Table()
    lines: list[bytes] = []
    for bucket in range(BUCKETS):
        async for read in read_rows(run.run_id, bucket, results, blobs):
            brands, fault = _mentioned(read, reader)
            question = reader.roles.text(read.row.prompt_hash)
            lines.append(json_bytes(line(read.row, read.answer, question, brands, fault)) + b"\n")
            table.add(read.row, read.answer, question, brands, fault)
    return ResultsSoFar(table.packed(), b"".join(lines), len(lines))


def _mentioned(read: ReadRow, reader: Reader) -> tuple[list[str], str]:
    """Ids of the brands that an answer mentions, and why it cannot be read."""
    if read.answer is None:
        return [], read.fault
    try:
        reading = reader.matcher.read(read.answer.text)
    except Exception as error:  # an answer that a matcher stumbles over must not keep the others back
        return [], f"{type(error).__name__} in matcher {reader.matcher.version}"
    return sorted({mention.brand for mention in reading.mentions if mention.visible}), ""
