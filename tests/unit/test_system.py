"""Time, chance and the log when the engine runs for real."""

from __future__ import annotations

from typing import Any

from brandvane.aws.system import METRICS_A_CALL, LogTelemetry, system_rng


class Lines:
    """A logger that remembers."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def info(self, message: str, extra: dict[str, Any]) -> None:
        """One line."""
        self.lines.append((message, extra))


class Published:
    """Clients that remember what was published."""

    cloudwatch = type("CloudWatch", (), {"put_metric_data": "put_metric_data"})

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    async def call(self, _method: Any, **request: Any) -> None:
        """One call."""
        self.calls.append(request)


def telemetry(clients: Any = None) -> tuple[LogTelemetry, Lines]:
    """A telemetry and what it logs."""
    lines: Any = Lines()
    return LogTelemetry(logger=lines, stack="bv", clients=clients), lines


def test_an_event_is_one_line_without_what_is_none() -> None:
    told, lines = telemetry()
    told.event("call_failed", task_id="t1", status=None, kind="timeout")
    assert lines.lines == [("call_failed", {"task_id": "t1", "kind": "timeout"})]


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
        told.count(f"m{number}")
    await told.flush()
    assert [len(call["MetricData"]) for call in clients.calls] == [METRICS_A_CALL, 1]


def test_chance_comes_from_the_operating_system() -> None:
    assert system_rng().getrandbits(96) != system_rng().getrandbits(96)
