"""How do a platform's limits, pauses and spending look, and where does each value come from?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brandvane import breaker
from brandvane.catalogue import PlatformSettings
from brandvane.cli.lookup import KnownPlatform
from brandvane.cli.view import dollars, table
from brandvane.cli.when import iso, local, span
from brandvane.control import Act, Control, Pause

DEFAULTS = "default"  # the value stands in no file
OVERRIDE = "platform rate"


@dataclass(frozen=True, slots=True)
class PlatformFacts:
    """A platform, its control item, and the day that its budgets are counted in."""

    known: KnownPlatform
    control: Control
    day: str
    time_zone: str
    now: float

    @property
    def day_calls(self) -> int:
        """Calls of today."""
        return self.control.day_calls if self.control.day == self.day else 0

    @property
    def day_usd(self) -> float:
        """Dollars of today; counted for platforms that have a budget of money."""
        return self.control.day_microusd / 1e6 if self.control.day == self.day else 0.0

    @property
    def pause(self) -> Pause | None:
        """The pause of the whole platform that holds."""
        paused = self.control.paused
        return paused if paused is not None and paused.active(self.now) else None

    @property
    def targets(self) -> dict[str, Pause]:
        """Pauses of targets that hold."""
        return {target: pause for target, pause in self.control.targets.items() if pause.active(self.now)}


def origin_of(settings: PlatformSettings, field: str) -> str:
    """The file that a value comes from."""
    return settings.origins.get(field, DEFAULTS)


def pause_text(pause: Pause, time_zone: str) -> str:
    """Why, by whom, since when, until when."""
    until = "until somebody resumes it" if pause.until is None else f"until {local(pause.until, time_zone)}"
    return f"paused by {pause.who} ({pause.why}) since {local(pause.since, time_zone)}, {until}"


def act_text(act: Act, time_zone: str) -> str:
    """What, by whom, why, when."""
    return f"{act.what} by {act.who} ({act.why}) at {local(act.at, time_zone)}"


def breaker_text(control: Control, now: float, time_zone: str) -> str:
    """How an open breaker stands, and when it lets the next call through."""
    since = control.breaker_at - control.breaker_wait_s
    held = f"too many calls failed: its breaker is open since {local(since, time_zone)}, waits {span(control.breaker_wait_s)}"
    if control.probe_owner and now < control.probe_until:
        return f"{held}; a probe is under way, until {local(control.probe_until, time_zone)} at most"
    if now < control.breaker_at:
        return f"{held}; next probe {local(control.breaker_at, time_zone)}"
    return f"{held}; its next task is the probe"


def facts_lines(facts: Sequence[PlatformFacts]) -> list[str]:
    """All platforms for people: one row each, then what holds them up."""
    header = ("platform", "calls/s", "from", "in flight", "slots", "calls today", "spent today", "state")
    lines = table(header, [_row(each) for each in facts], frozenset({1, 3, 4, 5, 6}))
    for each in facts:
        if each.pause is not None:
            lines.append(f"{each.known.name}: {pause_text(each.pause, each.time_zone)}")
        lines += [f"{target}: {pause_text(pause, each.time_zone)}" for target, pause in each.targets.items()]
        if breaker.is_open(each.control):
            lines.append(f"{each.known.name}: {breaker_text(each.control, each.now, each.time_zone)}")
        if each.control.factor < 1.0:
            lowered = f"lowered to {each.control.factor:.0%} of its rate after refusals"
            lines.append(f"{each.known.name}: {lowered}, given back 5 % a minute")
        lines += [f"{each.known.name}: {act_text(act, each.time_zone)}" for act in _acts(each.control)]
        lines += [f"{each.known.name}: {budget}" for budget in _budgets(each)]
    return lines


def _row(each: PlatformFacts) -> tuple[str, ...]:
    settings, deployed = each.known.settings, each.known.deployed
    rate, origin = _rate(each)
    return (
        each.known.name,
        "" if rate is None else f"{rate:g}",
        origin,
        "" if settings is None else f"{settings.in_flight}",
        "none" if deployed is None else f"{deployed.slots}",
        f"{each.day_calls:,}",
        dollars(each.day_usd) if settings is not None and settings.day_budget_usd is not None else "",
        _state(each),
    )


def _rate(each: PlatformFacts) -> tuple[float | None, str]:
    if each.control.rate_override is not None:
        return each.control.rate_override, OVERRIDE
    settings = each.known.settings
    return (None, "") if settings is None else (settings.rate, origin_of(settings, "rate"))


def _state(each: PlatformFacts) -> str:
    if each.pause is not None:
        return "paused"
    if each.known.deployed is None:
        return "no worker is deployed"
    if each.known.settings is None:
        return "not in the monitor"
    if breaker.is_open(each.control):
        return "breaker open"
    return "some models paused" if each.targets else "asked"


def _acts(control: Control) -> list[Act]:
    return [act for act in (control.rated, control.resumed) if act is not None]


def _budgets(each: PlatformFacts) -> list[str]:
    settings = each.known.settings
    if settings is None:
        return []
    lines = []
    if settings.day_calls is not None:
        lines.append(f"at most {settings.day_calls:,} calls a day ({origin_of(settings, 'day_calls')})")
    if settings.day_budget_usd is not None:
        lines.append(f"at most {dollars(settings.day_budget_usd)} a day ({origin_of(settings, 'day_budget_usd')})")
    return lines


def facts_document(each: PlatformFacts) -> dict[str, Any]:
    """One platform as JSON; every limit with its origin."""
    settings, deployed = each.known.settings, each.known.deployed
    rate, origin = _rate(each)
    document: dict[str, Any] = {
        "platform": each.known.name,
        "in_monitor": settings is not None,
        "rate": {"value": rate, "origin": origin or None},
        "rate_factor": each.control.factor,
        "deployed": None
        if deployed is None
        else {
            "slots": deployed.slots,
            "invocations": deployed.invocations,
            "batch_size": deployed.batch_size,
            "call_timeout_s": deployed.call_timeout,
        },
        "day": each.day,
        "day_calls": each.day_calls,
        "day_usd": round(each.day_usd, 6),
        "paused": None if each.pause is None else _pause_document(each.pause),
        "paused_targets": {target: _pause_document(pause) for target, pause in each.targets.items()},
        "breaker": _breaker_document(each),
        "rated": _act_document(each.control.rated),
        "resumed": _act_document(each.control.resumed),
    }
    if settings is not None:
        for field in ("in_flight", "day_calls", "day_budget_usd"):
            name = "day_calls_budget" if field == "day_calls" else field
            document[name] = {"value": getattr(settings, field), "origin": origin_of(settings, field)}
        document["models"] = list(settings.models)
    return document


def _pause_document(pause: Pause) -> dict[str, Any]:
    return {"why": pause.why, "who": pause.who, "since": iso(pause.since), "until": iso(pause.until)}


def _act_document(act: Act | None) -> dict[str, Any] | None:
    return None if act is None else {"what": act.what, "who": act.who, "why": act.why, "at": iso(act.at)}


def _breaker_document(each: PlatformFacts) -> dict[str, Any] | None:
    """None while it is closed."""
    control = each.control
    if not breaker.is_open(control):
        return None
    return {
        "since": iso(control.breaker_at - control.breaker_wait_s),
        "wait_s": control.breaker_wait_s,
        "next_probe": iso(breaker.held_until(control)),
        "probing": bool(control.probe_owner) and each.now < control.probe_until,
    }
