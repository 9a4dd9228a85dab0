"""Who hears an alarm: is the notifier subscribed to every severity, may it read the named webhooks and nothing else?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

Resources = dict[str, dict[str, Any]]
Processed = Callable[..., Resources]

HOOKS = {"SlackWebhook": "/bv/slack", "FeishuWebhook": "/bv/feishu", "DingTalkWebhook": "/bv/dingtalk"}
PARAMETER = "arn:aws:ssm:region:account:parameter"


def readable(resources: Resources) -> set[str]:
    """Parameters that the notifier may read."""
    policies = resources["NotifierRole"]["Properties"]["Policies"]
    statements = [s for policy in policies for s in policy["PolicyDocument"]["Statement"]]
    return {s["Resource"] for s in statements if s["Action"] == "ssm:GetParameter"}


def test_there_is_a_topic_a_severity_and_the_notifier_hears_them_all(processed: Processed) -> None:
    resources = processed(SlackWebhook="/bv/slack")
    topics = {n: r["Properties"]["TopicName"] for n, r in resources.items() if r["Type"] == "AWS::SNS::Topic"}
    assert topics == {"TopicP0": "stack-p0", "TopicP1": "stack-p1", "TopicP2": "stack-p2"}
    events = resources["Notifier"]["Properties"]["Events"].values()
    assert {event["Type"] for event in events} == {"SNS"}
    assert {event["Properties"]["Topic"] for event in events} == set(topics)


def test_without_webhooks_there_is_no_notifier_and_its_role_reads_no_parameter(resources: Resources) -> None:
    assert "Notifier" not in resources
    assert readable(resources) == set()


@pytest.mark.parametrize("parameter", HOOKS)
def test_the_notifier_reads_the_webhook_that_is_named_and_no_other(processed: Processed, parameter: str) -> None:
    assert readable(processed(**{parameter: HOOKS[parameter]})) == {f"{PARAMETER}{HOOKS[parameter]}"}


def test_the_notifier_is_told_names_and_never_addresses(processed: Processed) -> None:
    variables = processed(**HOOKS)["Notifier"]["Properties"]["Environment"]["Variables"]
    assert {variables[f"{chat}_WEBHOOK"] for chat in ("SLACK", "FEISHU", "DINGTALK")} == set(HOOKS.values())


@pytest.mark.parametrize("parameter", HOOKS)
def test_an_address_is_refused_where_a_name_belongs_and_shown_nowhere(source: dict[str, Any], parameter: str) -> None:
    declared = source["Parameters"][parameter]
    assert declared["NoEcho"] is True
    assert re.search(declared["AllowedPattern"], "https://hooks.example.com/services/T0/B0/x") is None
    assert re.search(declared["AllowedPattern"], HOOKS[parameter])
    assert re.search(declared["AllowedPattern"], "")


def test_an_address_hears_every_severity_by_e_mail_and_without_one_nobody_does(processed: Processed) -> None:
    told = processed(AlarmEmail="ops@example.com")
    mails = [r["Properties"] for r in told.values() if r["Type"] == "AWS::SNS::Subscription"]
    assert {(m["TopicArn"], m["Protocol"], m["Endpoint"]) for m in mails} == {
        (f"TopicP{n}", "email", "ops@example.com") for n in range(3)
    }
    assert not [r for r in processed().values() if r["Type"] == "AWS::SNS::Subscription"]
