"""Do functions, tables, schedules and retention have the settings the parts agreed on?"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Resources = dict[str, dict[str, Any]]
Processed = Callable[..., Resources]

NAMES = {
    "AWS::DynamoDB::Table": "TableName",
    "AWS::SQS::Queue": "QueueName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::Serverless::Function": "FunctionName",
    "AWS::Scheduler::Schedule": "Name",
    "AWS::Scheduler::ScheduleGroup": "Name",
    "AWS::SSM::Parameter": "Name",
    "AWS::Logs::LogGroup": "LogGroupName",
}


def functions(resources: Resources) -> dict[str, dict[str, Any]]:
    """Properties of all functions by logical id."""
    return {name: r["Properties"] for name, r in resources.items() if r["Type"] == "AWS::Serverless::Function"}


def test_every_function_knows_tables_bucket_and_how_long_things_are_kept(processed: Processed) -> None:
    for name, function in functions(processed(LogLevel="DEBUG", TaskKeepDays=5, ResultKeepDays=50)).items():
        variables = dict(function["Environment"]["Variables"])
        own = {
            "worker": {"PLATFORM", "CALL_TIMEOUT"},
            "scanner": {"PUBLISH_METRICS"},
            "notifier": {f"{chat}_WEBHOOK" for chat in ("SLACK", "FEISHU", "DINGTALK")}
            | {"NOTICE_LANGUAGE", "NOTICE_TIME_ZONE", "RUNBOOK_URL"},
        }.get(variables.pop("POWERTOOLS_SERVICE_NAME"), set())
        values = {variables.pop(key) for key in own}
        assert values <= {"openai", "hunyuan", "deepseek", 60, "true", "", "en", "UTC", "docs/runbook.md"}, name
        assert variables == {
            "STACK_NAME": "stack",
            "TASKS_TABLE": "Tasks",
            "RESULTS_TABLE": "Results",
            "RUNS_TABLE": "Runs",
            "CONTROL_TABLE": "Control",
            "STATS_TABLE": "Stats",
            "DATA_BUCKET": "Data",
            "TASK_KEEP_DAYS": 5,
            "RESULT_KEEP_DAYS": 50,
            "POWERTOOLS_METRICS_NAMESPACE": "Brandvane",
            "POWERTOOLS_LOG_LEVEL": "DEBUG",
        }, name


def test_no_endpoint_is_ever_put_into_a_function(resources: Resources) -> None:
    assert not [n for n, f in functions(resources).items() if "ENDPOINT" in str(f["Environment"])]


def test_time_limits_memory_and_handlers_are_as_agreed(processed: Callable[..., Resources]) -> None:
    resources = processed(SlackWebhook="/bv/slack")
    settings = {
        f["FunctionName"].removeprefix("stack-"): (f["Handler"], f["Timeout"], f["MemorySize"])
        for f in functions(resources).values()
    }
    assert settings == {
        "planner": ("planner.handler", 300, 512),
        "dispatcher": ("dispatcher.handler", 50, 256),
        "worker-openai": ("worker.handler", 150, 256),
        "worker-hunyuan": ("worker.handler", 150, 256),
        "worker-deepseek": ("worker.handler", 150, 256),
        "writeback": ("writeback.handler", 60, 256),
        "scanner": ("scanner.handler", 60, 256),
        "scorer": ("scorer.handler", 300, 512),
        "reporter": ("reporter.handler", 300, 1024),
        "notifier": ("notifier.handler", 60, 256),
    }


def test_all_functions_share_one_package_runtime_and_processor(processed: Processed) -> None:
    resources = processed(PythonRuntime="python3.12", Architecture="x86_64")
    shared = {(f["CodeUri"], f["Runtime"], *f["Architectures"]) for f in functions(resources).values()}
    assert shared == {("functions/", "python3.12", "x86_64")}


def test_every_function_logs_to_a_group_of_its_own_that_forgets(processed: Processed) -> None:
    resources = processed(LogRetentionDays=7)
    groups = [f["LoggingConfig"]["LogGroup"] for f in functions(resources).values()]
    assert len(set(groups)) == len(groups)
    assert {resources[group]["Properties"]["RetentionInDays"] for group in groups} == {7}


def test_minute_schedules_retry_nothing_and_drop_what_is_a_minute_old(resources: Resources) -> None:
    minutes = {
        name: event["Properties"]
        for name, function in functions(resources).items()
        for event in function.get("Events", {}).values()
        if event["Type"] == "ScheduleV2"
    }
    sweep = resources["HalfMinute"]["Properties"]
    minutes["HalfMinute"] = {**sweep, **sweep["Target"]}
    assert set(minutes) == {"Dispatcher", "Scanner", "HalfMinute"}
    for schedule in minutes.values():
        assert schedule["ScheduleExpression"] == "rate(1 minute)"
        assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
        assert schedule["RetryPolicy"] == {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}
        assert schedule["RoleArn"] == "MinuteRole.Arn"
        assert schedule["GroupName"] == "Schedules"
        assert "DeadLetterConfig" not in schedule


def test_functions_behind_a_minute_schedule_retry_nothing_either(resources: Resources) -> None:
    for name in ("Dispatcher", "Scanner"):
        config = functions(resources)[name]["EventInvokeConfig"]
        assert config == {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}


def test_a_sweep_between_the_minutes_comes_from_a_queue_that_delays_half_a_minute(resources: Resources) -> None:
    assert resources["HalfMinute"]["Properties"]["Target"]["Arn"] == "Sweep.Arn"
    assert resources["Sweep"]["Properties"]["DelaySeconds"] == 30
    assert "DelaySeconds" not in resources["Writeback"]["Properties"]


def test_only_finished_records_rows_and_statistics_expire(resources: Resources) -> None:
    expiring = {
        name: resource["Properties"]["TimeToLiveSpecification"]
        for name, resource in resources.items()
        if "TimeToLiveSpecification" in resource["Properties"]
    }
    rule = {"AttributeName": "expires_at", "Enabled": True}
    assert expiring == {"Tasks": rule, "Results": rule, "Stats": rule}


def test_objects_are_kept_as_long_as_the_parameters_say_and_catalogues_for_ever(processed: Processed) -> None:
    rules = processed(AnswerKeepDays=90, ResultKeepDays=60)["Data"]["Properties"]["LifecycleConfiguration"]["Rules"]
    assert {r["Prefix"]: r["ExpirationInDays"] for r in rules if "Prefix" in r} == {
        "answers/": 90,
        "late/": 90,
        "scores/": 60,
        "mentions/": 60,
        "corrections/": 60,
        "reports/": 60,
    }
    assert [r["AbortIncompleteMultipartUpload"] for r in rules if "Prefix" not in r] == [{"DaysAfterInitiation": 7}]


def test_answers_are_kept_as_long_as_the_rows_that_point_to_them_by_default(source: dict[str, Any]) -> None:
    parameters = source["Parameters"]
    assert parameters["AnswerKeepDays"]["Default"] >= parameters["ResultKeepDays"]["Default"]


def test_every_table_with_data_and_the_bucket_outlive_the_stack(resources: Resources) -> None:
    policies = {
        name: (r["DeletionPolicy"], r["UpdateReplacePolicy"])
        for name, r in resources.items()
        if r["Type"] in {"AWS::DynamoDB::Table", "AWS::S3::Bucket"}
    }
    kept, gone = ("RetainExceptOnCreate", "Retain"), ("Delete", "Delete")
    assert policies == {
        "Tasks": kept,
        "Results": kept,
        "Runs": kept,
        "Control": kept,
        "Stats": gone,
        "Data": kept,
    }


def test_tables_have_the_keys_and_indexes_that_the_stores_use(resources: Resources) -> None:
    def keys(schema: list[dict[str, str]]) -> tuple[str, ...]:
        return tuple(part["AttributeName"] for part in schema)

    tables = {n: r["Properties"] for n, r in resources.items() if r["Type"] == "AWS::DynamoDB::Table"}
    assert {name: keys(table["KeySchema"]) for name, table in tables.items()} == {
        "Tasks": ("task_id",),
        "Results": ("pk", "sk"),
        "Runs": ("run_id",),
        "Control": ("id",),
        "Stats": ("platform", "at"),
    }
    indexes = {
        f"{name}.{index['IndexName']}": (keys(index["KeySchema"]), index["Projection"]["ProjectionType"])
        for name, table in tables.items()
        for index in table.get("GlobalSecondaryIndexes", [])
    }
    assert indexes == {
        "Tasks.watch": (("watch", "act_at"), "INCLUDE"),
        "Results.by_run": (("run",), "KEYS_ONLY"),
        "Runs.recent": (("kind", "created_at"), "ALL"),
        "Runs.open": (("open", "created_at"), "ALL"),
    }


def test_the_watch_index_carries_what_is_needed_to_act_and_never_the_answer(resources: Resources) -> None:
    (watch,) = resources["Tasks"]["Properties"]["GlobalSecondaryIndexes"]
    assert set(watch["Projection"]["NonKeyAttributes"]) == {
        "run_id",
        "model",
        "dispatch_no",
        "attempt_id",
        "next_execute_time",
        "v",
    }


def test_two_stacks_share_no_name(resources: Resources) -> None:
    for name, resource in resources.items():
        if resource["Type"] in NAMES:
            assert re.search(r"(^|/)stack(-|/|$)", resource["Properties"][NAMES[resource["Type"]]]), name
    unnamed = [n for n, r in resources.items() if r["Type"].startswith(("AWS::S3::B", "AWS::IAM::"))]
    assert not [n for n in unnamed if {"BucketName", "RoleName", "ManagedPolicyName"} & set(resources[n]["Properties"])]


def test_every_parameter_says_what_it_is_for_and_has_a_default(source: dict[str, Any]) -> None:
    assert [n for n, p in source["Parameters"].items() if not p.get("Description") or "Default" not in p] == []


def test_samconfig_has_three_sections_that_know_the_loop_and_name_real_parameters(
    root: Path, source: dict[str, Any]
) -> None:
    config = tomllib.loads((root / "samconfig.toml").read_text(encoding="utf-8"))
    sections = {name: config[name] for name in config if name != "version"}
    assert set(sections) == {"default", "prod", "local"}
    assert len({section["global"]["parameters"]["stack_name"] for section in sections.values()}) == 3
    for section in sections.values():
        assert section["global"]["parameters"]["language_extensions"] is True
        assert "application=brandvane" in section["deploy"]["parameters"]["tags"]
        overrides = section["deploy"]["parameters"].get("parameter_overrides", "").split()
        assert {pair.split("=")[0] for pair in overrides} <= set(source["Parameters"])


def test_the_package_is_pinned_and_leaves_boto3_to_the_runtime(root: Path) -> None:
    lines = (root / "functions" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in wanted)
    assert not [line for line in wanted if line.startswith(("boto", "s3transfer"))]


@pytest.mark.parametrize("file", ["dev.txt", "sam.txt", "emulator.txt"])
def test_requirement_files_hold_pinned_releases_and_nothing_of_a_machine(root: Path, file: str) -> None:
    lines = (root / "requirements" / file).read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    assert wanted
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9a-z.]*", line) for line in wanted)
