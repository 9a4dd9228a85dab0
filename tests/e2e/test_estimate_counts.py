"""Does ``brandvane estimate`` reckon with the requests that a run really makes? Counted by a hook of botocore on the emulator."""

from __future__ import annotations

import pytest

from brandvane.aws.system import SystemClock
from brandvane.catalogue import Catalogue
from brandvane.cli.aws_cost import requests_of
from brandvane.cli.aws_usage import SWEEPS_A_MINUTE, RunLoad, Share, Usage, minutes_usage, run_usage, total
from builders import ScriptedClient, catalogue, platform
from e2e.counted_run import CountedRun

WORKERS, BATCH = 2, 10
HOLD_S = 2.0
PLATFORMS = tuple(platform(name, rate=20.0, in_flight=60) for name in ("openai", "hunyuan"))
GIVEN = catalogue(40, platforms=PLATFORMS, expected_hold_s=HOLD_S)
LINES = {
    "DynamoDB writes": ("dynamodb PutItem", "dynamodb UpdateItem", "dynamodb DeleteItem"),
    "DynamoDB reads": ("dynamodb GetItem", "dynamodb Query"),
    "S3": ("s3 GetObject", "s3 PutObject"),
}


@pytest.fixture(scope="module")
def counted(emulator_endpoint: str) -> CountedRun:
    """A run of 80 tasks from start to report, with a minute's ticks and sweeps every two seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("brandvane.engine.plan.LEAD_S", 2.0)  # instead of 20 s: nothing else happens meanwhile
        patch.setattr("brandvane.engine.advance.COUNT_AT_REST_S", 0.0)
        patch.setenv("POWERTOOLS_LOG_LEVEL", "ERROR")
        run = CountedRun(
            emulator_endpoint, GIVEN, ScriptedClient(SystemClock(), takes=0.2), workers=WORKERS, batch=BATCH
        )
        run.go()
    return run


def reckoned(given: Catalogue, counted: CountedRun) -> Usage:
    """As ``brandvane estimate`` does, for the minutes that the run took: two sweeps are one."""
    run = counted.run
    minutes = counted.meter.invocations["scanner"] / SWEEPS_A_MINUTE
    shares = {
        name: Share(tasks=planned, rate=1 / run.spacing[name], batch=BATCH) for name, planned in run.planned.items()
    }
    load = RunLoad(platforms=shares, minutes=minutes, hold_s=given.monitor.expected_hold_s)
    return total([run_usage(load), minutes_usage(len(shares), minutes)])


def test_every_task_was_asked_once_and_reported(counted: CountedRun) -> None:
    assert (counted.run.total, counted.run.counted) == (80, 80)


@pytest.mark.parametrize("line", LINES)
def test_requests_agree_within_a_tenth(line: str, counted: CountedRun) -> None:
    usage = reckoned(GIVEN, counted)
    real = sum(counted.meter.requests[name] for name in LINES[line])

    assert sum(usage.requests[name] for name in LINES[line]) == pytest.approx(real, rel=0.10), _table(usage, counted)


def test_queue_requests_agree_within_a_tenth(counted: CountedRun) -> None:
    # Polls of empty queues are Lambda's own; the schedule and its queue of the half minute are not in this run.
    usage = reckoned(GIVEN, counted)
    minutes = counted.meter.invocations["scanner"] / SWEEPS_A_MINUTE
    mine = requests_of(usage, "sqs", lambda name: "idle" not in name) - 3 * minutes
    real = sum(number for name, number in counted.meter.requests.items() if name.startswith("sqs "))

    assert mine == pytest.approx(real, rel=0.10), _table(usage, counted)


def _table(usage: Usage, counted: CountedRun) -> str:
    """What differs, by request: counted, reckoned."""
    names = sorted({*usage.requests, *counted.meter.requests})
    rows = [f"{name}: {counted.meter.requests[name]} {usage.requests[name]:.1f}" for name in names]
    return "\n".join([*rows, f"{dict(counted.meter.invocations)} {dict(usage.invocations)}"])
