"""When will a platform be through with what is left of a run, and what keeps it waiting? Pure arithmetic on what is known now."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brandvane.catalogue import Monitor
from brandvane.control import Control, Pause
from brandvane.pacing import FACTOR_FLOOR, LIMITER_SHARE
from brandvane.schedule import Day

BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Wait:
    """What ``tasks`` of a platform (``target`` None) or of one target wait for. ``until`` None: for a person."""

    platform: str
    target: str | None
    why: str
    who: str
    since: float | None
    until: float | None
    tasks: int


@dataclass(frozen=True, slots=True)
class Pace:
    """Calls a second that a platform can take now, and how long one of them is reckoned to last (seconds)."""

    rate: float
    hold_s: float


def pace_of(monitor: Monitor, platform: str, control: Control, slots: int) -> Pace | None:
    """What rate, lowered rate and slots allow; None for a platform that has no worker or is not in the monitor."""
    if platform not in monitor.platform_names or slots <= 0:
        return None
    settings = monitor.platform(platform)
    stated = control.rate_override if control.rate_override is not None else settings.rate
    hold = control.hold_s or monitor.expected_hold_s
    allowed = stated * LIMITER_SHARE * max(control.factor, FACTOR_FLOOR)
    return Pace(min(allowed, min(slots, settings.in_flight) / hold), hold)


def waits_of(
    monitor: Monitor,
    platform: str,
    control: Control,
    by_target: Mapping[str, int],
    left: int,
    day: Day,
    now: float,
) -> tuple[Wait, ...]:
    """Pauses that hold now and have tasks behind them, and a day's budget that does not last for what is left."""
    if control.paused is not None and control.paused.active(now):
        return (_paused(platform, None, control.paused, left),)
    waits = [
        _paused(platform, target, pause, by_target[target])
        for target, pause in sorted(control.targets.items())
        if pause.active(now) and by_target.get(target)
    ]
    beyond = _beyond_budget(monitor, platform, control, left, day)
    if beyond:
        waits.append(Wait(platform, None, BUDGET, "limiter", None, day.end, beyond))
    return tuple(waits)


def _paused(platform: str, target: str | None, pause: Pause, tasks: int) -> Wait:
    return Wait(platform, target, pause.why, pause.who, pause.since, pause.until, tasks)


def _beyond_budget(monitor: Monitor, platform: str, control: Control, left: int, day: Day) -> int:
    """How many of the tasks left the day's budget does not allow."""
    if platform not in monitor.platform_names:
        return 0
    settings = monitor.platform(platform)
    today = control.day == day.date
    if settings.day_budget_usd is not None and today and control.day_microusd >= round(settings.day_budget_usd * 1e6):
        return left
    if settings.day_calls is None:
        return 0
    return max(left - max(settings.day_calls - (control.day_calls if today else 0), 0), 0)


def finish_at(pace: Pace, waits: Sequence[Wait], left: int, begin: float, last_planned: float) -> float:
    """When the last of ``left`` tasks has ended: not before it is planned, not faster than the pace, not while it waits.

    Infinite when something waits for a person. Retries are not reckoned with.
    """
    held = sum(wait.tasks for wait in waits)
    free = max(begin + max(left - held, 0) / pace.rate, last_planned)
    held_ends = (math.inf if wait.until is None else max(wait.until, begin) + wait.tasks / pace.rate for wait in waits)
    return max([free, *held_ends]) + pace.hold_s
