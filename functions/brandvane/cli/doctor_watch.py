"""Is something wrong that somebody should see: dead letters, alarms that ring, are gone or do nothing?"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from brandvane.aws.keys import queue_name
from brandvane.cli.alarm_reader import outage_name, outage_parts
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
            command = f"brandvane dead-letters redrive {dead.removesuffix('-dead')}"
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
    off = [row["AlarmName"] for row in rows if not row.get("ActionsEnabled", True)]
    quiet, missing = _quiet(facts, off, there)
    ringing = [row["AlarmName"] for row in rows if row.get("StateValue") == "ALARM"]
    if gone:
        yield fail("alarms", f"gone, though the template has them: {names_of(gone)}", "deploy")
    if quiet:
        remedy = "aws cloudwatch enable-alarm-actions --alarm-names NAME"
        yield warn("alarms", f"when they ring, nothing happens: {names_of(quiet)}", remedy)
    unpaged = [name for name in missing if name not in gone]
    if unpaged:
        said = f"not there, though its platform's alarms leave the paging to it: {names_of(unpaged)}"
        yield warn("alarms", said, "deploy")
    if ringing:
        yield warn("alarms", f"in ALARM: {names_of(ringing)}", "docs/runbook.md")
    if not (gone or quiet or unpaged or ringing):
        yield ok("alarms", f"{number(len(names), 'alarm')}, none in ALARM")


def _quiet(facts: StackFacts, off: Collection[str], there: Collection[str]) -> tuple[list[str], list[str]]:
    """Alarms that should act and do not, and composite alarms that should be there and are not.

    A composite alarm pages in place of its parts, whose own actions are off: what counts is whether it is there and on.
    """
    parts: set[str] = set()
    missing = []
    for worker in facts.deployed:
        paged = set(outage_parts(facts.aws.stack, worker.platform)) & set(off)
        composite = outage_name(facts.aws.stack, worker.platform)
        if paged and composite not in there:
            missing.append(composite)
        parts |= paged
    return [name for name in off if name not in parts], missing
