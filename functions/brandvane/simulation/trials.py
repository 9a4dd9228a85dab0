"""What is one seed's trial? Its scenario and faults, carried out, timed, and put into figures; chaos draws small runs of its own."""

from __future__ import annotations

import gc
import random
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from brandvane.simulation.article_engine import simulate_article
from brandvane.simulation.faults import Faults
from brandvane.simulation.faults_chaos import chaos
from brandvane.simulation.figures import told, told_of_article, violation_lines
from brandvane.simulation.scenario import Scenario
from brandvane.simulation.simulate import Progress, Simulation

Engine = Literal["brandvane", "article"]
GC_THRESHOLD = 100_000  # objects of a simulation live long: looking at them often finds nothing
LARGE = 1_000  # tasks; what such a simulation leaves is worth looking for before the next one of this process


@dataclass(frozen=True, slots=True)
class Trial:
    """One simulation to be: ``faults`` None means chaos; ``given`` are the scenario's fields that are not to be drawn."""

    seed: int
    given: Mapping[str, Any] = field(default_factory=dict)
    faults: Faults | None = None
    engine: Engine = "brandvane"
    replay: str = ""

    def scenario(self) -> Scenario:
        """Size and load."""
        return Scenario(**self.given) if self.faults is not None else chaos_scenario(self.seed, self.given)

    def faults_of(self, scenario: Scenario) -> Faults:
        """The faults."""
        return self.faults if self.faults is not None else chaos(self.seed, scenario.hours * 3600 + 60)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a trial came to: figures, the broken promises as lines, and what it took on this machine."""

    seed: int
    figures: dict[str, Any]
    broken: tuple[str, ...]
    timing: dict[str, float]

    @property
    def held(self) -> bool:
        """No promise was broken."""
        return not self.broken


def carry_out(trial: Trial, progress: Progress | None = None) -> Verdict:
    """Simulate."""
    scenario = trial.scenario()
    faults = trial.faults_of(scenario)
    wall, cpu = time.perf_counter(), time.process_time()
    threshold = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD, *threshold[1:])
    try:
        if trial.engine == "article":
            figures = told_of_article(simulate_article(scenario, faults, trial.seed), scenario, faults, trial.seed)
            broken: tuple[str, ...] = ()
        else:
            outcome = Simulation(scenario, faults, trial.seed, progress=progress).run()
            figures = told(outcome)
            broken = tuple(line for each in outcome.violations for line in violation_lines(each, trial.replay))
    finally:
        gc.set_threshold(*threshold)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    timing = {
        "wall_s": round(wall, 3),
        "cpu_s": round(cpu, 3),
        "tasks": float(scenario.total),
        "ms_a_task": round(1e3 * wall / max(scenario.total, 1), 4),
        "most_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }
    return Verdict(trial.seed, figures, broken, timing)


def chaos_scenario(seed: int, given: Mapping[str, Any]) -> Scenario:
    """A small run: some tens of tasks within minutes, drawn from the seed but for what is given."""
    rng = random.Random(f"{seed}/scenario")
    serial = rng.random() < 0.1
    drawn = Scenario(
        brands=2 if serial else 3,
        questions=rng.choice((4,) if serial else (4, 6, 10, 20)),
        platforms=rng.choice((1, 1, 2)),
        rate=rng.choice((2.0, 5.0, 10.0)),
        latency=rng.choice((2.0, 5.0, 25.0)),
        call_timeout=rng.choice((60, 60, 60, 120)),
        hours=rng.choice((2, 4, 8)) / 60,
        deadline=rng.choice((20, 40, 90)) / 60,
        backlog=rng.random() < 0.3,
        slowness=rng.choice((1.0, 1.0, 1.0, 3.0)),
        serial=serial,
    )
    return replace(drawn, **given)


def carry_out_all(trials: list[Trial], jobs: int, each: Callable[[Verdict], None]) -> None:
    """Many of them, in their order; ``jobs`` processes at a time."""
    if jobs <= 1 or len(trials) == 1:
        for trial in trials:
            each(_one_of_many(trial))
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for verdict in pool.map(_one_of_many, trials, chunksize=4):
            each(verdict)


def _one_of_many(trial: Trial) -> Verdict:
    verdict = carry_out(trial)
    if verdict.timing["tasks"] >= LARGE:
        gc.collect()
    return verdict


def summed(verdicts: list[Verdict]) -> dict[str, Any]:
    """The figures of many trials together."""
    names = (
        "planned",
        "results",
        "lost",
        "duplicate_results",
        "limit_violations",
        "repeated_calls",
        "repeated_unexplained",
    )
    sums = {name: sum(verdict.figures.get(name, 0) for verdict in verdicts) for name in names}
    causes: dict[str, int] = {}
    for verdict in verdicts:
        for cause, number in verdict.figures.get("repeated_causes", {}).items():
            causes[cause] = causes.get(cause, 0) + number
    return {
        "seeds": len(verdicts),
        **sums,
        "repeated_causes": dict(sorted(causes.items())),
        "broken_seeds": [verdict.seed for verdict in verdicts if not verdict.held],
    }
