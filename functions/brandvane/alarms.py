"""Which alarms are there, and when does each fire? One table; the template's alarms are compared with it by a test.

Every metric is a gauge of the scanner, published twice a minute. ``Maximum`` of a minute therefore means *seen by at least one of two
sweeps*. Windows ("over 5 minutes") and guards ("from 20 calls on") are in the gauge, so that no alarm needs metric math.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Severity = Literal["P0", "P1", "P2"]
Missing = Literal["breaching", "notBreaching", "ignore", "missing"]
Statistic = Literal["Maximum", "Minimum", "Average", "Sum", "SampleCount"]
Comparison = Literal[
    "GreaterThanThreshold",
    "GreaterThanOrEqualToThreshold",
    "LessThanThreshold",
    "LessThanOrEqualToThreshold",
]

SEVERITIES: tuple[Severity, ...] = ("P0", "P1", "P2")
RUNBOOK = "docs/runbook.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """One row. ``id`` is also the runbook's anchor and the end of the alarm's name."""

    id: str
    severity: Severity
    metric: str
    per_platform: bool = False
    statistic: Statistic = "Maximum"
    comparison: Comparison = "GreaterThanThreshold"
    threshold: float
    period_s: int = 60
    evaluation_periods: int = 1
    datapoints_to_alarm: int = 1
    missing: Missing
    missing_reason: str
    raises_within_s: int
    rule: str
    outage: bool = False  # part of its platform's composite alarm, which pages in its place

    @property
    def anchor(self) -> str:
        """Where the runbook speaks of it."""
        return f"{RUNBOOK}#{self.id}"

    def name(self, stack: str, platform: str | None = None) -> str:
        """Its name in CloudWatch."""
        return f"{stack}-{platform}-{self.id}" if self.per_platform else f"{stack}-{self.id}"

    @property
    def description(self) -> str:
        """What CloudWatch (and a message) shows."""
        return f"{self.severity}: {self.rule}. Runbook: {self.anchor}"


# Why a gauge that is always published may be missing: the scanner is down, and one alarm, the heartbeat's, says so.
_DOWN = "always published: missing means that no sweep ends or sees everything, which is the heartbeat's to say, once for all"

_ROWS = (
    Alarm(
        id="success-rate",
        severity="P1",
        metric="SuccessRate",
        per_platform=True,
        statistic="Minimum",
        comparison="LessThanThreshold",
        threshold=90,
        missing="notBreaching",
        missing_reason="not published below 20 tasks in 5 minutes: too few to judge by, and none at all between runs",
        raises_within_s=360,
        rule="fewer than 90 % of the tasks that ended in 5 minutes were answered (20 tasks at least)",
        outage=True,
    ),
    Alarm(
        id="backlog",
        severity="P2",
        metric="Backlog",
        per_platform=True,
        threshold=1000,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=120,
        rule="more than 1000 tasks of the platform are due and not started",
    ),
    Alarm(
        id="backlog-total",
        severity="P2",
        metric="Backlog",
        threshold=1000,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=120,
        rule="more than 1000 tasks of all platforms are due and not started",
    ),
    Alarm(
        id="pulled-not-started",
        severity="P1",
        metric="PulledNotStartedShare",
        per_platform=True,
        threshold=10,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=120,
        rule="more than 10 % of the tasks in hand (20 at least) were claimed over 30 s ago and not started",
        outage=True,
    ),
    Alarm(
        id="write-back-pending",
        severity="P1",
        metric="WritebackPending",
        threshold=50,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=120,
        rule="more than 50 answers are safe but have no result row yet",
    ),
    Alarm(
        id="global-timeouts",
        severity="P0",
        metric="GlobalTimeouts",
        threshold=0,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=120,
        rule="a call's lease ran out and the scanner had to take its task: workers die or hang",
    ),
    Alarm(
        id="retries-used-up",
        severity="P2",
        metric="RetriesUsedUpShare",
        per_platform=True,
        threshold=0.5,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=300,
        rule="more than 0.5 % of the tasks finished in the last hour (5 at least) had their retries used up",
    ),
    Alarm(
        id="retry-storm",
        severity="P1",
        metric="RetryStormShare",
        per_platform=True,
        threshold=30,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=360,
        rule="more than 30 % of the calls of 5 minutes (20 at least) came to a retry or a 429",
        outage=True,
    ),
    Alarm(
        id="run-not-planned",
        severity="P0",
        metric="RunNotPlanned",
        threshold=0,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=720,
        rule="a run that was due 10 minutes ago has no complete plan",
    ),
    Alarm(
        id="deadline-at-risk",
        severity="P1",
        metric="ProjectedLateness",
        threshold=0,
        evaluation_periods=3,
        datapoints_to_alarm=3,
        missing="notBreaching",
        missing_reason="not published when no run is unfinished: there is no deadline to miss",
        raises_within_s=300,
        rule="a run will probably end after its deadline",
    ),
    Alarm(
        id="deadline-missed",
        severity="P0",
        metric="TasksExpired",
        threshold=0,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=300,
        rule="tasks ended as expired: their run's deadline passed before they were answered",
    ),
    Alarm(
        id="no-report",
        severity="P1",
        metric="ReportMissing",
        threshold=0,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=1920,
        rule="a run has no report 30 minutes after its end or its deadline",
    ),
    Alarm(
        id="dead-letters",
        severity="P0",
        metric="DeadLetters",
        threshold=0,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=120,
        rule="a message is on a dead-letter queue",
    ),
    Alarm(
        id="scanner-heartbeat",
        severity="P0",
        metric="ScannerHeartbeat",
        statistic="Sum",
        comparison="LessThanThreshold",
        threshold=1,
        # One period, not three: CloudWatch looks two periods further back than an alarm asks for and prefers any real value it
        # finds there. With 1 of 1 it must find three minutes empty, with 3 of 3 five.
        missing="breaching",
        missing_reason="nobody publishes a zero for a scanner that does not run: silence is what it is about",
        raises_within_s=240,
        rule="no sweep came to its end for 3 minutes, or none could read everything: no other alarm can be relied on",
    ),
    Alarm(
        id="platform-paused",
        severity="P1",
        metric="PlatformPaused",
        per_platform=True,
        threshold=0,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=120,
        rule="the platform or one of its models is paused: by its breaker, its key or credit, its budget, or a person",
        outage=True,
    ),
    Alarm(
        id="spend-80",
        severity="P2",
        metric="SpendShare",
        comparison="GreaterThanOrEqualToThreshold",
        threshold=80,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=120,
        rule="a platform has used 80 % of the day's budget",
    ),
    Alarm(
        id="spend-100",
        severity="P1",
        metric="SpendShare",
        comparison="GreaterThanOrEqualToThreshold",
        threshold=100,
        missing="notBreaching",
        missing_reason=_DOWN,
        raises_within_s=120,
        rule="a platform has used the day's budget; its calls stop until the budget's day ends",
    ),
)

ALARMS: Mapping[str, Alarm] = MappingProxyType({row.id: row for row in _ROWS})

# On AWS one composite alarm a platform pages for all of its alarms with ``outage`` set: one platform's outage is one page.
OUTAGE = "platform-outage"
OUTAGE_PARTS = tuple(row.id for row in _ROWS if row.outage)
OUTAGE_SEVERITY: Severity = "P1"
OUTAGE_RULE = "the platform is in trouble: success rate, tasks not started, retry storm or a pause"


def definition(alarm: Alarm, stack: str, platform: str | None = None) -> dict[str, object]:
    """The alarm as ``PutMetricAlarm`` and CloudFormation spell it (actions apart)."""
    dimensions = [{"Name": "Stack", "Value": stack}]
    if alarm.per_platform:
        dimensions.append({"Name": "Platform", "Value": platform or ""})
    return {
        "AlarmName": alarm.name(stack, platform),
        "AlarmDescription": alarm.description,
        "Namespace": "Brandvane",
        "MetricName": alarm.metric,
        "Dimensions": dimensions,
        "Statistic": alarm.statistic,
        "ComparisonOperator": alarm.comparison,
        "Threshold": alarm.threshold,
        "Period": alarm.period_s,
        "EvaluationPeriods": alarm.evaluation_periods,
        "DatapointsToAlarm": alarm.datapoints_to_alarm,
        "TreatMissingData": alarm.missing,
    }
