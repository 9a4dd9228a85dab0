"""Does a push itself begin a run? The dispatcher starts every run whose window is open and that is not there yet."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from brandvane.catalogue import Catalogue, Schedule, Selection
from brandvane.cli.view import number
from brandvane.expansion import Expansion
from brandvane.platforms.registry import is_loopback
from brandvane.schedule import instants, occurrence, run_id

clock = time.time
Get = Callable[[str], Awaitable[Any]]


async def begin_at_once(catalogue: Catalogue, now: float, get: Get) -> tuple[Schedule, ...]:
    """Schedules whose run a push begins. ``get`` gives a run by its id, or None."""
    found = []
    for schedule in catalogue.monitor.schedules:
        day = occurrence(schedule, now)
        times = instants(schedule, day)
        if times.start <= now < times.deadline and await get(run_id(schedule, day)) is None:
            found.append(schedule)
    return tuple(found)


def window_line(catalogue: Catalogue, schedule: Schedule) -> str:
    """What is about to happen."""
    planned = Expansion(catalogue, Selection(brands=schedule.brands), schedule.priority, 0).planned
    calls = number(sum(planned.values()), "call")
    window = f"{schedule.start}-{schedule.end} {schedule.time_zone}, deadline {schedule.deadline}"
    return f"The window of schedule {schedule.id} is open ({window}): its run begins now, {calls}."


def asks_real_platforms(catalogue: Catalogue) -> bool:
    """Is one of them not on this machine?"""
    hosts = (urlsplit(platform.base_url).hostname or "" for platform in catalogue.monitor.platforms)
    return not all(is_loopback(host) for host in hosts)
