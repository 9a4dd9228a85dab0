"""What does one day of a catalogue come to? Calls of each schedule, how they fit their windows, and the load on AWS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from brandvane.catalogue import Catalogue, PlatformSettings, Schedule, Selection
from brandvane.catalogue_files.deployed import BATCH_MAX, INVOCATIONS_MIN
from brandvane.cli.aws_usage import MINUTES_A_DAY, RunLoad, Share, Usage, minutes_usage, run_usage, total
from brandvane.cli.estimate import Estimate, estimate, planned_calls
from brandvane.expansion import Expansion
from brandvane.pacing import fit, plan_rate
from brandvane.ports import Deployed
from brandvane.schedule import Instants, instants, occurrence

REPORT_MINUTES = 5  # a run's end: counted, scored, reported


@dataclass(frozen=True, slots=True)
class PlatformFit:
    """A platform's share of a run: ``rate`` is planned calls a second; ``last`` and ``late_by`` are when its last call has ended."""

    platform: str
    calls: int
    rate: float
    slots: int
    hours: float
    last: float
    late_by: float
    beyond_budget: int = 0  # calls that the day's budget of calls does not allow


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One schedule's run of a day."""

    schedule: Schedule
    times: Instants
    platforms: tuple[PlatformFit, ...]
    cost: Estimate
    load: RunLoad

    @property
    def calls(self) -> int:
        """All of it."""
        return sum(each.calls for each in self.platforms)

    @property
    def late_by(self) -> float:
        """Seconds by which the plan misses its deadline (0: it does not)."""
        return max((each.late_by for each in self.platforms), default=0.0)


@dataclass(frozen=True, slots=True)
class OverBudget:
    """A platform whose day costs more dollars than its budget: its calls stop at about ``stops_at`` of ``calls``."""

    platform: str
    usd: float
    budget_usd: float
    calls: int

    @property
    def stops_at(self) -> int:
        """Calls that the budget pays for, at the mean cost of the day's calls; the one that exceeds it is still made."""
        return min(ceil(self.calls * self.budget_usd / self.usd), self.calls)


@dataclass(frozen=True, slots=True)
class DayPlan:
    """All runs of one day."""

    catalogue: Catalogue
    runs: tuple[RunPlan, ...]

    @property
    def usage(self) -> Usage:
        """What the day asks of AWS."""
        idle = minutes_usage(len(self.catalogue.monitor.platforms), MINUTES_A_DAY)
        return total([idle, *(run_usage(run.load) for run in self.runs)])

    @property
    def busy(self) -> float:
        """The share of the day that has a run."""
        return min(sum(run.load.minutes for run in self.runs) / MINUTES_A_DAY, 1.0)

    @property
    def calls(self) -> int:
        """Of all runs."""
        return sum(run.calls for run in self.runs)

    @property
    def targets(self) -> dict[str, tuple[int, float]]:
        """Calls and dollars by platform and model."""
        found: dict[str, tuple[int, float]] = {}
        for run in self.runs:
            for target, (calls, usd) in run.cost.targets.items():
                known = found.get(target, (0, 0.0))
                found[target] = known[0] + calls, known[1] + usd
        return found

    @property
    def over_budget(self) -> tuple[OverBudget, ...]:
        """The platforms whose day, all runs together, costs more than their day_budget_usd."""
        found = []
        for settings in self.catalogue.monitor.platforms:
            name, budget = settings.name, settings.day_budget_usd
            usd = sum(run.cost.usd.get(name, 0.0) for run in self.runs)
            if budget is not None and usd > budget:
                found.append(OverBudget(name, usd, budget, sum(run.cost.calls.get(name, 0) for run in self.runs)))
        return tuple(found)

    @property
    def model_usd(self) -> float:
        """Dollars for the platforms."""
        return sum(usd for _, usd in self.targets.values())


def day_plan(catalogue: Catalogue, now: float, deployed: Mapping[str, Deployed] | None = None) -> DayPlan:
    """The day that is today in each schedule's time zone. ``deployed``: the workers there are; else as many slots as may be in flight."""
    runs = tuple(_run(catalogue, schedule, now, deployed) for schedule in catalogue.monitor.schedules)
    return DayPlan(catalogue, runs)


def _run(catalogue: Catalogue, schedule: Schedule, now: float, deployed: Mapping[str, Deployed] | None) -> RunPlan:
    monitor = catalogue.monitor
    expansion = Expansion(catalogue, Selection(brands=schedule.brands), schedule.priority, 0)
    times = instants(schedule, occurrence(schedule, now))
    fits, shares = [], {}
    for name, calls in expansion.planned.items():
        settings = monitor.platform(name)
        worker = None if deployed is None else deployed.get(name, Deployed(name, 0, 0, 0))
        slots = settings.in_flight if worker is None else min(settings.in_flight, worker.slots)
        fits.append(_fit(settings, calls, slots, monitor.expected_hold_s, times))
        # Without a worker to look at: as 'catalogue push' proposes its row of the template.
        batch = min(BATCH_MAX, settings.in_flight // INVOCATIONS_MIN) if worker is None else worker.batch_size
        budget = settings.day_budget_usd is not None
        shares[name] = Share(tasks=calls, rate=fits[-1].rate, batch=max(batch, 1), budget=budget)
    minutes = (max([each.last for each in fits if each.calls] or [times.start]) - times.start) / 60 + REPORT_MINUTES
    load = RunLoad(platforms=shares, minutes=min(minutes, MINUTES_A_DAY), hold_s=monitor.expected_hold_s)
    return RunPlan(schedule, times, tuple(fits), estimate(planned_calls(expansion), monitor), load)


def _fit(settings: PlatformSettings, calls: int, slots: int, hold_s: float, times: Instants) -> PlatformFit:
    """As the planner spreads them; a call takes ``hold_s`` more after it has begun."""
    if slots <= 0:
        return PlatformFit(settings.name, calls, 0.0, 0, float("inf"), float("inf"), float("inf") if calls else 0.0)
    fastest = plan_rate(settings.rate, slots, hold_s)
    spread = fit(calls, fastest, times.start, times.end)
    last = spread.last + (hold_s if calls else 0.0)
    beyond = 0 if settings.day_calls is None else max(calls - settings.day_calls, 0)
    late = max(last - times.deadline, 0.0)
    rate = 1 / spread.spacing if spread.spacing else fastest
    return PlatformFit(settings.name, calls, rate, slots, calls / fastest / 3600, last, late, beyond)
