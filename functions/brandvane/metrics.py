"""Which metrics are there? One table: name, unit, dimensions, when it is published, what a value means.

Namespace ``Brandvane``; dimensions ``Stack`` or ``Stack`` and ``Platform``, nothing else ever (a brand is a field of log lines:
200 brands as a dimension would cost thousands a month). Every name with every set of dimensions is billed as one metric, so what
can be read elsewhere for nothing is not published again: queue depths and ages as SQS sees them are AWS's own metrics (``VENDED``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

NAMESPACE = "Brandvane"
STACK = "Stack"
PLATFORM = "Platform"
COUNTED_ONCE = frozenset(
    {"GlobalTimeouts", "TasksExpired"}
)  # by the scanner, in the sweep in which it happens and in no other


class Per(StrEnum):
    """Which dimensions a metric has: ``Stack``, ``Stack`` and ``Platform``, or both sets (the first is then the total)."""

    STACK = "stack"
    PLATFORM = "platform"
    BOTH = "both"


class When(StrEnum):
    """When the scanner (or a worker) publishes it; an hour without a value is an hour that is not billed."""

    ALWAYS = "every sweep, zeros included"
    CALLING = "while there are calls to judge by"
    RUNNING = "while a run is unfinished"


@dataclass(frozen=True, slots=True)
class Metric:
    """One row. ``meaning`` is for people; ``unit`` is CloudWatch's word (money has none there: US dollars)."""

    name: str
    unit: str
    per: Per
    meaning: str
    when: When = When.ALWAYS
    by_workers: bool = False  # written by workers as embedded metrics; all others by the scanner

    @property
    def on_platform(self) -> bool:
        """Has it a value for each platform?"""
        return self.per is not Per.STACK

    @property
    def on_stack(self) -> bool:
        """Has it one value for the whole stack?"""
        return self.per is not Per.PLATFORM


_ROWS = (
    # ------------------------------------------------------------------------------------------- tasks by state
    Metric(
        "Backlog",
        "Count",
        Per.BOTH,
        "tasks due and not started (PENDING, or DISPATCHED and not claimed); 2,000 a partition means that many or more",
    ),
    Metric(
        "Pending",
        "Count",
        Per.PLATFORM,
        "tasks planned or waiting for their next try; counted anew every 10 min while many",
    ),
    Metric("Dispatched", "Count", Per.PLATFORM, "tasks with a message on the queue"),
    Metric("Pulled", "Count", Per.PLATFORM, "tasks claimed by a worker whose call has not begun"),
    Metric("Running", "Count", Per.PLATFORM, "tasks whose call is under way"),
    Metric("Writeback", "Count", Per.PLATFORM, "tasks whose outcome is safe and whose row is not written"),
    Metric(
        "WritebackPending",
        "Count",
        Per.STACK,
        "WRITEBACK records of all platforms, or messages on the write-back queue, whichever are more",
    ),
    Metric(
        "PulledNotStartedShare",
        "Percent",
        Per.PLATFORM,
        "tasks PULLED longer than 30 s, of those that workers have in hand (PULLED, RUNNING, WRITEBACK); 0 below 20 in hand",
    ),
    Metric("QueueAge", "Seconds", Per.PLATFORM, "the longest that a message came after its task was due, last 5 min"),
    Metric("DeadLetters", "Count", Per.STACK, "messages on all dead-letter queues together"),
    # ----------------------------------------------------------------------------------------------- calls
    Metric(
        "SuccessRate",
        "Percent",
        Per.PLATFORM,
        "tasks answered, of those that ended in the last 5 min (a failed call that is tried again has not ended its task); from 20 on",
        When.CALLING,
    ),
    Metric("CallsPerSecond", "Count/Second", Per.PLATFORM, "calls that ended, a second, over the last 5 min"),
    Metric(
        "RateUsed", "Percent", Per.PLATFORM, "calls a second of those the platform allows now (override, lowered rate)"
    ),
    Metric(
        "LatencyP50", "Seconds", Per.PLATFORM, "half of the calls of the last 5 min took at most this", When.CALLING
    ),
    Metric("LatencyP95", "Seconds", Per.PLATFORM, "19 of 20 calls of the last 5 min took at most this", When.CALLING),
    Metric("LatencyP99", "Seconds", Per.PLATFORM, "99 of 100 calls of the last 5 min took at most this", When.CALLING),
    Metric(
        "RetryStormShare",
        "Percent",
        Per.PLATFORM,
        "calls of the last 5 min that came to a retry or a 429; 0 below 20 calls",
    ),
    Metric(
        "RetriesUsedUpShare",
        "Percent",
        Per.PLATFORM,
        "tasks that ended with their retries used up, of the last hour's finished ones; 0 below 5 such tasks",
    ),
    Metric("GlobalTimeouts", "Count", Per.STACK, "RUNNING records whose lease ran out and which this sweep took"),
    Metric(
        "PlatformPaused",
        "Count",
        Per.PLATFORM,
        "pauses that hold now: 1 for the platform, 1 for its open breaker, 1 for each paused target",
    ),
    Metric(
        "CallSeconds",
        "Seconds",
        Per.PLATFORM,
        "how long each call took (a distribution: ask for any percentile)",
        When.CALLING,
        by_workers=True,
    ),
    # ------------------------------------------------------------------------------------------------ runs
    Metric(
        "RunProgress", "Percent", Per.STACK, "rows written of tasks planned, unfinished runs together", When.RUNNING
    ),
    Metric(
        "ProjectedLateness",
        "Seconds",
        Per.STACK,
        "projected end minus deadline of the unfinished run that is worst off; negative: early",
        When.RUNNING,
    ),
    Metric("RunNotPlanned", "Count", Per.STACK, "runs that were due 10 min ago or more and have no complete plan"),
    Metric("ReportMissing", "Count", Per.STACK, "runs without a report 30 min after their end or deadline"),
    Metric(
        "TasksExpired",
        "Count",
        Per.STACK,
        "tasks that this sweep, or workers in the last 5 min, ended because their run's deadline had passed",
    ),
    Metric("ScannerHeartbeat", "Count", Per.STACK, "1 for each sweep that came to its end"),
    # ----------------------------------------------------------------------------------------------- money
    Metric("SpendToday", "None", Per.STACK, "US dollars of model calls on the budget's present day, all platforms"),
    Metric("SpendShare", "Percent", Per.STACK, "of the day's budget, the platform that has used most of its own"),
)

METRICS: Mapping[str, Metric] = MappingProxyType({row.name: row for row in _ROWS})


@dataclass(frozen=True, slots=True)
class Vended:
    """A metric that AWS publishes by itself, for dashboards; on AWS only, free of charge."""

    namespace: str
    name: str
    dimension: str
    meaning: str


VENDED = (
    Vended("AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", "messages that a worker could take now"),
    Vended("AWS/SQS", "ApproximateNumberOfMessagesNotVisible", "QueueName", "messages that a worker holds"),
    Vended("AWS/SQS", "ApproximateNumberOfMessagesDelayed", "QueueName", "messages that wait for their second"),
    Vended("AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", "seconds since the oldest message was sent"),
    Vended("AWS/Lambda", "Errors", "FunctionName", "invocations that raised"),
    Vended("AWS/Lambda", "Throttles", "FunctionName", "invocations that Lambda refused"),
    Vended("AWS/Lambda", "Duration", "FunctionName", "milliseconds of an invocation"),
    Vended("AWS/Lambda", "ConcurrentExecutions", "FunctionName", "invocations at once"),
)


def dimensions(stack: str, platform: str | None) -> tuple[tuple[str, str], ...]:
    """Names and values of a metric's dimensions, in the order used everywhere."""
    return ((STACK, stack), (PLATFORM, platform)) if platform else ((STACK, stack),)
