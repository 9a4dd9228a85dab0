"""Messages as CloudWatch puts them on a topic (fields after the CloudWatch user guide), and what people wish."""

from __future__ import annotations

import json
from typing import Any

from brandvane.engine.notify import Arrived
from brandvane.notices.alarm import AlarmChange, read
from brandvane.notices.notice import Notice, compose
from brandvane.notices.words import Language

TOPIC = "arn:aws:sns:eu-central-1:000000000000:brandvane-p1"
RUNBOOK = "https://example.com/docs/runbook.md"

# As AWS Budgets publishes it (plain text, never JSON), at 80 % of the template's budget.
BUDGETS_SUBJECT = "AWS Budgets: brandvane-monthly has exceeded your alert threshold"
BUDGETS_TEXT = """AWS Budget Notification November 29, 2026
AWS Account 000000000000

Dear AWS Customer,

You requested that we alert you when the ACTUAL Cost associated with your brandvane-monthly budget is greater than $80.00 for the \
current month. The ACTUAL Cost associated with this budget is $82.41. You can find additional details below and by accessing the AWS \
Budgets dashboard [1].

Budget Name: brandvane-monthly
Budget Type: Cost
Budgeted Amount: $100.00
Alert Type: ACTUAL
Alert Threshold: > $80.00
ACTUAL Amount: $82.41

[1] https://console.aws.amazon.com/billing/home#/budgets
"""


def metric_alarm(**changed: Any) -> dict[str, Any]:
    """The success rate of openai, since 03:04:05 UTC."""
    return {
        "AlarmName": "brandvane-openai-success-rate",
        "AlarmDescription": "Fewer than 90 % of calls succeed. docs/runbook.md#success-rate",
        "AWSAccountId": "000000000000",
        "NewStateValue": "ALARM",
        "OldStateValue": "OK",
        "NewStateReason": "Threshold Crossed: 5 datapoints were less than the threshold (90.0).",
        "StateChangeTime": "2026-11-29T03:04:05.678+0000",
        "Region": "EU (Frankfurt)",
        "Trigger": {
            "MetricName": "SuccessRate",
            "Namespace": "Brandvane",
            "Dimensions": [{"name": "Stack", "value": "brandvane"}, {"name": "Platform", "value": "openai"}],
        },
        **changed,
    }


def outage(*parts: str, state: str = "ALARM", **changed: Any) -> dict[str, Any]:
    """openai's composite alarm, with the parts that brought it about."""
    arns = [f"arn:aws:cloudwatch:eu-central-1:000000000000:alarm:brandvane-openai-{part}" for part in parts]
    return {
        "AlarmName": "brandvane-openai-platform-outage",
        "AlarmDescription": "P1: the platform is in trouble. Runbook: docs/runbook.md#platform-outage",
        "AWSAccountId": "000000000000",
        "NewStateValue": state,
        "OldStateValue": "OK",
        "NewStateReason": f"{arns[0] if arns else '?'} transitioned to {state} at Sunday 29 November, 2026 03:04:05 UTC",
        "StateChangeTime": "2026-11-29T03:04:05.678+0000",
        "AlarmRule": 'ALARM("brandvane-openai-success-rate") OR ALARM("brandvane-openai-platform-paused")',
        "TriggeringChildren": [
            {"Arn": arn, "State": {"Value": state, "Timestamp": "2026-11-29T03:04:05.678+0000"}} for arn in arns
        ],
        **changed,
    }


def change(told: dict[str, Any] | str, topic: str = TOPIC, subject: str = "ALARM") -> AlarmChange:
    """As the notifier reads it."""
    return read(told if isinstance(told, str) else json.dumps(told), subject, topic, "brandvane")


def notice(language: Language = "en", stack: str = "brandvane", **changed: Any) -> Notice:
    """The message of an alarm."""
    return compose(change(metric_alarm(**changed)), stack=stack, language=language, runbook=RUNBOOK, time_zone="UTC")


def arrived(message_id: str = "m1", **changed: Any) -> Arrived:
    """A message of the topic."""
    return Arrived(message_id, TOPIC, "ALARM", json.dumps(metric_alarm(**changed)))
