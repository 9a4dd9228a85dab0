"""Will somebody hear when something is wrong: alarms, subscriptions, dead letters?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from brandvane.aws.keys import queue_name
from brandvane.cli.checks import Check, fail, ok, warn
from brandvane.cli.overview import OTHER_QUEUES, SCHEDULES_DEAD
from brandvane.cli.stack_facts import StackFacts, names_of
from brandvane.cli.view import number
from brandvane.messages import calls_queue

ALARM_TYPES = ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm")


def dead_letters(facts: StackFacts) -> Iterator[Check]:
    """Is a message among the dead letters?"""
    sqs, full = facts.aws.client("sqs"), 0
    names = [*(calls_queue(worker.platform) for worker in facts.deployed), *OTHER_QUEUES]
    for dead in (*(f"{name}-dead" for name in names), SCHEDULES_DEAD):
        url = sqs.get_queue_url(QueueName=queue_name(facts.aws.stack, dead))["QueueUrl"]
        told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
        count = int(told["Attributes"]["ApproximateNumberOfMessages"])
        if count:
            full += 1
            command = f"brandvane redrive {dead.removesuffix('-dead')}"
            yield fail("dead letters", f"{number(count, 'message')} in {dead}", command)
    if not full:
        yield ok("dead letters", f"{len(names) + 1} dead-letter queues are empty")


def alarms(facts: StackFacts) -> Iterator[Check]:
    """Are the alarms of the template there, on, and quiet?"""
    names = [name for kind, name in facts.resources if kind in ALARM_TYPES]
    if not names:
        where = "an emulator's stack has fewer of them" if facts.aws.endpoint else "deploy with the monitoring stack"
        yield warn("alarms", "the stack has no alarms: nobody will be told", where)
        return
    client, rows = facts.aws.client("cloudwatch"), []
    for first in range(0, len(names), 100):
        part = names[first : first + 100]
        reply = client.describe_alarms(AlarmNames=part, AlarmTypes=["MetricAlarm", "CompositeAlarm"])
        rows += [*reply.get("MetricAlarms", ()), *reply.get("CompositeAlarms", ())]
    there = {row["AlarmName"] for row in rows}
    gone = [name for name in names if name not in there]
    quiet = [row["AlarmName"] for row in rows if not row.get("ActionsEnabled", True)]
    ringing = [row["AlarmName"] for row in rows if row.get("StateValue") == "ALARM"]
    if gone:
        yield fail("alarms", f"gone, though the template has them: {names_of(gone)}", "deploy")
    if quiet:
        remedy = "aws cloudwatch enable-alarm-actions --alarm-names NAME"
        yield warn("alarms", f"when they ring, nothing happens: {names_of(quiet)}", remedy)
    if ringing:
        yield warn("alarms", f"in ALARM: {names_of(ringing)}", "docs/runbook.md")
    if not (gone or quiet or ringing):
        yield ok("alarms", f"{number(len(names), 'alarm')}, none in ALARM")


def notices(facts: StackFacts) -> Iterator[Check]:
    """Does somebody hear the alarms?"""
    topics = [name for kind, name in facts.resources if kind == "AWS::SNS::Topic"]
    if not topics:
        yield warn("notices", "the stack has no topics: nobody will be told", "deploy with the monitoring stack")
    deaf, unheard = [], False
    for topic in topics:
        pages = facts.aws.client("sns").get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
        rows = [row for page in pages for row in page["Subscriptions"]]
        waiting = [row for row in rows if row["SubscriptionArn"] in ("PendingConfirmation", "pending confirmation")]
        short = topic.rpartition(":")[2]
        if waiting:
            unheard = True
            said = f"not confirmed at {short}: {names_of(_endpoints(waiting))}"
            yield fail("notices", said, "follow the link in the message that AWS sent there")
        elif not rows:
            deaf.append(short)
    if deaf:
        remedy = "deploy with the e-mail or webhook parameters, or subscribe somebody in the console"
        yield warn("notices", f"nobody is subscribed to {names_of(deaf)}", remedy)
    elif topics and not unheard:
        yield ok("notices", f"{number(len(topics), 'topic')}, each with a confirmed subscription")


def _endpoints(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"{row.get('Protocol', '')} {row.get('Endpoint', '')}".strip() for row in rows]
