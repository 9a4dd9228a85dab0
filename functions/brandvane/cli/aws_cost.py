"""What will AWS charge, line by line? Usage times the price list; what a day costs, and what a month of such days does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from brandvane.alarms import ALARMS
from brandvane.cli.aws_usage import Usage
from brandvane.cli.price_list import PriceList
from brandvane.metrics import METRICS, Metric, When

DAYS = 30
GB = 1024**3
KEPT_DAYS = 400  # rows, scores and reports: template parameter ResultKeepDays
# What monitoring keeps. Some metrics are published only while there are calls or a run, and billed by the hour.
ALWAYS = [metric for metric in METRICS.values() if metric.when is When.ALWAYS]
AT_TIMES = [metric for metric in METRICS.values() if metric.when is not When.ALWAYS]
ALARMS_A_PLATFORM = sum(alarm.per_platform for alarm in ALARMS.values())
ALARMS_OF_STACK = len(ALARMS) - ALARMS_A_PLATFORM
COMPOSITES_A_PLATFORM = 1
DASHBOARDS = 1


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that is charged: ``number`` units a day, or a month for what is charged by the month."""

    service: str
    what: str
    price: str
    number: float
    usd: float  # a month
    monthly: bool = False

    @property
    def usd_a_day(self) -> float:
        """Its share of one day."""
        return self.usd / DAYS


def cost_lines(day: Usage, platforms: int, busy: float, prices: PriceList) -> list[Line]:
    """All lines for a stack of so many platforms with such days; ``busy`` is the share of a day that has a run."""
    metrics = _series(ALWAYS, platforms) + busy * _series(AT_TIMES, platforms)
    daily: list[tuple[str, str, str, float]] = [
        ("Lambda", "GB-seconds", "lambda_gb_second", sum(day.gb_s.values())),
        ("Lambda", "invocations", "lambda_request", sum(day.invocations.values())),
        ("DynamoDB", "write units", "dynamodb_write", day.write_units),
        ("DynamoDB", "read units", "dynamodb_read", day.read_units),
        ("SQS", "requests", "sqs_request", requests_of(day, "sqs", lambda name: "idle" not in name)),
        ("SQS", "polls of idle queues", "sqs_request", day.requests["sqs idle ReceiveMessage"]),
        ("S3", "PUT requests", "s3_write", day.requests["s3 PutObject"]),
        ("S3", "GET requests", "s3_read", day.requests["s3 GetObject"]),
        ("CloudWatch", "PutMetricData", "metric_request", day.requests["cloudwatch PutMetricData"]),
        ("CloudWatch", "GB of logs", "log_gb", day.log_bytes / GB),
        ("Scheduler", "invocations", "schedule_invocation", day.requests["scheduler Invoke"]),
    ]
    # What is there after a year and more: rows and objects of so many days.
    rows_gb, objects_gb = day.kept_bytes * KEPT_DAYS / GB, day.object_bytes * KEPT_DAYS / GB
    monthly: list[tuple[str, str, str, float]] = [
        ("DynamoDB", f"GB stored, {KEPT_DAYS} days", "dynamodb_gb_month", rows_gb),
        # Charged by the tables' size without their indexes, whatever its window; the tasks of a month make up for the indexes.
        ("DynamoDB", "GB, point-in-time recovery", "dynamodb_recovery_gb_month", rows_gb),
        ("S3", f"GB stored, {KEPT_DAYS} days", "s3_gb_month", objects_gb),
        ("CloudWatch", "metrics", "metric_month", metrics),
        ("CloudWatch", "alarms", "alarm_month", ALARMS_A_PLATFORM * platforms + ALARMS_OF_STACK),
        ("CloudWatch", "composite alarms", "composite_alarm_month", COMPOSITES_A_PLATFORM * platforms),
        ("CloudWatch", "dashboards", "dashboard_month", DASHBOARDS),
    ]
    lines = [Line(*each, prices.of(each[2], each[3] * DAYS)) for each in daily]
    lines += [Line(*each, prices.of(each[2], each[3]), monthly=True) for each in monthly]
    order = list(dict.fromkeys(line.service for line in lines))
    return sorted(lines, key=lambda line: order.index(line.service))


def _series(metrics: Iterable[Metric], platforms: int) -> int:
    """How many metrics as they are billed: a name with a set of dimensions."""
    return sum(metric.on_platform * platforms + metric.on_stack for metric in metrics)


def requests_of(usage: Usage, service: str, wanted: Callable[[str], bool] = lambda name: True) -> float:
    """All requests to a service."""
    return sum(n for name, n in usage.requests.items() if name.startswith(f"{service} ") and wanted(name))


def month_usd(lines: Iterable[Line]) -> float:
    """Dollars a month."""
    return sum(line.usd for line in lines)
