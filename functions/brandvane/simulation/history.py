"""What happened to a task, and what went wrong? Events by task, and the violations with the task's whole history."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

KEPT = 100  # violations that are kept whole; all are counted


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that was broken: which, how, and everything that is known of the task."""

    kind: str
    text: str
    at: float
    task_id: str | None = None
    history: tuple[str, ...] = ()


@dataclass(slots=True)
class History:
    """Events are tuples (virtual seconds, environment, what, details…), few bytes each, for all tasks."""

    events: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def note(self, task_id: str, event: tuple[Any, ...]) -> None:
        """Something happened to a task."""
        known = self.events.get(task_id)
        if known is None:
            self.events[task_id] = [event]
        else:
            known.append(event)

    def of(self, task_id: str) -> tuple[str, ...]:
        """The whole history, a line an event."""
        return tuple(
            f"{at:12.3f} s  {host:<24} {what} {' '.join(str(detail) for detail in details)}".rstrip()
            for at, host, what, *details in self.events.get(task_id, ())
        )

    def violated(self, kind: str, text: str, at: float, task_id: str | None = None) -> None:
        """A promise is broken."""
        self.counts[kind] += 1
        if len(self.violations) < KEPT:
            history = self.of(task_id) if task_id is not None else ()
            self.violations.append(Violation(kind, text, at, task_id, history))
