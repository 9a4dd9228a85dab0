"""Did a run under attack keep its promise, and was it attacked enough for that to mean anything? Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from brandvane.cli.chaos_explain import Off, Repeats, Rescues
from brandvane.cli.chaos_kills import Aim, Kill, hits
from brandvane.simulation.run_audit import Summary
from brandvane.simulation.standin_behaviour import SHARES
from brandvane.simulation.standin_row import CallOutcome

LEAST_TASKS = 2000
LEAST_IN_FLIGHT, LEAST_AFTER_ANSWER = 20, 3
LEAST_OFF_S = 180.0
# These stop a platform or a target until a person acts, and here is none; the simulation has them, and people too.
FOR_A_PERSON = frozenset({CallOutcome.NO_CREDIT, CallOutcome.BAD_KEY, CallOutcome.MODEL_GONE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A run's account (``run``) and that of what was done to it. ``repeats`` are the run's repeated calls by cause."""

    run: Summary
    kills: Sequence[Kill]
    duplicates: int
    off: Sequence[Off]
    repeats: Repeats
    rescues: Rescues
    complaints: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "complaints", (*self._too_little(), *self._broken()))

    @property
    def off_s(self) -> float:
        """Seconds for which the scanner's schedules were disabled."""
        return round(sum(until - since for since, until in self.off), 1)

    def document(self) -> dict[str, Any]:
        """JSON-ready: first what the issue of this command asks for, then the rest of the run's account."""
        run = {name: value for name, value in asdict(self.run).items() if name != "complaints"}
        first: Mapping[str, Any] = {
            "kills": len(self.kills),
            "kills_in_flight": hits(self.kills, Aim.IN_FLIGHT),
            "kills_after_answer": hits(self.kills, Aim.AFTER_ANSWER),
            "duplicates_sent": self.duplicates,
            "scanner_off_s": self.off_s,
            "planned": self.run.planned,
            "results": self.run.results,
            "lost": self.run.lost,
            "repeated_calls": self.run.repeated_calls,
            "repeated_causes": dict(self.repeats.causes),
            "repeated_unexplained": len(self.repeats.unexplained),
            "above_limit": self.run.throttled,
            "rescued": {**asdict(self.rescues), "late": list(self.rescues.late)},
        }
        passed = not self.complaints
        return {
            **first,
            **{k: v for k, v in run.items() if k not in first},
            "complaints": self.complaints,
            "passed": passed,
        }

    def _too_little(self) -> Iterable[str]:
        """An attack that was too weak proves nothing."""
        figures = (
            (self.run.planned, LEAST_TASKS, "planned tasks"),
            (hits(self.kills, Aim.IN_FLIGHT), LEAST_IN_FLIGHT, "kills of a worker with RUNNING records"),
            (hits(self.kills, Aim.AFTER_ANSWER), LEAST_AFTER_ANSWER, "kills between an answer and its WRITEBACK"),
            (self.duplicates, 1, "duplicate messages"),
            (self.off_s, LEAST_OFF_S, "seconds without scanner"),
        )
        for there, least, what in figures:
            if there < least:
                yield f"{there:g} {what}, and {least:g} are the least"
        for fault in SHARES:
            if fault not in FOR_A_PERSON and not self.run.call_outcomes.get(fault.value):
                yield f"no call met the fault {fault.value}"

    def _broken(self) -> Iterable[str]:
        run = self.run
        if run.lost or run.results != run.planned:
            yield f"{run.results} result rows for {run.planned} planned tasks, {run.lost} of them without one"
        if run.unplanned:
            yield f"{run.unplanned} tasks have a row or a call and are not planned"
        if run.throttled:
            yield f"{run.throttled} calls were refused because a platform's limit was exceeded"
        if not run.groupings_agree:
            yield "repeated calls grouped by request id and by prompt disagree"
        if self.repeats.unexplained:
            yield f"{len(self.repeats.unexplained)} calls were made after their task's answer without a recorded cause"
        yield from self.rescues.late[:5]
