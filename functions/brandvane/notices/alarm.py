"""What does a message on an alarm topic say? CloudWatch's JSON (metric and composite alarms), AWS Budgets' text, or anything else.

Fields after AWS's documentation, "Notify users on alarm changes" and "Acting on alarm changes" (CloudWatch user guide). AWS Budgets
documents no form of its text: its first words, here or in the subject, are what it has always begun with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from brandvane.notices.words import WORDS

PLATFORM = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
SEVERITY = re.compile(r"-(p[012])$")
ANCHOR = re.compile(r"runbook\.md#([a-z0-9-]+)")
BUDGETS = re.compile(r"\s*AWS Budgets?( Notification\b|:)")
# The text's list of figures; the rest is a letter's politeness.
BUDGETS_FIGURES = re.compile(r"^Budget Name:.*?(?=^\s*$|\[1\]|\Z)", re.DOTALL | re.MULTILINE)
BUDGETS_ALARM = "account-spend"
PARTS_MAX = 3  # of a composite alarm: more is no message any more
DETAIL_MAX = 300  # characters of somebody else's text


@dataclass(frozen=True, slots=True)
class AlarmChange:
    """An alarm that changed its state. ``alarm`` is the runbook's name of it, or empty for one that is not ours.

    ``parts``: the same of the alarms that a composite one is in ALARM for, the first of them.
    """

    alarm: str
    name: str
    state: str  # ALARM, OK, INSUFFICIENT_DATA
    severity: str  # P0, P1, P2; empty when neither topic nor alarm tells
    platform: str
    since: datetime | None
    detail: str
    parts: tuple[str, ...] = ()


def read(message: str, subject: str, topic: str, stack: str) -> AlarmChange:
    """Read a notification; never fails, for a message that nobody understands must still reach people."""
    told = _document(message)
    severity = _severity(topic)
    if told is None and (BUDGETS.match(subject) or BUDGETS.match(message)):
        return _budget(message, subject, severity)
    if told is None or "AlarmName" not in told:
        text = message if told is None else json.dumps(told, ensure_ascii=False)
        return AlarmChange("", subject or "?", "ALARM", severity, "", None, one_line(text))
    name = str(told["AlarmName"])
    own = name.removeprefix(f"{stack}-")
    alarm = _alarm(str(told.get("AlarmDescription") or ""), own)
    return AlarmChange(
        alarm=alarm,
        name=name,
        state=str(told.get("NewStateValue", "ALARM")),
        severity=severity or (WORDS[alarm].severity if alarm else ""),
        platform=_platform(told, alarm, own),
        since=_instant(told.get("StateChangeTime")),
        detail=one_line(str(told.get("NewStateReason") or "")),
        parts=_parts(told.get("TriggeringChildren"), stack),
    )


def _budget(message: str, subject: str, severity: str) -> AlarmChange:
    figures = BUDGETS_FIGURES.search(message.replace("\r", ""))
    detail = one_line("; ".join(figures[0].strip().splitlines()) if figures else message)
    severity = severity or WORDS[BUDGETS_ALARM].severity
    return AlarmChange(BUDGETS_ALARM, subject or "AWS Budgets", "ALARM", severity, "", None, detail)


def _parts(children: Any, stack: str) -> tuple[str, ...]:
    """Those that are in ALARM and have words; a name is in the ARN's last field."""
    found: dict[str, None] = {}
    for child in children if isinstance(children, list) else ():
        state = child.get("State") if isinstance(child, dict) else None
        if isinstance(state, dict) and state.get("Value") == "ALARM":
            name = str(child.get("Arn")).rpartition(":")[2]
            found[_alarm("", name.removeprefix(f"{stack}-"))] = None
    return tuple(alarm for alarm in found if alarm)[:PARTS_MAX]


def _document(message: str) -> dict[str, Any] | None:
    try:
        told = json.loads(message)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def _severity(topic: str) -> str:
    found = SEVERITY.search(topic.lower())
    return found[1].upper() if found else ""


def _alarm(description: str, own: str) -> str:
    """The description's link names the runbook's section; without one the longest alarm that the name ends with."""
    linked = ANCHOR.search(description)
    if linked and linked[1] in WORDS:
        return linked[1]
    named = [alarm for alarm in WORDS if f"-{own}".endswith(f"-{alarm}")]
    return max(named, key=len, default="")


def _platform(told: Mapping[str, Any], alarm: str, own: str) -> str:
    """From the metric's dimensions, else what stands before the alarm in its name (composite alarms have no metric)."""
    values = {value for name, value in _dimensions(told.get("Trigger")) if name == "Platform"}
    if not values and alarm and own.endswith(f"-{alarm}"):
        values = {own.removesuffix(f"-{alarm}")}
    fitting = sorted(value for value in values if PLATFORM.fullmatch(value))
    return fitting[0] if len(fitting) == 1 else ""


def _dimensions(trigger: Any) -> Iterator[tuple[str, str]]:
    """Name and value wherever a trigger keeps them: at its top, or in each metric of a calculation."""
    if isinstance(trigger, dict):
        for each in trigger.get("Dimensions") or ():
            if isinstance(each, dict):
                yield str(each.get("name", each.get("Name", ""))), str(each.get("value", each.get("Value", "")))
        for value in trigger.values():
            yield from _dimensions(value)
    elif isinstance(trigger, list):
        for each in trigger:
            yield from _dimensions(each)


def _instant(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def one_line(text: str) -> str:
    """One line without control characters, not longer than people read."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= DETAIL_MAX else f"{line[: DETAIL_MAX - 1]}…"
