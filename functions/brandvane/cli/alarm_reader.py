"""Which alarms of the stack are there, and which of them ring? Read from CloudWatch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from brandvane.alarms import ALARMS, OUTAGE, OUTAGE_PARTS
from brandvane.aws.client import Clients
from brandvane.metrics import PLATFORM, STACK

RINGING = "ALARM"


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm: its state, since when (POSIX seconds), why, and whether it does anything when it rings."""

    name: str
    state: str
    since: float
    reason: str = ""
    description: str = ""
    acts: bool = True


class AlarmReader(Protocol):
    """Where a stack's alarms are read."""

    async def all(self) -> list[Alarm]:
        """Every alarm of the stack, by name."""
        ...


def outage_name(stack: str, platform: str) -> str:
    """The composite alarm that pages for a platform in place of its parts."""
    return f"{stack}-{platform}-{OUTAGE}"


def outage_parts(stack: str, platform: str) -> list[str]:
    """The alarms that it pages for: on AWS their own actions are off."""
    return [ALARMS[part].name(stack, platform) for part in OUTAGE_PARTS]


class CloudWatchAlarms:
    """Alarms that watch the stack's metrics, and the composite alarms of its platforms."""

    def __init__(self, *, clients: Clients, stack: str) -> None:
        self._clients = clients
        self._stack = stack

    async def all(self) -> list[Alarm]:
        """Every alarm of the stack, by name; those of a stack with a longer name are left out."""
        metric: list[Mapping[str, Any]] = []
        composite: list[Mapping[str, Any]] = []
        start: dict[str, Any] = {}
        while True:
            reply: Mapping[str, Any] = await self._clients.call(
                self._clients.cloudwatch.describe_alarms,
                AlarmNamePrefix=f"{self._stack}-",
                AlarmTypes=["MetricAlarm", "CompositeAlarm"],
                **start,
            )
            metric += reply.get("MetricAlarms", ())
            composite += reply.get("CompositeAlarms", ())
            if not reply.get("NextToken"):
                break
            start = {"NextToken": reply["NextToken"]}
        found = [_alarm(row) for row in self._own(metric, composite)]
        return sorted(found, key=lambda alarm: alarm.name)

    def _own(
        self, metric: Iterable[Mapping[str, Any]], composite: Iterable[Mapping[str, Any]]
    ) -> list[Mapping[str, Any]]:
        """A composite alarm has no dimensions: it is the stack's when its whole name is that of a platform which alarms watch."""
        watched = [(row, _dimensions(row)) for row in metric]
        own = [(row, dimensions) for row, dimensions in watched if dimensions.get(STACK) == self._stack]
        platforms = {dimensions[PLATFORM] for _, dimensions in own if PLATFORM in dimensions}
        names = {outage_name(self._stack, platform) for platform in platforms}
        return [*(row for row, _ in own), *(row for row in composite if row["AlarmName"] in names)]


def _dimensions(row: Mapping[str, Any]) -> dict[str, str]:
    return {each["Name"]: each["Value"] for each in row.get("Dimensions", ())}


def _alarm(row: Mapping[str, Any]) -> Alarm:
    since = row.get("StateTransitionedTimestamp") or row.get("StateUpdatedTimestamp")
    return Alarm(
        name=str(row["AlarmName"]),
        state=str(row.get("StateValue", "")),
        since=since.timestamp() if since is not None else 0.0,
        reason=str(row.get("StateReason", "")),
        description=str(row.get("AlarmDescription", "")),
        acts=bool(row.get("ActionsEnabled", True)),
    )
