"""Time, chance and the log when the engine runs for real."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brandvane.aws.system import METRICS_A_CALL, LogTelemetry, system_rng
from brandvane.ports import Unavailable


class Lines:
    """A logger that remembers."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def info(self, message: str, extra: dict[str, Any]) -> None:
        """One line."""
        self.lines.append((message, extra))

    def warning(self, message: str, extra: dict[str, Any]) -> None:
        """One line that somebody should see."""
        self.lines.append((f"WARNING {message}", extra))


class Published:
    """Clients that remember what was published."""

    cloudwatch = type("CloudWatch", (), {"put_metric_data": "put_metric_data"})

    def __init__(self, *refusals: Exception) -> None:
        self.calls: list[dict[str, Any]] = []
        self._refusals = list(refusals)

    async def call(self, _method: Any, **request: Any) -> None:
        """One call; the first ones are refused if so told."""
        if self._refusals:
            raise self._refusals.pop(0)
        self.calls.append(request)


def telemetry(clients: Any = None) -> tuple[LogTelemetry, Lines]:
    """A telemetry and what it logs."""
    lines: Any = Lines()
    return LogTelemetry(logger=lines, stack="bv", clients=clients), lines


def test_an_event_is_one_line_without_what_is_none() -> None:
    told, lines = telemetry()
    told.event("late_answer", task_id="t1", status=None, kind="timeout")
    assert lines.lines == [("late_answer", {"task_id": "t1", "kind": "timeout"})]


def test_a_failed_call_is_a_warning() -> None:
    told, lines = telemetry()
    told.event("call_failed", task_id="t1", kind="timeout")
    assert lines.lines == [("WARNING call_failed", {"task_id": "t1", "kind": "timeout"})]


async def test_counts_are_summed_and_written_once() -> None:
    told, lines = telemetry()
    told.count("NotSent", 2, platform="kimi")
    told.count("NotSent", platform="kimi")
    told.count("ScannerHeartbeat")
    await told.flush()
    await told.flush()
    assert lines.lines == [("counts", {"counts": {"NotSent/kimi": 3, "ScannerHeartbeat": 1}})]


async def test_published_counts_have_the_dimensions_stack_and_platform_only() -> None:
    clients = Published()
    told, _ = telemetry(clients)
    told.count("Backlog", 0, platform="kimi")
    told.count("ScannerHeartbeat")
    await told.flush()
    (call,) = clients.calls
    stack = {"Name": "Stack", "Value": "bv"}
    assert call["Namespace"] == "Brandvane"
    assert call["MetricData"] == [
        {
            "MetricName": "Backlog",
            "Dimensions": [stack, {"Name": "Platform", "Value": "kimi"}],
            "Value": 0.0,
            "Unit": "Count",
        },
        {"MetricName": "ScannerHeartbeat", "Dimensions": [stack], "Value": 1.0, "Unit": "Count"},
    ]


async def test_many_counts_are_published_in_parts() -> None:
    clients = Published()
    told, _ = telemetry(clients)
    for number in range(METRICS_A_CALL + 1):
        told.count("Backlog", platform=f"p{number}")
    await told.flush()
    assert [len(call["MetricData"]) for call in clients.calls] == [METRICS_A_CALL, 1]


async def test_a_count_that_is_in_no_table_is_logged_and_never_published() -> None:
    clients = Published()
    told, lines = telemetry(clients)
    told.count("NotSent", 2, platform="kimi")
    await told.flush()
    assert (clients.calls, lines.lines) == ([], [("counts", {"counts": {"NotSent/kimi": 2}})])


async def test_a_workers_metric_is_one_embedded_line_with_every_value(capsys: pytest.CaptureFixture[str]) -> None:
    told, _ = telemetry()
    for seconds in (1.5, 22.0):
        told.count("CallSeconds", seconds, platform="kimi", unit="Seconds")
    await told.flush()
    await told.flush()
    (line,) = capsys.readouterr().out.splitlines()
    written = json.loads(line)
    directive = written["_aws"]["CloudWatchMetrics"][0]
    assert directive == {
        "Namespace": "Brandvane",
        "Dimensions": [["Stack", "Platform"]],
        "Metrics": [{"Name": "CallSeconds", "Unit": "Seconds"}],
    }
    assert {key: value for key, value in written.items() if key != "_aws"} == {
        "Stack": "bv",
        "Platform": "kimi",
        "CallSeconds": [1.5, 22.0],
    }


async def test_the_service_never_becomes_a_dimension(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "worker")
    told, _ = telemetry()
    told.count("CallSeconds", 1.0, platform="kimi", unit="Seconds")
    await told.flush()
    assert "service" not in capsys.readouterr().out


def test_chance_comes_from_the_operating_system() -> None:
    assert system_rng().getrandbits(96) != system_rng().getrandbits(96)


async def test_what_is_counted_once_and_could_not_be_published_comes_with_the_next_flush() -> None:
    clients = Published(Unavailable("no"))
    told, _ = telemetry(clients)
    told.count("GlobalTimeouts", 2)
    told.count("Backlog", 7, platform="kimi")
    with pytest.raises(Unavailable):
        await told.flush()
    told.count("GlobalTimeouts", 1)
    told.count("Backlog", 5, platform="kimi")
    await told.flush()
    (call,) = clients.calls
    assert {row["MetricName"]: row["Value"] for row in call["MetricData"]} == {"Backlog": 5.0, "GlobalTimeouts": 3.0}


def test_an_event_that_tells_of_an_error_is_a_warning_whatever_its_name() -> None:
    told, lines = telemetry()
    told.event("somebodys_new_event", error="refused")
    told.event("somebodys_new_event", error=None)
    assert [line for line, _ in lines.lines] == ["WARNING somebodys_new_event", "somebodys_new_event"]
