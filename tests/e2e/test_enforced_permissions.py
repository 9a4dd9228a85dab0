"""May each function do exactly what it does? Every permission is taken away: over the recorded run of all, and on the emulator of four.

The run is the one that the other tests watch: role policies are enforced, every kind of AWS call of every function is written down.
What the run did not need stands with its reason in tests/template/unused_permissions.toml.
"""

from __future__ import annotations

import asyncio
import copy
import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from brandvane.answer import Answer, pack
from brandvane.aws.keys import queue_name, tables_of
from brandvane.aws.task_store import DynamoTaskStore
from brandvane.cli.local_stack import session_of
from brandvane.messages import WRITEBACK_QUEUE, CallMessage, Carried, WriteBackMessage
from brandvane.task import Outcome, State, Task
from e2e.asked import RUN_ID, Asked
from e2e.deployed import DeployedStack, wait_for
from permissions import Call, Grant, Permission, grants, needed, recorded, refused
from template.conftest import ROOT, _Loader, process

UNUSED = ROOT / "tests" / "template" / "unused_permissions.toml"
FUNCTIONS = {"worker", "scanner", "dispatcher", "writeback", "planner", "scorer", "reporter"}
WRITTEN_BACK = "e2e-written-back"  # a run that nobody planned: only its record is there
ANSWER = pack(Answer(status="ok", text="Acme."))


@pytest.fixture(scope="module")
def held() -> list[Grant]:
    """Permissions as on AWS; whether the notifier hears something depends on other tests, and a test of its own sees it deliver."""
    source = yaml.load((ROOT / "template.yaml").read_text(encoding="utf-8"), _Loader)
    return [grant for grant in grants(process(source, {})) if grant.permission.function in FUNCTIONS]


@pytest.fixture(scope="module")
def finished(asked: Asked) -> Task:
    """A record of the run, which is over."""
    asyncio.run(asked.reported())
    store = tasks_of(asked.deployed)
    task = asyncio.run(store.get(asked.deployed.task_ids(RUN_ID)[0]))
    assert task is not None
    return task


@pytest.fixture(scope="module")
def calls(asked: Asked, finished: Task, calls_file: Path) -> set[Call]:
    """What the functions have asked of AWS: in the run, and when two answers came as messages, one of them too late."""
    waiting = replace(
        finished,
        task_id=f"{finished.task_id}-again",
        run_id=WRITTEN_BACK,
        state=State.WRITEBACK,
        outcome=Outcome.OK,
        answer=ANSWER,
        answer_key=None,
        expires_at=None,
    )
    store = tasks_of(asked.deployed)
    asyncio.run(store.create([waiting]))
    send(asked.deployed, WriteBackMessage(waiting.task_id, WRITTEN_BACK, waiting.attempt_id))
    late = Carried(Outcome.OK, None, ANSWER, None)
    send(asked.deployed, WriteBackMessage("nobody", WRITTEN_BACK, "a1", carried=late))

    def written() -> bool:
        found = asyncio.run(store.get(waiting.task_id))
        return found is not None and found.state is State.DONE and late_answers(asked.deployed) == 1

    wait_for(written, "the write-back function has taken in both messages")
    made = recorded(calls_file, asked.deployed.state.stack)
    return {call for call in made if call.function in FUNCTIONS}


def tasks_of(deployed: DeployedStack) -> DynamoTaskStore:
    return DynamoTaskStore(clients=deployed.clients, tables=tables_of(deployed.state.stack))


def send(deployed: DeployedStack, message: WriteBackMessage) -> None:
    sqs = deployed.clients.sqs
    url = sqs.get_queue_url(QueueName=queue_name(deployed.state.stack, WRITEBACK_QUEUE))["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=message.encode())


def late_answers(deployed: DeployedStack) -> int:
    return len(deployed.clients.s3.list_objects_v2(Bucket=deployed.state.bucket, Prefix="late/").get("Contents", ()))


@pytest.fixture(scope="module")
def reasons(held: list[Grant]) -> dict[Permission, str]:
    """Permissions that a run need not use, each with its reason; a row speaks of all resources of its statement, or of ``places``."""
    every = {grant.permission for grant in held}
    found: dict[Permission, str] = {}
    for row in tomllib.loads(UNUSED.read_text(encoding="utf-8"))["permission"]:
        for permission in every:
            if (
                permission.function in row["functions"]
                and permission.sid == row["sid"]
                and permission.action in row["actions"]
                and permission.place in row.get("places", [permission.place])
            ):
                found[permission] = row["reason"]
    return found


def test_every_function_was_recorded_and_was_allowed_all_that_it_did(calls: set[Call], held: list[Grant]) -> None:
    assert {call.function for call in calls} >= FUNCTIONS
    assert refused(calls, held) == set()


def test_without_any_one_permission_a_call_is_refused_or_the_table_says_why_none_was_made(
    calls: set[Call], held: list[Grant], reasons: dict[Permission, str], capsys: pytest.CaptureFixture[str]
) -> None:
    every = {grant.permission for grant in held}
    used = needed(calls, held)
    with capsys.disabled():
        print(
            f"\n{len(every)} permissions, {len(used)} needed for {len(calls)} kinds of calls, {len(every - used)} with a reason"
        )
    assert sorted(map(str, every - used - set(reasons))) == []


# --------------------------------------------------------------------------------------------------------- on the emulator
@contextmanager
def without(deployed: DeployedStack, role: str, policy: str, sid: str, action: str) -> Iterator[None]:
    """While it lasts, a deployed role lacks one action of one statement."""
    session = session_of(deployed.state)
    iam = session.client("iam", endpoint_url=deployed.state.endpoint)
    stacks = session.client("cloudformation", endpoint_url=deployed.state.endpoint)
    told = stacks.describe_stack_resource(StackName=deployed.state.stack, LogicalResourceId=role)
    name = told["StackResourceDetail"]["PhysicalResourceId"]
    document: Any = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
    document = json.loads(document) if isinstance(document, str) else document
    less = copy.deepcopy(document)
    (statement,) = (each for each in less["Statement"] if each["Sid"] == sid)
    actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
    statement["Action"] = [each for each in actions if each != action]
    assert len(statement["Action"]) == len(actions) - 1
    iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(less))
    try:
        yield
    finally:
        iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(document))


def one_message(body: str) -> dict[str, Any]:
    """An event as Lambda makes it of one message."""
    attributes = {"ApproximateReceiveCount": "1", "SentTimestamp": "0"}
    record = {"messageId": "m1", "receiptHandle": "none", "body": body, "attributes": attributes}
    return {"Records": [{**record, "eventSource": "aws:sqs"}]}


COMES_AGAIN = {"batchItemFailures": [{"itemIdentifier": "m1"}]}


@pytest.mark.parametrize(("function", "role"), [("dispatcher", "DispatcherRole"), ("scanner", "ScannerRole")])
def test_dispatcher_and_scanner_fail_when_they_may_not_take_their_lease(
    asked: Asked, finished: Task, function: str, role: str
) -> None:
    lacking = without(asked.deployed, role, function, "KeepLimits", "dynamodb:UpdateItem")
    with lacking, pytest.raises(AssertionError, match="AccessDenied"):
        asked.deployed.invoke(function, {})
    asked.deployed.invoke(function, {})


def test_the_worker_gives_a_message_back_when_it_may_not_claim_its_task(asked: Asked, finished: Task) -> None:
    message = CallMessage(finished.task_id, finished.run_id, finished.dispatch_no, finished.planned_time)
    worker = f"worker-{finished.platform}"
    with without(asked.deployed, f"Role{finished.platform.capitalize()}", "worker", "MoveTasks", "dynamodb:UpdateItem"):
        assert asked.deployed.invoke(worker, one_message(message.encode())) == COMES_AGAIN
    assert asked.deployed.invoke(worker, one_message(message.encode())) == {"batchItemFailures": []}


def test_the_write_back_function_gives_a_message_back_when_it_may_not_read_the_record(
    asked: Asked, finished: Task
) -> None:
    body = WriteBackMessage(finished.task_id, finished.run_id, finished.attempt_id).encode()
    with without(asked.deployed, "WritebackWorkerRole", "writeback", "MoveTasks", "dynamodb:GetItem"):
        assert asked.deployed.invoke("writeback", one_message(body)) == COMES_AGAIN
    assert asked.deployed.invoke("writeback", one_message(body)) == {"batchItemFailures": []}
