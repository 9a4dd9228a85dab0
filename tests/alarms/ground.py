"""What can be done to a running stack: runs, catalogues, policies, event sources, statistics?"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import yaml

from alarms.recorded import ANOTHER_STACK, NOBODY
from brandvane.aws.keys import function_name, tables_of
from brandvane.cli.chaos_records import Records
from brandvane.cli.chaos_standins import Standins
from brandvane.cli.demo_catalogue import Pace, write_monitor
from brandvane.cli.errors import CliError
from brandvane.cli.local_stack import session_of
from brandvane.metrics import NAMESPACE
from brandvane.task import State
from e2e.deployed import DeployedStack, wait_for

PACE = Pace(rate=10.0, expected_hold_s=6.0)
DONE_S = 300.0
AGAIN_S = 1.0


class Ground:
    """One deployed stack, as the causes handle it."""

    def __init__(self, stack: DeployedStack) -> None:
        self.stack = stack
        self.state = stack.state
        self.clients = stack.clients
        self.standins = Standins(stack.state.standins_url)
        self.records = Records(stack.state.stack, stack.clients)
        self._iam = session_of(stack.state).client("iam", endpoint_url=stack.state.endpoint)
        self._policies: dict[str, tuple[str, str]] = {}
        self._labels = 0

    # ------------------------------------------------------------------------------------------------- runs

    def push(self, questions: int, samples: int) -> None:
        """A catalogue of so many questions, each asked so many times of each platform."""
        self.stack.push(questions, samples)

    def push_monitor(
        self, *, now: datetime | None = None, budgets: Mapping[str, float] | None = None, schedule: str | None = None
    ) -> None:
        """The same brands and questions, asked once; ``budgets``: US dollars a day. The schedule begins 12 hours after ``now``;
        ``schedule``: another id than its own.
        """
        at = datetime.now(UTC) if now is None else now
        write_monitor(self.stack.folder, self.state.platforms, self.state.base_urls, PACE, 1, at)
        file = self.stack.folder / "monitor.yaml"
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
        if schedule is not None:
            document["schedules"][0]["id"] = schedule
        for name, dollars in (budgets or {}).items():
            document["platforms"][name]["day_budget_usd"] = dollars
        file.write_text(yaml.safe_dump(document), encoding="utf-8")
        self.stack.brandvane("catalogue", "push", str(self.stack.folder), "--yes")

    def start(self, platform: str, limit: int) -> str:
        """Start a run of so many calls on one platform; its id."""
        self._labels += 1
        label = f"alarms-{self._labels}-{int(time.time())}"
        self.stack.brandvane("run", "start", "--label", label, "--platform", platform, "--limit", str(limit), "--yes")
        return label

    def end(self, label: str) -> None:
        """Cancel a run that is not over, and wait until its tasks have ended: none of them may be in the next cause's way."""
        if self.stack.run(label).finished_at is None:
            with suppress(CliError):  # it has finished in this moment
                self.stack.brandvane("run", "cancel", label, "--yes")

        def over() -> bool:
            run = self.stack.run(label)
            return run.finished_at is not None or not run.waits

        wait_for(over, f"the tasks of {label} have ended", DONE_S)

    def done(self, label: str, timeout_s: float = DONE_S) -> None:
        """Wait until a run has all its rows."""
        wait_for(lambda: self.stack.run(label).finished_at is not None, f"{label} is finished", timeout_s)

    def pulled(self, platform: str, least: int, timeout_s: float = 120.0) -> None:
        """Wait until workers have claimed so many tasks whose calls have not begun."""
        wait_for(
            lambda: len(asyncio.run(self.records.held(platform, State.PULLED))) >= least,
            f"{least} tasks of {platform} are PULLED",
            timeout_s,
        )

    # ------------------------------------------------------------------------------------------- permissions

    def without(self, statement: str, *functions: str) -> None:
        """Take a statement out of the roles of some functions."""
        for function in functions:
            told = self.clients.functions.get_function(FunctionName=function_name(self.state.stack, function))
            role = told["Configuration"]["Role"].rpartition("/")[2]
            found = False
            for name in self._iam.list_role_policies(RoleName=role)["PolicyNames"]:
                document: Any = self._iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
                kept = [each for each in document["Statement"] if each.get("Sid") != statement]
                if len(kept) < len(document["Statement"]):
                    found = True
                    self._policies.setdefault(role, (name, json.dumps(document)))
                    self._put(role, name, json.dumps({**document, "Statement": kept}))
            assert found, f"{function} has no statement {statement}"

    def restore_policies(self) -> None:
        """Give back what was taken."""
        for role, (name, document) in self._policies.items():
            self._put(role, name, document)
        self._policies.clear()

    def _put(self, role: str, name: str, document: str) -> None:
        self._iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=document)

    # ------------------------------------------------------------------------------------------------ the rest

    def event_source(self, platform: str, *, on: bool) -> None:
        """Let a platform's worker hear of its queue, or not."""
        name = function_name(self.state.stack, f"worker-{platform}")
        for source in self.clients.functions.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]:
            self.clients.functions.update_event_source_mapping(UUID=source["UUID"], Enabled=on)

    def booked_usd(self, platform: str) -> float:
        """What a platform's answers of the day have cost, by its control item."""
        found = self.clients.dynamodb.get_item(
            TableName=tables_of(self.state.stack).control, Key={"id": {"S": f"platform#{platform}"}}
        )
        return float(found.get("Item", {}).get("day_microusd", {"N": "0"})["N"]) / 1e6

    def idle(self, lease: str, looks: int = 10) -> None:
        """Wait until nobody has held a lease for some looks (a second each): an invocation that was under way has ended."""
        left = looks

        def free() -> bool:
            nonlocal left
            item = self.clients.dynamodb.get_item(
                TableName=tables_of(self.state.stack).control, Key={"id": {"S": f"lease#{lease}"}}, ConsistentRead=True
            ).get("Item")
            held = item is not None and float(item["until"]["N"]) > time.time()
            left = looks if held else left - 1
            return left <= 0

        self.again(free, f"nobody holds the lease {lease}", 120.0)

    def forget_stats(self, platform: str) -> None:
        """As if the hour that they count in were over: nothing is known of a platform's calls any more."""
        table = tables_of(self.state.stack).stats
        pages = self.clients.dynamodb.get_paginator("query").paginate(
            TableName=table, KeyConditionExpression="platform = :p", ExpressionAttributeValues={":p": {"S": platform}}
        )
        for page in pages:
            for item in page["Items"]:
                key = {"platform": item["platform"], "at": item["at"]}
                self.clients.dynamodb.delete_item(TableName=table, Key=key)
        self.stack.kill("scanner")  # and what it remembered of them

    def beats_elsewhere(self, minutes: int) -> None:
        """The heartbeats of another stack's scanner, and of a platform, for some minutes from now on."""
        own = {"Stack": self.state.stack}
        for dimensions in ({"Stack": ANOTHER_STACK}, own | {"Platform": NOBODY}):
            for minute in range(minutes):
                self.clients.cloudwatch.put_metric_data(
                    Namespace=NAMESPACE,
                    MetricData=[
                        {
                            "MetricName": "ScannerHeartbeat",
                            "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
                            "Timestamp": datetime.fromtimestamp(time.time() + 60 * minute, UTC),
                            "Value": 1.0,
                        }
                    ],
                )

    def again(self, work: Callable[[], bool], what: str, timeout_s: float) -> None:
        """Do something until it says that it is done.

        Raises:
            AssertionError: not in time.
        """
        end = time.monotonic() + timeout_s
        while not work():
            assert time.monotonic() < end, f"{what}: not within {timeout_s:g} s"
            time.sleep(AGAIN_S)
