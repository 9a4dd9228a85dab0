"""What does the scanner tell of the system at each sweep? Every metric of ``metrics.METRICS`` that is not the workers', zeros included.

Reads as little as it can: for each platform one query of the stats, one control item, and counts of what is due or held. Far PENDING
records are counted anew only every 10 minutes while they are many: counting them all at every sweep cost 29.6 read units a task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brandvane import breaker
from brandvane.catalogue import Catalogue, Monitor
from brandvane.engine.look import Look, late_by
from brandvane.gauges import (
    LEAST_IN_HAND,
    NOT_PLANNED_S,
    LastHour,
    Lately,
    asks_still,
    not_planned,
    pauses,
    progress,
    rate_used,
    report_missing,
    share,
    spent,
)
from brandvane.messages import PLAN_QUEUE, WRITEBACK_QUEUE, calls_queue
from brandvane.metrics import METRICS
from brandvane.moves import DISPATCH_OVERDUE_S, PULLED_LEASE_S
from brandvane.pacing import FACTOR_FLOOR
from brandvane.ports import (
    CatalogueStore,
    Clock,
    ControlStore,
    Deployed,
    RunStore,
    StatStore,
    TaskQueue,
    TaskStore,
    Telemetry,
)
from brandvane.run import Run
from brandvane.schedule import budget_day, instants, occurrence, run_id
from brandvane.task import PENDING_SHARDS, PRIORITIES, State, held_watch, pending_watch

COUNT_CAP = 2000  # a partition; the gauge then means "this many or more"
FAR_FUTURE = 1e11
HELD = (State.DISPATCHED, State.PULLED, State.RUNNING, State.WRITEBACK)
IN_HAND = (State.PULLED, State.RUNNING, State.WRITEBACK)
PULLED_LONG_S = 30.0
COUNT_ANEW_S = 600.0
FEW = 200  # this many PENDING are counted at every sweep: it decides when a run's rows are counted for the last time
HOUR_S = 3600.0
DEAD = "-dead"
OTHER_QUEUES = (PLAN_QUEUE, WRITEBACK_QUEUE, "sweep", "schedules")


@dataclass(slots=True)
class _Known:
    """What one environment remembers of a platform between sweeps."""

    hour: LastHour
    pending: int = 0
    capped: bool = False
    counted_at: float = -COUNT_ANEW_S


class Gauges:
    """Publishes; keeps nothing that a fresh environment could not do without."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        runs: RunStore,
        controls: ControlStore,
        stats: StatStore,
        catalogues: CatalogueStore,
        queue: TaskQueue,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._tasks = tasks
        self._runs = runs
        self._controls = controls
        self._stats = stats
        self._catalogues = catalogues
        self._queue = queue
        self._clock = clock
        self._telemetry = telemetry
        self._known: dict[str, _Known] = {}
        self._planned: set[str] = set()
        self._blind = False  # something could not be read in this sweep
        self._pushed: Catalogue | None = None  # last, as far as this environment knows

    async def platforms(self, workers: Sequence[Deployed], stop_at: float) -> dict[str, Look]:
        """Publish what each platform is about; those that could be looked at before ``stop_at``.

        A sweep that is cut off by its function's timeout would publish nothing at all.
        """
        self._blind = False
        monitor = await self._monitor()
        looks = {}
        for worker in workers:
            try:
                if self._clock.now() >= stop_at:
                    raise TimeoutError("the sweep had no time left")
                looks[worker.platform] = await self._platform(worker, monitor)
            except Exception as error:  # one that cannot be asked must not keep runs from ending, nor hide the others
                self._unread(error, platform=worker.platform)
        dead = await asyncio.gather(*(self._dead(queue) for queue in self._queues(workers)))
        self._put("DeadLetters", sum(dead))
        self._put("Backlog", sum(look.backlog for look in looks.values()))
        waiting = await self._depth(WRITEBACK_QUEUE)
        self._put("WritebackPending", max(sum(look.writeback for look in looks.values()), waiting))
        self._put("GlobalTimeouts", 0)  # what the rescuer took is added to it
        self._put("TasksExpired", sum(look.expired for look in looks.values()))
        self._money(monitor, looks)
        return looks

    async def of_runs(self, runs: Sequence[Run], looks: Mapping[str, Look]) -> None:
        """Publish how the unfinished runs stand, and whether one that is due is missing."""
        now = self._clock.now()
        try:
            missing = await self._not_begun({run.run_id for run in runs}, now)
        except Exception as error:  # the catalogue cannot be read: what is known of the runs is told all the same
            self._unread(error)
            missing = 0
        self._put("RunNotPlanned", missing + sum(not_planned(run, now) for run in runs))
        self._put("ReportMissing", sum(report_missing(run, now) for run in runs))
        done = progress(runs)
        if done is not None:
            self._put("RunProgress", done)
        late = [await self._lateness(run, looks, now) for run in runs if asks_still(run, now)]
        known = [seconds for seconds in late if seconds is not None]
        if known:
            self._put("ProjectedLateness", max(known))

    def alive(self) -> None:
        """A sweep has come to its end, and has seen everything: what it could not read looks like a zero, and somebody must hear of it."""
        if not self._blind:
            self._put("ScannerHeartbeat", 1)

    def _unread(self, error: Exception, **where: str) -> None:
        self._blind = True
        self._telemetry.event("gauges_not_published", error=repr(error), **where)

    def _put(self, name: str, value: float, platform: str | None = None) -> None:
        self._telemetry.count(name, value, platform=platform, unit=METRICS[name].unit)

    async def _monitor(self) -> Monitor | None:
        try:
            catalogue = await self._catalogue()
        except Exception as error:  # what needs no catalogue is published all the same
            self._unread(error)
            return None
        return None if catalogue is None else catalogue.monitor

    async def _catalogue(self) -> Catalogue | None:
        version = await self._catalogues.current()
        self._pushed = None if version is None else await self._catalogues.load(version)
        return self._pushed

    # ------------------------------------------------------------------------------------------------- a platform

    async def _platform(self, worker: Deployed, monitor: Monitor | None) -> Look:
        platform = worker.platform
        now = self._clock.now()
        known = self._known.setdefault(platform, _Known(LastHour()))
        pending_due, sent_due, held, pulled_long = await self._held(platform, now)
        pending = await self._pending(platform, known, pending_due, now)
        backlog = pending_due + sent_due
        self._put("Backlog", backlog, platform)
        self._put("Pending", pending, platform)
        for state, number in held.items():
            self._put(state.capitalize(), number, platform)
        in_hand = sum(held[state] for state in IN_HAND)
        self._put("PulledNotStartedShare", share(pulled_long, in_hand, LEAST_IN_HAND), platform)
        control = await self._controls.read(platform)
        self._put("PlatformPaused", pauses(control, now, breaker_open=breaker.is_open(control)), platform)
        day_start = budget_day(now, monitor.time_zone).start if monitor else now
        oldest = await self._oldest_sent(platform, now) if sent_due else 0.0
        lately = await self._reports(platform, known, now, day_start, oldest)
        stated = monitor.platform(platform).rate if monitor and platform in monitor.platform_names else 0.0
        self._put("RateUsed", rate_used(lately.calls_per_second, stated, control, FACTOR_FLOOR), platform)
        return Look(
            slots=worker.slots,
            control=control,
            unfinished=pending + sum(held.values()),
            capped=known.capped,
            writeback=held[State.WRITEBACK],
            backlog=backlog,
            expired=lately.expired,
            dollars=known.hour.spent(day_start),
        )

    async def _held(self, platform: str, now: float) -> tuple[int, int, dict[State, int], int]:
        """Tasks due and still PENDING, and DISPATCHED; those held, by state; and of the PULLED those that have been so for long."""
        due = [pending_watch(platform, p, shard) for p in PRIORITIES for shard in range(PENDING_SHARDS)]
        held = [held_watch(platform, state) for state in HELD]
        sent, pulled, *_ = held
        pending_due, sent_due, pulled_long, *numbers = await asyncio.gather(
            self._count(due, now),
            self._count([sent], now + DISPATCH_OVERDUE_S),
            self._count([pulled], now + PULLED_LEASE_S - PULLED_LONG_S),
            *(self._count([watch], FAR_FUTURE) for watch in held),
        )
        return pending_due, sent_due, dict(zip(HELD, numbers, strict=True)), pulled_long

    async def _pending(self, platform: str, known: _Known, due: int, now: float) -> int:
        if known.pending <= FEW or now - known.counted_at >= COUNT_ANEW_S:
            watches = [pending_watch(platform, p, shard) for p in PRIORITIES for shard in range(PENDING_SHARDS)]
            numbers = await self._counts(watches, FAR_FUTURE)
            known.pending, known.capped, known.counted_at = sum(numbers), max(numbers) >= COUNT_CAP, now
        return max(known.pending, due)

    async def _count(self, partitions: Sequence[str], before: float) -> int:
        return sum(await self._counts(partitions, before))

    async def _counts(self, partitions: Sequence[str], before: float) -> list[int]:
        return await asyncio.gather(*(self._tasks.count_due(watch, before, COUNT_CAP) for watch in partitions))

    async def _oldest_sent(self, platform: str, now: float) -> float:
        """Seconds since the oldest task whose message nobody has taken was due: workers tell only of those that they took."""
        sent = await self._tasks.due(held_watch(platform, State.DISPATCHED), now + DISPATCH_OVERDUE_S, 1)
        return now + DISPATCH_OVERDUE_S - sent[0].act_at if sent else 0.0

    async def _reports(
        self, platform: str, known: _Known, now: float, day_start: float, oldest_sent_s: float
    ) -> Lately:
        start = known.hour.read_from(now)
        stats = await self._stats.since(platform, start, now)
        known.hour.take(stats, start, now, day_start)
        if known.hour.before is None:
            known.hour.before = await self._cost(platform, day_start, start - 1)
        lately = Lately.of(stats, now)
        self._put("CallsPerSecond", lately.calls_per_second, platform)
        self._put("QueueAge", max(lately.longest_wait_s, oldest_sent_s), platform)
        self._put("RetryStormShare", lately.storm_share, platform)
        self._put("RetriesUsedUpShare", known.hour.used_up_share, platform)
        measured = {
            "SuccessRate": lately.success_rate,
            "LatencyP50": lately.latency(0.50),
            "LatencyP95": lately.latency(0.95),
            "LatencyP99": lately.latency(0.99),
        }
        for name, value in measured.items():
            if value is not None:
                self._put(name, value, platform)
        return lately

    async def _cost(self, platform: str, start: float, end: float) -> int:
        """Micro-dollars of the day before the last hour; only a new environment asks, an hour at a time for its memory's sake."""
        total = 0
        while start < end:
            stats = await self._stats.since(platform, start, min(start + HOUR_S, end))
            total += sum(stat.cost_microusd for stat in stats)
            start += HOUR_S + 60.0  # whole minutes, both ends included
        return total

    # ------------------------------------------------------------------------------------------- the whole stack

    def _queues(self, workers: Sequence[Deployed]) -> list[str]:
        return [*(calls_queue(worker.platform) for worker in workers), *OTHER_QUEUES]

    async def _dead(self, queue: str) -> int:
        return await self._depth(queue + DEAD)

    async def _depth(self, queue: str) -> int:
        try:
            return await self._queue.depth(queue)
        except Exception as error:  # one queue that cannot be asked must not hide the others
            self._unread(error, queue=queue)
            return 0

    def _money(self, monitor: Monitor | None, looks: Mapping[str, Look]) -> None:
        if (
            monitor is None
        ):  # nothing has been pushed yet, or the catalogue cannot be read: nothing is known to be spent
            self._put("SpendToday", 0)
            self._put("SpendShare", 0)
            return
        day = budget_day(self._clock.now(), monitor.time_zone).date
        settings = {name: monitor.platform(name) for name in looks if name in monitor.platform_names}
        budgets = {name: each.day_budget_usd for name, each in settings.items() if each.day_budget_usd}
        # Where there is a budget its bookkeeping is in the control item, and calls stop by that.
        booked = {name: spent(looks[name].control, day) for name in budgets}
        self._put("SpendToday", sum(booked.get(name, look.dollars) for name, look in looks.items()))
        self._put("SpendShare", max((share(booked[name], budgets[name], least=0) for name in budgets), default=0.0))

    async def _not_begun(self, there: set[str], now: float) -> int:
        """Runs that a schedule made due 10 minutes ago and that have no item at all."""
        catalogue = await self._catalogue()
        if catalogue is None:
            return 0
        missing = 0
        for schedule in catalogue.monitor.schedules:
            date = occurrence(schedule, now)
            name, times = run_id(schedule, date), instants(schedule, date)
            if name in self._planned or not times.start + NOT_PLANNED_S <= now < times.deadline:
                continue
            if name in there or await self._runs.get(name) is not None:
                self._planned.add(name)
            else:
                missing += 1
        return missing

    async def _lateness(self, run: Run, looks: Mapping[str, Look], now: float) -> float | None:
        """How late the run will probably be; None when nothing can be said."""
        try:
            monitor = (await self._catalogues.load(run.catalogue_version)).monitor
            monitor = monitor if self._pushed is None else monitor.budgeted_by(self._pushed.monitor)
        except Exception as error:  # the other runs' end can still be reckoned
            self._unread(error, run_id=run.run_id)
            return None
        return late_by(run, monitor, looks, now)
