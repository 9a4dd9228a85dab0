"""One deployed stack with simulated platforms, shared by all end-to-end tests of a session; and how they look into it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brandvane.aws.client import Clients
from brandvane.aws.keys import function_name, tables_of
from brandvane.catalogue import Catalogue
from brandvane.cli.demo_catalogue import Pace, checked, write_monitor
from brandvane.cli.local_product import brandvane
from brandvane.cli.local_reading import Reading
from brandvane.cli.local_stack import environment_for
from brandvane.cli.local_standins import Wish
from brandvane.cli.local_state import LocalState
from brandvane.run import Run

STACK = "brandvane-e2e"
SLACK_PARAMETER = f"/{STACK}/webhooks/slack"  # where the stack looks for the address of a chat
MONITOR_RATE = 10.0
# The platforms allow twice what the monitor states: on a machine that is busy with other tests a worker can be held up between
# its slot and its call, and whether limits are kept to the call is measured by the demo and the benchmark.
ENFORCED_RATE = 20.0
# Only faults that are tried again after 10 s, so that the test is over soon.
FAULTS = {"cut": 0.04, "empty": 0.04, "malformed": 0.04, "hang": 0.02, "injected_429": 0.01, "retry_after": 1.0}
WISH = Wish(behaviour={"rate": ENFORCED_RATE, "in_flight": 60.0, "median": 0.8, "sigma": 0.5, "cap": 4.0, **FAULTS})
_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """The stack and its clients."""

    state: LocalState
    clients: Clients
    folder: Path
    made: list[str] = field(default_factory=list)  # runs that a test made and that nobody will ask

    def made_by_test(self, run_id: str) -> str:
        """Remember a run, to be forgotten at the test's end."""
        self.made.append(run_id)
        return run_id

    def push(self, questions: int, samples: int) -> Catalogue:
        """Push a catalogue of so many questions, each asked so many times of each platform's one model."""
        brands = [{"id": "acme", "name": "Acme"}, {"id": "zeta", "name": "Zeta"}]
        rows = [
            {"id": f"q-{n}", "text": f"Which kettle of price class {n} would you buy?", "brands": "all"}
            for n in range(1, questions + 1)
        ]
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "brands.yaml").write_text(json.dumps({"brands": brands}), encoding="utf-8")
        (self.folder / "questions.yaml").write_text(json.dumps({"questions": rows}), encoding="utf-8")
        pace = Pace(rate=MONITOR_RATE, expected_hold_s=6.0)
        write_monitor(self.folder, self.state.platforms, self.state.base_urls, pace, samples, datetime.now(UTC))
        self.brandvane("catalogue", "push", str(self.folder), "--yes")
        return checked(self.folder)

    def brandvane(self, *arguments: str) -> Any:
        """Run a command as people do."""
        return brandvane(environment_for(self.state), *arguments)

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """Invoke a function and wait for what it returns.

        Raises:
            AssertionError: it failed.
        """
        name = function_name(self.state.stack, function)
        reply = self.clients.functions.invoke(FunctionName=name, Payload=json.dumps(event).encode())
        told = json.loads(reply["Payload"].read())
        assert "FunctionError" not in reply, told
        return told

    def run(self, run_id: str) -> Run:
        """The run item."""
        run = asyncio.run(Reading(self.state, self.clients).run(run_id))
        assert run is not None, run_id
        return run

    def task_ids(self, run_id: str) -> list[str]:
        """Ids of all records of a run. (Only tests may scan the table.)"""
        pages = self.clients.dynamodb.get_paginator("scan").paginate(
            TableName=tables_of(self.state.stack).tasks,
            FilterExpression="run_id = :run",
            ProjectionExpression="task_id",
            ExpressionAttributeValues={":run": {"S": run_id}},
            ConsistentRead=True,
        )
        return [item["task_id"]["S"] for page in pages for item in page["Items"]]

    def forget(self, run_id: str) -> None:
        """Delete a run and its records, as if it had never been."""
        tables, ids = tables_of(self.state.stack), self.task_ids(run_id)
        self.clients.dynamodb.delete_item(TableName=tables.runs, Key={"run_id": {"S": run_id}})
        for first in range(0, len(ids), 25):
            deletes: Any = [{"DeleteRequest": {"Key": {"task_id": {"S": each}}}} for each in ids[first : first + 25]]
            self.clients.dynamodb.batch_write_item(RequestItems={tables.tasks: deletes})

    def kill(self, function: str) -> int:
        """Kill every process that executes a function; how many there were."""
        word = f"ministack-lambda-{function_name(self.state.stack, function)}-"
        pids = [pid for pid, command in group(self.state.emulator).items() if word in command]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return len(pids)


def group(leader: int) -> dict[int, str]:
    """The living processes of a group and their command lines."""
    told = ["ps", "-ww", "-eo", "pid=,pgid=,stat=,command="]
    shown = subprocess.run(told, capture_output=True, text=True, check=True).stdout
    rows = (line.split(None, 3) for line in shown.splitlines())
    return {int(row[0]): row[3] for row in rows if int(row[1]) == leader and not row[2].startswith("Z")}


def wait_for(condition: Callable[[], bool], what: str, timeout_s: float = 60.0) -> None:
    """Look again and again until something holds.

    Raises:
        AssertionError: it did not, in time.
    """
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {timeout_s:g} s"
        time.sleep(_POLL_S)
