"""Do EventBridge's schedules follow the monitor? (Scheduler by moto: nothing here is a race.)"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from brandvane.aws.schedules import NameTaken, Synced, Targets, check_names, sync
from unit.catalogue_samples import schedule

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient

ARN = "arn:aws:{}:us-east-1:123456789012:{}"
TARGETS = Targets(
    "stack",
    ARN.format("lambda", "function:stack-planner"),
    ARN.format("iam", "role/run"),
    ARN.format("sqs", "stack-schedules-dead"),
)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[EventBridgeSchedulerClient]:
    """A client with an empty group ``stack``."""
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        made = boto3.client(
            "scheduler", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        made.create_schedule_group(Name="stack")
        yield made


def _tick(client: EventBridgeSchedulerClient, name: str) -> None:
    """One of the template's own schedules."""
    client.create_schedule(
        Name=name,
        GroupName="stack",
        ScheduleExpression="rate(1 minute)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": ARN.format("lambda", "function:stack-dispatcher"), "RoleArn": TARGETS.role, "Input": "{}"},
    )


def test_a_schedule_calls_the_planner_at_its_windows_start_with_its_id_and_time(
    client: EventBridgeSchedulerClient,
) -> None:
    assert sync(client, [schedule("22:05", "01:00", "06:00")], TARGETS) == Synced(created=("daily",))
    found = client.get_schedule(GroupName="stack", Name="daily")
    assert found["ScheduleExpression"] == "cron(5 22 * * ? *)"
    assert found["ScheduleExpressionTimezone"] == "Europe/Berlin"
    assert found["FlexibleTimeWindow"] == {"Mode": "OFF"}
    target = found["Target"]
    assert json.loads(target["Input"]) == {"schedule": "daily", "time": "<aws.scheduler.scheduled-time>"}
    assert (target["Arn"], target["RoleArn"]) == (TARGETS.planner, TARGETS.role)
    assert target["DeadLetterConfig"] == {"Arn": TARGETS.dead_letters}
    assert target["RetryPolicy"] == {"MaximumRetryAttempts": 20, "MaximumEventAgeInSeconds": 7200}


def test_syncing_again_changes_nothing(client: EventBridgeSchedulerClient) -> None:
    sync(client, [schedule()], TARGETS)
    assert not sync(client, [schedule()], TARGETS).changed


@pytest.mark.parametrize(
    "other", [schedule(start="02:01"), schedule(zone="Asia/Shanghai")], ids=["another start", "another zone"]
)
def test_a_changed_schedule_is_updated(client: EventBridgeSchedulerClient, other: object) -> None:
    sync(client, [schedule()], TARGETS)
    assert sync(client, [other], TARGETS) == Synced(updated=("daily",))  # type: ignore[list-item]


def test_another_planner_is_an_update(client: EventBridgeSchedulerClient) -> None:
    sync(client, [schedule()], TARGETS)
    assert sync(client, [schedule()], replace(TARGETS, planner=f"{TARGETS.planner}-2")) == Synced(updated=("daily",))


def test_a_schedule_that_left_the_monitor_is_removed(client: EventBridgeSchedulerClient) -> None:
    sync(client, [schedule(name="core"), schedule(name="rest")], TARGETS)
    assert sync(client, [schedule(name="rest"), schedule(name="new")], TARGETS) == Synced(("new",), (), ("core",))


def test_the_stacks_own_schedules_in_the_group_are_left_alone(client: EventBridgeSchedulerClient) -> None:
    _tick(client, "dispatcher")
    assert sync(client, [], TARGETS) == Synced()
    assert client.get_schedule(GroupName="stack", Name="dispatcher")["ScheduleExpression"] == "rate(1 minute)"


def test_an_id_that_is_the_name_of_the_stacks_own_schedule_is_refused_before_anything_changes(
    client: EventBridgeSchedulerClient,
) -> None:
    _tick(client, "dispatcher")
    wanted = [schedule(name="daily"), schedule(name="dispatcher")]
    for refuse in (lambda: check_names(client, wanted, "stack"), lambda: sync(client, wanted, TARGETS)):
        with pytest.raises(NameTaken, match="schedule id 'dispatcher' is the name of another schedule of the stack"):
            refuse()
    assert [row["Name"] for row in client.list_schedules(GroupName="stack")["Schedules"]] == ["dispatcher"]


def test_a_schedule_that_somebody_removed_meanwhile_is_no_error(client: EventBridgeSchedulerClient) -> None:
    sync(client, [schedule()], TARGETS)
    real = client.delete_schedule

    def delete_twice(**kwargs: str) -> None:
        real(**kwargs)
        real(**kwargs)

    client.delete_schedule = delete_twice  # type: ignore[assignment,method-assign]
    assert sync(client, [], TARGETS) == Synced(removed=("daily",))


def test_a_group_that_is_not_there_is_the_services_refusal(client: EventBridgeSchedulerClient) -> None:
    client.delete_schedule_group(Name="stack")
    with pytest.raises(ClientError):
        sync(client, [schedule()], TARGETS)
