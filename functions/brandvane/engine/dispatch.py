"""What does the dispatcher do at each tick? Puts every task that will soon be due on its queue, in its second.

It looks ahead 75 s (ticks come once a minute), sends at most what the platform can serve in that time, high priority first and
at least a tenth for low. It is also the second starter of a day: a due run without an item, or a plan that stands still, is
handed to the planner again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from brandvane import breaker
from brandvane.catalogue import Catalogue
from brandvane.control import Control
from brandvane.dispatch_window import REPORTS_S, window
from brandvane.engine.canary import Canaries
from brandvane.engine.pinned import RunReader
from brandvane.engine.plan import STALLED_S
from brandvane.engine.send import EARLY_S, Due, Sender
from brandvane.messages import calls_queue
from brandvane.pacing import restored
from brandvane.ports import (
    CatalogueStore,
    Chance,
    Clock,
    ControlStore,
    Deployed,
    Deployment,
    Functions,
    RunStore,
    StatStore,
    TaskQueue,
    TaskStore,
    Telemetry,
    Unavailable,
    Watched,
)
from brandvane.run import RunState
from brandvane.schedule import instants, occurrence, run_id
from brandvane.task import PENDING_SHARDS, PRIORITIES, Priority, pending_watch, target_name

LOOK_AHEAD_S = 75.0
LEASE_S = 50.0
LEASE = "dispatcher"
LOOK_AGAIN_S = 1.0
PATIENCE_S = 20.0  # of one who knows of new tasks; the function's time limit is 50 s
LOW_SHARE = 0.1
SMALL_ROOM = 5
SEND_SIZE = 10
SENDS_AT_ONCE = 4
PAGE = 200
PROBE_AFTER_S = EARLY_S + 1.0  # messages come early, and one that comes before the breaker lets it would only go back
NOT_PLANNED_S = 120.0
DEFAULT_RATE = 1.0


@dataclass(frozen=True, slots=True)
class Tick:
    """What one tick did: messages sent by platform, runs handed to the planner; ``busy`` when another dispatcher was at work."""

    sent: dict[str, int]
    started: tuple[str, ...] = ()
    resumed: tuple[str, ...] = ()
    busy: bool = False


class Dispatcher:
    """One tick at a time, under a lease."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        runs: RunStore,
        reader: RunReader,
        controls: ControlStore,
        stats: StatStore,
        catalogues: CatalogueStore,
        queue: TaskQueue,
        sender: Sender,
        functions: Functions,
        deployment: Deployment,
        clock: Clock,
        chance: Chance,
        telemetry: Telemetry,
    ) -> None:
        self._tasks = tasks
        self._runs = runs
        self._reader = reader
        self._controls = controls
        self._stats = stats
        self._catalogues = catalogues
        self._queue = queue
        self._sender = sender
        self._functions = functions
        self._deployment = deployment
        self._clock = clock
        self._chance = chance
        self._telemetry = telemetry
        self._seen: set[str] = set()
        self._canaries = Canaries(controls=controls, queue=queue, clock=clock, chance=chance, telemetry=telemetry)

    async def tick(self, patience: float = 0.0) -> Tick:
        """Dispatch what is due; a platform that cannot be served does not keep the others from it.

        Another dispatcher at work is waited for, up to ``patience`` seconds: it may have looked before the caller's tasks were there.
        """
        owner = self._chance.token()
        give_up = self._clock.now() + patience
        while not await self._controls.acquire(LEASE, owner, self._clock.now(), LEASE_S):
            if self._clock.now() >= give_up:
                return Tick({}, busy=True)
            await self._clock.sleep(LOOK_AGAIN_S)
        try:
            version = await self._catalogues.current()
            catalogue = await self._catalogues.load(version) if version else None
            platforms = await self._deployment.platforms()
            sent = await asyncio.gather(*(self._guarded(worker, catalogue) for worker in platforms))
            started = await self._due_runs(catalogue) if catalogue else ()
            await self._ahead(catalogue, platforms)
            resumed = await self._stalled_plans()
        finally:
            await self._controls.release(LEASE, owner)
        return Tick(dict(zip([p.platform for p in platforms], sent, strict=True)), started, resumed)

    async def _ahead(self, catalogue: Catalogue | None, platforms: Sequence[Deployed]) -> None:
        if catalogue is None:
            return
        try:
            await self._canaries.send_due(catalogue, platforms)
        except Exception as error:  # a day goes on without them
            self._telemetry.event("canaries_not_sent", error=repr(error))

    async def _guarded(self, worker: Deployed, catalogue: Catalogue | None) -> int:
        try:
            return await self._platform(worker, catalogue)
        except Exception as error:  # also a queue that is not there: the other platforms have their turn
            self._telemetry.event("platform_not_dispatched", platform=worker.platform, error=repr(error))
            return 0

    async def _platform(self, worker: Deployed, catalogue: Catalogue | None) -> int:
        now = self._clock.now()
        control = await self._controls.read(worker.platform)
        if control.paused is not None and control.paused.active(now):
            return 0
        paused = frozenset(target for target, pause in control.targets.items() if pause.active(now))
        if breaker.is_open(control):
            return await self._probe(worker.platform, breaker.held_until(control), paused)
        room = await self._room(worker, catalogue, control)
        if room <= 0:
            return 0
        return await self._send(worker.platform, await self._choose(worker.platform, room, now, paused))

    async def _probe(self, platform: str, at: float, paused: frozenset[str]) -> int:
        """While the breaker is open, one task is sent for the instant at which somebody may probe."""
        now = self._clock.now()
        if at > now + LOOK_AHEAD_S:
            return 0
        chosen = await self._choose(platform, 1, now, paused)
        at += PROBE_AFTER_S
        dues = [Due(r.task_id, r.run_id, r.dispatch_no, max(r.next_execute_time, at)) for r in chosen]
        return await self._sender.send(platform, dues) if dues else 0

    async def _room(self, worker: Deployed, catalogue: Catalogue | None, control: Control) -> int:
        """How many messages the platform can serve until the next tick has come, less those that are on the queue already."""
        now = self._clock.now()
        configured = DEFAULT_RATE
        if catalogue is not None and worker.platform in catalogue.monitor.platform_names:
            configured = catalogue.monitor.platform(worker.platform).rate
        stated = control.rate_override if control.rate_override is not None else configured
        rate = stated * restored(control).factor  # what a 429 took and the next minute gives back
        stats = await self._stats.since(worker.platform, now - REPORTS_S, now)
        waiting = await self._queue.depth(calls_queue(worker.platform), held_most=worker.slots)
        return window(stats, rate, worker.slots, worker.invocations, LOOK_AHEAD_S) - waiting

    async def _choose(self, platform: str, room: int, now: float, paused: frozenset[str]) -> list[Watched]:
        found = {p: await self._due(platform, p, now + LOOK_AHEAD_S, room, paused) for p in PRIORITIES}
        # A tenth of a small room is less than one message: then the others go first.
        kept = min(len(found["low"]), math.ceil(room * LOW_SHARE) if room >= SMALL_ROOM else 0)
        first = found["high"][: room - kept]
        second = found["normal"][: max(room - kept - len(first), 0)]
        rest = found["low"][: room - len(first) - len(second)]
        return [*first, *second, *rest]

    async def _due(
        self, platform: str, priority: Priority, before: float, room: int, paused: frozenset[str]
    ) -> list[Watched]:
        watches = [pending_watch(platform, priority, shard) for shard in range(PENDING_SHARDS)]
        pages = await asyncio.gather(*(self._servable(platform, watch, before, room, paused) for watch in watches))
        return sorted((entry for page in pages for entry in page), key=lambda e: e.act_at)[:room]

    async def _servable(
        self, platform: str, watch: str, before: float, room: int, paused: frozenset[str]
    ) -> list[Watched]:
        """Up to ``room`` due entries of a partition that may be called; those that may not must not hide the ones behind them."""
        kept: list[Watched] = []
        try:
            page = await self._tasks.due(watch, before, max(room, PAGE))
            while page:
                for entry in page:
                    allowed = entry.act_at <= before and target_name(platform, entry.model) not in paused
                    if allowed and not await self._reader.is_final(entry.run_id):
                        kept.append(entry)
                if len(kept) >= room or page[-1].act_at > before:
                    break
                page = await self._tasks.page(watch, page[-1], PAGE)
        except Unavailable as error:  # a partition that is refused must not keep the others from their turn
            self._telemetry.event("partition_not_dispatched", watch=watch, error=str(error))
        return kept[:room]

    async def _send(self, platform: str, entries: Sequence[Watched]) -> int:
        gate = asyncio.Semaphore(SENDS_AT_ONCE)

        async def ten(rows: list[Watched]) -> int:
            async with gate:
                dues = [Due(r.task_id, r.run_id, r.dispatch_no, r.next_execute_time) for r in rows]
                return await self._sender.send(platform, dues)

        rows = iter(entries)
        batches = []
        while batch := list(islice(rows, SEND_SIZE)):
            batches.append(ten(batch))
        return sum(await asyncio.gather(*batches))

    async def _due_runs(self, catalogue: Catalogue) -> tuple[str, ...]:
        """Runs that a schedule makes due and that have no item 2 min after their start."""
        started = []
        now = self._clock.now()
        for schedule in catalogue.monitor.schedules:
            date = occurrence(schedule, now)
            name, times = run_id(schedule, date), instants(schedule, date)
            if name in self._seen or not times.start + NOT_PLANNED_S <= now < times.deadline:
                continue
            if await self._runs.get(name) is None:
                self._telemetry.event("run_not_planned", run_id=name)
                await self._functions.invoke("planner", {"start": {"schedule_id": schedule.id, "date": date}})
                started.append(name)
            else:
                self._seen.add(name)
        return tuple(started)

    async def _stalled_plans(self) -> tuple[str, ...]:
        stalled = []
        now = self._clock.now()
        for run in await self._runs.unfinished():
            if run.plan_complete or run.state not in (RunState.OPEN, RunState.CANCELLED):
                continue
            if now - run.plan_progress_at >= STALLED_S:
                self._telemetry.event("plan_stalled", run_id=run.run_id, chunks_done=len(run.chunks_done))
                await self._functions.invoke("planner", {"resume": run.run_id})
                stalled.append(run.run_id)
        return tuple(stalled)
