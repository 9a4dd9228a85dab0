"""Does somebody hear the alarms?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from brandvane.cli.checks import Check, fail, ok, warn
from brandvane.cli.stack_facts import StackFacts, names_of
from brandvane.cli.view import number


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
