"""Does somebody hear the alarms, and do the messages tell the right time?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from brandvane.cli.checks import Check, fail, ok, warn
from brandvane.cli.stack_facts import StackFacts, names_of
from brandvane.cli.view import number, shown

ZONE_PARAMETER = "NoticeTimeZone"
DEPLOY_WITH_SOMEBODY = "deploy with the e-mail or webhook parameters, or subscribe somebody in the console"


def notices(facts: StackFacts) -> Iterator[Check]:
    """Does somebody hear the alarms? In production somebody must."""
    topics = [name for kind, name in facts.resources if kind == "AWS::SNS::Topic"]
    if not topics:
        unheard = fail if facts.production else warn
        yield unheard("notices", "the stack has no topics: nobody will be told", "deploy with the monitoring stack")
        return
    deaf: list[str] = []
    waiting: list[Check] = []
    for topic in topics:
        pages = facts.aws.client("sns").get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
        rows = [row for page in pages for row in page["Subscriptions"]]
        pending = [row for row in rows if row["SubscriptionArn"] in ("PendingConfirmation", "pending confirmation")]
        short = topic.rpartition(":")[2]
        if pending:
            said = f"not confirmed at {short}: {names_of(_endpoints(pending))}"
            waiting.append(fail("notices", said, "follow the link in the message that AWS sent there"))
        elif not rows:
            deaf.append(short)
    yield from waiting
    if facts.production and len(deaf) == len(topics):
        yield fail("notices", "this is production, and nobody is told of any alarm", DEPLOY_WITH_SOMEBODY)
    elif deaf:
        yield warn("notices", f"nobody is subscribed to {names_of(deaf)}", DEPLOY_WITH_SOMEBODY)
    elif not waiting:
        yield ok("notices", f"{number(len(topics), 'topic')}, each with a confirmed subscription")


def time_zone(facts: StackFacts) -> Iterator[Check]:
    """Is the time zone of the messages one that there is? A deployment looks only at its letters."""
    name = facts.parameters.get(ZONE_PARAMETER, "UTC")
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # one that leaves the database, a folder's name, one that nobody knows
        close = get_close_matches(name, available_timezones(), n=1, cutoff=0.8)
        remedy = f"deploy with {ZONE_PARAMETER}={close[0] if close else 'Asia/Shanghai, Europe/Berlin or UTC'}"
        yield warn("time zone", f"{ZONE_PARAMETER} is '{shown(name)}', and there is no such time zone", remedy)
    else:
        yield ok("time zone", f"messages tell the time of {name}")


def _endpoints(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"{row.get('Protocol', '')} {row.get('Endpoint', '')}".strip() for row in rows]
