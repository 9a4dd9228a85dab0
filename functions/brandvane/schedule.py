"""When is a schedule's run due? Local times and dates become UTC instants, and instants become logical local dates.

Rules (DESIGN §3, §4): a local time that the clocks skip moves forward to the first instant that exists; a local time that the
clocks show twice means its first showing, for start, end and deadline alike, so that a promised hour is never passed. A window,
or the time from its end to the deadline, that the skipped hour swallows whole keeps its length instead. Dates are ISO texts
(``2026-11-29``), instants POSIX seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from brandvane.catalogue import Schedule

# A deadline earlier in the day than its window is the next day's. Where the window does not itself cross midnight, that is
# believed only up to this distance from the window's end; beyond it, "before the window" is what was typed.
NEXT_DAY_DEADLINE_MAX_S = 12 * 3600
DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class Instants:
    """A run's window and deadline as POSIX seconds: ``start < end < deadline``."""

    start: float
    end: float
    deadline: float


@dataclass(frozen=True, slots=True)
class Day:
    """A budget's day: its local date and the instants it begins and ends at (23 to 25 hours apart, as clocks change)."""

    date: str
    start: float
    end: float


def minutes_of(clock: str) -> int:
    """``HH:MM`` as minutes after midnight.

    Raises:
        ValueError: not a time between 00:00 and 23:59.
    """
    hours, colon, minutes = clock.partition(":")
    digits = colon and len(hours) == 2 and len(minutes) == 2 and (hours + minutes).isascii()
    if not (digits and (hours + minutes).isdigit() and int(hours) < 24 and int(minutes) < 60):
        raise ValueError(f"not a time of the form HH:MM: {clock!r}")
    return int(hours) * 60 + int(minutes)


def day_offsets(start: str, end: str, deadline: str) -> tuple[int, int]:
    """How many days after the start's date the end and the deadline are: 0, or 1 when their time is not after the start's."""
    begin = minutes_of(start)
    return int(minutes_of(end) <= begin), int(minutes_of(deadline) <= begin)


def instants(schedule: Schedule, day: str) -> Instants:
    """Window and deadline of the run whose window starts on the local date ``day``.

    Raises:
        ValueError: not a date, or the schedule's times or zone are not valid.
    """
    zone = _zone(schedule.time_zone)
    first = date.fromisoformat(day)
    end_days, deadline_days = day_offsets(schedule.start, schedule.end, schedule.deadline)
    start = _instant(first, schedule.start, zone)
    end = _instant(first + timedelta(days=end_days), schedule.end, zone)
    deadline = _instant(first + timedelta(days=deadline_days), schedule.deadline, zone)
    closes = minutes_of(schedule.end) + end_days * DAY_MINUTES
    due = minutes_of(schedule.deadline) + deadline_days * DAY_MINUTES
    if end <= start:
        end = start + (closes - minutes_of(schedule.start)) * 60
    if deadline <= end:
        deadline = end + (due - closes) * 60
    return Instants(start, end, deadline)


def occurrence(schedule: Schedule, now: float) -> str:
    """The local date of the latest window start that is not after ``now``.

    A trigger that comes late, even after midnight or after the clocks changed, still names the run that it was meant for.
    """
    zone = _zone(schedule.time_zone)
    today = datetime.fromtimestamp(now, zone).date()
    # A start in a skipped hour can slip to the next date, hence one day ahead and several back.
    for days in (1, 0, -1, -2):
        day = today + timedelta(days=days)
        if _instant(day, schedule.start, zone) <= now:
            return day.isoformat()
    return (today - timedelta(days=3)).isoformat()


def run_id(schedule: Schedule, day: str) -> str:
    """The deterministic id of a schedule's run on a logical local date."""
    return f"{schedule.id}-{day}"


def day_of(now: float, time_zone: str) -> str:
    """The local date at an instant: the name of the day that budgets are counted in."""
    return datetime.fromtimestamp(now, _zone(time_zone)).date().isoformat()


def budget_day(now: float, time_zone: str) -> Day:
    """The local day that contains an instant, from its first instant to the next day's."""
    zone = _zone(time_zone)
    today = datetime.fromtimestamp(now, zone).date()
    return Day(today.isoformat(), _instant(today, "00:00", zone), _instant(today + timedelta(days=1), "00:00", zone))


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, OSError) as error:  # ZoneInfoNotFoundError is a KeyError; a folder's name is an OSError
        raise ValueError(f"there is no time zone {name!r}") from error


def _instant(day: date, clock: str, zone: ZoneInfo) -> float:
    minutes = minutes_of(clock)
    local = datetime.combine(day, time(minutes // 60, minutes % 60))
    first = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None) == local:
        return first.timestamp()
    # Skipped. Read with the offset of after the jump it lies before the jump, and the other way round: the jump is between.
    before = int(local.replace(tzinfo=zone, fold=1).timestamp())
    after = int(first.timestamp())
    while after - before > 1:
        middle = (before + after) // 2
        if datetime.fromtimestamp(middle, zone).replace(tzinfo=None) < local:
            before = middle
        else:
            after = middle
    return float(after)
