"""How does a run come to be, and how do its tasks get into the table? Planning twice plans once.

``start`` puts the run item (which pins everything), then asks for its chunks by messages that carry run id and chunk number
only; ``chunk`` writes one chunk. A plan that stands still is begun again by the dispatcher: ids are deterministic.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from brandvane.catalogue import Catalogue, Schedule, Selection
from brandvane.expansion import Expansion, task_of
from brandvane.messages import NEW_TASKS, PLAN_QUEUE, PlanMessage
from brandvane.pacing import Fit, fit, plan_rate
from brandvane.ports import (
    CatalogueStore,
    Chance,
    Clock,
    ControlStore,
    Deployed,
    Deployment,
    Envelope,
    Functions,
    RunStore,
    TaskQueue,
    TaskStore,
    Telemetry,
    Unavailable,
)
from brandvane.run import Run
from brandvane.schedule import Instants, instants, occurrence, run_id
from brandvane.task import Task

LEAD_S = 20.0  # the first task is due this long after planning begins: time to write it and to dispatch it
PUTS_PER_SECOND = 150  # a platform and chunk; two chunks are written at a time (DESIGN §4.1: below 300)
BATCH_TASKS = 50
PUT_TRIES = 3  # of a single record, each with the client's own tries
STALLED_S = 120.0
EARLY_TICK_S = 60.0  # a schedule that fires a moment before its time means that time
DISPATCH_HORIZON_S = 75.0 + 60.0


@dataclass(frozen=True, slots=True)
class StartRequest:
    """Who asks for a run, of what. ``date`` is the logical local date; ``label`` names a run of its own."""

    schedule_id: str | None = None
    date: str | None = None
    at: float | None = None  # the schedule's own time
    label: str | None = None
    selection: Selection = field(default_factory=Selection)
    version: str | None = None

    @property
    def of_its_own(self) -> bool:
        """A filtered or labelled run never stands in for the day's; it begins now, whatever the window says."""
        return self.selection.filtered or self.label is not None


@dataclass(frozen=True, slots=True)
class Started:
    """The run, and whether it is new."""

    run: Run
    created: bool


class CannotStart(ValueError):
    """The request cannot be met; the message says what to do."""


class RunOver(CannotStart):
    """The run of that date was due already; ``next_date`` is the date of the one after it."""

    def __init__(self, message: str, next_date: str) -> None:
        super().__init__(message)
        self.next_date = next_date


class Planner:
    """Plans runs."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        runs: RunStore,
        controls: ControlStore,
        catalogues: CatalogueStore,
        queue: TaskQueue,
        functions: Functions,
        deployment: Deployment,
        clock: Clock,
        chance: Chance,
        telemetry: Telemetry,
    ) -> None:
        self._tasks = tasks
        self._runs = runs
        self._controls = controls
        self._catalogues = catalogues
        self._queue = queue
        self._functions = functions
        self._deployment = deployment
        self._clock = clock
        self._chance = chance
        self._telemetry = telemetry
        self._expansions: dict[tuple[object, ...], Expansion] = {}

    async def start(self, request: StartRequest) -> Started:
        """Put the run item and ask for its chunks; an existing run of that id is reported, not touched.

        Raises:
            CannotStart: no catalogue, no such schedule, nothing selected, or a platform without a worker.
        """
        version = request.version or await self._catalogues.current()
        if version is None:
            raise CannotStart("no catalogue has been pushed yet: run 'brandvane catalogue push DIR' first")
        catalogue = await self._catalogues.load(version)
        name, schedule, times = self._identity(request, catalogue)
        known = await self._runs.get(name)
        if known is not None:
            return Started(known, False)
        run = self._new_run(request, version, name, schedule, times)
        expansion = self._expansion(run, catalogue)
        if not any(expansion.planned.values()):
            raise CannotStart("nothing to ask: no question is left by the given filters")
        workers = {d.platform: d for d in await self._deployment.platforms()}
        for name in expansion.planned:
            if name not in workers:
                raise CannotStart(f"platform '{name}' has no deployed worker: add it to template.yaml and deploy")
        run = replace(run, planned=expansion.planned, chunks=expansion.chunks)
        fits = {name: await self._fit(run, catalogue, workers[name]) for name in expansion.planned}
        run = replace(
            run,
            # A run that begins now has no window of its own: it ends when its last task is due.
            window_end=max(run.window_end, run.window_start, *(f.last for f in fits.values() if request.of_its_own)),
            spacing={name: fitted.spacing for name, fitted in fits.items()},
            late_by={
                name: round(fitted.last - run.deadline, 1)
                for name, fitted in fits.items()
                if fitted.last > run.deadline
            },
        )
        if not await self._runs.create(run):
            existing = await self._runs.get(run.run_id)
            return Started(existing or run, False)
        self._telemetry.event("run_created", run_id=run.run_id, planned=dict(run.planned), late_by=dict(run.late_by))
        await self._ask_for(run, range(run.chunks))
        return Started(run, True)

    def _identity(self, request: StartRequest, catalogue: Catalogue) -> tuple[str, Schedule, Instants]:
        """The run's id, its schedule and its instants."""
        schedules = catalogue.monitor.schedules
        if not schedules:
            raise CannotStart("the monitor has no schedule: add one to monitor.yaml and push the catalogue again")
        try:
            schedule = catalogue.monitor.schedule(request.schedule_id) if request.schedule_id else schedules[0]
        except KeyError:
            known = ", ".join(s.id for s in schedules)
            raise CannotStart(f"there is no schedule '{request.schedule_id}'; the catalogue has: {known}") from None
        now = self._clock.now()
        day = request.date or occurrence(schedule, (request.at or now) + EARLY_TICK_S)
        times = instants(schedule, day)
        if not request.of_its_own:
            return run_id(schedule, day), schedule, times
        return request.label or f"adhoc-{_utc(now)}", schedule, _from_now(times, now)

    def _new_run(self, request: StartRequest, version: str, name: str, schedule: Schedule, times: Instants) -> Run:
        now = self._clock.now()
        if now >= times.deadline:
            zone = ZoneInfo(schedule.time_zone)
            ended = f"{datetime.fromtimestamp(times.deadline, zone):%Y-%m-%d %H:%M} {schedule.time_zone}"
            following = date.fromisoformat(occurrence(schedule, now)) + timedelta(days=1)
            raise RunOver(
                f"run {name} was due until {ended}: give it a --label to ask its questions now", following.isoformat()
            )
        selection = request.selection
        if not selection.brands:
            selection = replace(selection, brands=schedule.brands)
        return Run(
            run_id=name,
            schedule_id=None if request.of_its_own else schedule.id,
            catalogue_version=version,
            window_start=max(times.start, now + LEAD_S),
            window_end=times.end,
            deadline=times.deadline,
            created_at=now,
            plan_progress_at=now,
            seed=int(hashlib.sha256(name.encode()).hexdigest()[:8], 16),
            priority=schedule.priority,
            selection=selection,
        )

    def _expansion(self, run: Run, catalogue: Catalogue) -> Expansion:
        # Not by the run's id alone: a start that was refused, or overtaken, had perhaps another catalogue in its hands.
        key = (run.run_id, run.catalogue_version, run.selection, run.priority, run.seed)
        if key not in self._expansions:
            if len(self._expansions) >= 2:
                self._expansions.clear()
            self._expansions[key] = Expansion(catalogue, run.selection, run.priority, run.seed)
        return self._expansions[key]

    async def _fit(self, run: Run, catalogue: Catalogue, worker: Deployed) -> Fit:
        """How this platform's tasks spread over the window, at 90 % of what rate and slots allow."""
        settings = catalogue.monitor.platform(worker.platform)
        control = await self._controls.read(worker.platform)
        rate = control.rate_override if control.rate_override is not None else settings.rate
        hold = control.hold_s or catalogue.monitor.expected_hold_s
        slots = min(worker.slots, settings.in_flight)
        return fit(run.planned[worker.platform], plan_rate(rate, slots, hold), run.window_start, run.window_end)

    async def _ask_for(self, run: Run, chunks: Sequence[int]) -> None:
        """Chunks that the queue does not confirm are asked for by the dispatcher, when the plan stands still."""
        numbers = iter(chunks)
        while ten := list(islice(numbers, 10)):
            envelopes = [Envelope(str(n), PlanMessage(run.run_id, n).encode()) for n in ten]
            try:
                await self._queue.send(PLAN_QUEUE, envelopes)
            except Unavailable as error:
                self._telemetry.event("chunks_not_asked_for", run_id=run.run_id, first=ten[0], error=str(error))

    async def resume(self, run_name: str) -> None:
        """Ask again for the chunks of a plan that stands still."""
        run = await self._runs.get(run_name)
        if run is None or run.plan_complete:
            return
        now = self._clock.now()
        # The first to say so does it; another dispatcher tick a second later finds the progress renewed.
        if (
            await self._runs.change(run_name, {"plan_progress_at": run.plan_progress_at}, {"plan_progress_at": now})
            is None
        ):
            return
        missing = [n for n in range(run.chunks) if n not in run.chunks_done]
        self._telemetry.event("plan_resumed", run_id=run_name, missing=len(missing))
        if missing:
            await self._ask_for(run, missing)
        else:
            await self._complete(run)

    async def chunk(self, message: PlanMessage) -> None:
        """Write one chunk's tasks, then mark it done.

        Raises:
            Unavailable: a table refuses; the message must come again.
        """
        run = await self._runs.get(message.run_id)
        if run is None or message.chunk in run.chunks_done:
            return
        catalogue = await self._catalogues.load(run.catalogue_version)
        tasks = self._tasks_of(run, catalogue, message.chunk)
        await self._write(run, tasks)
        marked = await self._marked(run, message.chunk)
        if marked is not None and len(marked.chunks_done) == run.chunks:
            await self._complete(marked)
        if tasks and tasks[0].next_execute_time < self._clock.now() + DISPATCH_HORIZON_S:
            await self._functions.invoke("dispatcher", NEW_TASKS)

    async def _marked(self, run: Run | None, chunk: int) -> Run | None:
        """Mark a chunk as written, whatever pass the run has come to meanwhile: a person may have opened tasks of it again."""
        marked = None
        while run is not None and marked is None and chunk not in run.chunks_done:
            marked = await self._runs.mark(run.run_id, run.pass_no, "chunks_done", chunk, self._clock.now())
            if marked is None:
                run = await self._runs.get(run.run_id)
        return marked

    async def _complete(self, run: Run) -> None:
        if await self._runs.change(run.run_id, {"plan_complete": False}, {"plan_complete": True}) is not None:
            self._telemetry.event("plan_complete", run_id=run.run_id, planned=run.total)

    def _tasks_of(self, run: Run, catalogue: Catalogue, number: int) -> list[Task]:
        now = self._clock.now()
        rows = self._expansion(run, catalogue).chunk(number)
        tasks = [task_of(run, planned, position, self._chance.token(), now) for position, planned in rows]
        return sorted(tasks, key=lambda t: t.next_execute_time)

    async def _write(self, run: Run, tasks: Sequence[Task]) -> None:
        """Put a chunk in batches, no faster than the tables' new partitions take."""
        platforms = max(len(run.planned), 1)
        for first in range(0, len(tasks), BATCH_TASKS):
            batch = tasks[first : first + BATCH_TASKS]
            began = self._clock.now()
            await self._put(batch)
            least = len(batch) / (PUTS_PER_SECOND * platforms)
            await self._clock.sleep(least - (self._clock.now() - began))

    async def _put(self, batch: Sequence[Task]) -> None:
        """Put a batch, and one by one if that fails: on a bad day some of many puts always fail.

        Raises:
            Unavailable: a record could not be put by itself either.
        """
        try:
            await self._tasks.create(batch)
        except Unavailable:
            await asyncio.gather(*(self._put_one(task) for task in batch))

    async def _put_one(self, task: Task) -> None:
        for tries_left in range(PUT_TRIES - 1, -1, -1):
            try:
                await self._tasks.create([task])
            except Unavailable:
                if not tries_left:
                    raise
            else:
                return


def describe(started: Started) -> dict[str, Any]:
    """What the one who asked is told (JSON-ready)."""
    run = started.run
    return {
        "run_id": run.run_id,
        "created": started.created,
        "state": run.state,
        "planned": dict(run.planned),
        "total": run.total,
        "window_start": run.window_start,
        "window_end": run.window_end,
        "deadline": run.deadline,
        "catalogue_version": run.catalogue_version,
        "late_by_s": dict(run.late_by),
    }


def _utc(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ").lower()


def _from_now(times: Instants, now: float) -> Instants:
    """A run of its own begins now, takes no longer than it needs, and has as long as a window and its deadline are apart."""
    length = max(times.deadline - times.start, 3600.0)
    return replace(times, start=now, end=now, deadline=now + length)
