"""What do a finished run's answers say? Reads every answer of a bucket and writes its mentions and its counts.

Mentions are a pure function of (answer, pinned catalogue, parser version): ``score_bucket`` is the one code path for scoring a
run and for reading it anew later. Equal input gives equal bytes, so that two scorers of one bucket do no harm.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brandvane.catalogue import Brand, Catalogue
from brandvane.engine.answers import ReadRow, read_rows
from brandvane.mentions.matcher import Matcher, Reading, matcher_for
from brandvane.mentions.roles import Role, Roles
from brandvane.mentions.tally import Tally
from brandvane.ports import BlobStore, CatalogueStore, Clock, ResultStore, RunStore, Telemetry
from brandvane.result import ResultRow
from brandvane.run import RunState
from brandvane.task import BUCKETS

MENTIONS_VERSION = 1
# A scorer reads some 400 answers a second at least, so this is a quarter of a minute of one invocation's work.
ROWS_AN_INVOCATION = 5_000
_NOTHING = Reading()


def mentions_key(run_id: str, pass_no: int, bucket: int) -> str:
    """S3 key of a bucket's mentions."""
    return f"mentions/{run_id}/pass-{pass_no}/bucket-{bucket:02d}.jsonl.gz"


def scores_key(run_id: str, pass_no: int, bucket: int) -> str:
    """S3 key of a bucket's counts."""
    return f"scores/{run_id}/pass-{pass_no}/bucket-{bucket:02d}.json"


def plan_buckets(total: int) -> tuple[tuple[int, ...], ...]:
    """Which buckets each invocation of the scorer takes, for a run of ``total`` rows: 1, 2, 4, 8 or 16 even groups."""
    groups = 1
    while groups < BUCKETS and total > groups * ROWS_AN_INVOCATION:
        groups *= 2
    size = BUCKETS // groups
    return tuple(tuple(range(first, first + size)) for first in range(0, BUCKETS, size))


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that could not be read, and why."""

    task_id: str
    target: str
    reason: str


@dataclass(slots=True)
class BucketScore:
    """What a bucket's answers say: ``mentions`` is the packed file, ``tally`` the counts."""

    tally: Tally = field(default_factory=Tally)
    mentions: bytes = b""
    rows: int = 0
    mention_count: int = 0
    unreadable: list[Unreadable] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reader:
    """What a run's answers are read with."""

    matcher: Matcher
    roles: Roles

    @classmethod
    def of(cls, catalogue: Catalogue, make: Callable[[Iterable[Brand]], Matcher] = matcher_for) -> Reader:
        """The reader of one catalogue."""
        return cls(make(catalogue.brands), Roles(catalogue))


async def score_bucket(run_id: str, bucket: int, reader: Reader, results: ResultStore, blobs: BlobStore) -> BucketScore:
    """Read a bucket's answers.

    Raises:
        Unavailable: a store refused.
    """
    score = BucketScore()
    packed = io.BytesIO()
    # No name and no time in the file's header: two scorers write the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as lines:
        async for read in read_rows(run_id, bucket, results, blobs):
            reading, fault = _reading(read, reader.matcher)
            answer = None if fault else read.answer
            roles = reader.roles.of(read.row.prompt_hash, read.row.question_ids)
            score.tally.add(read.row, answer, reading, roles)
            score.rows += 1
            score.mention_count += len(reading.mentions)
            if fault:
                score.unreadable.append(Unreadable(read.row.task_id, read.row.target, fault))
            for line in _lines(read.row, reading, roles, reader.matcher.version):
                lines.write(json_bytes(line) + b"\n")
    score.mentions = packed.getvalue()
    return score


def _reading(read: ReadRow, matcher: Matcher) -> tuple[Reading, str]:
    if read.answer is None:
        return _NOTHING, read.fault
    try:
        return matcher.read(read.answer.text), ""
    except Exception as error:  # an answer that a matcher stumbles over is recorded; the bucket goes on
        return _NOTHING, f"{type(error).__name__} in matcher {matcher.version}"


def _lines(row: ResultRow, reading: Reading, roles: Mapping[str, Role], version: str) -> Iterable[dict[str, Any]]:
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
    for mention in reading.mentions:
        yield {
            **about,
            "brand": mention.brand,
            "role": roles.get(mention.brand, Role.ALSO).value,
            "alias": mention.alias,
            "start": mention.start,
            "end": mention.end,
            "sentence": mention.sentence,
            "visible": mention.visible,
        }


def json_bytes(document: Any) -> bytes:
    """One spelling of a document: sorted keys, no spaces, UTF-8; a lone surrogate becomes the JSON escape it came as."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


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
    """Score the buckets of a run's pass that are not scored yet: their two objects first, the mark on the run last.

    Raises:
        LookupError: the run's catalogue version is gone.
        Unavailable: a store refused; the same call again goes on where this one ended.
    """
    run = await runs.get(run_id)
    if run is None or run.pass_no != pass_no or run.state in (RunState.OPEN, RunState.CANCELLED):
        return Scored(over=True)
    todo = [bucket for bucket in sorted(set(buckets)) if bucket not in run.scored]
    if not todo:
        return Scored()
    catalogue = await catalogues.load(run.catalogue_version)
    reader = Reader.of(catalogue, make_matcher)
    done: list[int] = []
    rows = mentions = unreadable = 0
    for bucket in todo:
        result = await score_bucket(run_id, bucket, reader, results, blobs)
        await blobs.put(mentions_key(run_id, pass_no, bucket), result.mentions, "application/gzip")
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
    }
