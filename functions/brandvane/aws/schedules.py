"""Do EventBridge's schedules say what the monitor says? One a monitor's schedule, in the stack's group, kept in step.

A schedule is ours when its input names itself; everything else in the group (the template's own ticks) is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from brandvane.catalogue import Schedule
from brandvane.schedule import minutes_of

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient

SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"
# A day's run is worth starting late. The dispatcher starts it on its own 2 minutes after its time, so this is a second way.
RETRY_ATTEMPTS = 20
EVENT_AGE_MAX_S = 7_200
_COMPARED = ("ScheduleExpression", "ScheduleExpressionTimezone", "FlexibleTimeWindow", "State")


@dataclass(frozen=True, slots=True)
class Targets:
    """What schedules of a stack call: the planner, as which role, and where events go that it never took (ARNs)."""

    group: str
    planner: str
    role: str
    dead_letters: str


@dataclass(frozen=True, slots=True)
class Synced:
    """Names of the schedules that were created, updated and removed."""

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Was anything done?"""
        return bool(self.created or self.updated or self.removed)


class NameTaken(ValueError):
    """A schedule's id is the name of something else in the group."""


def wanted(schedule: Schedule, targets: Targets) -> dict[str, Any]:
    """The request that describes a monitor's schedule: daily at its window's start, in its time zone, to the minute."""
    minutes = minutes_of(schedule.start)
    return {
        "Name": schedule.id,
        "GroupName": targets.group,
        "Description": f"Brandvane: run {schedule.id}, window {schedule.start}-{schedule.end}",
        "ScheduleExpression": f"cron({minutes % 60} {minutes // 60} * * ? *)",
        "ScheduleExpressionTimezone": schedule.time_zone,
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "State": "ENABLED",
        "Target": {
            "Arn": targets.planner,
            "RoleArn": targets.role,
            "Input": json.dumps({"schedule": schedule.id, "time": SCHEDULED_TIME}),
            "DeadLetterConfig": {"Arn": targets.dead_letters},
            "RetryPolicy": {"MaximumRetryAttempts": RETRY_ATTEMPTS, "MaximumEventAgeInSeconds": EVENT_AGE_MAX_S},
        },
    }


def check_names(client: EventBridgeSchedulerClient, schedules: Sequence[Schedule], group: str) -> None:
    """Changes nothing.

    Raises:
        NameTaken: the id of a schedule belongs to something else in the group.
        botocore.exceptions.ClientError: the service refuses, or there is no such group.
    """
    _refuse_taken(_present(client, group), schedules)


def sync(client: EventBridgeSchedulerClient, schedules: Sequence[Schedule], targets: Targets) -> Synced:
    """Create, update and remove until the group holds exactly the monitor's schedules; safe to repeat.

    Raises:
        NameTaken: as ``check_names``; nothing was changed.
        botocore.exceptions.ClientError: the service refuses; what was done so far stays.
    """
    present = _present(client, targets.group)
    _refuse_taken(present, schedules)
    created, updated = [], []
    for schedule in schedules:
        request = wanted(schedule, targets)
        if schedule.id not in present:
            client.create_schedule(**request)
            created.append(schedule.id)
        elif _differs(present[schedule.id], request):
            client.update_schedule(**request)
            updated.append(schedule.id)
    kept = {schedule.id for schedule in schedules}
    gone = [name for name, found in present.items() if name not in kept and _ours(found)]
    for name in gone:
        _remove(client, targets.group, name)
    return Synced(tuple(created), tuple(updated), tuple(gone))


def _refuse_taken(present: Mapping[str, Any], schedules: Sequence[Schedule]) -> None:
    for schedule in schedules:
        if schedule.id in present and not _ours(present[schedule.id]):
            raise NameTaken(
                f"schedule id '{schedule.id}' is the name of another schedule of the stack: choose another in monitor.yaml"
            )


def _present(client: EventBridgeSchedulerClient, group: str) -> dict[str, Any]:
    client.get_schedule_group(Name=group)  # a list of a group that is not there can be just empty
    pages = client.get_paginator("list_schedules").paginate(GroupName=group)
    names = [row["Name"] for page in pages for row in page["Schedules"]]
    return {name: client.get_schedule(GroupName=group, Name=name) for name in names}


def _ours(found: Any) -> bool:
    try:
        event = json.loads(found["Target"].get("Input", ""))
    except ValueError:
        return False
    return isinstance(event, dict) and event.get("schedule") == found["Name"] and event.get("time") == SCHEDULED_TIME


def _differs(found: Any, request: dict[str, Any]) -> bool:
    if any(found.get(name) != request[name] for name in _COMPARED):
        return True
    return any(found["Target"].get(name) != value for name, value in request["Target"].items())


def _remove(client: EventBridgeSchedulerClient, group: str, name: str) -> None:
    try:
        client.delete_schedule(GroupName=group, Name=name)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":  # gone already is gone
            raise
