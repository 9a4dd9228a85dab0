"""Which alarms of the stack are there, and which of them ring? Read from CloudWatch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from brandvane.aws.client import Clients

RINGING = "ALARM"
STACK_DIMENSION = "Stack"


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


class CloudWatchAlarms:
    """Alarms whose names begin with the stack's name (nested stacks' do as well)."""

    def __init__(self, *, clients: Clients, stack: str) -> None:
        self._clients = clients
        self._stack = stack

    async def all(self) -> list[Alarm]:
        """Every alarm of the stack, by name; one that watches another stack of a longer name is left out."""
        found: list[Alarm] = []
        start: dict[str, Any] = {}
        while True:
            reply: Mapping[str, Any] = await self._clients.call(
                self._clients.cloudwatch.describe_alarms,
                AlarmNamePrefix=f"{self._stack}-",
                AlarmTypes=["MetricAlarm", "CompositeAlarm"],
                **start,
            )
            rows = [*reply.get("MetricAlarms", ()), *reply.get("CompositeAlarms", ())]
            found += [_alarm(row) for row in rows if self._own(row)]
            if not reply.get("NextToken"):
                return sorted(found, key=lambda alarm: alarm.name)
            start = {"NextToken": reply["NextToken"]}

    def _own(self, row: Mapping[str, Any]) -> bool:
        watched = [each["Value"] for each in row.get("Dimensions", ()) if each["Name"] == STACK_DIMENSION]
        return not watched or self._stack in watched


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
