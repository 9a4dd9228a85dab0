"""Are the values under wrong dimensions that ``make alarms`` publishes really nobody's, and bad enough to fire?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from alarms.recorded import Watchtower
from brandvane.alarm_state import breaches
from brandvane.alarms import ALARMS, definition
from unit.paged_client import PagedClient

PLATFORMS = ("openai", "hunyuan")


class Metrics:
    """CloudWatch with the table's alarms of one stack; keeps what is published."""

    def __init__(self) -> None:
        self.put: list[dict[str, Any]] = []
        rows = [
            definition(alarm, "shop", platform)
            for alarm in ALARMS.values()
            for platform in (PLATFORMS if alarm.per_platform else (None,))
        ]
        self.client = PagedClient(describe_alarms={"MetricAlarms": rows}, put_metric_data=self._put)

    def _put(self, Namespace: str, MetricData: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's spelling
        assert Namespace == "Brandvane"
        self.put += MetricData
        return {}

    def tower(self) -> Watchtower:
        """Watches it."""
        return Watchtower(SimpleNamespace(cloudwatch=self.client), "shop")  # type: ignore[arg-type]


def dimensions(row: dict[str, Any]) -> frozenset[tuple[str, str]]:
    """Of one published value."""
    return frozenset((each["Name"], each["Value"]) for each in row["Dimensions"])


def test_no_decoy_has_the_dimensions_of_any_alarm() -> None:
    metrics = Metrics()
    tower = metrics.tower()
    tower.decoys(1_000.0)
    own = {
        (tower.definitions[name]["MetricName"], frozenset(tower.dimensions(name).items())) for name in tower.definitions
    }
    assert own & {(row["MetricName"], dimensions(row)) for row in metrics.put} == set()


def test_every_alarm_has_a_decoy_of_another_stack_that_would_fire_it() -> None:
    metrics = Metrics()
    tower = metrics.tower()
    tower.decoys(1_000.0)
    for name in tower.definitions:
        alarm = tower.alarm(name)
        wrong = frozenset((tower.dimensions(name) | {"Stack": "another-stack"}).items())
        values = [row["Value"] for row in metrics.put if row["MetricName"] == alarm.metric and dimensions(row) == wrong]
        assert values, name
        if alarm.missing != "breaching":  # the heartbeat's would rather keep it quiet
            assert all(breaches(alarm.comparison, value, alarm.threshold) for value in values), name
