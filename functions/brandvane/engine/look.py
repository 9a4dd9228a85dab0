"""How late will a run be, by what one sweep has seen of its platforms? Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from brandvane.catalogue import Monitor
from brandvane.control import Control
from brandvane.engine.projection import finish_at, pace_of, waits_of
from brandvane.gauges import lateness, left_of
from brandvane.run import Run
from brandvane.schedule import budget_day


@dataclass(frozen=True, slots=True)
class Look:
    """What one sweep has seen of a platform."""

    slots: int
    control: Control
    unfinished: int  # PENDING, as far as counted, and held
    capped: bool  # there are more PENDING than were counted
    writeback: int
    backlog: int
    expired: int  # tasks that workers ended so lately
    dollars: float  # what its answers of the budget's day cost, by what workers reported


def late_by(run: Run, monitor: Monitor, looks: Mapping[str, Look], now: float) -> float | None:
    """Seconds after the deadline (negative: before it) of the slowest platform's end; None when nothing is left to ask."""
    day = budget_day(now, monitor.time_zone)
    capped = {platform for platform, look in looks.items() if look.capped}
    left = left_of(run, {platform: look.unfinished for platform, look in looks.items()}, capped)
    ends = []
    for platform, look in looks.items():
        tasks = left.get(platform, 0)
        pace = pace_of(monitor, platform, look.control, look.slots)
        if not tasks:
            continue
        if pace is None:  # nobody will ask them
            ends.append(math.inf)
            continue
        models = monitor.platform(platform).targets
        by_target = {target: max(tasks // len(models), 1) for target in models}
        waits = waits_of(monitor, platform, look.control, by_target, tasks, day, now)
        last = run.window_start + max(run.planned[platform] - 1, 0) * run.spacing.get(platform, 0.0)
        ends.append(finish_at(pace, waits, tasks, max(now, run.window_start), last))
    return lateness(max(ends), run.deadline) if ends else None
