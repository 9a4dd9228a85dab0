"""What does it cost a month to see everything? Metrics, alarms, dashboard, requests and the calls' log lines, line by line.

Prices of us-east-1 in US dollars, read 2026-11-30: aws.amazon.com/cloudwatch/pricing as told by signoz.io/guides/cloudwatch-pricing
(2026-02), c3x.dev and factualminds.com (2026-06). An hour in which a custom metric gets no value is not billed (CloudWatch User Guide,
"Analyzing, optimizing, and reducing CloudWatch costs": prorated by the hour, metered only when data is sent). The free tier (10
metrics, 10 alarms, 3 dashboards, a million requests, 5 GB of logs) is left out: an account uses it up once, whatever else it runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from brandvane.alarms import ALARMS
from brandvane.metrics import METRICS, When

PRICES_READ = "2026-11-30"
METRIC_USD = 0.30  # a month, first 10,000
ALARM_USD = 0.10  # standard resolution, one metric
COMPOSITE_USD = 0.50
DASHBOARD_USD = 3.00
REQUEST_USD = 0.01 / 1000  # PutMetricData
LOG_GB_USD = 0.50  # ingested

DAYS = 30
SWEEPS_A_DAY = 2 * 1440
CALL_LINE_BYTES = 650  # one line a call, and its share of the batch's embedded metrics
GB = 1e9
METRICS_A_REQUEST = 1000  # PutMetricData's limit; also 1 MB, and 150 values a metric


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the bill."""

    what: str
    number: float
    usd: float


def series(platforms: int, *when: When) -> int:
    """Metrics as they are billed: one for each name and set of dimensions."""
    rows = [metric for metric in METRICS.values() if metric.when in when]
    return sum(platforms * metric.on_platform + metric.on_stack for metric in rows)


def values_a_sweep(platforms: int) -> int:
    """The most that one sweep publishes."""
    return sum(platforms * m.on_platform + m.on_stack for m in METRICS.values() if not m.by_workers)


def monthly(platforms: int, *, busy_hours: float, calls_a_day: int) -> tuple[Line, ...]:
    """The bill. ``busy_hours`` of a day a run is unfinished and calls are made."""
    always = series(platforms, When.ALWAYS)
    busy = series(platforms, When.CALLING, When.RUNNING)
    alarms = sum(platforms if alarm.per_platform else 1 for alarm in ALARMS.values())
    requests = DAYS * SWEEPS_A_DAY * -(-values_a_sweep(platforms) // METRICS_A_REQUEST)
    log_gb = DAYS * calls_a_day * CALL_LINE_BYTES / GB
    return (
        Line("metrics, always", always, always * METRIC_USD),
        Line("metrics, while a run is unfinished", busy, busy * METRIC_USD * busy_hours / 24),
        Line("alarms", alarms, alarms * ALARM_USD),
        Line("composite alarms", platforms, platforms * COMPOSITE_USD),
        Line("dashboard", 1, DASHBOARD_USD),
        Line("requests that publish", requests, requests * REQUEST_USD),
        Line("log lines of calls (GB)", log_gb, log_gb * LOG_GB_USD),
    )


def total(lines: tuple[Line, ...]) -> float:
    """US dollars a month."""
    return sum(line.usd for line in lines)
