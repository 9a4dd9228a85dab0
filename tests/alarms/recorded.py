"""What does the emulator's CloudWatch hold, and in which state would CloudWatch's own evaluation of the deployed alarms be?

The emulator compares no dimensions and treats no missing data; so its metrics are read back by their dimensions, and the alarms are
evaluated here, by their definitions as deployed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import BotoCoreError

from brandvane.alarm_state import AlarmState, Change, Sample, history
from brandvane.alarms import Alarm
from brandvane.aws.client import Clients
from brandvane.metrics import METRICS, NAMESPACE

ANOTHER_STACK, NOBODY = "another-stack", "nobody"
TRIES = 6
AGAIN_S = 2.0


class Watchtower:
    """The deployed alarms of one stack, and what was published since ``began``."""

    def __init__(self, clients: Clients, stack: str) -> None:
        self._cloudwatch = clients.cloudwatch
        self._stack = stack
        self.began = time.time()
        found: list[Any] = []
        for page in self._cloudwatch.get_paginator("describe_alarms").paginate(AlarmNamePrefix=f"{stack}-"):
            found += page["MetricAlarms"]
        self.definitions: Mapping[str, Any] = {row["AlarmName"].removeprefix(f"{stack}-"): row for row in found}

    def alarm(self, name: str) -> Alarm:
        """A deployed definition, as the evaluation takes it."""
        row = self.definitions[name]
        return Alarm(
            id=name,
            severity="P2",
            metric=row["MetricName"],
            statistic=row["Statistic"],
            comparison=row["ComparisonOperator"],
            threshold=row["Threshold"],
            period_s=row["Period"],
            evaluation_periods=row["EvaluationPeriods"],
            datapoints_to_alarm=row["DatapointsToAlarm"],
            missing=row["TreatMissingData"],
            missing_reason="",
            raises_within_s=0,
            rule="",
        )

    def dimensions(self, name: str) -> dict[str, str]:
        """Of the metric that an alarm watches."""
        return {each["Name"]: each["Value"] for each in self.definitions[name]["Dimensions"]}

    def samples(self, name: str, **other: str) -> list[Sample]:
        """What was published with an alarm's dimensions (``other`` replaces some of them)."""
        statistic = self.definitions[name]["Statistic"]
        points = self._points(name, self.dimensions(name) | other)
        found = [Sample(point["Timestamp"].timestamp(), float(point[statistic])) for point in points]
        return sorted(found, key=lambda sample: sample.at)

    def decoys(self, now: float) -> list[str]:
        """Publish a value that would fire each alarm, under dimensions that are almost its own; the alarms that it was done for.

        Another stack's; a platform's metric for a platform that nobody has, and for no platform; a total for one platform.
        """
        for name, row in self.definitions.items():
            own = self.dimensions(name)
            wrong = [own | {"Stack": ANOTHER_STACK}, own | {"Platform": NOBODY}]
            if "Platform" in own:
                wrong.append({"Stack": own["Stack"]})
            alarm = self.alarm(name)
            far = 1.0 if alarm.missing == "breaching" else _far_beyond(alarm)
            total = METRICS[alarm.metric].on_stack and "Platform" in own
            for dimensions in wrong[:2] if total else wrong:
                self._cloudwatch.put_metric_data(
                    Namespace=NAMESPACE,
                    MetricData=[
                        {
                            "MetricName": row["MetricName"],
                            "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
                            "Timestamp": datetime.fromtimestamp(now, UTC),
                            "Value": far,
                        }
                    ],
                )
        return sorted(self.definitions)

    def unit(self, name: str) -> set[str]:
        """Units under which an alarm's metric was published."""
        return {str(point["Unit"]) for point in self._points(name, self.dimensions(name))}

    def _points(self, name: str, dimensions: Mapping[str, str]) -> list[dict[str, Any]]:
        """One a second at most. A busy machine's emulator may not answer at once: asked again for half a minute."""
        row = self.definitions[name]
        wanted: Any = [{"Name": key, "Value": value} for key, value in dimensions.items()]
        for left in reversed(range(TRIES)):
            try:
                reply: Any = self._cloudwatch.get_metric_statistics(
                    Namespace=NAMESPACE,
                    MetricName=row["MetricName"],
                    Dimensions=wanted,
                    StartTime=datetime.fromtimestamp(self.began, UTC),
                    EndTime=datetime.fromtimestamp(time.time() + 60, UTC),
                    Period=1,
                    Statistics=[row["Statistic"]],
                )
            except BotoCoreError:
                if not left:
                    raise
                time.sleep(AGAIN_S)
            else:
                found: list[dict[str, Any]] = reply["Datapoints"]
                return found
        return []

    def changes(self, name: str, end: float | None = None, **twin: Any) -> list[Change]:
        """An alarm's changes of state until now; ``twin`` replaces fields of its definition."""
        alarm = replace(self.alarm(name), **twin)
        return history(alarm, self.samples(name), self.began, time.time() if end is None else end)


def state_of(changes: list[Change]) -> AlarmState:
    """The last one."""
    return changes[-1].state if changes else AlarmState.INSUFFICIENT_DATA


def _far_beyond(alarm: Alarm) -> float:
    return alarm.threshold + 1000.0 if alarm.comparison.startswith("Greater") else alarm.threshold - 1000.0
