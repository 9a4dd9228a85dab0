"""What happens in one simulation? The stack is set up, the day begins, faults strike, and at the end everything is counted.

``simulate`` is a function of its scenario, faults and seed: nothing else decides what happens.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from brandvane.catalogue import Selection
from brandvane.expansion import Expansion, planned_ids
from brandvane.messages import PLAN_QUEUE, WRITEBACK_QUEUE, calls_queue
from brandvane.run import Run, RunState
from brandvane.schedule import instants, run_id
from brandvane.simulation import handlers
from brandvane.simulation.audit_end import Ending, audit_end
from brandvane.simulation.auditor import Auditor
from brandvane.simulation.cloud import BEFORE_S, Cloud
from brandvane.simulation.cloud_platforms import Fate, Platforms
from brandvane.simulation.faults import NONE, Faults
from brandvane.simulation.fleet import Fleet
from brandvane.simulation.history import Violation
from brandvane.simulation.operators import Operators
from brandvane.simulation.pollers import Poller
from brandvane.simulation.scenario import BATCH, DATE, SCHEDULE, Scenario
from brandvane.simulation.schedules import Schedules
from brandvane.simulation.virtual_loop import VirtualLoop, run_virtual
from brandvane.task import Change

LOOK_S = 5.0
GRACE_S = 3 * 3600.0  # a run that has not ended this long after its deadline never will
STORM_S = 3600.0  # faults strike until so long after the deadline: a run ends when they do, if not before
SETTLE_S = 1200.0
PUSHED_S = 3.0  # the catalogue is pushed this long after the window's start, by all clocks


@dataclass(slots=True)
class Outcome:
    """What a simulation came to. ``auditor`` has everything that was seen."""

    scenario: Scenario
    faults: Faults
    seed: int
    auditor: Auditor
    run: Run | None = None
    ending: Ending | None = None
    seconds: float = 0.0  # virtual
    interrupted: bool = False

    @property
    def alarms(self) -> dict[str, list[float]]:
        """When each alarm fired (virtual seconds), of those that did."""
        return self.auditor.cloud.metrics.fired(self.scenario.names, 0.0, self.seconds)

    @property
    def violations(self) -> list[Violation]:
        """The promises that were broken."""
        return self.auditor.history.violations


class HeardPlatforms(Platforms):
    """Platforms whose every word the auditor hears before its caller does."""

    def fate(self, platform: str, request_id: str) -> Fate:
        """The call's fate."""
        fate = super().fate(platform, request_id)
        self._cloud.auditor.waits[platform].fated(request_id, fate.kind, fate.retry_after)
        return fate


Progress = Callable[[float, int, int], None]


@dataclass(slots=True)
class Simulation:
    """One simulation. ``stop_at_first``: a broken promise ends it; ``spoil`` breaks moves, ``prepare`` anything else (for tests).

    ``at_least_s``: go on until that virtual time though the run has ended, as a stack does between two runs.
    """

    scenario: Scenario
    faults: Faults = NONE
    seed: int = 1
    stop_at_first: bool = False
    spoil: Callable[[Change], Change] | None = None
    prepare: Callable[[Fleet], None] | None = None
    progress: Progress | None = None
    at_least_s: float = 0.0
    broken: asyncio.Event = field(default_factory=asyncio.Event)

    def run(self) -> Outcome:
        """Carry it out."""
        return run_virtual(self._main)

    async def _main(self, loop: VirtualLoop) -> Outcome:
        scenario = self.scenario
        auditor = Auditor(loop.time, scenario.epoch, self.broken.set)
        cloud = Cloud(
            loop=loop,
            epoch=scenario.epoch,
            seed=self.seed,
            faults=self.faults,
            auditor=auditor,
            slowness=scenario.slowness,
            spoil=self.spoil,
        )
        auditor.watch(cloud)
        loop.set_exception_handler(lambda _, context: _crashed(auditor, context))
        # Not before the window: a window of a whole day makes yesterday's run due as well, as long as it lasts.
        loop.call_later(BEFORE_S + PUSHED_S, cloud.catalogues.push, scenario.catalogue())
        for settings in scenario.settings():
            planned = scenario.total // scenario.platforms
            skew, timeout = self.faults.clock_skew_s, settings.call_timeout_s
            auditor.platform(settings.name, settings.rate, settings.in_flight, skew, planned, timeout)
        loop.call_later(scenario.window[2] - scenario.epoch + STORM_S, cloud.calm)
        fleet = self._fleet(cloud)
        if self.prepare is not None:
            self.prepare(fleet)
        schedules = Schedules(fleet)
        schedules.begin()
        run = await self._planned(cloud, fleet, schedules)
        operators = Operators(fleet, run.run_id, scenario.window[2])
        operators.begin()
        outcome = Outcome(scenario, self.faults, self.seed, auditor)
        outcome.interrupted = not await self._until_ended(cloud, run.run_id, operators)
        await cloud.loop.sleeper(max(self.at_least_s - loop.time(), 0.0))
        schedules.end()
        operators.end()
        outcome.seconds = loop.time()
        outcome.run = cloud.runs.runs.get(run.run_id)
        if outcome.run is None:
            auditor.violated("ended", f"run {run.run_id} was never planned")
        elif not outcome.interrupted:
            catalogue = scenario.catalogue()
            expansion = Expansion(catalogue, Selection(), run.priority, outcome.run.seed)
            outcome.ending = audit_end(auditor, outcome.run, planned_ids(run.run_id, expansion), scenario.total)
        fleet.die()  # else the loop's end would look like an interruption that the code may answer
        return outcome

    def _fleet(self, cloud: Cloud) -> Fleet:
        deployed = self.scenario.deployed()
        platforms = HeardPlatforms(cloud, self.seed, self.scenario.latency, self.scenario.call_timeout)
        fleet = Fleet(cloud, platforms, deployed, self.seed)
        fleet.handlers.update(handlers.BY_EVENT)
        for each in deployed:
            Poller(
                cloud,
                calls_queue(each.platform),
                fleet.workers[each.platform],
                handlers.worker,
                batch_size=each.batch_size,
                most=each.invocations,
            )
        functions = fleet.functions
        Poller(cloud, PLAN_QUEUE, functions["planner"], handlers.plan, batch_size=1, most=2)
        Poller(cloud, WRITEBACK_QUEUE, functions["writeback"], handlers.writeback, batch_size=BATCH, most=4)
        Poller(cloud, "sweep", functions["scanner"], handlers.sweep, batch_size=1, most=2)
        return fleet

    async def _planned(self, cloud: Cloud, fleet: Fleet, schedules: Schedules) -> Run:
        """The run as it is to be: started by its schedule, or, as a backlog, put there with everything due at once."""
        scenario = self.scenario
        catalogue = scenario.catalogue()
        schedule = catalogue.monitor.schedule(SCHEDULE)
        start, _, deadline = scenario.window
        expansion = Expansion(catalogue, Selection(), "normal", 1)
        run = Run(
            run_id=run_id(schedule, DATE),
            schedule_id=SCHEDULE,
            catalogue_version=catalogue.version,
            window_start=start,
            window_end=start,
            deadline=deadline,
            created_at=start,
            plan_progress_at=start,
            seed=1,
            planned=expansion.planned,
            spacing=dict.fromkeys(expansion.planned, 0.0),
            chunks=expansion.chunks,
        )
        if not scenario.backlog:
            schedules.day(SCHEDULE, instants(schedule, DATE).start, BEFORE_S + PUSHED_S + 1.0)
            return run
        await cloud.loop.sleeper(BEFORE_S + PUSHED_S + 1.0)
        cloud.runs.create_at_once(run)
        cloud.behind.run_changed(run, cloud.loop.time())
        fleet.begin("planner", {"resume": run.run_id})
        return run

    async def _until_ended(self, cloud: Cloud, name: str, operators: Operators) -> bool:
        """Wait for the end of the run; False when a broken promise ended it all before."""
        latest = self.scenario.window[2] - self.scenario.epoch + GRACE_S
        while cloud.loop.time() < latest + operators.more_time:
            await cloud.loop.sleeper(LOOK_S)
            if self.stop_at_first and self.broken.is_set():
                return False
            run = cloud.runs.runs.get(name)
            if self.progress is not None:
                self.progress(cloud.loop.time(), sum(cloud.results.counts.values()), self.scenario.total)
            if run is None or run.waits or (run.state is RunState.CANCELLED and not run.swept):
                continue
            await operators.reopen_once()
            # The last records may be finished a little after their rows were counted.
            patience = cloud.loop.time() + SETTLE_S
            while cloud.auditor.unfinished and cloud.loop.time() < patience:
                await cloud.loop.sleeper(LOOK_S)
            await cloud.loop.sleeper(LOOK_S)
            if not cloud.runs.runs[name].waits:  # else somebody has opened it again, whatever he has heard of it
                return True
        return True


def _crashed(auditor: Auditor, context: dict[str, Any]) -> None:
    """An exception that nobody expected."""
    error = context.get("exception")
    text = context.get("message", "") if error is None else "".join(traceback.format_exception(error))
    auditor.violated("crash", text)
