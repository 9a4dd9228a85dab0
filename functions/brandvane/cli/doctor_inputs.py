"""Will a day begin and be asked: do the schedules tick, is there a catalogue, has every platform its key?"""

from __future__ import annotations

from collections.abc import Iterator

from brandvane.aws.keys import key_parameter
from brandvane.cli.checks import Check, fail, ok
from brandvane.cli.stack_facts import StackFacts, names_of
from brandvane.cli.view import number

MINUTE_SCHEDULES = ("dispatcher", "scanner", "sweep")


def schedules(facts: StackFacts) -> Iterator[Check]:
    """Do the minute schedules tick, and is there one for every schedule of the catalogue?"""
    pages = facts.aws.client("scheduler").get_paginator("list_schedules").paginate(GroupName=facts.aws.stack)
    states = {row["Name"]: row.get("State", "") for page in pages for row in page["Schedules"]}
    found = facts.catalogue
    daily = [] if found is None else [schedule.id for schedule in found.monitor.schedules]
    wrong = 0
    for name in (*(f"{facts.aws.stack}-{each}" for each in MINUTE_SCHEDULES), *daily):
        remedy = "brandvane catalogue push DIR" if name in daily else "deploy"
        if name not in states:
            wrong += 1
            yield fail("schedules", f"schedule {name} is not there", remedy)
        elif states[name] != "ENABLED":
            wrong += 1
            yield fail("schedules", f"schedule {name} is {states[name]}", f"enable it in the console, or: {remedy}")
    if not wrong:
        said = f"{len(MINUTE_SCHEDULES)} minute schedules and {number(len(daily), 'daily one', 'daily ones')} are on"
        yield ok("schedules", said)


def catalogue(facts: StackFacts) -> Iterator[Check]:
    """Is there something to ask, and a worker for everybody who is asked?"""
    found = facts.catalogue
    if found is None:
        yield fail("catalogue", "no catalogue has been pushed: nothing will be asked", "brandvane catalogue push DIR")
        return
    workers = {worker.platform for worker in facts.deployed}
    missing = [name for name in found.monitor.platform_names if name not in workers]
    if missing:
        yield fail("catalogue", f"no worker is deployed for {names_of(missing)}", "add it to template.yaml and deploy")
    else:
        yield ok("catalogue", f"{found.version}, every platform of it has a worker")


def keys(facts: StackFacts) -> Iterator[Check]:
    """Has every platform its key?"""
    path = key_parameter(facts.aws.stack, "")
    pages = facts.aws.client("ssm").get_paginator("get_parameters_by_path").paginate(Path=path.rstrip("/"))
    known = {row["Name"].removeprefix(path) for page in pages for row in page["Parameters"]}
    found = facts.catalogue
    wanted = found.monitor.platform_names if found is not None else [each.platform for each in facts.deployed]
    missing = [name for name in wanted if name not in known]
    if missing:
        yield fail("keys", f"no key for {names_of(missing)}", f"brandvane keys set {missing[0]}")
    else:
        yield ok("keys", f"every platform has its key ({names_of(wanted)})")
