"""What is told of a simulation? Its figures as a JSON document, the same to the byte for the same scenario, faults and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from brandvane.simulation.article_engine import ArticleOutcome
from brandvane.simulation.faults import Faults
from brandvane.simulation.history import Violation
from brandvane.simulation.latencies import LATENCIES
from brandvane.simulation.scenario import Scenario
from brandvane.simulation.simulate import Outcome
from brandvane.task import ANSWERED

LIMITS = "limits"


def told(outcome: Outcome) -> dict[str, Any]:
    """The figures of the engine."""
    auditor, ending, scenario = outcome.auditor, outcome.ending, outcome.scenario
    counts = auditor.history.counts
    done = 0 if ending is None else sum(number for kind, number in ending.outcomes.items() if kind in ANSWERED)
    return {
        "engine": "brandvane",
        "seed": outcome.seed,
        "planned": scenario.total if ending is None else ending.planned,
        "results": 0 if ending is None else ending.results,
        "lost": 0 if ending is None else ending.lost,
        "duplicate_results": 0 if ending is None else ending.duplicates,
        "limit_violations": counts[LIMITS],
        "repeated_calls": auditor.calls.repeated,
        "repeated_causes": dict(sorted(auditor.calls.causes.items())),
        "repeated_unexplained": auditor.calls.unexplained,
        "violations": {kind: counts[kind] for kind in sorted(counts)},
        "success_rate": round(done / max(scenario.total, 1), 5),
        "outcomes": {} if ending is None else {str(kind): number for kind, number in ending.outcomes.items()},
        "start_delay_s": delays_of(auditor.calls.delays),
        "retries": {} if ending is None else retries_of(ending.retries),
        "rate_used": {
            name: None if (used := auditor.calls.rate_used(name, scenario.rate)) is None else round(used, 4)
            for name in scenario.names
        },
        "most_in_flight": {name: auditor.limits[name].most_in_flight for name in scenario.names},
        "aws_operations_per_task": auditor.cloud.meter.per_task(scenario.total),
        "alarms": outcome.alarms,
        "run": None if outcome.run is None else str(outcome.run.state),
        "virtual_s": round(outcome.seconds, 3),
        **_given(scenario, outcome.faults),
    }


def told_of_article(outcome: ArticleOutcome, scenario: Scenario, faults: Faults, seed: int) -> dict[str, Any]:
    """The figures of the published design, as far as they have a counterpart."""
    return {
        "engine": "article",
        "seed": seed,
        "planned": outcome.planned,
        "results": outcome.done + outcome.failed,
        "lost": outcome.lost,
        "limit_violations": outcome.violations,
        "success_rate": round(outcome.done / max(outcome.planned, 1), 5),
        "start_delay_s": delays_of(outcome.delays),
        "retries": retries_of(outcome.retries),
        **_given(scenario, faults),
    }


def _given(scenario: Scenario, faults: Faults) -> dict[str, Any]:
    return {
        "scenario": asdict(scenario),
        "faults": asdict(faults),
        "latencies": {name: latency.described() for name, latency in LATENCIES.items()},
    }


def delays_of(delays: Sequence[float]) -> dict[str, float]:
    """Mean and quantiles of the start delays (seconds from the planned instant to the first call)."""
    if not delays:
        return {}
    ordered = sorted(delays)
    last = len(ordered) - 1
    return {
        "mean": round(sum(ordered) / len(ordered), 4),
        "p50": round(ordered[last // 2], 4),
        "p99": round(ordered[int(last * 0.99)], 4),
        "max": round(ordered[-1], 4),
    }


def retries_of(retries: Mapping[int, int]) -> dict[str, Any]:
    """Tasks by retries, as numbers and as per cent of those that ended."""
    total = max(sum(retries.values()), 1)
    counts = {str(number): retries.get(number, 0) for number in range(max(4, max(retries, default=0) + 1))}
    return {**counts, "percent": {name: round(100 * number / total, 3) for name, number in counts.items()}}


def violation_lines(violation: Violation, replay: str) -> list[str]:
    """A broken promise for people: what, when, the task's whole history, and the command that shows it again."""
    head = f"{violation.kind}: {violation.text.strip()} (at {violation.at:.3f} s"
    head += f", task {violation.task_id})" if violation.task_id else ")"
    return [head, *(f"  {line}" for line in violation.history), f"  replay: {replay}"]
