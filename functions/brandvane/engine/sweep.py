"""What does the scanner do twice a minute? Acts on every overdue record, ends what a final run left, moves runs along, says how it stands.

Work is bounded by ``stop_at``; what is left is found again by the next sweep, because every step shrinks what is to be found. Acting
ends earlier, at three fifths of the time: with a table that refuses or a thousand records to end, a sweep that went on would be cut
off by its function's timeout, and nobody would hear of it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from brandvane.engine.advance import Advance
from brandvane.engine.gauges import HELD, Gauges
from brandvane.engine.limiter import Limiter
from brandvane.engine.rescue import Rescuer
from brandvane.ports import (
    Chance,
    Clock,
    ControlStore,
    Deployment,
    RunStore,
    TaskStore,
    Telemetry,
    Unavailable,
    Watched,
)
from brandvane.run import Run, RunState
from brandvane.task import Outcome, State, held_watch, watches

LEASE = "scanner"
LEASE_S = 45.0
PAGE = 200
AT_ONCE = 8
RESTORED_S = 45.0  # rates are restored once a minute, however often its event comes to this environment
ACTING_SHARE = 0.6  # of the time that a sweep has; the rest is for moving runs along and saying how all stands


@dataclass(frozen=True, slots=True)
class Sweep:
    """What one sweep found and did."""

    acted: Counter[str] = field(default_factory=Counter)
    in_hand: dict[str, int] = field(default_factory=dict)  # unfinished records by platform, capped
    runs: dict[str, RunState] = field(default_factory=dict)
    busy: bool = False


class Scanner:
    """One sweep at a time, under a lease."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        runs: RunStore,
        controls: ControlStore,
        rescuer: Rescuer,
        advance: Advance,
        gauges: Gauges,
        limiter: Limiter,
        deployment: Deployment,
        clock: Clock,
        chance: Chance,
        telemetry: Telemetry,
    ) -> None:
        self._tasks = tasks
        self._runs = runs
        self._controls = controls
        self._rescuer = rescuer
        self._advance = advance
        self._gauges = gauges
        self._limiter = limiter
        self._deployment = deployment
        self._clock = clock
        self._chance = chance
        self._telemetry = telemetry
        self._restored_at = -RESTORED_S

    async def sweep(self, *, stop_at: float, on_the_minute: bool) -> Sweep:
        """One sweep; ``on_the_minute`` is the one of the two a minute that restores lowered rates."""
        owner = self._chance.token()
        if not await self._controls.acquire(LEASE, owner, self._clock.now(), LEASE_S):
            return Sweep(busy=True)
        try:
            return await self._sweep(stop_at, on_the_minute)
        finally:
            await self._controls.release(LEASE, owner)

    async def _sweep(self, stop_at: float, on_the_minute: bool) -> Sweep:
        self._rescuer.begin()
        began = self._clock.now()
        act_until = began + ACTING_SHARE * (stop_at - began)
        workers = await self._deployment.platforms()
        platforms = [worker.platform for worker in workers]
        unfinished = await self._runs.unfinished()
        # A platform whose worker a deployment removed may still have records that somebody holds.
        retired = {name for run in unfinished for name in run.planned} - set(platforms)
        await self._overdue((*platforms, *sorted(retired)), act_until)
        for run in unfinished:
            if run.is_final(self._clock.now()) and not run.swept:
                try:
                    await self._end_run(run, act_until)
                except Unavailable as error:
                    self._telemetry.event("run_not_ended", run_id=run.run_id, error=str(error))
        looks = await self._gauges.platforms(workers, stop_at)
        in_hand = {platform: look.unfinished for platform, look in looks.items()}
        runs = [await self._step(run, in_hand) for run in unfinished]
        await self._gauges.of_runs(runs, looks)
        if on_the_minute:
            await self._restore(platforms)
        self._gauges.alive()
        return Sweep(self._rescuer.done, in_hand, {run.run_id: run.state for run in runs})

    async def _step(self, run: Run, in_hand: dict[str, int]) -> Run:
        try:
            known = in_hand.keys() >= run.planned.keys()
            run = await self._advance.step(run, sum(in_hand[name] for name in run.planned) if known else None)
        except Unavailable as error:
            self._telemetry.event("run_not_advanced", run_id=run.run_id, error=str(error))
        return run

    async def _overdue(self, platforms: Sequence[str], stop_at: float) -> None:
        """A page of every partition, then a further one of those that had more, as long as there is time."""
        more = [held_watch(platform, state) for platform in platforms for state in HELD]
        while more and self._clock.now() < stop_at:
            more = [watch for watch in more if await self._overdue_in(watch, stop_at)]

    async def _overdue_in(self, watch: str, stop_at: float) -> bool:
        """Act on what is due in a partition; True when it may hold more, and there was something to be done in this page."""
        try:
            entries = await self._tasks.due(watch, self._clock.now(), PAGE)
        except Exception as error:  # a partition that is refused or cannot be read must not keep the others from it
            self._telemetry.event("partition_not_swept", watch=watch, error=repr(error))
            return False
        before = self._rescuer.done.total()
        await self._each(entries, stop_at, self._rescuer.act)
        return len(entries) == PAGE and self._rescuer.done.total() > before

    async def _each(
        self, entries: Sequence[Watched], stop_at: float, act: Callable[[Watched], Awaitable[None]]
    ) -> None:
        """Some at once, none after ``stop_at``; one that cannot be read or moved must not keep the others from it."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(entry: Watched) -> None:
            async with gate:
                if self._clock.now() >= stop_at:
                    return
                try:
                    await act(entry)
                except Exception as error:
                    self._telemetry.event("record_not_swept", task_id=entry.task_id, error=repr(error))

        await asyncio.gather(*(one(entry) for entry in entries))

    async def _end_run(self, run: Run, stop_at: float) -> None:
        """Walk the partitions of a final run's platforms and end what is its; done when the plan is complete and none is left."""
        fresh = await self._runs.get(run.run_id)
        if fresh is None or not fresh.is_final(self._clock.now()):
            return
        outcome = Outcome.CANCELLED if fresh.cancelled_at is not None else Outcome.EXPIRED
        clean = True
        for platform in fresh.planned:
            for watch in watches(platform):
                clean = await self._end_in(fresh, watch, outcome, stop_at) and clean
        # A task may go back to PENDING behind the walk, and the index lags: only the rows themselves say that none is left.
        if clean and fresh.plan_complete and await self._advance.all_written(fresh):
            await self._runs.change(run.run_id, {"swept": False, "deadline": fresh.deadline}, {"swept": True})

    async def _end_in(self, run: Run, watch: str, outcome: Outcome, stop_at: float) -> bool:
        """Returns True when the partition was read to its end and held none of the run's records."""
        after: Watched | None = None
        clean = True
        while self._clock.now() < stop_at:
            try:
                page = await self._tasks.page(watch, after, PAGE)
            except Exception as error:  # as above: the other partitions are walked all the same
                self._telemetry.event("partition_not_swept", watch=watch, error=repr(error))
                return False
            mine = [entry for entry in page if entry.run_id == run.run_id]
            clean = clean and not mine
            if mine and not await self._still_final(run):
                return False  # its deadline was moved while we walked
            await self._each(mine, stop_at, partial(self._end_one, outcome=outcome))
            if len(page) < PAGE:
                return clean
            after = page[-1]
        return False

    async def _still_final(self, run: Run) -> bool:
        now = await self._runs.get(run.run_id)
        return now is not None and now.is_final(self._clock.now()) and now.cancelled_at == run.cancelled_at

    async def _end_one(self, entry: Watched, outcome: Outcome) -> None:
        task = await self._tasks.get(entry.task_id)
        # RUNNING and WRITEBACK ones are left: the first until their lease is over, the second have their outcome.
        if task is not None and task.state in (State.PENDING, State.DISPATCHED, State.PULLED):
            await self._rescuer.end(task, outcome, str(outcome), run_is_final=True)

    async def _restore(self, platforms: Sequence[str]) -> None:
        if self._clock.now() - self._restored_at < RESTORED_S:
            return  # the minute's event came twice
        self._restored_at = self._clock.now()
        for platform in platforms:
            if (await self._limiter.read(platform)).factor < 1.0:
                await self._limiter.restore(platform, 1.0)
