"""What does somebody know who acts on a task? Records as they were read, messages, and what a worker believes it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis.stateful import precondition

from brandvane.task import State, Task

Known = TypeVar("Known")


@dataclass(slots=True)
class Hold:
    """What a worker believes of the task that it claimed; nobody tells it when it has been fenced off."""

    task: Task


@dataclass(frozen=True, slots=True)
class Message:
    """What a worker gets from the queue: perhaps twice, perhaps late."""

    task_id: str
    dispatch_no: int
    due: float


def chosen(things: Sequence[Known], age: int) -> Known:
    """One of the things known."""
    return things[-1 - age % len(things)]


def needs(what: str) -> Callable[[Any], Any]:
    """The rule has something to act on."""
    return precondition(lambda machine: bool(getattr(machine, what)))


def needs_seen(state: State) -> Callable[[Any], Any]:
    """Some record has been in that state."""
    return precondition(lambda machine: bool(machine.seen[state]))
