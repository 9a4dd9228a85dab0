"""In which state is an alarm, given what was recorded? CloudWatch's documented evaluation of one-metric alarms, as pure functions.

Source: Amazon CloudWatch User Guide, "Alarm evaluation" and "Configuring how CloudWatch alarms treat missing data" (read 2026-11-30,
and its edition of 2019 in github.com/awsdocs/amazon-cloudwatch-user-guide); every cell of their tables is a test. The guide gives
the evaluation range for three periods only (five); here it is two periods more than the alarm asks for, whatever that number is.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from brandvane.alarms import Alarm, Comparison, Missing, Statistic

FURTHER_BACK = 2  # periods that are looked at beyond those that the alarm asks for


class AlarmState(StrEnum):
    """CloudWatch's words."""

    OK = "OK"
    ALARM = "ALARM"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"


_COMPARISONS: Mapping[Comparison, Callable[[float, float], bool]] = {
    "GreaterThanThreshold": operator.gt,
    "GreaterThanOrEqualToThreshold": operator.ge,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
}
_STATISTICS: Mapping[Statistic, Callable[[Sequence[float]], float]] = {
    "Maximum": max,
    "Minimum": min,
    "Sum": sum,
    "Average": lambda values: sum(values) / len(values),
    "SampleCount": len,
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One published value of the metric that an alarm watches (dimensions have been compared already)."""

    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Change:
    """An alarm went into a state at an instant."""

    at: float
    state: AlarmState


def breaches(comparison: Comparison, value: float, threshold: float) -> bool:
    """Is a datapoint on the wrong side?"""
    return _COMPARISONS[comparison](value, threshold)


def evaluated(
    points: Sequence[bool | None], *, periods: int, to_alarm: int, missing: Missing, before: AlarmState
) -> AlarmState:
    """The state that follows from the datapoints of the evaluation range, the oldest first.

    True breaches, False does not, None is missing; ``periods`` is N and ``to_alarm`` M.
    """
    real = [point for point in points if point is not None]
    lacking = periods - len(real)
    if lacking <= 0:  # enough real ones, from as far back as need be: missing ones do not matter
        return _counted(sum(real[-periods:]), to_alarm)
    if missing == "breaching":
        return _counted(sum(real) + lacking, to_alarm)
    if missing == "notBreaching":
        return _counted(sum(real), to_alarm)
    if sum(real) >= to_alarm:
        return AlarmState.ALARM
    if False in real:
        return AlarmState.OK
    # Nothing but missing points, or breaching ones that are too few. The newest may be contradicted by the next; one that was not
    # contradicted for as long as the alarm asks for may not ("avoiding premature transitions").
    if missing == "ignore":
        return before
    oldest = next((len(points) - place for place, point in enumerate(points) if point), 0)
    return AlarmState.ALARM if oldest >= to_alarm else AlarmState.INSUFFICIENT_DATA


def _counted(breaching: int, to_alarm: int) -> AlarmState:
    return AlarmState.ALARM if breaching >= to_alarm else AlarmState.OK


def datapoints(samples: Iterable[Sample], statistic: Statistic, period_s: float) -> dict[int, float]:
    """One value for each period in which something was published, by the period's number since the epoch."""
    of: defaultdict[int, list[float]] = defaultdict(list)
    for sample in samples:
        of[int(sample.at // period_s)].append(sample.value)
    return {number: float(_STATISTICS[statistic](values)) for number, values in of.items()}


def history(alarm: Alarm, samples: Iterable[Sample], start: float, end: float) -> list[Change]:
    """Every change of an alarm's state from its making at ``start``: it is evaluated whenever a period is over."""
    values = datapoints(samples, alarm.statistic, alarm.period_s)
    judged = {number: breaches(alarm.comparison, value, alarm.threshold) for number, value in values.items()}
    back = alarm.evaluation_periods + FURTHER_BACK
    state = AlarmState.INSUFFICIENT_DATA
    changes: list[Change] = []
    for over in range(int(start // alarm.period_s) + 1, int(end // alarm.period_s) + 1):
        points = [judged.get(number) for number in range(over - back, over)]
        new = evaluated(
            points,
            periods=alarm.evaluation_periods,
            to_alarm=alarm.datapoints_to_alarm,
            missing=alarm.missing,
            before=state,
        )
        if new is not state:
            state = new
            changes.append(Change(over * alarm.period_s, state))
    return changes


def raised(changes: Iterable[Change]) -> list[float]:
    """When it fired."""
    return [change.at for change in changes if change.state is AlarmState.ALARM]
