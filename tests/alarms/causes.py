"""What is done to a running stack so that an alarm has its real cause, and how is it undone?"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from brandvane.aws.keys import function_name, key_parameter, tables_of
from brandvane.cli.chaos_records import Records
from brandvane.cli.chaos_schedules import DISPATCHER, ScannerSchedules
from brandvane.cli.chaos_standins import Standins
from brandvane.cli.demo_catalogue import Pace, write_monitor
from brandvane.cli.errors import CliError
from brandvane.cli.local_stack import DUMMY_KEY, session_of
from brandvane.gauges import NO_REPORT_S
from brandvane.messages import calls_queue
from brandvane.ports import Envelope
from brandvane.task import State
from e2e.deployed import DeployedStack, wait_for

A, B, C = "openai", "hunyuan", "deepseek"
PACE = Pace(rate=10.0, expected_hold_s=6.0)


@dataclass(frozen=True, slots=True)
class Case:
    """One cause. ``must``: alarms that fire; ``may``: those that follow from it as well; ``undo`` lets all of them clear."""

    name: str
    must: tuple[str, ...]
    cause: Callable[[], None]
    undo: Callable[[], None]
    may: tuple[str, ...] = ()
    patience_s: float = 240.0


class Causes:
    """All of them, on one stack."""

    def __init__(self, stack: DeployedStack) -> None:
        self._stack = stack
        self._state = stack.state
        self._clients = stack.clients
        self._standins = Standins(stack.state.standins_url)
        self._records = Records(stack.state.stack, stack.clients)
        self._session = session_of(stack.state)
        self._runs: list[str] = []
        self._policies: dict[str, tuple[str, str]] = {}

    def cases(self) -> list[Case]:
        """In an order in which one does not stand in another's way."""
        return [
            Case("a letter on a dead-letter queue", ("dead-letters",), self._letter, self._no_letter),
            Case(
                "a platform whose bodies cannot be used",
                (f"{A}-success-rate", f"{A}-retry-storm", f"{A}-retries-used-up"),
                self._unusable,
                self._usable,
                patience_s=420.0,
            ),
            Case(
                "workers killed after they pulled",
                (f"{A}-pulled-not-started", "global-timeouts"),
                self._killed,
                self._consumed,
                patience_s=300.0,
            ),
            Case("the results table refuses rows", ("write-back-pending",), self._no_rows, self._rows),
            Case("a key revoked", (f"{B}-platform-paused",), self._no_key, self._key),
            Case("the day's budget nearly used up", ("spend-80",), self._nearly_spent, self._not_spent),
            Case("the day's budget used up", ("spend-80", "spend-100"), self._spent, self._not_spent),
            Case(
                "a deadline that cannot be kept",
                ("deadline-at-risk", "deadline-missed"),
                self._too_early,
                self._end_runs,
                patience_s=480.0,
            ),
            Case("no report", ("no-report",), self._no_report, self._report),
            Case(
                "the event source of a queue off",
                (f"{A}-backlog", "backlog-total"),
                self._not_consumed,
                self._consumed,
                may=("deadline-at-risk",),
                patience_s=420.0,
            ),
            Case(
                "the planner's schedule and the dispatcher's off",
                ("run-not-planned",),
                self._not_planned,
                self._planned,
            ),
            Case(
                "the scanner's schedules off",
                ("scanner-heartbeat",),
                lambda: ScannerSchedules(self._state).switch(on=False),
                lambda: ScannerSchedules(self._state).switch(on=True),
                patience_s=420.0,
            ),
        ]

    # ------------------------------------------------------------------------------------------------- runs

    def push(self, questions: int = 20, samples: int = 1, **platform: Any) -> None:
        """A catalogue; ``platform`` sets fields of one: ``deepseek={"day_budget_usd": 1}``."""
        self._stack.push(questions, samples)
        if platform:
            self._push_monitor(samples, datetime.now(UTC), **platform)

    def _push_monitor(self, samples: int, now: datetime, **platform: Any) -> None:
        import yaml

        write_monitor(self._stack.folder, self._state.platforms, self._state.base_urls, PACE, samples, now)
        file = self._stack.folder / "monitor.yaml"
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
        for name, fields in platform.items():
            document["platforms"][name] |= fields
        file.write_text(yaml.safe_dump(document), encoding="utf-8")
        self._stack.brandvane("catalogue", "push", str(self._stack.folder), "--yes")

    def _start(self, *options: str) -> str:
        label = f"alarms-{len(self._runs) + 1}-{int(time.time())}"
        self._stack.brandvane("run", "start", "--label", label, "--yes", *options)
        self._runs.append(label)
        return label

    def _end_runs(self) -> None:
        for label in self._runs:
            with suppress(CliError):
                self._stack.brandvane("cancel", label, "--yes")
        self._runs.clear()

    def _done(self, label: str, timeout_s: float = 240.0) -> None:
        wait_for(lambda: self._stack.run(label).finished_at is not None, f"{label} is finished", timeout_s)

    # ------------------------------------------------------------------------------------------------- causes

    def _letter(self) -> None:
        """A message that nobody can read is received twenty times, a second apart."""
        asyncio.run(self._records.send(A, [Envelope("1", "no json")]))

    def _no_letter(self) -> None:
        name = f"{self._state.stack}-{calls_queue(A)}-dead"
        url = self._clients.sqs.get_queue_url(QueueName=name)["QueueUrl"]
        for message in self._clients.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            self._clients.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def _unusable(self) -> None:
        self._standins.change({A: {"malformed": 1.0}})
        self.push(20, 3)
        self._start()

    def _usable(self) -> None:
        """The platform is well again, and the hour that its used-up retries count in is over."""
        self._standins.change({A: {"malformed": 0.0}})
        self._done(self._runs[-1])
        self._end_runs()
        self._forget_stats(A)

    def _forget_stats(self, platform: str) -> None:
        table = tables_of(self._state.stack).stats
        items = self._clients.dynamodb.query(
            TableName=table,
            KeyConditionExpression="platform = :p",
            ExpressionAttributeValues={":p": {"S": platform}},
        )["Items"]
        for item in items:
            self._clients.dynamodb.delete_item(TableName=table, Key={"platform": item["platform"], "at": item["at"]})
        self._stack.kill("scanner")  # and what it remembered of them

    def _killed(self) -> None:
        self._standins.change({A: {"median": 5.0, "sigma": 0.0}})
        self.push(60, 3)
        self._start("--platform", A)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if len(asyncio.run(self._records.held(A, State.PULLED))) >= 20:
                break
            time.sleep(0.05)
        self._stack.kill(f"worker-{A}")
        self._event_source(A, on=False)  # or new workers would claim what the dead ones have left
        self._standins.change({A: {"median": 0.8, "sigma": 0.5}})

    def _policy(self, role_of: str, change: Callable[[dict[str, Any]], None]) -> None:
        iam = self._session.client("iam", endpoint_url=self._state.endpoint)
        function = self._clients.functions.get_function(FunctionName=function_name(self._state.stack, role_of))
        role = function["Configuration"]["Role"].rpartition("/")[2]
        (name,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
        document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        self._policies.setdefault(role, (name, json.dumps(document)))
        changed: Any = json.loads(json.dumps(document))
        change(changed)
        iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(changed))

    def _restore_policies(self) -> None:
        iam = self._session.client("iam", endpoint_url=self._state.endpoint)
        for role, (name, document) in self._policies.items():
            iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=document)
        self._policies.clear()

    def _no_rows(self) -> None:
        def without(document: dict[str, Any]) -> None:
            document["Statement"] = [each for each in document["Statement"] if each.get("Sid") != "PutResults"]

        for function in (f"worker-{A}", f"worker-{B}", f"worker-{C}", "writeback", "scanner"):
            self._policy(function, without)
        self.push(20, 2)
        self._start()

    def _rows(self) -> None:
        self._restore_policies()
        self._done(self._runs[-1])
        self._end_runs()

    def _no_key(self) -> None:
        self._clients.ssm.delete_parameter(Name=key_parameter(self._state.stack, B))
        self._stack.kill(f"worker-{B}")  # they remember the key for a while
        self.push(20, 1)
        self._start("--platform", B)

    def _key(self) -> None:
        name = key_parameter(self._state.stack, B)
        self._clients.ssm.put_parameter(Name=name, Value=DUMMY_KEY, Type="SecureString", Overwrite=True)
        self._stack.brandvane("platform", "resume", B)
        self._done(self._runs[-1])
        self._end_runs()

    def _booked(self) -> float:
        item = self._clients.dynamodb.get_item(
            TableName=tables_of(self._state.stack).control, Key={"id": {"S": f"platform#{C}"}}
        ).get("Item", {})
        return float(item.get("day_microusd", {"N": "0"})["N"]) / 1e6

    def _nearly_spent(self) -> None:
        self.push(20, 1, **{C: {"day_budget_usd": 1000}})
        self._start("--platform", C)
        self._done(self._runs[-1])
        self._push_monitor(1, datetime.now(UTC), **{C: {"day_budget_usd": self._booked() / 0.9}})

    def _spent(self) -> None:
        self._push_monitor(1, datetime.now(UTC), **{C: {"day_budget_usd": self._booked() / 1.01}})

    def _not_spent(self) -> None:
        self._push_monitor(1, datetime.now(UTC), **{C: {"day_budget_usd": 1000}})

    def _too_early(self) -> None:
        """300 calls at one a second, to be over in four minutes; of the tasks some will not have been asked by then."""
        self.push(60, 5)
        label = self._start("--platform", A)
        self._stack.brandvane("platform", "rate", A, "0.5")
        self._stack.brandvane("deadline", label, "+4m")

    def _no_report(self) -> None:
        def without(document: dict[str, Any]) -> None:
            document["Statement"] = [each for each in document["Statement"] if each.get("Sid") != "PutReports"]

        self._policy("reporter", without)
        self.push(20, 1)
        label = self._start("--platform", C)
        self._done(label)
        self._clients.dynamodb.update_item(  # half an hour, without the waiting
            TableName=tables_of(self._state.stack).runs,
            Key={"run_id": {"S": label}},
            UpdateExpression="SET finished_at = finished_at - :s",
            ExpressionAttributeValues={":s": {"N": str(NO_REPORT_S)}},
        )

    def _report(self) -> None:
        self._restore_policies()
        self._stack.invoke("reporter", {"run_id": self._runs[-1], "pass_no": 1})
        self._runs.clear()

    def _event_source(self, platform: str, *, on: bool) -> None:
        name = function_name(self._state.stack, f"worker-{platform}")
        for source in self._clients.functions.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]:
            self._clients.functions.update_event_source_mapping(UUID=source["UUID"], Enabled=on)

    def _not_consumed(self) -> None:
        self._event_source(A, on=False)
        self.push(105, 10)
        self._start("--platform", A)

    def _consumed(self) -> None:
        self._end_runs()
        self._event_source(A, on=True)

    def _not_planned(self) -> None:
        ScannerSchedules(self._state, (DISPATCHER,)).switch(on=False)
        self._push_monitor(1, datetime.now(UTC) - timedelta(hours=12, minutes=11))

    def _planned(self) -> None:
        self._push_monitor(1, datetime.now(UTC))
        ScannerSchedules(self._state, (DISPATCHER,)).switch(on=True)
