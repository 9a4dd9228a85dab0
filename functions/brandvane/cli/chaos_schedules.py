"""How are a stack's schedules switched off and on? By EventBridge Scheduler itself; the scanner has two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brandvane.cli.local_stack import session_of
from brandvane.cli.local_state import LocalState

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_scheduler.type_defs import UpdateScheduleInputTypeDef

SCANNER, HALF_MINUTE = "scanner", "sweep"  # {stack}-…: the minute's own sweep, and the one between two minutes
DISPATCHER = "dispatcher"
_TEMPLATES = frozenset({SCANNER, HALF_MINUTE, DISPATCHER})


class Schedules:
    """The two schedules that wake the scanner, or others that are named; a monitor's by its id."""

    def __init__(self, state: LocalState, names: tuple[str, ...] = (SCANNER, HALF_MINUTE)) -> None:
        """``state``: of a running stack."""
        self._names = names
        client: EventBridgeSchedulerClient = session_of(state).client("scheduler", endpoint_url=state.endpoint)
        self._client = client
        self._stack = state.stack

    def switch(self, *, on: bool) -> None:
        """Enable or disable them."""
        for name in self._names:
            whole = f"{self._stack}-{name}" if name in _TEMPLATES else name
            there = self._client.get_schedule(Name=whole, GroupName=self._stack)
            wanted: UpdateScheduleInputTypeDef = {
                "Name": there["Name"],
                "GroupName": there["GroupName"],
                "Description": there["Description"],
                "ScheduleExpression": there["ScheduleExpression"],
                "ScheduleExpressionTimezone": there.get("ScheduleExpressionTimezone", "UTC"),
                "FlexibleTimeWindow": there["FlexibleTimeWindow"],
                "Target": there["Target"],
                "State": "ENABLED" if on else "DISABLED",
            }
            self._client.update_schedule(**wanted)
