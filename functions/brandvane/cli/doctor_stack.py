"""Is the deployed stack as it should be? Each method looks at one thing and says how it stands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from brandvane.aws.catalogue_store import S3CatalogueStore
from brandvane.aws.keys import function_name, key_parameter, queue_name
from brandvane.catalogue import Catalogue
from brandvane.cli.aws_context import AwsContext
from brandvane.cli.checks import Check, Looks, fail, ok, warn
from brandvane.cli.overview import OTHER_QUEUES, SCHEDULES_DEAD
from brandvane.cli.template_rows import TemplateRow, template_rows
from brandvane.cli.view import number, shown
from brandvane.messages import calls_queue
from brandvane.ports import Deployed

UNRESERVED_LEAST = 100  # Lambda keeps so many for functions that reserve none
# Executions at a time of all functions but workers: planner 2 and a start, dispatcher 2, writeback 4, scanner 2, scorers, reporter.
OTHERS_AT_ONCE = 30
MINUTE_SCHEDULES = ("dispatcher", "scanner", "sweep")
POLLED = ("planner", "writeback", "scanner")
DRIFT_LOOK_S = 3.0
DRIFT_WAIT_S = 180.0
NAMES_SHOWN = 5
GOOD_ENDS = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE")
ALARM_TYPES = ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm")
NESTED = "AWS::CloudFormation::Stack"


class StackDoctor:
    """Looks at one stack; changes nothing."""

    def __init__(
        self,
        aws: AwsContext,
        *,
        rows: Mapping[str, TemplateRow] | None = None,
        sleep: Callable[[float], Any] = time.sleep,
        drift: bool = True,
    ) -> None:
        """``rows``: the template's, else those of the repository."""
        self._aws = aws
        self._rows_given = rows
        self._sleep = sleep
        self._drift = drift

    def looks(self) -> Looks:
        """All checks in their order; without a stack only what concerns the account."""
        if self._stack is None:
            return (("stack", self.no_stack), ("concurrency", self.concurrency))
        looks: Looks = (
            ("stack", self.stack),
            ("concurrency", self.concurrency),
            ("reserved", self.reserved),
            ("sources", self.sources),
            ("schedules", self.schedules),
            ("catalogue", self.catalogue),
            ("keys", self.keys),
            ("dead letters", self.dead_letters),
            ("alarms", self.alarms),
            ("notices", self.notices),
        )
        return (*looks, ("drift", self.drift)) if self._drift else looks

    def no_stack(self) -> Iterator[Check]:
        """Nothing has been deployed yet."""
        yield fail(
            "stack", f"there is no stack '{self._aws.stack}'", "sam build && sam deploy, or name another: --stack"
        )

    def stack(self) -> Iterator[Check]:
        """Did the last deployment end well?"""
        status = str((self._stack or {}).get("StackStatus", "unknown"))
        said = f"{self._aws.stack} is {status}"
        if status in GOOD_ENDS:
            yield ok("stack", said)
        elif status.endswith("_IN_PROGRESS"):
            yield warn("stack", said, "wait until the deployment has ended, then look again")
        elif status == "UPDATE_ROLLBACK_COMPLETE":
            yield warn("stack", f"{said}: the last update failed and was taken back", "sam deploy once more")
        else:
            yield fail("stack", said, "look at its events (aws cloudformation describe-stack-events) and deploy again")

    def concurrency(self) -> Iterator[Check]:
        """Does the account allow as many executions at a time as the workers may take?"""
        limits = self._aws.client("lambda").get_account_settings()["AccountLimit"]
        allowed = int(limits["ConcurrentExecutions"])
        wanted = sum(worker.invocations for worker in self._workers) + OTHERS_AT_ONCE
        quota = "ask for more: Service Quotas, Lambda, 'Concurrent executions'"
        said = f"the account allows {allowed:,} executions at a time, all functions together take up to {wanted:,}"
        yield ok("concurrency", said) if allowed >= wanted else fail("concurrency", said, quota)
        reserved = sum(row.reserved for row in self._rows.values())
        if self._reserves or not reserved:
            return
        if allowed - reserved >= UNRESERVED_LEAST:
            yield ok("concurrency", f"ReserveConcurrency=true is possible: it takes {reserved:,} of {allowed:,}")
        else:
            yield warn(
                "concurrency",
                f"ReserveConcurrency=true is not possible: of {allowed:,} it takes {reserved:,}, and "
                f"{UNRESERVED_LEAST} must stay unreserved",
                f"leave it false (the default), or {quota}",
            )

    def reserved(self) -> Iterator[Check]:
        """Has each worker reserved what the template says, and more than its pollers use?"""
        if self._aws.endpoint is not None:
            yield ok("reserved", "not looked at: an emulator reserves nothing")
            return
        client, wrong = self._aws.client("lambda"), 0
        for worker in self._deployed:
            name = function_name(self._aws.stack, f"worker-{worker.platform}")
            found = client.get_function_concurrency(FunctionName=name).get("ReservedConcurrentExecutions")
            row = self._rows.get(worker.platform)
            stated = row.reserved if row is not None and self._reserves else None
            if found is not None and found <= worker.invocations:
                wrong += 1
                yield fail(
                    "reserved",
                    f"{name} has {found} executions reserved and pollers that use {worker.invocations}: "
                    "healthy messages will end among the dead letters",
                    "raise Reserved above Invocations in Mappings.Platforms and deploy",
                )
            elif row is not None and found != stated:
                wrong += 1
                yield warn(
                    "reserved", f"{name} has {_or_none(found)} reserved, the template says {_or_none(stated)}", "deploy"
                )
        if not wrong:
            how = "as the template says" if self._reserves else "nothing, as ReserveConcurrency=false says"
            yield ok("reserved", f"{number(len(self._deployed), 'worker')} reserve {how}")

    def sources(self) -> Iterator[Check]:
        """Does every function that a queue wakes really hear of it?"""
        most = {f"worker-{worker.platform}": worker.invocations for worker in self._deployed}
        wrong = 0
        for function in (*most, *POLLED):
            name = function_name(self._aws.stack, function)
            found = self._aws.client("lambda").list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
            limit = (found[0].get("ScalingConfig") or {}).get("MaximumConcurrency") if found else None
            off = [each for each in found if each.get("State") not in ("Enabled", "Enabling", "Updating", "Creating")]
            if not found:
                wrong += 1
                yield fail("sources", f"nothing wakes {name}: its event source mapping is gone", "deploy")
            elif off:
                wrong += 1
                uuid = off[0].get("UUID", "")
                yield fail(
                    "sources",
                    f"the event source mapping of {name} is {off[0].get('State', 'unknown')}: its queue is not consumed",
                    f"aws lambda update-event-source-mapping --uuid {uuid} --enabled",
                )
            elif function in most and limit is not None and int(limit) != most[function]:
                wrong += 1
                yield warn(
                    "sources", f"{name} may run {limit} times at once, the template says {most[function]}", "deploy"
                )
        if not wrong:
            yield ok("sources", f"{number(len(most) + len(POLLED), 'function')} listen to their queues")

    def schedules(self) -> Iterator[Check]:
        """Do the minute schedules tick, and is there one for every schedule of the catalogue?"""
        pages = self._aws.client("scheduler").get_paginator("list_schedules").paginate(GroupName=self._aws.stack)
        states = {row["Name"]: row.get("State", "") for page in pages for row in page["Schedules"]}
        found = self._catalogue
        daily = [] if found is None else [schedule.id for schedule in found.monitor.schedules]
        wrong = 0
        for name in (*(f"{self._aws.stack}-{each}" for each in MINUTE_SCHEDULES), *daily):
            remedy = "brandvane catalogue push DIR" if name in daily else "deploy"
            if name not in states:
                wrong += 1
                yield fail("schedules", f"schedule {name} is not there", remedy)
            elif states[name] != "ENABLED":
                wrong += 1
                yield fail("schedules", f"schedule {name} is {states[name]}", f"enable it in the console, or: {remedy}")
        if not wrong:
            said = (
                f"{len(MINUTE_SCHEDULES)} minute schedules and {number(len(daily), 'daily one', 'daily ones')} are on"
            )
            yield ok("schedules", said)

    def catalogue(self) -> Iterator[Check]:
        """Is there something to ask, and a worker for everybody who is asked?"""
        found = self._catalogue
        if found is None:
            yield fail(
                "catalogue", "no catalogue has been pushed: nothing will be asked", "brandvane catalogue push DIR"
            )
            return
        workers = {worker.platform for worker in self._deployed}
        missing = [name for name in found.monitor.platform_names if name not in workers]
        if missing:
            yield fail(
                "catalogue", f"no worker is deployed for {_names(missing)}", "add it to template.yaml and deploy"
            )
        else:
            yield ok("catalogue", f"{found.version}, every platform of it has a worker")

    def keys(self) -> Iterator[Check]:
        """Has every platform its key?"""
        path = key_parameter(self._aws.stack, "")
        pages = self._aws.client("ssm").get_paginator("get_parameters_by_path").paginate(Path=path.rstrip("/"))
        known = {row["Name"].removeprefix(path) for page in pages for row in page["Parameters"]}
        found = self._catalogue
        wanted = found.monitor.platform_names if found is not None else [each.platform for each in self._deployed]
        missing = [name for name in wanted if name not in known]
        if missing:
            yield fail("keys", f"no key for {_names(missing)}", f"brandvane keys set {missing[0]}")
        else:
            yield ok("keys", f"every platform has its key ({_names(wanted)})")

    def dead_letters(self) -> Iterator[Check]:
        """Is a message among the dead letters?"""
        sqs, full = self._aws.client("sqs"), 0
        names = [*(calls_queue(worker.platform) for worker in self._deployed), *OTHER_QUEUES]
        for dead in (*(f"{name}-dead" for name in names), SCHEDULES_DEAD):
            url = sqs.get_queue_url(QueueName=queue_name(self._aws.stack, dead))["QueueUrl"]
            told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
            count = int(told["Attributes"]["ApproximateNumberOfMessages"])
            if count:
                full += 1
                command = f"brandvane redrive {dead.removesuffix('-dead')}"
                yield fail("dead letters", f"{number(count, 'message')} in {dead}", command)
        if not full:
            yield ok("dead letters", f"{len(names) + 1} dead-letter queues are empty")

    def alarms(self) -> Iterator[Check]:
        """Are the alarms of the template there, on, and quiet?"""
        names = [name for kind, name in self._resources if kind in ALARM_TYPES]
        if not names:
            where = (
                "an emulator's stack has fewer of them" if self._aws.endpoint else "deploy with the monitoring stack"
            )
            yield warn("alarms", "the stack has no alarms: nobody will be told", where)
            return
        client, rows = self._aws.client("cloudwatch"), []
        for first in range(0, len(names), 100):
            part = names[first : first + 100]
            reply = client.describe_alarms(AlarmNames=part, AlarmTypes=["MetricAlarm", "CompositeAlarm"])
            rows += [*reply.get("MetricAlarms", ()), *reply.get("CompositeAlarms", ())]
        there = {row["AlarmName"] for row in rows}
        gone = [name for name in names if name not in there]
        quiet = [row["AlarmName"] for row in rows if not row.get("ActionsEnabled", True)]
        ringing = [row["AlarmName"] for row in rows if row.get("StateValue") == "ALARM"]
        if gone:
            yield fail("alarms", f"gone, though the template has them: {_names(gone)}", "deploy")
        if quiet:
            remedy = "aws cloudwatch enable-alarm-actions --alarm-names NAME"
            yield warn("alarms", f"when they ring, nothing happens: {_names(quiet)}", remedy)
        if ringing:
            yield warn("alarms", f"in ALARM: {_names(ringing)}", "docs/runbook.md")
        if not (gone or quiet or ringing):
            yield ok("alarms", f"{number(len(names), 'alarm')}, none in ALARM")

    def notices(self) -> Iterator[Check]:
        """Does somebody hear the alarms?"""
        topics = [name for kind, name in self._resources if kind == "AWS::SNS::Topic"]
        if not topics:
            yield warn("notices", "the stack has no topics: nobody will be told", "deploy with the monitoring stack")
        deaf, unheard = [], False
        for topic in topics:
            pages = self._aws.client("sns").get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
            rows = [row for page in pages for row in page["Subscriptions"]]
            waiting = [row for row in rows if row["SubscriptionArn"] in ("PendingConfirmation", "pending confirmation")]
            short = topic.rpartition(":")[2]
            if waiting:
                unheard = True
                said = f"not confirmed at {short}: {_names(_endpoints(waiting))}"
                yield fail("notices", said, "follow the link in the message that AWS sent there")
            elif not rows:
                deaf.append(short)
        if deaf:
            remedy = "deploy with the e-mail or webhook parameters, or subscribe somebody in the console"
            yield warn("notices", f"nobody is subscribed to {_names(deaf)}", remedy)
        elif topics and not unheard:
            yield ok("notices", f"{number(len(topics), 'topic')}, each with a confirmed subscription")

    def drift(self) -> Iterator[Check]:
        """Has somebody changed resources by hand since they were deployed?"""
        if self._aws.endpoint is not None:
            yield ok("drift", "not looked at: an emulator does not know drift")
            return
        client = self._aws.client("cloudformation")
        begun = client.detect_stack_drift(StackName=self._aws.stack)["StackDriftDetectionId"]
        waited = 0.0
        while True:
            told = client.describe_stack_drift_detection_status(StackDriftDetectionId=begun)
            if told["DetectionStatus"] != "DETECTION_IN_PROGRESS":
                break
            if waited >= DRIFT_WAIT_S:
                yield warn(
                    "drift", f"still being looked for after {DRIFT_WAIT_S:g} s", "run it again, or say --no-drift"
                )
                return
            self._sleep(DRIFT_LOOK_S)
            waited += DRIFT_LOOK_S
        if told["DetectionStatus"] == "DETECTION_FAILED" and told.get("StackDriftStatus") != "DRIFTED":
            why = shown(str(told.get("DetectionStatusReason", "no reason given")))
            yield warn("drift", f"could not be found out: {why}", "aws cloudformation detect-stack-drift")
        elif told.get("StackDriftStatus") == "DRIFTED":
            rows = client.describe_stack_resource_drifts(
                StackName=self._aws.stack, StackResourceDriftStatusFilters=["MODIFIED", "DELETED"]
            )["StackResourceDrifts"]
            names = [f"{row['LogicalResourceId']} ({row['StackResourceDriftStatus'].lower()})" for row in rows]
            yield fail(
                "drift", f"changed by hand: {_names(names)}", "deploy to undo it, or put the change into the template"
            )
        else:
            yield ok("drift", "every resource is as the template says")

    @cached_property
    def _stack(self) -> Mapping[str, Any] | None:
        from botocore.exceptions import ClientError

        try:
            stacks = self._aws.client("cloudformation").describe_stacks(StackName=self._aws.stack)["Stacks"]
        except ClientError as error:
            if error.response["Error"]["Code"] == "ValidationError":  # CloudFormation's way to say: does not exist
                return None
            raise
        found: Mapping[str, Any] | None = stacks[0] if stacks else None
        return found

    @cached_property
    def _parameters(self) -> Mapping[str, str]:
        rows = (self._stack or {}).get("Parameters", ())
        return {row["ParameterKey"]: row.get("ParameterValue", "") for row in rows}

    @property
    def _reserves(self) -> bool:
        return self._parameters.get("ReserveConcurrency") == "true"

    @cached_property
    def _rows(self) -> Mapping[str, TemplateRow]:
        if self._rows_given is not None:
            return self._rows_given
        return template_rows(standins=self._parameters.get("StandIns") == "true")

    @cached_property
    def _deployed(self) -> tuple[Deployed, ...]:
        return self._aws.platforms()

    @property
    def _workers(self) -> Iterable[Deployed | TemplateRow]:
        """Those that are deployed; before the first deployment those that will be."""
        return self._deployed if self._stack is not None else self._rows.values()

    @cached_property
    def _catalogue(self) -> Catalogue | None:
        store = S3CatalogueStore(s3=self._aws.client("s3"), bucket=self._aws.output("DataBucket"))

        async def read() -> Catalogue | None:
            version = await store.current()
            return None if version is None else await store.load(version)

        return asyncio.run(read())

    @cached_property
    def _resources(self) -> list[tuple[str, str]]:
        """Type and physical name of every resource, those of nested stacks included."""
        client = self._aws.client("cloudformation")
        found: list[tuple[str, str]] = []
        stacks = [self._aws.stack]
        while stacks:
            pages = client.get_paginator("list_stack_resources").paginate(StackName=stacks.pop())
            for page in pages:
                for row in page["StackResourceSummaries"]:
                    name = str(row.get("PhysicalResourceId", ""))
                    found.append((row["ResourceType"], name))
                    if row["ResourceType"] == NESTED and name:
                        stacks.append(name)
        return found


def _endpoints(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"{row.get('Protocol', '')} {row.get('Endpoint', '')}".strip() for row in rows]


def _names(names: Iterable[str]) -> str:
    """Some of them, and how many more."""
    given = list(names)
    more = f" and {len(given) - NAMES_SHOWN} more" if len(given) > NAMES_SHOWN else ""
    return ", ".join(given[:NAMES_SHOWN]) + more


def _or_none(count: int | None) -> str:
    return "none" if count is None else str(count)
