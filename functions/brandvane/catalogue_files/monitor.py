"""What does a monitor file say: platforms, samples, budgets and schedules, and does each schedule make sense?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo, available_timezones

from brandvane.catalogue import Monitor, Schedule
from brandvane.catalogue_files.brands import PRIORITIES
from brandvane.catalogue_files.faults import Findings, did_you_mean
from brandvane.catalogue_files.nodes import ListNode, MapNode, Node, Scalar, kind_of
from brandvane.catalogue_files.platforms import read_platforms
from brandvane.catalogue_files.questions import language_tag
from brandvane.catalogue_files.record import Record
from brandvane.schedule import DAY_MINUTES, NEXT_DAY_DEADLINE_MAX_S, day_offsets, minutes_of

FIELDS = ("platforms", "samples", "locale", "time_zone", "expected_hold_s", "day_budget_usd", "canary", "schedules")
SWITCH = {"true": "on", "false": "off", "yes": "on", "no": "off"}
SCHEDULE_FIELDS = ("id", "brands", "priority", "window", "deadline", "time_zone")
SCHEDULE_ID_MAX = 50  # its run's id, with the date, is a prefix of many keys
SAMPLES_MAX = 100
# Files of the database that are no zone, or another one on each machine; the scheduler of AWS takes none of them.
_NOT_ZONES = frozenset({"localtime", "posix", "right", "posixrules", "Factory", "SystemV"})
_WINDOW = re.compile(r"\s*(\S+?)\s*[-–—~]\s*(\S+)\s*")


@dataclass(frozen=True, slots=True)
class ScheduleDraft:
    """A schedule whose brands are not checked yet."""

    schedule: Schedule
    record: Record
    brands: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class MonitorDraft:
    """A monitor without its schedules, those, and the row that each platform stands in."""

    monitor: Monitor
    schedules: tuple[ScheduleDraft, ...]
    platform_rows: Mapping[str, int]


def read_monitor(node: Node | None, file: str, findings: Findings) -> MonitorDraft | None:
    """The monitor of a file; None when there is nothing to read."""
    if not isinstance(node, MapNode):
        if node is not None:
            findings.fault(file, f"{kind_of(node)} where a mapping is wanted", "Begin with 'platforms:'", row=node.row)
        return None
    record = Record(node, file, findings, FIELDS)
    zone = _time_zone(record, "UTC")
    platforms, rows = read_platforms(record.node("platforms"), record.row, file, findings)
    hold = record.number("expected_hold_s", 0.1, 900)
    monitor = Monitor(
        platforms=platforms,
        schedules=(),
        samples=record.whole("samples", 1, SAMPLES_MAX) or 1,
        locale=language_tag(record, "locale"),
        expected_hold_s=40.0 if hold is None else hold,
        day_budget_usd=record.number("day_budget_usd", 0, 1_000_000, above=True),
        time_zone=zone,
        canary=record.choice("canary", SWITCH, "off") == "on",
    )
    return MonitorDraft(monitor, _schedules(record, zone, file, findings), rows)


def _schedules(monitor: Record, zone: str, file: str, findings: Findings) -> tuple[ScheduleDraft, ...]:
    node = monitor.node("schedules")
    if not monitor.has("schedules") or (isinstance(node, ListNode) and not node.items):
        monitor.fault("schedules", "there is no schedule", "Add one with id, window and deadline")
        return ()
    if not isinstance(node, ListNode):
        monitor.fault("schedules", "not a list of schedules", "Begin each with '- id: …'")
        return ()
    drafts = []
    seen: dict[str, int] = {}
    for item in node.items:
        if not isinstance(item, MapNode):
            monitor.fault(
                "schedules", f"{kind_of(item)} where a schedule is wanted", "Begin it with '- id: …'", row=item.row
            )
            continue
        record = Record(item, file, findings, SCHEDULE_FIELDS, prefix="schedules")
        schedule_id = record.identifier("id", SCHEDULE_ID_MAX)
        if schedule_id and schedule_id in seen:
            remedy = f"Choose another; the first one is in row {seen[schedule_id]}"
            record.fault("id", "a second schedule with this id", remedy, value=schedule_id)
        seen.setdefault(schedule_id, record.row_of("id"))
        start, end, deadline = _times(record)
        schedule = Schedule(
            id=schedule_id,
            start=start,
            end=end,
            deadline=deadline,
            time_zone=_time_zone(record, zone),
            priority=record.choice("priority", PRIORITIES, "normal"),
        )
        drafts.append(ScheduleDraft(schedule, record, _brands(record)))
    return tuple(drafts)


def _brands(record: Record) -> tuple[Scalar, ...]:
    """Ids as written; none for all brands, which is said by leaving the field out or by ``all``."""
    named = record.scalars("brands", single=True)
    if record.has("brands") and not named:
        record.fault("brands", "no brand is named", "Name some, or remove the field to take all")
    return () if any(item.text == "all" for item in named) else named


def _time_zone(record: Record, default: str) -> str:
    name = record.text("time_zone")
    if not name:
        return default
    try:
        ZoneInfo(name)
        if name.partition("/")[0] in _NOT_ZONES:
            raise KeyError(name)
    except (KeyError, ValueError, OSError):  # no such name; one that leaves the database; a folder of it
        zones = {zone for zone in available_timezones() if zone.partition("/")[0] not in _NOT_ZONES}
        cities = [zone for zone in sorted(zones) if zone.casefold().endswith("/" + name.casefold())]
        remedy = did_you_mean(name.replace(" ", "_"), zones, "Write a name such as Europe/Berlin or Asia/Shanghai")
        record.fault("time_zone", "unknown time zone", f"Did you mean '{cities[0]}'" if cities else remedy, value=name)
        return default
    return name


def _times(record: Record) -> tuple[str, str, str]:
    """Start, end and deadline as ``HH:MM``; midnight stands for what is missing or wrong (and has been complained about)."""
    window = record.text("window", required=True)
    parts = _WINDOW.fullmatch(window)
    if window and parts is None:
        record.fault("window", "not a window", "Write 'HH:MM-HH:MM', such as 22:00-02:00", value=window)
    times = [_time(record, "window", parts.group(n)) if parts else None for n in (1, 2)]
    times.append(_time(record, "deadline", record.text("deadline", required=True)))
    start, end, deadline = times
    if start is not None and end is not None and deadline is not None:
        _order(record, start, end, deadline)
    return start or "00:00", end or "00:00", deadline or "00:00"


def _time(record: Record, field: str, text: str) -> str | None:
    if not text:
        return None
    if re.fullmatch(r"[0-9]:[0-9]{2}", text):
        text = f"0{text}"
    try:
        minutes_of(text)
    except ValueError:
        record.fault(field, "not a time of day", "Write HH:MM between 00:00 and 23:59", value=text)
        return None
    return text


def _order(record: Record, start: str, end: str, deadline: str) -> None:
    if start == end:
        record.fault("window", "the window ends when it begins", "Give it some minutes", value=f"{start}-{end}")
        return
    end_days, deadline_days = day_offsets(start, end, deadline)
    closes = minutes_of(end) + end_days * DAY_MINUTES
    due = minutes_of(deadline) + deadline_days * DAY_MINUTES
    window = f"{start}-{end}"
    if due <= closes:
        remedy = "Move the deadline back, or end the window sooner"
        record.fault("deadline", f"not after the end of the window {window}", remedy, value=deadline)
    elif deadline_days > end_days and (due - closes) * 60 > NEXT_DAY_DEADLINE_MAX_S:
        remedy = f"Write a time after {end} (the next day's is taken up to 12 hours after the window)"
        record.fault("deadline", f"before the window {window}", remedy, value=deadline)
