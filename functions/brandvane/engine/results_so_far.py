"""What has a run found that has no report yet, or gets none? Its rows as they are now, read as scorer and reporter would."""

from __future__ import annotations

from dataclasses import dataclass

from brandvane.catalogue import Catalogue
from brandvane.engine.answer_reader import Reader
from brandvane.engine.answers import read_rows
from brandvane.engine.corrections_of_run import corrections_of
from brandvane.engine.json_bytes import json_bytes
from brandvane.mentions.corrections import by_task
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
        LookupError: the run's corrections are gone.
        Unavailable: a store refused.
    """
    reader, table = Reader.of(catalogue, corrections=by_task(await corrections_of(run, blobs))), Table()
    lines: list[bytes] = []
    for bucket in range(BUCKETS):
        async for read in read_rows(run.run_id, bucket, results, blobs):
            said = reader.read(read)
            brands, fault = sorted(said.found.reading.occurrences), said.fault
            question = reader.roles.text(read.row.prompt_hash)
            lines.append(json_bytes(line(read.row, read.answer, question, brands, fault)) + b"\n")
            table.add(read.row, read.answer, question, brands, fault)
    return ResultsSoFar(table.packed(), b"".join(lines), len(lines))
