"""What do people get of a scored run? The reporter: report page, results as JSON lines and as CSV, then the run's pointer to them.

Objects first, under keys that carry the pass; the run item last, on condition of the own lease and that pass. Two reporters of
one pass write the same bytes and one pointer.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brandvane.engine.answers import ReadRow, read_rows
from brandvane.engine.corrections_of_run import corrections_of
from brandvane.engine.counted import counted
from brandvane.engine.json_bytes import json_bytes
from brandvane.engine.previous import COUNTS, counts_of, packed_counts, previous
from brandvane.engine.scored_objects import mentions_key
from brandvane.mentions.roles import Role, Roles
from brandvane.mentions.tally import Tally
from brandvane.ports import BlobStore, CatalogueStore, Clock, ResultStore, RunStore, Telemetry
from brandvane.report.corrected import entries
from brandvane.report.examples import Examples, Span
from brandvane.report.export import Table, line
from brandvane.report.figures import targets_of
from brandvane.report.figures_table import figures_csv
from brandvane.report.material import Material
from brandvane.report.page import render
from brandvane.report.rereading import Rereading, difference
from brandvane.report.trend import trend
from brandvane.report.wording import language_of
from brandvane.run import Run, RunState
from brandvane.task import BUCKETS

LEASE_S = 120.0
RENEW_S = 60.0  # the lease is renewed between buckets once it has run this long


def report_prefix(run_id: str, pass_no: int) -> str:
    """Where a pass's report lives in the bucket, with the slash at its end."""
    return f"reports/{run_id}/pass-{pass_no}/"


@dataclass(frozen=True, slots=True)
class Published:
    """The report that is there now."""

    prefix: str
    rows: int


class _LeaseLost(Exception):
    """Another reporter, or another pass, has taken over."""


@dataclass(slots=True)
class _Lease:
    """The right to publish one pass of one run."""

    runs: RunStore
    clock: Clock
    run_id: str
    pass_no: int
    owner: str
    until: float = 0.0

    @property
    def _ours(self) -> dict[str, Any]:
        return {"state": RunState.REPORTING, "pass_no": self.pass_no, "lease_owner": self.owner}

    async def take(self, run: Run) -> Run:
        now = self.clock.now()
        if run.lease_owner not in ("", self.owner) and run.lease_until > now:
            raise _LeaseLost
        return await self._put({**self._ours, "lease_owner": run.lease_owner}, now)

    async def renew(self) -> None:
        now = self.clock.now()
        if now >= self.until - LEASE_S + RENEW_S:
            await self._put(self._ours, now)

    async def _put(self, require: Mapping[str, Any], now: float) -> Run:
        until = now + LEASE_S
        run = await self.runs.change(self.run_id, require, {"lease_owner": self.owner, "lease_until": until})
        if run is None:  # refused, or the reply of our own earlier try had been lost
            run = await self.runs.get(self.run_id)
            if run is None or any(getattr(run, name) != value for name, value in self._ours.items()):
                raise _LeaseLost
        self.until = until
        return run

    async def end(self, put: Mapping[str, Any]) -> Run | None:
        """The last write: done, and the lease given back."""
        return await self.runs.change(self.run_id, self._ours, {**put, "lease_owner": "", "lease_until": 0.0})


async def publish(
    run_id: str,
    pass_no: int,
    owner: str,
    *,
    runs: RunStore,
    results: ResultStore,
    blobs: BlobStore,
    catalogues: CatalogueStore,
    clock: Clock,
    telemetry: Telemetry,
) -> Published | None:
    """Write the report of a run whose 16 buckets are scored; ``owner`` is a fresh token that names the lease.

    None when there is nothing to do: the pass is over, not all of it is scored, or another reporter is at work.

    Raises:
        LookupError: the run's catalogue version, its corrections or a bucket's scores are gone.
        Unavailable: a store refused; another call begins anew once the lease (120 s) is over.
    """
    run = await runs.get(run_id)
    if run is None or run.pass_no != pass_no or run.state is not RunState.REPORTING or len(run.scored) < BUCKETS:
        return None
    lease = _Lease(runs, clock, run_id, pass_no, owner)
    try:
        run = await lease.take(run)
        material = await _material(run, runs, blobs, catalogues)
        rows, objects = await _write(material, lease, results, blobs)
    except _LeaseLost:
        telemetry.event("report_left_to_another", run_id=run_id, pass_no=pass_no)
        return None
    prefix = report_prefix(run_id, pass_no)
    for name, body, content_type in objects:
        await blobs.put(prefix + name, body, content_type)
    put = {"state": RunState.REPORTED, "report_prefix": prefix, "reported_at": clock.now()}
    if await lease.end(put) is None and not await _is_reported(runs, run_id, pass_no):
        telemetry.event("report_left_to_another", run_id=run_id, pass_no=pass_no)
        return None
    telemetry.event("reported", run_id=run_id, pass_no=pass_no, rows=rows, prefix=prefix)
    telemetry.count("ReportsPublished")
    return Published(prefix, rows)


async def _is_reported(runs: RunStore, run_id: str, pass_no: int) -> bool:
    """Does the run show this very move? The reply of our own write may have been lost, or the other's bytes are ours."""
    run = await runs.get(run_id)
    return run is not None and run.state is RunState.REPORTED and run.pass_no == pass_no


async def _material(run: Run, runs: RunStore, blobs: BlobStore, catalogues: CatalogueStore) -> Material:
    """What the figures are made of: the run's counts, and those of the run before."""
    catalogue = await catalogues.load(run.catalogue_version)
    mine = await counted(run.run_id, run.pass_no, blobs)
    earlier = await previous(run, runs=runs, blobs=blobs, catalogues=catalogues)
    listed = await corrections_of(run, blobs)
    asked = [name for platform in catalogue.monitor.platforms for name in platform.targets]
    return Material(
        run=run,
        catalogue=catalogue,
        tally=mine.tally,
        parsers=mine.parsers,
        faults=mine.faults,
        targets=targets_of(mine.tally, asked),
        trend=trend(mine.tally, catalogue, mine.parsers, earlier),
        corrections=entries(listed, mine.applied, mine.unfit),
        reread=await _reread(run, mine.tally, blobs),
    )


async def _reread(run: Run, tally: Tally, blobs: BlobStore) -> Rereading | None:
    """What this pass changes in the report before it; None for the first."""
    before = run.pass_no - 1
    found = await counts_of(report_prefix(run.run_id, before), blobs) if before else None
    return None if found is None else Rereading(before, found[1], difference(found[0], tally))


async def _write(
    material: Material, lease: _Lease, results: ResultStore, blobs: BlobStore
) -> tuple[int, list[tuple[str, bytes, str]]]:
    run, catalogue = material.run, material.catalogue
    roles, examples, table = Roles(catalogue), Examples(material.tally), Table()
    packed = io.BytesIO()
    rows = 0
    # One bucket's answers at a time; what stays is compressed or counted.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as lines:
        for bucket in range(BUCKETS):
            await lease.renew()
            spans = _spans(await blobs.get(mentions_key(run.run_id, run.pass_no, bucket)))
            async for read in read_rows(run.run_id, bucket, results, blobs):
                rows += 1
                fault = material.faults.get(read.row.task_id, read.fault)
                _add(read, fault, spans.get(read.row.task_id, ()), roles, lines, table, examples)
    await lease.renew()
    page = render(material, examples, language_of(catalogue))
    figures = figures_csv(material.tally, catalogue.brands, material.targets, material.trend)
    return rows, [
        ("results.jsonl.gz", packed.getvalue(), "application/gzip"),
        ("results.csv", table.packed(), "text/csv; charset=utf-8"),
        ("figures.csv", figures, "text/csv; charset=utf-8"),
        (COUNTS, packed_counts(material.tally, material.parsers), "application/gzip"),
        ("report.html", page.encode("utf-8", "replace"), "text/html; charset=utf-8"),
    ]


def _add(
    read: ReadRow,
    fault: str,
    spans: Sequence[Span],
    roles: Roles,
    lines: gzip.GzipFile,
    table: Table,
    examples: Examples,
) -> None:
    question = roles.text(read.row.prompt_hash)
    brands = sorted({span.brand for span in spans})
    lines.write(json_bytes(line(read.row, read.answer, question, brands, fault)) + b"\n")
    table.add(read.row, read.answer, question, brands, fault)
    if read.answer is not None and spans:
        examples.offer(read.row, read.answer, question, spans)


def _spans(packed: bytes | None) -> dict[str, list[Span]]:
    """Task id -> its visible mentions in the order of the text, as the scorer wrote them."""
    spans: dict[str, list[Span]] = {}
    for raw in gzip.decompress(packed).splitlines() if packed else ():
        mention = json.loads(raw)
        if mention["visible"]:
            span = _span(mention)
            spans.setdefault(mention["task_id"], []).append(span)
    return spans


def _span(mention: Mapping[str, Any]) -> Span:
    # A scorer of the release before, in a run that a deployment came into, told less.
    begin = mention.get("sentence_start", mention["start"])
    return Span(
        mention["brand"],
        Role(mention["role"]),
        mention["start"],
        mention["end"],
        begin,
        begin + len(mention["sentence"]) if "sentence_start" in mention else mention["end"],
        mention.get("rank"),
        mention.get("correction") is not None,
        mention.get("doubtful", False),
    )
