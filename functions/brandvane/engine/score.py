"""What do a finished run's answers say? Reads every answer of a bucket and writes its mentions and its counts.

Mentions are a pure function of (answer, pinned catalogue, parser version, corrections): ``score_bucket`` is the one code path for
scoring a run and for reading it anew later. Equal input gives equal bytes, so that two scorers of one bucket do no harm.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from brandvane.catalogue import Brand
from brandvane.engine.answer_reader import Reader, Said
from brandvane.engine.answers import ReadRow, read_rows
from brandvane.engine.corrections_of_run import corrections_of
from brandvane.engine.json_bytes import json_bytes
from brandvane.engine.scored_objects import mentions_key, mentions_table_key, scores_key
from brandvane.mentions.corrections import by_task
from brandvane.mentions.matcher import Matcher, matcher_for
from brandvane.mentions.tally import Tally
from brandvane.ports import BlobStore, CatalogueStore, Clock, ResultStore, RunStore, Telemetry
from brandvane.report.mention_rows import MentionTable, mention_rows
from brandvane.run import RunState


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that could not be read, and why."""

    task_id: str
    target: str
    reason: str


@dataclass(slots=True)
class BucketScore:
    """What a bucket's answers say: ``mentions`` and ``table`` are the packed files, ``tally`` the counts.

    ``applied``: corrections that changed a reading; ``unfit``: those whose words stand in their answer no more.
    """

    tally: Tally = field(default_factory=Tally)
    mentions: bytes = b""
    table: bytes = b""
    rows: int = 0
    mention_count: int = 0
    unreadable: list[Unreadable] = field(default_factory=list)
    applied: list[str] = field(default_factory=list)
    unfit: list[str] = field(default_factory=list)


async def score_bucket(run_id: str, bucket: int, reader: Reader, results: ResultStore, blobs: BlobStore) -> BucketScore:
    """Read a bucket's answers.

    Raises:
        Unavailable: a store refused.
    """
    score = BucketScore()
    packed, table = io.BytesIO(), MentionTable()
    # No name and no time in the file's header: two scorers write the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as lines:
        async for read in read_rows(run_id, bucket, results, blobs):
            said = reader.read(read)
            _count(score, read, said, reader)
            for line in mention_rows(read.row, said.found, said.roles, reader.matcher.version):
                lines.write(json_bytes(line) + b"\n")
                table.add(line)
    score.mentions = packed.getvalue()
    score.table = gzip.compress(table.packed(), mtime=0)
    return score


def _count(score: BucketScore, read: ReadRow, said: Said, reader: Reader) -> None:
    found = said.found
    score.tally.add(
        read.row,
        None if said.fault else read.answer,
        found.reading,
        said.roles,
        about=said.about,
        sources=said.sources,
        reader=reader.sources,
        corrected=found.brands,
    )
    score.rows += 1
    score.mention_count += len(found.reading.mentions)
    if said.fault:
        score.unreadable.append(Unreadable(read.row.task_id, read.row.target, said.fault))
    if read.row.task_id in reader.corrections:
        unfit = [each.id for each in reader.corrections[read.row.task_id]] if said.fault else found.unfit
        score.unfit += unfit
        score.applied += [each.id for each in reader.corrections[read.row.task_id] if each.id not in unfit]


@dataclass(frozen=True, slots=True)
class Scored:
    """What an invocation did. ``over``: the pass had ended (or the run is unknown), nothing more was to be done."""

    buckets: tuple[int, ...] = ()
    rows: int = 0
    mentions: int = 0
    unreadable: int = 0
    over: bool = False


async def score(
    run_id: str,
    pass_no: int,
    buckets: Sequence[int],
    *,
    runs: RunStore,
    results: ResultStore,
    blobs: BlobStore,
    catalogues: CatalogueStore,
    clock: Clock,
    telemetry: Telemetry,
    make_matcher: Callable[[Iterable[Brand]], Matcher] = matcher_for,
) -> Scored:
    """Score the buckets of a run's pass that are not scored yet: their three objects first, the mark on the run last.

    Raises:
        LookupError: the run's catalogue version or its corrections are gone.
        Unavailable: a store refused; the same call again goes on where this one ended.
    """
    run = await runs.get(run_id)
    if run is None or run.pass_no != pass_no or run.state in (RunState.OPEN, RunState.CANCELLED):
        return Scored(over=True)
    todo = [bucket for bucket in sorted(set(buckets)) if bucket not in run.scored]
    if not todo:
        return Scored()
    catalogue = await catalogues.load(run.catalogue_version)
    reader = Reader.of(catalogue, make_matcher, by_task(await corrections_of(run, blobs)))
    done: list[int] = []
    rows = mentions = unreadable = 0
    for bucket in todo:
        result = await score_bucket(run_id, bucket, reader, results, blobs)
        await blobs.put(mentions_key(run_id, pass_no, bucket), result.mentions, "application/gzip")
        await blobs.put(mentions_table_key(run_id, pass_no, bucket), result.table, "application/gzip")
        counts = _document(run_id, pass_no, bucket, run.catalogue_version, reader.matcher.version, result)
        await blobs.put(scores_key(run_id, pass_no, bucket), json_bytes(counts), "application/json")
        for item in result.unreadable:
            telemetry.event(
                "answer_unreadable", run_id=run_id, task_id=item.task_id, target=item.target, reason=item.reason
            )
        over = await runs.mark(run_id, pass_no, "scored", bucket, clock.now()) is None
        if over:
            telemetry.event("pass_over", run_id=run_id, pass_no=pass_no, bucket=bucket)
            return Scored(tuple(done), rows, mentions, unreadable, over=True)
        done.append(bucket)
        rows, mentions = rows + result.rows, mentions + result.mention_count
        unreadable += len(result.unreadable)
        telemetry.count("AnswersScored", result.rows)
        telemetry.count("AnswersUnreadable", len(result.unreadable))
    telemetry.event("scored", run_id=run_id, pass_no=pass_no, buckets=done, rows=rows, mentions=mentions)
    return Scored(tuple(done), rows, mentions, unreadable)


def _document(run_id: str, pass_no: int, bucket: int, catalogue: str, parser: str, result: BucketScore) -> Any:
    return {
        **result.tally.to_document(),
        "run_id": run_id,
        "pass_no": pass_no,
        "bucket": bucket,
        "catalogue_version": catalogue,
        "parser_version": parser,
        "rows": result.rows,
        "mentions": result.mention_count,
        "unreadable": [{"task_id": u.task_id, "target": u.target, "reason": u.reason} for u in result.unreadable],
        "corrections": {"applied": result.applied, "unfit": result.unfit},
    }
