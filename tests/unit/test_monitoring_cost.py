"""What watching costs a month, worked out by hand from the tables."""

from __future__ import annotations

import pytest

from brandvane.aws.system import METRICS_A_CALL
from brandvane.metrics import METRICS, PLATFORM, STACK, Per, dimensions
from brandvane.monitoring_cost import METRICS_A_REQUEST, monthly, total, values_a_sweep

SIX = monthly(6, busy_hours=12, calls_a_day=30_000)
CLOUDWATCH_UNITS = {"Count", "Percent", "Seconds", "Count/Second", "None"}


def test_six_platforms_cost_at_most_45_dollars_all_in() -> None:
    assert total(SIX) <= 45


def test_the_bill_of_six_platforms_line_by_line() -> None:
    assert [(line.what, line.number, round(line.usd, 2)) for line in SIX] == [
        ("metrics, always", 88, 26.4),  # 13 a platform and 10 of the stack
        ("metrics, while a run is unfinished", 32, 4.8),  # 5 a platform and 2 of the stack, half the day
        ("alarms", 47, 4.7),  # 6 a platform and 11 of the stack
        ("composite alarms", 6, 3.0),
        ("dashboard", 1, 3.0),
        ("requests that publish", 86_400, 0.86),
        ("log lines of calls (GB)", pytest.approx(0.585), 0.29),
    ]


def test_with_runs_around_the_clock_the_free_tier_is_needed_to_stay_below_45_dollars() -> None:
    around = total(monthly(6, busy_hours=24, calls_a_day=30_000))
    free = 10 * 0.30 + 10 * 0.10 + 3.00
    assert around - free <= 45 < around


def test_a_sweep_of_six_platforms_is_one_request() -> None:
    assert values_a_sweep(6) <= METRICS_A_CALL <= METRICS_A_REQUEST


def test_a_brand_would_be_a_dimension_that_nobody_could_pay() -> None:
    assert {STACK, PLATFORM} == {name for name, _ in dimensions("bv", "openai")}
    assert dimensions("bv", None) == (("Stack", "bv"),)


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_a_metric_has_a_unit_that_cloudwatch_knows_and_a_meaning(metric: object) -> None:
    row = METRICS[metric.name]  # type: ignore[attr-defined]
    assert row.unit in CLOUDWATCH_UNITS
    assert row.meaning
    assert row.per in Per
