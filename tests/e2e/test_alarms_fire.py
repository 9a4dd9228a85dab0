"""Two alarms by their real causes, with shortened periods, and one message from an alarm to whoever listens to its topic.

All the others: ``make alarms``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from alarms.recorded import Watchtower
from brandvane.alarm_state import Sample, history, raised
from brandvane.alarms import ALARMS
from brandvane.aws.keys import function_name, queue_name
from brandvane.cli.local_stack import session_of
from e2e.deployed import DeployedStack, wait_for

PERIOD_S = 5  # in place of 60


@pytest.fixture(scope="module")
def tower(deployed: DeployedStack) -> Watchtower:
    """The deployed alarms."""
    return Watchtower(deployed.clients, deployed.state.stack)


def swept(deployed: DeployedStack, tower: Watchtower, name: str, value: float) -> Sample:
    """The first sample of an alarm's metric from now on that has this value; a sweep is asked for, and others come by themselves."""
    now = time.time() - 1
    deployed.clients.functions.invoke(
        FunctionName=function_name(deployed.state.stack, "scanner"), InvocationType="Event", Payload=b"{}"
    )
    found: list[Sample] = []

    def seen() -> bool:
        found[:] = [sample for sample in tower.samples(name) if sample.at >= now and sample.value == value]
        return bool(found)

    wait_for(seen, f"{name} is published as {value:g}", 90.0)
    return found[0]


def fires(tower: Watchtower, name: str, sample: Sample) -> bool:
    """Does CloudWatch's evaluation of the deployed definition, with a shorter period, say ALARM after this value?"""
    alarm = replace(tower.alarm(name), period_s=PERIOD_S)
    end = (sample.at // PERIOD_S + 1) * PERIOD_S
    return bool(raised(history(alarm, [sample], end - PERIOD_S, end)))


@pytest.fixture
def letter(deployed: DeployedStack) -> Iterator[dict[str, str]]:
    """A letter on a dead-letter queue; deleted at the end, if the test has not."""
    sqs = deployed.clients.sqs
    url = sqs.get_queue_url(QueueName=queue_name(deployed.state.stack, "plan-dead"))["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="a letter")
    (message,) = sqs.receive_message(QueueUrl=url, VisibilityTimeout=0)["Messages"]
    handle = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]}
    yield handle
    with suppress(ClientError):  # the test has deleted it
        sqs.delete_message(**handle)


def test_every_alarm_of_the_table_is_deployed(deployed: DeployedStack, tower: Watchtower) -> None:
    platforms = deployed.state.platforms
    expected = {
        f"{platform}-{alarm.id}" if alarm.per_platform else alarm.id
        for alarm in ALARMS.values()
        for platform in (platforms if alarm.per_platform else ("",))
    }
    assert set(tower.definitions) == expected


def test_a_dead_letter_fires_its_alarm_until_it_is_gone(
    deployed: DeployedStack, tower: Watchtower, letter: dict[str, str]
) -> None:
    there = swept(deployed, tower, "dead-letters", 1.0)
    deployed.clients.sqs.delete_message(**letter)
    gone = swept(deployed, tower, "dead-letters", 0.0)
    assert fires(tower, "dead-letters", there)
    assert not fires(tower, "dead-letters", gone)
    assert tower.unit("dead-letters") == {"Count"}


def test_a_pause_fires_the_alarm_of_its_platform_and_of_no_other(deployed: DeployedStack, tower: Watchtower) -> None:
    deployed.brandvane("platform", "pause", "hunyuan", "--why", "a test", "--yes")
    paused = swept(deployed, tower, "hunyuan-platform-paused", 1.0)
    other = tower.samples("openai-platform-paused")[-1]
    deployed.brandvane("platform", "resume", "hunyuan", "--yes")
    resumed = swept(deployed, tower, "hunyuan-platform-paused", 0.0)
    assert fires(tower, "hunyuan-platform-paused", paused)
    assert not fires(tower, "hunyuan-platform-paused", resumed)
    assert not fires(tower, "openai-platform-paused", other)


def test_an_alarm_reaches_whoever_listens_to_the_topic_of_its_severity(deployed: DeployedStack) -> None:
    stack, session = deployed.state.stack, session_of(deployed.state)
    sns = session.client("sns", endpoint_url=deployed.state.endpoint)
    sqs, cloudwatch = deployed.clients.sqs, deployed.clients.cloudwatch
    url = sqs.create_queue(QueueName=f"{stack}-listener")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "sns.amazonaws.com"},
                "Action": "sqs:SendMessage",
                "Resource": arn,
            }
        ],
    }
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps(policy)})
    (topic,) = [row["TopicArn"] for row in sns.list_topics()["Topics"] if row["TopicArn"].endswith(f":{stack}-p0")]
    subscription = sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, ReturnSubscriptionArn=True)
    name = f"{stack}-deadline-missed"
    for state in ("OK", "ALARM"):
        cloudwatch.set_alarm_state(AlarmName=name, StateValue=state, StateReason="a test")
    told = [message for message in heard(sqs, url) if message["AlarmName"] == name]
    sns.unsubscribe(SubscriptionArn=subscription["SubscriptionArn"])
    sqs.delete_queue(QueueUrl=url)
    last = told[-1]
    assert last["NewStateValue"] == "ALARM"
    assert "docs/runbook.md#deadline-missed" in last["AlarmDescription"]
    assert last["Trigger"]["MetricName"] == "TasksExpired"


def heard(sqs: Any, url: str) -> list[dict[str, Any]]:
    """What SNS has put on a queue."""
    found = []
    for _ in range(5):
        reply = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        for message in reply.get("Messages", []):
            found.append(json.loads(json.loads(message["Body"])["Message"]))
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        if any(message["NewStateValue"] == "ALARM" for message in found):
            break
    return found
