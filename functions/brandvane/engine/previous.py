"""With which earlier run can a run be compared? The latest reported one of the same schedule that asked the same selection."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from brandvane.catalogue import Catalogue
from brandvane.engine.counted import Counted, counted
from brandvane.ports import BlobStore, CatalogueStore, RunStore
from brandvane.run import Run, RunState

LOOK_BACK_DAYS = 14


@dataclass(frozen=True, slots=True)
class Previous:
    """An earlier run: what it was asked with and what was counted."""

    run: Run
    catalogue: Catalogue
    counted: Counted


async def previous(run: Run, *, runs: RunStore, blobs: BlobStore, catalogues: CatalogueStore) -> Previous | None:
    """The run of the nearest day before, up to 14 days back; None where there is none, or its counts are gone.

    A labelled run belongs to no day and has none.

    Raises:
        Unavailable: a store refused.
    """
    for run_id in earlier_ids(run):
        earlier = await runs.get(run_id)
        if earlier is None or earlier.state is not RunState.REPORTED or earlier.selection != run.selection:
            continue
        try:
            catalogue = await catalogues.load(earlier.catalogue_version)
            return Previous(earlier, catalogue, await counted(run_id, earlier.pass_no, blobs))
        except (LookupError, ValueError):  # kept for a limited time only, or written by newer code
            continue
    return None


def earlier_ids(run: Run) -> tuple[str, ...]:
    """Ids of the same schedule's runs of the 14 days before, latest first; none for a run that is not its schedule's."""
    if run.schedule_id is None or not run.run_id.startswith(f"{run.schedule_id}-"):
        return ()
    try:
        day = date.fromisoformat(run.run_id.removeprefix(f"{run.schedule_id}-"))
    except ValueError:
        return ()
    return tuple(f"{run.schedule_id}-{day - timedelta(days=back)}" for back in range(1, LOOK_BACK_DAYS + 1))
