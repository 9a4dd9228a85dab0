"""What is one cause: what is done, which alarms must fire by it and with which values, and how is it undone?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from alarms.judgement import Value


@dataclass(frozen=True, slots=True)
class Case:
    """One cause. ``must``: alarms that fire, and what their metrics show; ``may``: those that follow from it as well."""

    name: str
    must: Mapping[str, Value]
    cause: Callable[[], None]
    undo: Callable[[], None]
    may: tuple[str, ...] = ()
    patience_s: float = 300.0
