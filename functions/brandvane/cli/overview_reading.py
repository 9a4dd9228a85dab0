"""How is the overview read from a stack's tables, queues and alarms?

Cheap enough to be renewed every few seconds: counts through indexes, never a row. What cannot be read is named, and everything
else is told all the same.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from brandvane.catalogue import Catalogue
from brandvane.cli.desk import Desk
from brandvane.cli.errors import CliError, explain
from brandvane.cli.lookup import KnownPlatform, current_catalogue, platforms_known
from brandvane.cli.overview import (
    OTHER_QUEUES,
    SCHEDULES_DEAD,
    Overview,
    PlatformGlance,
    QueueDepth,
    Recent,
    RunGlance,
    Stuck,
    Unread,
)
from brandvane.cli.overview_spending import Spending
from brandvane.cli.platform_view import PlatformFacts
from brandvane.engine.gauges import HELD
from brandvane.engine.projection import Wait, finish_at, pace_of, waits_of
from brandvane.messages import calls_queue
from brandvane.policy import ErrorKind
from brandvane.run import RunState
from brandvane.schedule import budget_day
from brandvane.stat import Stat
from brandvane.task import PENDING_SHARDS, PRIORITIES, State, held_watch, pending_watch

WINDOW_MINUTES = 5
RATE_MINUTES = 2
FAR_FUTURE = 1e11
COUNT_CAP = 2000  # a partition; more is shown as 'this many or more'
# The scanner comes every 30 s: what it has left for longer, it does not see to.
STUCK_S = 90.0
FAILURES = frozenset(ErrorKind)
_T = TypeVar("_T")


@dataclass(slots=True)
class _Reading:
    """One look; collects what could not be read."""

    desk: Desk
    now: float
    spending: Spending
    unread: list[Unread] = field(default_factory=list)
    tried: int = 0

    async def part(self, name: str, work: Awaitable[_T]) -> _T | None:
        """The part, or None and a note."""
        self.tried += 1
        try:
            return await work
        except (LookupError, ValueError) as error:  # a catalogue that is gone, a parameter that says something else
            self.unread.append(Unread(name, str(error)))
        except Exception as error:
            explained = explain(error)
            if explained is None:
                raise
            self.unread.append(Unread(name, explained.message))
        return None


async def overview(desk: Desk, spending: Spending | None = None) -> Overview:
    """Look at everything once; who looks again gives the same ``spending`` each time.

    Raises:
        CliError: nothing at all could be read.
    """
    reading = _Reading(desk, desk.clock.now(), spending or Spending())
    catalogue = await reading.part("catalogue", current_catalogue(desk))
    zone = "UTC" if catalogue is None else catalogue.monitor.time_zone
    known = await reading.part("platforms", platforms_known(desk))
    platforms = stuck = None
    names = tuple(known or ())
    if known is not None:
        platforms = await reading.part("tasks", _platforms(reading, known, zone))
        stuck = await reading.part("stuck tasks", _stuck(reading, names, catalogue))
    runs, queues, alarms = await asyncio.gather(
        reading.part("runs", _runs(reading, platforms)),
        reading.part("queues", _queues(desk, names)),
        reading.part("alarms", desk.alarms.all()),
    )
    if len(reading.unread) == reading.tried:
        raise CliError(reading.unread[0].why)
    return Overview(
        stack=desk.stack,
        at=reading.now,
        time_zone=zone,
        runs=runs,
        platforms=platforms,
        queues=queues,
        stuck=stuck,
        alarms=None if alarms is None else tuple(alarms),
        budget_usd=None if catalogue is None else catalogue.monitor.day_budget_usd,
        unread=tuple(reading.unread),
    )


async def _platforms(reading: _Reading, known: Mapping[str, KnownPlatform], zone: str) -> tuple[PlatformGlance, ...]:
    return tuple(await asyncio.gather(*(_platform(reading, each, zone) for each in known.values())))


async def _platform(reading: _Reading, known: KnownPlatform, zone: str) -> PlatformGlance:
    desk, now, name = reading.desk, reading.now, known.name
    waiting = [pending_watch(name, priority, shard) for priority in PRIORITIES for shard in range(PENDING_SHARDS)]
    partitions = [*waiting, *(held_watch(name, state) for state in HELD)]
    control, stats, counts, due = await asyncio.gather(
        desk.controls.read(name),
        desk.stats.since(name, now - (WINDOW_MINUTES + 1) * 60, now),
        asyncio.gather(*(desk.tasks.count_due(watch, FAR_FUTURE, COUNT_CAP) for watch in partitions)),
        asyncio.gather(*(desk.tasks.count_due(watch, now, COUNT_CAP) for watch in waiting)),
    )
    states = {State.PENDING: sum(counts[: len(waiting)]), **dict(zip(HELD, counts[len(waiting) :], strict=True))}
    day = budget_day(now, zone)
    facts = PlatformFacts(known, control, day.date, zone, now)
    spent = await reading.spending.usd(facts, day, desk.stats, stats, int(now // 60) - WINDOW_MINUTES)
    return PlatformGlance(facts, states, sum(due), max(counts) >= COUNT_CAP, recent_of(stats, now), spent)


def recent_of(stats: Sequence[Stat], now: float) -> Recent:
    """The last five whole minutes and the present one."""
    minute = int(now // 60)
    mine = [stat for stat in stats if stat.minute >= minute - WINDOW_MINUTES]
    calls = sum(stat.calls for stat in mine)
    lately = sum(stat.calls for stat in mine if minute - RATE_MINUTES <= stat.minute < minute)
    latencies = sorted(latency for stat in mine for latency in stat.latencies)
    return Recent(
        calls=calls,
        answered=sum(stat.answered for stat in mine),
        failed=sum(stat.failed for stat in mine),
        retried=sum(stat.retried for stat in mine),
        rate=lately / (RATE_MINUTES * 60),
        p50=_quantile(latencies, 0.5),
        p95=_quantile(latencies, 0.95),
        kinds=sum(
            (Counter({kind: n for kind, n in stat.kinds.items() if kind in FAILURES}) for stat in mine), Counter()
        ),
    )


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of all is not above."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None


async def _runs(reading: _Reading, platforms: Sequence[PlatformGlance] | None) -> tuple[RunGlance, ...]:
    """Those that are not done; when there are none, the latest."""
    desk = reading.desk
    runs = await desk.runs.unfinished() or await desk.runs.recent(1)
    counts = await asyncio.gather(*(desk.results.count(run.run_id) for run in runs))
    slots = {worker.platform: worker.slots for worker in await desk.deployment.platforms()}
    found = []
    for run, results in zip(runs, counts, strict=True):
        glance = RunGlance(run, results)
        if platforms is not None and run.state is RunState.OPEN and not run.is_final(reading.now):
            catalogue = await desk.catalogues.load(run.catalogue_version)
            glance = _projected(glance, platforms, catalogue, slots, reading.now)
        found.append(glance)
    return tuple(found)


def _projected(
    glance: RunGlance,
    platforms: Sequence[PlatformGlance],
    catalogue: Catalogue,
    slots: Mapping[str, int],
    now: float,
) -> RunGlance:
    """When it will be through. What is left is spread over its platforms as their unfinished tasks are, whatever run these are of."""
    run, monitor = glance.run, catalogue.monitor
    left_in_all = max(run.total - glance.results, 0)
    mine = {each.name: each for each in platforms if each.name in run.planned}
    weights = {name: each.in_hand for name, each in mine.items() if each.in_hand}
    if not run.plan_complete or any(each.capped for each in mine.values()) or not weights:
        weights = dict(run.planned)  # not all is there to be counted
    finishes: list[float] = []
    waits: list[Wait] = []
    for name, weight in weights.items():
        left = min(math.ceil(left_in_all * weight / max(sum(weights.values()), 1)), run.planned[name])
        if not left or name not in mine:
            continue
        control = mine[name].facts.control
        pace = pace_of(monitor, name, control, slots.get(name, 0))
        held = waits_of(monitor, name, control, {}, left, budget_day(now, monitor.time_zone), now)
        waits += held
        last = run.window_start + max(run.planned[name] - 1, 0) * run.spacing.get(name, 0.0)
        begin = max(run.window_start, now)
        finishes.append(math.inf if pace is None else finish_at(pace, held, left, begin, last))
    return RunGlance(run, glance.results, max(finishes, default=None), tuple(waits))


async def _queues(desk: Desk, platforms: Sequence[str]) -> tuple[QueueDepth, ...]:
    async def one(queue: str) -> QueueDepth:
        waiting, dead = await asyncio.gather(desk.queue.depth(queue), desk.queue.depth(f"{queue}-dead"))
        return QueueDepth(queue, waiting, dead)

    async def schedules() -> QueueDepth:
        return QueueDepth(SCHEDULES_DEAD.removesuffix("-dead"), 0, await desk.queue.depth(SCHEDULES_DEAD))

    names = (*(calls_queue(name) for name in platforms), *OTHER_QUEUES)
    return tuple(await asyncio.gather(*(one(name) for name in names), schedules()))


async def _stuck(reading: _Reading, platforms: Sequence[str], catalogue: Catalogue | None) -> tuple[Stuck, ...]:
    names = {} if catalogue is None else {brand.id: brand.name for brand in catalogue.brands}
    desk, before = reading.desk, reading.now - STUCK_S

    async def one(platform: str, state: State) -> Stuck | None:
        watch = held_watch(platform, state)
        first = await desk.tasks.due(watch, before, 1)
        if not first:
            return None
        count = await desk.tasks.count_due(watch, before, COUNT_CAP)
        task = await desk.tasks.get(first[0].task_id)
        brand = "" if task is None else names.get(task.brand_group, task.brand_group)
        return Stuck(platform, state, count, reading.now - first[0].act_at, first[0].task_id, brand)

    found = await asyncio.gather(*(one(platform, state) for platform in platforms for state in HELD))
    return tuple(each for each in found if each is not None)
