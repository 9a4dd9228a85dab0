"""Can somebody who has never seen it deploy it: are parameters explained and grouped, everything tagged, data kept?"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

Resources = dict[str, dict[str, Any]]
Processed = Callable[..., Resources]

# CloudFormation gives a stack's tags to every resource whose type has tags (user guide, "Resource tags"). These have none.
WITHOUT_TAGS = {
    "AWS::IAM::ManagedPolicy": "CloudFormation knows no tags of it; its role is tagged",
    "AWS::IAM::Policy": "part of its role",
    "AWS::SQS::QueuePolicy": "part of its queue",
    "AWS::S3::BucketPolicy": "part of its bucket",
    "AWS::SNS::Subscription": "part of its topic",
    "AWS::SNS::TopicPolicy": "part of its topic",
    "AWS::Scheduler::Schedule": "tagged through its group",
    "AWS::Logs::QueryDefinition": "a saved text, costs nothing",
    "AWS::CloudWatch::Dashboard": "named after the stack",
}
TAGGED = {
    "AWS::DynamoDB::Table",
    "AWS::SQS::Queue",
    "AWS::SNS::Topic",
    "AWS::S3::Bucket",
    "AWS::Serverless::Function",
    "AWS::Logs::LogGroup",
    "AWS::IAM::Role",
    "AWS::SSM::Parameter",
    "AWS::Scheduler::ScheduleGroup",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::CompositeAlarm",
    "AWS::CloudFormation::Stack",
    "AWS::Budgets::Budget",
}
EVERYTHING = {
    "AlarmEmail": "ops@example.com",
    "KmsKeyArn": "arn:aws:kms:eu-central-1:111122223333:key/1",
    "SlackWebhook": "/bv/slack",
}


def configuration(root: Path) -> dict[str, Any]:
    """samconfig's sections."""
    config = tomllib.loads((root / "samconfig.toml").read_text(encoding="utf-8"))
    return {name: section for name, section in config.items() if name != "version"}


def test_every_resource_is_tagged_by_the_stack_or_can_have_no_tag(processed: Processed) -> None:
    kinds = {resource["Type"] for resource in processed(**EVERYTHING).values()}
    assert kinds <= TAGGED | set(WITHOUT_TAGS)


def test_every_deployment_tags_its_stack_with_application_and_environment(root: Path) -> None:
    for name, section in configuration(root).items():
        tags = dict(pair.split("=") for pair in section["deploy"]["parameters"]["tags"].split())
        assert tags == {"application": "brandvane", "environment": name}


def test_every_parameter_stands_in_one_group_and_has_a_label(source: dict[str, Any]) -> None:
    interface = source["Metadata"]["AWS::CloudFormation::Interface"]
    grouped = [name for group in interface["ParameterGroups"] for name in group["Parameters"]]
    assert sorted(grouped) == sorted(source["Parameters"])
    assert set(interface["ParameterLabels"]) == set(source["Parameters"])


def test_what_only_tests_need_comes_last(source: dict[str, Any]) -> None:
    last = source["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"][-1]
    assert set(last["Parameters"]) == {"CallTimeoutOverride", "StandIns", "Emulator"}


def test_nothing_is_deleted_or_replaced_without_somebody_having_said_so(processed: Processed) -> None:
    keeps = {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::Logs::LogGroup"}
    for name, resource in processed(**EVERYTHING).items():
        if resource["Type"] in keeps:
            assert {"DeletionPolicy", "UpdateReplacePolicy"} <= set(resource), name


def test_production_reserves_executions_and_asks_before_it_changes_anything(root: Path) -> None:
    prod = configuration(root)["prod"]["deploy"]["parameters"]
    assert prod["confirm_changeset"] is True
    assert prod["capabilities"] == "CAPABILITY_IAM CAPABILITY_AUTO_EXPAND"
    assert "ReserveConcurrency=true" in prod["parameter_overrides"].split()
