"""Does the operators' command line work on AWS's own interfaces? The desk of a stack, on an emulator; only Lambda is told."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import emulator
from brandvane.catalogue import Catalogue
from brandvane.cli.aws_context import AwsContext
from brandvane.cli.desk import DeskOf, desk_of
from brandvane.cli.emulator import REGION
from brandvane.cli.errors import CliError
from brandvane.cli.keys_commands import keys
from brandvane.cli.platform_commands import platform as platforms
from brandvane.cli.redrive_command import redrive
from brandvane.cli.retry_command import retry
from brandvane.cli.run_commands import run as runs
from brandvane.cli.task_commands import task as task_of_operator
from brandvane.engine.redrive import dead_letter_queues
from brandvane.messages import CallMessage
from brandvane.ports import Envelope
from brandvane.result import row_of
from brandvane.run import Run
from brandvane.task import Outcome, State, Task
from builders import NOW, catalogue, placed, platform, run_of, tasks_of

pytestmark = pytest.mark.emulator

GIVEN = catalogue(questions=4, platforms=(platform("openai"), platform("hunyuan")))


class _Lambda:
    """What the command line asks of functions, and replies that are told."""

    def __init__(self) -> None:
        self.invoked: list[Mapping[str, Any]] = []
        self.reply: dict[str, Any] = {}
        self.failed = False

    def invoke(self, **given: Any) -> dict[str, Any]:
        """The client's method."""
        self.invoked.append(given)
        failure = {"FunctionError": "Unhandled"} if self.failed else {}
        return {"Payload": io.BytesIO(json.dumps(self.reply).encode()), **failure}


class _Stack:
    """A stack by hand: tables, bucket, dead-letter queues, and the parameters of two platforms."""

    def __init__(self, endpoint: str) -> None:
        clients = emulator.clients_for(endpoint)
        self.name = emulator.unique_stack()
        emulator.create_tables(clients, self.name)
        bucket = emulator.create_bucket(clients, self.name)
        for queue in dead_letter_queues(["openai", "hunyuan"]):
            emulator.create_queue(clients, self.name, queue.removesuffix("-dead"), visibility_s=30, max_receives=2)
        for name in ("openai", "hunyuan"):
            value = {"platform": name, "invocations": 5, "batch_size": 2, "call_timeout": 60}
            clients.ssm.put_parameter(Name=f"/{self.name}/platforms/{name}", Value=json.dumps(value), Type="String")
        named = os.environ.get("AWS_ENDPOINT_URL") == endpoint
        self.aws = AwsContext(
            self.name,
            region=REGION,
            endpoint_url=None if named else endpoint,
            _outputs={"DataBucket": bucket},
        )
        self.planner = _Lambda()
        self.aws._clients["lambda"] = self.planner
        self.desk = desk_of(self.aws)

    def say(self, command: click.Command, *words: str, stdin: str | None = None) -> Result:
        """Say a command, each time at a desk of its own."""
        result = CliRunner().invoke(command, list(words), obj=DeskOf(lambda _: desk_of(self.aws)), input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def json(self, command: click.Command, *words: str) -> Any:
        """What a command says with ``--json``."""
        result = self.say(command, *words, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def push(self, given: Catalogue) -> str:
        """Push a catalogue; its version."""
        store: Any = self.desk.catalogues
        return str(self.desk.run(store.push(given, NOW)).version)

    def lay_out(self, run: Run, tasks: list[Task]) -> None:
        """A run, its tasks, and the rows of those that are finished."""

        async def put() -> None:
            await self.desk.runs.create(run)
            await self.desk.tasks.create(tasks)
            for task in tasks:
                if task.state in (State.DONE, State.FAILED):
                    await self.desk.results.put(row_of(task, NOW))

        self.desk.run(put())


@pytest.fixture(scope="module")
def stack(emulator_endpoint: str) -> _Stack:
    """The module's stack; its tests use runs and queues of their own."""
    return _Stack(emulator_endpoint)


def test_a_start_is_rehearsed_and_then_asked_of_the_planner(stack: _Stack) -> None:
    stack.push(GIVEN)
    stack.planner.reply = {"run_id": "try", "created": True}

    told = stack.json(runs, "start", "--label", "try", "--limit", "3")

    assert (told["total"], told["planned"]) == (3, {"openai": 2, "hunyuan": 1})
    asked = stack.planner.invoked[-1]
    assert (asked["FunctionName"], asked["InvocationType"]) == (f"{stack.name}-planner", "RequestResponse")
    assert json.loads(asked["Payload"])["start"]["label"] == "try"
    assert stack.desk.run(stack.desk.runs.get("try")) is None


def test_a_planner_that_breaks_is_one_sentence_with_its_log(stack: _Stack) -> None:
    stack.push(GIVEN)
    stack.planner.reply, stack.planner.failed = {"errorMessage": "out of memory"}, True
    try:
        result = stack.say(runs, "start", "--label", "broken", "--limit", "1")
    finally:
        stack.planner.failed = False

    assert result.exit_code == 1
    assert result.stderr == (
        f"brandvane: the planner failed: out of memory; its log is /aws/lambda/{stack.name}-planner\n"
    )


def test_status_retry_and_cancel_see_the_same_run(stack: _Stack) -> None:
    made = run_of(GIVEN, "seen", catalogue_version=stack.push(GIVEN), deadline=4_000_000_000.0)
    tasks = tasks_of(made, GIVEN)
    ended = [placed(tasks[0], State.DONE), placed(tasks[1], State.FAILED, outcome=Outcome.EXPIRED)]
    stack.lay_out(made, [*ended, placed(tasks[2], State.RUNNING), *tasks[3:]])

    before = stack.json(runs, "status", "seen")
    stack.json(retry, "seen", "--yes")
    after = stack.json(runs, "status", "seen")
    life = stack.json(task_of_operator, "show", tasks[1].task_id)
    cancelled = stack.json(runs, "cancel", "seen", "--yes")

    assert (before["results"], before["unfinished"]) == (2, {"PENDING": 5, "RUNNING": 1})
    assert (after["results"], after["unfinished"], after["pass"]) == (1, {"PENDING": 6, "RUNNING": 1}, 2)
    assert (life["record"]["state"], life["record"]["round"]) == ("PENDING", 2)
    assert [(each["round"], each["outcome"]) for each in life["results"]] == [(1, "expired")]
    assert (cancelled["state"], cancelled["tasks_left"]) == ("CANCELLED", 7)
    assert "seen" in stack.say(runs, "list").stdout


def test_a_platform_is_paused_and_resumed(stack: _Stack) -> None:
    stack.push(GIVEN)

    paused = stack.json(platforms, "pause", "openai", "--why", "invoice", "--yes")
    resumed = stack.json(platforms, "resume", "openai", "--yes")

    assert paused["paused"]["why"] == "invoice"
    assert (resumed["paused"], resumed["deployed"]["slots"]) == (None, 10)


def test_keys_are_put_encrypted_and_only_their_names_are_read(stack: _Stack) -> None:
    stack.push(GIVEN)

    missing = stack.say(keys, "check")
    for name in ("openai", "hunyuan"):
        assert stack.say(keys, "set", name, "--stdin", stdin=f"sk-{name}\n").exit_code == 0
    there = stack.say(keys, "check")

    assert (missing.exit_code, there.exit_code) == (1, 0)
    parameter = stack.aws.client("ssm").get_parameter(Name=f"/{stack.name}/keys/openai", WithDecryption=True)
    assert (parameter["Parameter"]["Type"], parameter["Parameter"]["Value"]) == ("SecureString", "sk-openai")
    assert "sk-openai" not in there.output


def test_dead_letters_are_seen_redriven_and_discarded(stack: _Stack) -> None:
    waiting = placed(tasks_of(run_of(GIVEN, "dead"), GIVEN)[0], State.DISPATCHED)

    async def put() -> None:
        await stack.desk.tasks.create([waiting])
        letter = CallMessage(waiting.task_id, "dead", waiting.dispatch_no, NOW)
        await stack.desk.queue.send("calls-openai-dead", [Envelope("1", letter.encode()), Envelope("2", "not ours")])

    stack.desk.run(put())

    listed = stack.json(redrive, "--list")
    again = stack.json(redrive, "--list")
    done = stack.json(redrive, "openai", "--yes")
    (left,) = done["left"]
    discarded = stack.json(redrive, "--discard", left["id"], "--yes")

    assert sorted(each["action"] for each in listed) == ["keep", "to_pending"]
    assert sorted(each["id"] for each in again) == sorted(each["id"] for each in listed)
    assert [each["task_id"] for each in done["redriven"]] == [waiting.task_id]
    assert discarded["discarded"]["body"] == "not ours"
    assert stack.json(redrive, "--list") == []
    record = stack.desk.run(stack.desk.tasks.get(waiting.task_id))
    assert record is not None
    assert record.state is State.PENDING


def test_a_stack_that_does_not_exist_is_one_sentence(stack: _Stack) -> None:
    other = AwsContext("no-such-stack", region=stack.aws.region, endpoint_url=stack.aws.endpoint_url)

    with pytest.raises(CliError, match="there is no stack 'no-such-stack'"):
        desk_of(other)
