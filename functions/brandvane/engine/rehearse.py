"""What would a start plan? The planner itself is asked, with stores that write nothing, so that the two cannot disagree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from brandvane.catalogue import Catalogue, Selection
from brandvane.engine.plan import CannotStart, Planner, StartRequest
from brandvane.expansion import Expansion
from brandvane.ports import (
    CatalogueStore,
    Chance,
    Clock,
    ControlStore,
    Deployment,
    Envelope,
    RunStore,
    TaskQueue,
    TaskStore,
)
from brandvane.run import Run

NEAR = 3


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The run as it would be created (or as it is, with ``exists``), the catalogue it asks from, and its tasks."""

    run: Run
    exists: bool
    catalogue: Catalogue
    expansion: Expansion


class _RunsOnPaper:
    """The runs table, but a new run is only written down here."""

    def __init__(self, runs: RunStore) -> None:
        self._runs = runs

    async def create(self, run: Run) -> bool:
        return True

    async def get(self, run_id: str) -> Run | None:
        return await self._runs.get(run_id)

    async def change(self, run_id: str, require: Mapping[str, Any], put: Mapping[str, Any]) -> Run | None:
        return None

    async def mark(self, run_id: str, pass_no: int, name: str, number: int, now: float) -> Run | None:
        return None

    async def recent(self, limit: int = 50) -> list[Run]:
        return await self._runs.recent(limit)

    async def unfinished(self) -> list[Run]:
        return await self._runs.unfinished()


class _NoQueue:
    """Takes everything, sends nothing."""

    async def send(self, queue: str, envelopes: Sequence[Envelope]) -> frozenset[str]:
        return frozenset(envelope.id for envelope in envelopes)

    async def receive(self, queue: str, limit: int) -> list[Any]:
        return []

    async def delete(self, queue: str, receipt: str) -> None:
        return

    async def postpone(self, queue: str, receipt: str, seconds: int) -> None:
        return

    async def depth(self, queue: str, held_most: int | None = None) -> int:
        return 0


class _NobodyElse:
    """Functions that are not started, telemetry that is not written."""

    async def invoke(self, function: str, event: Mapping[str, Any]) -> None:
        return

    def count(self, name: str, number: float = 1, *, platform: str | None = None, unit: str = "Count") -> None:
        return

    def event(self, name: str, **fields: Any) -> None:
        return


async def rehearse(
    request: StartRequest,
    *,
    tasks: TaskStore,
    runs: RunStore,
    controls: ControlStore,
    catalogues: CatalogueStore,
    deployment: Deployment,
    clock: Clock,
    chance: Chance,
) -> Rehearsal:
    """Plan on paper. ``tasks`` is not touched: a start writes the run item only.

    Raises:
        CannotStart: as the planner, and for a platform, brand or question that the catalogue does not have.
    """
    version = request.version or await catalogues.current()
    if version is None:
        raise CannotStart("no catalogue has been pushed yet: run 'brandvane catalogue push DIR' first")
    catalogue = await catalogues.load(version)
    check_selection(request.selection, catalogue)
    _check_label(request.label, catalogue)
    queue: TaskQueue = _NoQueue()
    nobody = _NobodyElse()
    planner = Planner(
        tasks=tasks,
        runs=_RunsOnPaper(runs),
        controls=controls,
        catalogues=catalogues,
        queue=queue,
        functions=nobody,
        deployment=deployment,
        clock=clock,
        chance=chance,
        telemetry=nobody,
    )
    started = await planner.start(replace(request, version=version))
    run = started.run
    if run.catalogue_version != version:
        catalogue = await catalogues.load(run.catalogue_version)
    return Rehearsal(run, not started.created, catalogue, Expansion(catalogue, run.selection, run.priority, run.seed))


def check_selection(selection: Selection, catalogue: Catalogue) -> None:
    """Raises CannotStart for the first name that the catalogue does not have, with those that look like it."""
    _known("platform", selection.platforms, catalogue.monitor.platform_names)
    _known("brand", selection.brands, [brand.id for brand in catalogue.brands])
    _known("question", selection.questions, [question.id for question in catalogue.questions])


def _known(kind: str, given: Iterable[str], names: Sequence[str]) -> None:
    for name in given:
        if name not in names:
            raise CannotStart(f"the catalogue has no {kind} '{name}'; {near(name, names)}")


def near(name: str, names: Sequence[str]) -> str:
    """``did you mean a, b?``, or some of those there are."""
    close = get_close_matches(name.casefold(), names, n=NEAR, cutoff=0.7)
    if close:
        return f"did you mean {', '.join(close)}?"
    some = ", ".join(list(names)[:8]) + (", …" if len(names) > 8 else "")
    return f"there are: {some}" if some else "there are none"


def _check_label(label: str | None, catalogue: Catalogue) -> None:
    """A label must not look like a schedule's own run: it would stand in for the day's."""
    for schedule in catalogue.monitor.schedules:
        start = f"{schedule.id}-"
        if label is not None and label.startswith(start) and _is_date(label.removeprefix(start)):
            raise CannotStart(f"label '{label}' is how schedule '{schedule.id}' names its own runs: choose another")


def _is_date(text: str) -> bool:
    parts = text.split("-")
    return [len(part) for part in parts] == [4, 2, 2] and all(part.isdigit() for part in parts)
