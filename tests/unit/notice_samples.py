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


def change(told: dict[str, Any] | str, topic: str = TOPIC, subject: str = "ALARM") -> AlarmChange:
    """As the notifier reads it."""
    return read(told if isinstance(told, str) else json.dumps(told), subject, topic, "brandvane")


def notice(language: Language = "en", stack: str = "brandvane", **changed: Any) -> Notice:
    """The message of an alarm."""
    return compose(change(metric_alarm(**changed)), stack=stack, language=language, runbook=RUNBOOK, time_zone="UTC")


def arrived(message_id: str = "m1", **changed: Any) -> Arrived:
    """A message of the topic."""
    return Arrived(message_id, TOPIC, "ALARM", json.dumps(metric_alarm(**changed)))
