"""With which earlier run can a run be compared? The latest reported one of the same schedule that asked the same selection."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from datetime import date, timedelta

from brandvane.engine.json_bytes import json_bytes
from brandvane.mentions.tally import Tally, from_document
from brandvane.ports import BlobStore, CatalogueStore, RunStore
from brandvane.report.trend import Then
from brandvane.run import Run, RunState

LOOK_BACK_DAYS = 7
COUNTS = "counts.json.gz"  # beside a report: all its counts, for the next run to compare with


async def previous(run: Run, *, runs: RunStore, blobs: BlobStore, catalogues: CatalogueStore) -> Then | None:
    """The run of the nearest day before, up to 7 days back; None where there is none, or its counts are gone.

    A labelled run belongs to no day and has none.

    Raises:
        Unavailable: a store refused.
    """
    for run_id in earlier_ids(run):
        earlier = await runs.get(run_id)
        if earlier is None or earlier.report_prefix is None or earlier.selection != run.selection:
            continue
        if earlier.state not in (RunState.REPORTED, RunState.SCORING, RunState.REPORTING):
            continue  # reopened: what it counted is not what it will count
        found = await counts_of(earlier.report_prefix, blobs)
        if found is None:
            continue
        try:
            catalogue = await catalogues.load(earlier.catalogue_version)
        except (LookupError, ValueError):  # gone, or newer code has written it
            continue
        return Then(run_id, catalogue, *found)
    return None


async def counts_of(report_prefix: str, blobs: BlobStore) -> tuple[Tally, tuple[str, ...]] | None:
    """The counts that lie beside a report, and the matcher's versions that made them.

    None where there are none: they are kept for a limited time, older releases wrote none, and newer ones' are not read.

    Raises:
        Unavailable: the store refused.
    """
    body = await blobs.get(f"{report_prefix}{COUNTS}")
    if body is None:
        return None
    document = json.loads(gzip.decompress(body))
    try:
        return from_document(document), tuple(document["parser_versions"])
    except ValueError:
        return None


def packed_counts(tally: Tally, parsers: Sequence[str]) -> bytes:
    """The counts of a whole run, as ``previous`` reads them."""
    return gzip.compress(json_bytes({**tally.to_document(), "parser_versions": list(parsers)}), mtime=0)


def earlier_ids(run: Run) -> tuple[str, ...]:
    """Ids of the same schedule's runs of the 7 days before, latest first; none for a run that is not its schedule's."""
    if run.schedule_id is None or not run.run_id.startswith(f"{run.schedule_id}-"):
        return ()
    try:
        day = date.fromisoformat(run.run_id.removeprefix(f"{run.schedule_id}-"))
    except ValueError:
        return ()
    return tuple(f"{run.schedule_id}-{day - timedelta(days=back)}" for back in range(1, LOOK_BACK_DAYS + 1))
