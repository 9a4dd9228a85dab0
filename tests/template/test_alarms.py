"""Are the template's alarms those of the table, one a platform where it says so, each sent to the topic of its severity?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brandvane.alarms import ALARMS, OUTAGE_PARTS, RUNBOOK, SEVERITIES, Alarm, definition
from brandvane.metrics import METRICS, When

Resources = dict[str, dict[str, Any]]
Processed = Callable[..., Resources]
PLATFORMS = ("openai", "hunyuan", "deepseek")
ALARM = "AWS::CloudWatch::Alarm"
# What the emulator does not know (types), and what it cannot do because it speaks plain HTTP (policies against that).
ON_AWS_ONLY = {
    "AWS::Budgets::Budget",
    "AWS::CloudWatch::CompositeAlarm",
    "AWS::Logs::QueryDefinition",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
}


@pytest.fixture(scope="session")
def nested(root: Path, read_template: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """infra/monitoring.yaml as written."""
    return read_template(root / "infra" / "monitoring.yaml")


@pytest.fixture(scope="session")
def monitoring_of(
    nested: dict[str, Any], process_template: Callable[..., Resources]
) -> Callable[[Resources], Resources]:
    """Its resources when a stack of these resources hands down its parameters."""

    def below(resources: Resources) -> Resources:
        given = {**nested, "Mappings": {}}
        given["Parameters"] = {name: {"Default": name, **each} for name, each in nested["Parameters"].items()}
        return process_template(given, resources["Monitoring"]["Properties"]["Parameters"])

    return below


@pytest.fixture(scope="session")
def monitoring(resources: Resources, monitoring_of: Callable[[Resources], Resources]) -> Resources:
    """Its resources on AWS."""
    return monitoring_of(resources)


def alarms(resources: Resources) -> dict[str, dict[str, Any]]:
    """Properties by alarm name."""
    return {r["Properties"]["AlarmName"]: r["Properties"] for r in resources.values() if r["Type"] == ALARM}


def without_actions(properties: dict[str, Any]) -> dict[str, Any]:
    """What an alarm watches, and how."""
    return {name: v for name, v in properties.items() if name not in {"AlarmActions", "OKActions", "ActionsEnabled"}}


def test_the_templates_alarms_are_those_of_the_table(resources: Resources, monitoring: Resources) -> None:
    found = [without_actions(each) for each in (alarms(resources) | alarms(monitoring)).values()]
    expected = [
        definition(row, "stack", p) for row in ALARMS.values() for p in (PLATFORMS if row.per_platform else ("",))
    ]
    key = str
    assert sorted(found, key=key) == sorted([{**each} for each in expected], key=key)


def test_every_alarm_links_to_its_section_where_the_runbook_can_be_read(
    processed: Processed, monitoring_of: Callable[[Resources], Resources]
) -> None:
    address = "https://wiki.example.com/runbook"
    there = processed(RunbookUrl=address)
    told = [
        each["Properties"]["AlarmDescription"]
        for each in (there | monitoring_of(there)).values()
        if each["Type"] in {ALARM, "AWS::CloudWatch::CompositeAlarm"}
    ]
    links = {description.rsplit(" Runbook: ", 1)[1] for description in told}
    assert links == {f"{address}#{section}" for section in (*ALARMS, "platform-outage")}


def test_without_an_address_alarms_name_the_page_as_the_table_does(source: dict[str, Any]) -> None:
    assert source["Parameters"]["RunbookUrl"]["Default"] == RUNBOOK


def test_every_alarm_goes_to_the_topic_of_its_severity_when_it_fires_and_when_it_clears(
    resources: Resources, monitoring: Resources
) -> None:
    for name, each in (alarms(resources) | alarms(monitoring)).items():
        row = next(row for row in ALARMS.values() if name.endswith(f"-{row.id}") and row.metric == each["MetricName"])
        assert each["AlarmActions"] == each["OKActions"] == [f"Topic{row.severity}"], name


def test_there_is_one_topic_a_severity(resources: Resources) -> None:
    topics = [r["Properties"]["TopicName"] for r in resources.values() if r["Type"] == "AWS::SNS::Topic"]
    assert topics == [f"stack-{severity.lower()}" for severity in SEVERITIES]


def test_the_nested_stack_is_told_all_that_it_asks_for(resources: Resources, nested: dict[str, Any]) -> None:
    assert resources["Monitoring"]["Properties"]["Parameters"].keys() == nested["Parameters"].keys()


def test_on_aws_one_platforms_outage_is_one_page(resources: Resources) -> None:
    composites = [r["Properties"] for r in resources.values() if r["Type"] == "AWS::CloudWatch::CompositeAlarm"]
    assert [each["AlarmName"] for each in composites] == [f"stack-{p}-platform-outage" for p in PLATFORMS]
    for composite, logical in zip(composites, ("Openai", "Hunyuan", "Deepseek"), strict=True):
        parts = ["".join(word.capitalize() for word in part.split("-")) + logical for part in OUTAGE_PARTS]
        assert composite["AlarmRule"] == " OR ".join(f'ALARM("{part}")' for part in parts)
    silent = [name for name, each in alarms(resources).items() if each.get("ActionsEnabled") is False]
    assert len(silent) == len(PLATFORMS) * len(OUTAGE_PARTS)


def test_where_there_is_no_composite_alarm_its_parts_page_themselves(processed: Processed) -> None:
    assert not [each for each in alarms(processed(Emulator="true")).values() if each.get("ActionsEnabled") is False]


@pytest.mark.parametrize("where", ["source", "nested"])
def test_only_what_the_emulator_does_not_know_is_left_out_there(where: str, request: pytest.FixtureRequest) -> None:
    written = request.getfixturevalue(where)["Resources"]
    loops = {
        name: body
        for key, (*_, body) in written.items()
        if key.startswith("Fn::ForEach")
        for name, body in body.items()
    }
    plain = {name: body for name, body in written.items() if not name.startswith("Fn::ForEach")}
    for name, resource in (loops | plain).items():
        assert (resource["Type"] in ON_AWS_ONLY) == (resource.get("Condition") == "OnAws"), name


@pytest.mark.parametrize("row", ALARMS.values(), ids=lambda row: row.id)
def test_a_row_of_the_table_is_sound(row: Alarm) -> None:
    metric = METRICS[row.metric]
    assert metric.on_platform if row.per_platform else metric.on_stack
    assert not metric.by_workers  # those are not there on the emulator, and not while no worker runs
    assert row.datapoints_to_alarm <= row.evaluation_periods
    assert row.period_s * row.evaluation_periods + 60 <= row.raises_within_s  # a sweep may come 60 s after the cause
    assert row.missing_reason
    assert row.rule[0].islower()
    assert not row.rule.endswith(".")
    if metric.when is not When.ALWAYS:
        assert row.missing == "notBreaching"
