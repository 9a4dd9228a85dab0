"""Was an alarm right: did it fire by its own metric's right value, and do its twins stay quiet? Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from brandvane.alarm_state import AlarmState, Change, Sample, history, raised
from brandvane.alarms import Alarm

A_LITTLE = 0.001
# The rules of the design (§8), written down once more: an alarm as deployed is judged by these numbers, not by its own.
RULES = {
    "success-rate": ("<", 90.0),
    "backlog": (">", 1000.0),
    "backlog-total": (">", 1000.0),
    "pulled-not-started": (">", 10.0),
    "write-back-pending": (">", 50.0),
    "global-timeouts": (">", 0.0),
    "retries-used-up": (">", 0.5),
    "retry-storm": (">", 30.0),
    "run-not-planned": (">", 0.0),
    "deadline-at-risk": (">", 0.0),
    "deadline-missed": (">", 0.0),
    "no-report": (">", 0.0),
    "dead-letters": (">", 0.0),
    "platform-paused": (">", 0.0),
    "spend-80": (">=", 80.0),
    "spend-100": (">=", 100.0),
}


@dataclass(frozen=True, slots=True)
class Value:
    """What a metric must show while its alarm's cause lasts: the worst value lies between these two, both included."""

    least: float
    most: float

    def fits(self, worst: float) -> bool:
        """Does it?"""
        return self.least - 1e-6 <= worst <= self.most + 1e-6


def worst_of(alarm: Alarm, samples: Sequence[Sample]) -> float | None:
    """The value that is furthest on the alarm's wrong side; None where nothing was published."""
    values = [sample.value for sample in samples]
    if not values:
        return None
    return max(values) if alarm.comparison.startswith("Greater") else min(values)


def just_below(alarm: Alarm, samples: Sequence[Sample]) -> list[Sample]:
    """The twin that stays just on the right side: the same values, none further than the threshold allows.

    An alarm that waits for silence gets a twin whose silence is a minute shorter than what fires it.
    """
    if alarm.missing == "breaching":
        return _shorter_silence(alarm, samples)
    sign, number = rule_of(alarm)
    edge = number - A_LITTLE if sign == ">=" else number
    limit = max if sign == "<" else min
    return [replace(sample, value=limit(sample.value, edge)) for sample in samples]


def just_beyond(alarm: Alarm, samples: Sequence[Sample]) -> list[Sample]:
    """The twin that is just on the wrong side: the same values, none further than the rule's first that must fire."""
    if alarm.missing == "breaching":
        return list(samples)
    sign, number = rule_of(alarm)
    edge = {"<": number - A_LITTLE, ">": number + A_LITTLE, ">=": number}[sign]
    limit = max if sign == "<" else min
    return [replace(sample, value=limit(sample.value, edge)) for sample in samples]


def rule_of(alarm: Alarm) -> tuple[str, float]:
    """The design's rule for an alarm (its id may be a deployed name, with platform).

    Raises:
        KeyError: the design has no such alarm.
    """
    if alarm.id in RULES:
        return RULES[alarm.id]
    return RULES[max((name for name in RULES if alarm.id.endswith(f"-{name}")), key=len, default=alarm.id)]


def _shorter_silence(alarm: Alarm, samples: Sequence[Sample]) -> list[Sample]:
    if not samples:
        return []
    minutes = {int(sample.at // alarm.period_s) for sample in samples}
    found, silent = list(samples), 0
    for minute in range(min(minutes), max(minutes) + 1):
        silent = 0 if minute in minutes else silent + 1
        if silent > alarm.evaluation_periods + 1:  # with two further periods looked at, one more would fire
            found.append(Sample(minute * alarm.period_s, alarm.threshold))
            silent = 0
    return sorted(found, key=lambda sample: sample.at)


def fires(alarm: Alarm, samples: Sequence[Sample], start: float, end: float) -> list[float]:
    """When it would have fired."""
    return raised(history(alarm, samples, start, end))


def cleared(changes: Sequence[Change], after: float) -> float | None:
    """When an alarm first left ALARM after an instant: that instant if it was out of it already, None if it has never left it."""
    state = AlarmState.INSUFFICIENT_DATA
    for change in changes:
        if change.at > after:
            break
        state = change.state
    if state is not AlarmState.ALARM:
        return after
    return next((c.at for c in changes if c.at > after and c.state is not AlarmState.ALARM), None)
