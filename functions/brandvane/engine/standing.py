"""How does a run stand? What has ended and how, what has not and in which state, what waits for whom, when it will be through.

Three sources, none of them a counter: the run item, its result rows, and the *who must act* index walked for its unfinished
tasks. The index is read first: a task that ends in between is then in both and counts as unfinished, so that none counts twice.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from brandvane.catalogue import Monitor
from brandvane.control import Control
from brandvane.engine.projection import Pace, Wait, finish_at, pace_of, waits_of
from brandvane.ports import (
    CatalogueStore,
    Clock,
    ControlStore,
    Deployment,
    ResultStore,
    RunStore,
    TaskStore,
    Watched,
)
from brandvane.run import Run, RunState
from brandvane.schedule import budget_day
from brandvane.task import ANSWERED, BUCKETS, Outcome, State, target_name, watches

PAGE = 500
AT_ONCE = 8

# task id -> platform and outcome of its row
Tally = Mapping[str, tuple[str, Outcome]]


@dataclass(frozen=True, slots=True)
class PlatformStanding:
    """A platform's share of a run. ``finish`` is when its last task will probably have ended.

    None: nothing is left, or its tasks are being ended; infinite: not before a person acts.
    """

    platform: str
    planned: int
    done: int = 0
    failed: Mapping[Outcome, int] = field(default_factory=dict)
    unfinished: Mapping[State, int] = field(default_factory=dict)
    first_planned: float = 0.0
    last_planned: float = 0.0
    waits: tuple[Wait, ...] = ()
    finish: float | None = None

    @property
    def results(self) -> int:
        """Tasks with a counted row."""
        return self.done + sum(self.failed.values())


@dataclass(frozen=True, slots=True)
class Standing:
    """A run at the instant ``at``. ``results`` is newer than the platforms' figures when ``tally`` was not read anew."""

    run: Run
    at: float
    time_zone: str
    platforms: tuple[PlatformStanding, ...]
    results: int
    tally: Tally = field(repr=False)

    @property
    def done(self) -> int:
        """Tasks that the platforms answered."""
        return sum(each.done for each in self.platforms)

    @property
    def failed(self) -> int:
        """Tasks that ended without an answer."""
        return sum(sum(each.failed.values()) for each in self.platforms)

    @property
    def unfinished(self) -> Counter[State]:
        """Tasks in hand or waiting, by state."""
        total: Counter[State] = Counter()
        for each in self.platforms:
            total.update(each.unfinished)
        return total

    @property
    def finish(self) -> float | None:
        """When the last task will probably have ended (see ``PlatformStanding.finish``)."""
        return max((each.finish for each in self.platforms if each.finish is not None), default=None)

    @property
    def late_by(self) -> float:
        """Seconds by which that misses the deadline (0: it does not)."""
        return 0.0 if self.finish is None else max(self.finish - self.run.deadline, 0.0)


class Onlooker:
    """Looks at runs; changes nothing."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        results: ResultStore,
        runs: RunStore,
        controls: ControlStore,
        catalogues: CatalogueStore,
        deployment: Deployment,
        clock: Clock,
    ) -> None:
        self._tasks = tasks
        self._results = results
        self._runs = runs
        self._controls = controls
        self._catalogues = catalogues
        self._deployment = deployment
        self._clock = clock

    async def run(self, run_id: str | None) -> Run | None:
        """A run by its id, or the latest one; None where there is none."""
        if run_id is not None:
            return await self._runs.get(run_id)
        latest = await self._runs.recent(1)
        return latest[0] if latest else None

    async def look(self, run: Run) -> Standing:
        """How it stands, with every row read."""
        unfinished = await self._unfinished(run)
        return await self._standing(run, unfinished, await self._tally(run))

    async def glance(self, run: Run, known: Tally) -> Standing:
        """The same without reading rows: how tasks ended is as in ``known``, how many did comes from the index."""
        unfinished = await self._unfinished(run)
        counted = await self._results.count(run.run_id)
        return await self._standing(run, unfinished, known, counted)

    async def _tally(self, run: Run) -> Tally:
        """How every task with a row ended; rows of reopened tasks are there too (their tasks are unfinished)."""

        async def bucket(number: int) -> dict[str, tuple[str, Outcome]]:
            rows = self._results.bucket(run.run_id, number)
            return {row.task_id: (row.platform, row.outcome) async for row in rows}

        buckets = await asyncio.gather(*(bucket(number) for number in range(BUCKETS)))
        return {task_id: ended for each in buckets for task_id, ended in each.items()}

    async def _unfinished(self, run: Run) -> dict[str, Watched]:
        if run.state not in (RunState.OPEN, RunState.CANCELLED) or not run.waits:
            return {}
        gate = asyncio.Semaphore(AT_ONCE)

        async def partition(watch: str) -> list[Watched]:
            mine: list[Watched] = []
            after: Watched | None = None
            async with gate:
                while True:
                    page = await self._tasks.page(watch, after, PAGE)
                    mine += [entry for entry in page if entry.run_id == run.run_id]
                    if len(page) < PAGE:
                        return mine
                    after = page[-1]

        names = [watch for platform in run.planned for watch in watches(platform)]
        found = await asyncio.gather(*(partition(name) for name in names))
        return {entry.task_id: entry for entries in found for entry in entries}

    async def _standing(
        self, run: Run, unfinished: Mapping[str, Watched], tally: Tally, counted: int | None = None
    ) -> Standing:
        now = self._clock.now()
        monitor = (await self._catalogues.load(run.catalogue_version)).monitor
        current = await self._catalogues.current()
        if current is not None:
            monitor = monitor.budgeted_by((await self._catalogues.load(current)).monitor)
        slots = {worker.platform: worker.slots for worker in await self._deployment.platforms()}
        ended: dict[str, Counter[Outcome]] = {platform: Counter() for platform in run.planned}
        for task_id, (platform, outcome) in tally.items():
            if task_id not in unfinished:
                ended.setdefault(platform, Counter())[outcome] += 1
        platforms = []
        for platform in run.planned:
            mine = [entry for entry in unfinished.values() if _platform(entry) == platform]
            control = await self._controls.read(platform)
            pace = pace_of(monitor, platform, control, slots.get(platform, 0))
            platforms.append(_share(run, platform, ended[platform], mine, monitor, control, pace, now))
        results = sum(each.results for each in platforms) if counted is None else counted
        return Standing(run, now, monitor.time_zone, tuple(platforms), results, tally)


def _share(
    run: Run,
    platform: str,
    ended: Counter[Outcome],
    mine: list[Watched],
    monitor: Monitor,
    control: Control,
    pace: Pace | None,
    now: float,
) -> PlatformStanding:
    planned = run.planned[platform]
    last = run.window_start + max(planned - 1, 0) * run.spacing.get(platform, 0.0)
    left = max(planned - ended.total(), 0)
    waits: tuple[Wait, ...] = ()
    finish = None
    if left and run.state is RunState.OPEN and not run.is_final(now):
        by_target = Counter(target_name(platform, entry.model) for entry in mine)
        day = budget_day(now, monitor.time_zone)
        waits = waits_of(monitor, platform, control, by_target, left, day, now)
        finish = math.inf if pace is None else finish_at(pace, waits, left, max(run.window_start, now), last)
    return PlatformStanding(
        platform=platform,
        planned=planned,
        done=sum(number for outcome, number in ended.items() if outcome in ANSWERED),
        failed={outcome: ended[outcome] for outcome in Outcome if outcome not in ANSWERED and ended[outcome]},
        unfinished=Counter(_state(entry) for entry in mine),
        first_planned=run.window_start,
        last_planned=last,
        waits=waits,
        finish=finish,
    )


def _platform(entry: Watched) -> str:
    return entry.watch.partition("#")[0]


def _state(entry: Watched) -> State:
    return State(entry.watch.split("#")[1])
