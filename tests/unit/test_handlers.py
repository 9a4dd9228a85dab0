"""The Lambda entry points, each called twice in a row in one execution environment, on an emulator."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import dispatcher as dispatcher_function
import emulator
import planner as planner_function
import scanner as scanner_function
import worker as worker_function
import writeback as writeback_function
from brandvane.aws.catalogue_store import S3CatalogueStore
from brandvane.aws.environment import Environment, Settings, environment
from brandvane.aws.keys import key_parameter, platforms_path, queue_name
from brandvane.catalogue import Selection
from brandvane.cli.emulator import environment_of
from brandvane.engine.plan import StartRequest
from brandvane.messages import PLAN_QUEUE, WRITEBACK_QUEUE, CallMessage
from brandvane.run import RunState
from brandvane.simulation.memory_world import RecordedFunctions
from brandvane.task import Outcome, State, Task
from builders import catalogue, platform, tasks_of

QUEUE = "calls-openai"
COMPLETION = {"id": "c1", "model": "m1", "choices": [{"message": {"content": "Acme."}, "finish_reason": "stop"}]}


@dataclass
class Context:
    """What Lambda tells of an invocation."""

    aws_request_id: str = "request-1"

    def get_remaining_time_in_millis(self) -> int:
        """Two and a half minutes."""
        return 150_000


class Platform(ThreadingHTTPServer):
    """An AI platform that answers everybody the same."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                """One call."""
                self.rfile.read(int(self.headers["Content-Length"]))
                server.seen.append((self.headers["X-Client-Request-Id"], self.headers["Authorization"]))
                body = json.dumps(COMPLETION).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
                """Say nothing."""

        super().__init__(("127.0.0.1", 0), Handler)


@dataclass
class Deployed:
    """A stack on the emulator and this process as its execution environment."""

    env: Environment
    platform: Platform
    functions: RecordedFunctions = field(default_factory=RecordedFunctions)

    def received(self, queue: str) -> dict[str, Any]:
        """An event of what is on a queue, as Lambda makes it."""
        messages = asyncio.run(self.env.queue.receive(queue, 10))
        records = [
            {
                "messageId": m.message_id,
                "receiptHandle": m.receipt,
                "body": m.body,
                "attributes": {"ApproximateReceiveCount": str(m.receive_count), "SentTimestamp": "0"},
                "eventSource": "aws:sqs",
            }
            for m in messages
        ]
        return {"Records": records}

    def record(self, task: Task) -> Task:
        """A record as it is now."""
        found = asyncio.run(self.env.tasks.get(task.task_id))
        assert found is not None
        return found


CACHES = (environment, worker_function.worker, dispatcher_function.dispatcher, planner_function.planner)


@pytest.fixture
def deployed(emulator_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    """Tables, queues, parameters, a key, a pushed catalogue, and a platform to ask."""
    clients = emulator.clients_for(emulator_endpoint)
    stack = emulator.unique_stack()
    tables = emulator.create_tables(clients, stack)
    bucket = emulator.create_bucket(clients, stack)
    for queue in (QUEUE, WRITEBACK_QUEUE, PLAN_QUEUE):
        emulator.create_queue(clients, stack, queue, visibility_s=60, max_receives=20)
    row = {"platform": "openai", "invocations": 2, "batch_size": 10, "call_timeout": 60}
    clients.ssm.put_parameter(Name=f"{platforms_path(stack)}/openai", Value=json.dumps(row), Type="String")
    clients.ssm.put_parameter(Name=key_parameter(stack, "openai"), Value="secret", Type="SecureString")
    asked = Platform()
    threading.Thread(target=asked.serve_forever, daemon=True).start()
    settings = platform(base_url=f"http://127.0.0.1:{asked.server_port}/v1", rate=100.0)
    store = S3CatalogueStore(s3=clients.s3, bucket=bucket)
    asyncio.run(store.push(catalogue(4, platforms=(settings,)), time.time()))
    told = {
        **environment_of(emulator_endpoint),
        "STACK_NAME": stack,
        "DATA_BUCKET": bucket,
        "PLATFORM": "openai",
        **{f"{name.upper()}_TABLE": getattr(tables, name) for name in tables.__dataclass_fields__},
    }
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    for cache in CACHES:
        cache.cache_clear()
    made = Deployed(environment(), asked)
    made.env.__dict__["functions"] = made.functions  # where the cached property keeps its port: no Lambda is deployed
    yield made
    asked.shutdown()
    asked.server_close()
    for cache in CACHES:
        cache.cache_clear()
    clients.close()


@pytest.mark.emulator
def test_a_run_passes_through_the_entry_points_each_called_twice_in_a_row(deployed: Deployed) -> None:
    event = {"start": {"label": "twice", "selection": {"limit": 4}}}
    first, second = (planner_function.handler(event, Context()) for _ in range(2))
    assert (first["created"], second["created"], first["total"]) == (True, False, 4)
    chunk = deployed.received(PLAN_QUEUE)
    assert [planner_function.handler(chunk, Context()) for _ in range(2)] == [{}, {}]
    env = deployed.env
    run = asyncio.run(env.runs.get("twice"))
    assert run is not None
    assert (run.plan_complete, run.planned) == (True, {"openai": 4})
    tasks = tasks_of(run, asyncio.run(env.catalogues.load(run.catalogue_version)))
    sent = [dispatcher_function.handler({}, Context())["sent"] for _ in range(2)]
    assert sent == [{"openai": 4}, {"openai": 0}]
    # As if their instants had come: early messages would be released, not called.
    for task in tasks:
        body = CallMessage(task.task_id, "twice", 1, time.time()).encode()
        env.clients.dynamodb.update_item(
            TableName=env.settings.tables.tasks,
            Key={"task_id": {"S": task.task_id}},
            UpdateExpression="SET next_execute_time = :now",
            ExpressionAttributeValues={":now": {"N": repr(time.time())}},
        )
        env.clients.sqs.send_message(QueueUrl=asyncio.run(env.queue._url(QUEUE)), MessageBody=body)
    calls = deployed.received(QUEUE)
    halves = [{"Records": calls["Records"][place::2]} for place in range(2)]
    answers = [worker_function.handler(half, Context(f"request-{n}")) for n, half in enumerate(halves)]
    assert answers == [{"batchItemFailures": []}] * 2
    assert {deployed.record(task).state for task in tasks} == {State.DONE}
    assert sorted(deployed.platform.seen) == sorted((f"{task.task_id}/1", "Bearer secret") for task in tasks)
    states = [scanner_function.handler({}, Context())["runs"]["twice"] for _ in range(2)]
    assert states == [RunState.SCORING, RunState.SCORING]
    assert [name for name, _ in deployed.functions.take() if name == "scorer"] == ["scorer"]


@pytest.mark.emulator
def test_the_worker_names_what_must_come_again_and_nothing_else(deployed: Deployed) -> None:
    url = asyncio.run(deployed.env.queue._url(QUEUE))
    gone = CallMessage("gone", "r1", 1, time.time()).encode()
    for body in ("no json", gone):
        deployed.env.clients.sqs.send_message(QueueUrl=url, MessageBody=body)
    event = deployed.received(QUEUE)
    unreadable = next(r["messageId"] for r in event["Records"] if r["body"] == "no json")
    for _ in range(2):
        answer = worker_function.handler(event, Context())
        assert answer == {"batchItemFailures": [{"itemIdentifier": unreadable}]}


@pytest.mark.emulator
def test_the_write_back_function_writes_rows_twice_in_a_row(deployed: Deployed) -> None:
    env = deployed.env
    given = asyncio.run(env.catalogues.load(asyncio.run(env.catalogues.current()) or ""))
    planner_function.handler({"start": {"label": "rows"}}, Context())
    run = asyncio.run(env.runs.get("rows"))
    assert run is not None
    for task in tasks_of(run, given)[:2]:
        waiting = replace(task, state=State.WRITEBACK, outcome=Outcome.OK, answer=b"packed")
        asyncio.run(env.tasks.create([waiting]))
        asyncio.run(env.write_back.remind(waiting, 1, 0))
        event = deployed.received(WRITEBACK_QUEUE)
        assert writeback_function.handler(event, Context()) == {"batchItemFailures": []}
        assert deployed.record(task).state is State.DONE
    assert asyncio.run(env.results.count("rows")) == 2


@pytest.mark.emulator
def test_a_start_that_cannot_be_met_is_told_and_not_raised(deployed: Deployed) -> None:
    told = planner_function.handler({"start": {"selection": {"questions": ["none"]}}}, Context())
    assert told == {"error": "nothing to ask: no question is left by the given filters", "code": 2}


@pytest.mark.emulator
def test_an_exception_is_never_an_empty_list_of_failures(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        """A worker that fails as a whole."""

        async def handle(self, *_: Any, **__: Any) -> None:
            """Not even one record."""
            raise RuntimeError("broken")

    monkeypatch.setattr(worker_function, "worker", Broken)
    record = {"messageId": "m1", "receiptHandle": "r1", "body": "{}", "eventSource": "aws:sqs"}
    with pytest.raises(RuntimeError, match="broken"):
        worker_function.handler({"Records": [record]}, Context())


@pytest.mark.emulator
def test_without_messages_the_worker_only_makes_itself_ready(deployed: Deployed) -> None:
    for _ in range(2):
        assert worker_function.handler({"Records": []}, Context()) == {"batchItemFailures": []}
    assert deployed.platform.seen == []


def test_a_schedules_event_names_the_schedule_and_its_own_time() -> None:
    event = {"schedule": "core", "time": "2025-10-09T08:00:00Z"}
    assert planner_function.request_of(event) == StartRequest(schedule_id="core", at=1759996800.0)


@pytest.mark.parametrize("text", [None, "", "<aws.scheduler.scheduled-time>"])
def test_a_schedules_time_that_was_not_filled_in_is_now(text: str | None) -> None:
    assert planner_function.request_of({"schedule": "core", "time": text}).at is None


def test_a_persons_event_says_what_of_the_catalogue_is_asked() -> None:
    selection = {"platforms": ["openai"], "brands": ["acme"], "questions": None, "limit": 5}
    event = {
        "start": {"schedule_id": "core", "date": "2025-10-09", "label": "x", "version": "v7", "selection": selection}
    }
    wanted = StartRequest("core", "2025-10-09", None, "x", Selection(("openai",), ("acme",), (), 5), "v7")
    assert planner_function.request_of(event) == wanted
    assert planner_function.request_of({"start": {}}) == StartRequest()


def test_variables_that_are_not_set_are_all_named() -> None:
    with pytest.raises(RuntimeError, match="environment variables not set: RUNS_TABLE, DATA_BUCKET"):
        Settings.read(
            dict.fromkeys(("STACK_NAME", "TASKS_TABLE", "RESULTS_TABLE", "CONTROL_TABLE", "STATS_TABLE"), "x")
        )


def test_a_queues_physical_name_is_the_stacks() -> None:
    assert [queue_name("bv", q) for q in (QUEUE, f"{QUEUE}-dead", "writeback")] == [
        "bv-calls-openai",
        "bv-calls-openai-dead",
        "bv-writeback",
    ]
