"""Which instant does an operator mean, and how is one shown? ``06:30``, ``2026-11-29T06:30``, ``+90m``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from brandvane.catalogue import Schedule
from brandvane.schedule import day_of, instants, minutes_of

FORMS = "HH:MM, an ISO time such as 2026-11-29T06:30, or a time from now such as +2h or +90m"
_FROM_NOW = re.compile(r"\+(?:(\d{1,4})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?")
_CLOCK = re.compile(r"\d{1,2}:\d{2}")


def instant_of(text: str, now: float, time_zone: str) -> float:
    """POSIX seconds. ``HH:MM`` is the next time that clocks in ``time_zone`` show it; ISO times without an offset are of that zone.

    Raises:
        ValueError: none of these; the message is for people.
    """
    given = text.strip()
    if given.startswith("+"):
        return now + _from_now(given, text)
    if _CLOCK.fullmatch(given):
        return _next(given.zfill(5), text, now, time_zone)
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        raise ValueError(f"'{text}' is no time: write {FORMS}") from None
    if re.fullmatch(r"[0-9-]+", given):
        raise ValueError(f"'{text}' is a day without a time: write {FORMS}")
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=ZoneInfo(time_zone))).timestamp()


def _from_now(given: str, text: str) -> float:
    parts = _FROM_NOW.fullmatch(given)
    if parts is None or not any(parts.groups()):
        raise ValueError(f"'{text}' is no time from now: write such as +2h, +90m, +1d or +1h30m")
    days, hours, minutes = (int(part or 0) for part in parts.groups())
    return timedelta(days=days, hours=hours, minutes=minutes).total_seconds()


def _next(clock: str, text: str, now: float, time_zone: str) -> float:
    try:
        minutes_of(clock)
    except ValueError:
        raise ValueError(f"'{text}' is no time of day: write HH:MM between 00:00 and 23:59") from None
    today = datetime.fromisoformat(day_of(now, time_zone))
    at = now
    for days in range(3):
        # A schedule's rules for hours that the clocks skip or show twice hold here as well.
        day = (today + timedelta(days=days)).date().isoformat()
        at = instants(Schedule("", clock, clock, clock, time_zone), day).start
        if at > now:
            break
    return at


def local(at: float, time_zone: str) -> str:
    """``2026-11-29 06:30 Europe/Berlin``, to the second where there are seconds."""
    moment = datetime.fromtimestamp(round(at), ZoneInfo(time_zone))
    return f"{moment:%Y-%m-%d %H:%M}{f':{moment:%S}' if moment.second else ''} {time_zone}"


def iso(at: float | None) -> str | None:
    """ISO 8601 in UTC, as ``--json`` shows instants; None stays None."""
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def span(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3 h 05 min``, ``2 d 4 h``: to be read, not to be reckoned with."""
    whole = round(abs(seconds))
    if whole < 90:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{minutes // 1440} d {minutes % 1440 // 60} h"
