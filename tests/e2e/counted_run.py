"""How many requests does a run make of AWS? Every use case on the emulator, in this process, with each request written down.

As many execution environments as Lambda would start, each with clients and caches of its own; queues are polled as Lambda does
(a batch is received, worked on, and deleted with one request). A hook of botocore counts what is sent.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import boto3

import emulator
from brandvane.aws import wiring
from brandvane.aws.catalogue_store import S3CatalogueStore
from brandvane.aws.client import Clients
from brandvane.aws.environment import Environment, Settings
from brandvane.aws.keys import key_parameter, platforms_path, queue_name
from brandvane.aws.run_store import DynamoRunStore
from brandvane.catalogue import Catalogue
from brandvane.cli.emulator import environment_of
from brandvane.engine.plan import StartRequest
from brandvane.engine.publish import publish
from brandvane.engine.score import score
from brandvane.messages import PLAN_QUEUE, WRITEBACK_QUEUE, PlanMessage, calls_queue
from brandvane.ports import Delivered, PlatformClient
from brandvane.run import Run, RunState
from brandvane.simulation.memory_world import RecordedFunctions

FUNCTION_S = 148.0
POLL_S = 0.4  # long enough for all that comes visible in one second to be there
SWEEP_S = 1.0
PATIENCE_S = 60.0
LABEL = "counted"
READING = ("runs", "results", "blobs", "catalogues", "clock", "telemetry")


class Meter:
    """Requests by service and operation; polls that found nothing are left out, for an idle queue costs the same all day."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.invocations: Counter[str] = Counter()  # by function
        self._lock = threading.Lock()

    def session(self, endpoint: str) -> boto3.session.Session:
        """A session all of whose clients are counted."""
        told = environment_of(endpoint)
        session = boto3.session.Session(
            aws_access_key_id=told["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=told["AWS_SECRET_ACCESS_KEY"],
            region_name=told["AWS_DEFAULT_REGION"],
        )
        session.events.register("before-send", self._sent)
        session.events.register("after-call.sqs.ReceiveMessage", self._received)
        return session

    def invoked(self, function: str) -> None:
        """An invocation began."""
        with self._lock:
            self.invocations[function] += 1

    def _sent(self, event_name: str, **_: Any) -> None:
        service, operation = event_name.split(".")[1:]
        if operation != "ReceiveMessage":
            self._add(service, operation)

    def _received(self, parsed: Mapping[str, Any], **_: Any) -> None:
        if parsed.get("Messages"):
            self._add("sqs", "ReceiveMessage")

    def _add(self, service: str, operation: str) -> None:
        with self._lock:
            self.requests[f"{service} {operation}"] += 1


class CountedRun:
    """A stack on the emulator with a catalogue pushed, and one run through all its functions."""

    def __init__(
        self, endpoint: str, catalogue: Catalogue, client: PlatformClient, *, workers: int, batch: int
    ) -> None:
        self.meter = Meter()
        self.functions = RecordedFunctions()
        self._endpoint = endpoint
        self._client = client
        self._batch = batch
        self._stack = emulator.unique_stack()
        self._clients = emulator.clients_for(endpoint)  # the test's own, which nobody counts
        self._tables = emulator.create_tables(self._clients, self._stack)
        self._bucket = emulator.create_bucket(self._clients, self._stack)
        self._platforms = catalogue.monitor.platform_names
        self._workers = workers
        self._over = threading.Event()
        self.run: Run
        self._lock = threading.Lock()
        self._urls: dict[str, str] = {}
        for queue in (*map(calls_queue, self._platforms), WRITEBACK_QUEUE, PLAN_QUEUE):
            emulator.create_queue(self._clients, self._stack, queue, visibility_s=60, max_receives=20)
        for name in self._platforms:
            row = {"platform": name, "invocations": workers, "batch_size": batch, "call_timeout": 60}
            path = f"{platforms_path(self._stack)}/{name}"
            self._clients.ssm.put_parameter(Name=path, Value=json.dumps(row), Type="String")
            self._clients.ssm.put_parameter(Name=key_parameter(self._stack, name), Value="none", Type="SecureString")
        asyncio.run(S3CatalogueStore(s3=self._clients.s3, bucket=self._bucket).push(catalogue, time.time()))

    def _environment(self, platform: str = "") -> Environment:
        env = Environment(Settings(self._stack, self._tables, self._bucket, 7, 400, platform, 60.0))
        env.clients = Clients(session=self.meter.session(self._endpoint), endpoint_url=self._endpoint)
        env.__dict__["functions"] = self.functions  # where the cached property keeps its port: no Lambda is deployed
        return env

    def go(self) -> None:
        """Plan, dispatch, work, sweep, score, report; ``run`` is the run at its end."""
        threads = [
            threading.Thread(target=self._work, args=(name,)) for name in self._platforms for _ in range(self._workers)
        ]
        planning = self._environment()
        planner = wiring.planner(planning)
        self.meter.invoked("planner")
        run = planning.run(planner.start(StartRequest(label=LABEL))).run

        def chunk(batch: Sequence[Delivered]) -> None:
            self.meter.invoked("planner")
            planning.run(planner.chunk(PlanMessage.decode(batch[0].body)))

        while self._poll(planning, PLAN_QUEUE, 1, chunk):
            pass
        for thread in threads:
            thread.start()
        try:
            self.run = self._minutes(run)
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def _minutes(self, run: Run) -> Run:
        """Tick and sweep, faster than on AWS, until the report is there: two sweeps are a minute."""
        ticking, sweeping, runs = (
            self._environment(),
            self._environment(),
            DynamoRunStore(clients=self._clients, tables=self._tables),
        )
        dispatcher, scanner = wiring.dispatcher(ticking), wiring.scanner(sweeping)
        give_up = time.monotonic() + PATIENCE_S
        sweeps = 0
        while time.monotonic() < give_up:
            begun = [name for name, _ in self.functions.take()]  # the planner's: there are new tasks
            for _ in range(begun.count("dispatcher") + (sweeps % 2 == 0)):
                self.meter.invoked("dispatcher")
                ticking.run(dispatcher.tick())
            self.meter.invoked("scanner")
            sweeping.run(scanner.sweep(stop_at=time.time() + FUNCTION_S, on_the_minute=sweeps % 2 == 0))
            sweeps += 1
            while asked := self.functions.take():
                for name, event in asked:
                    (self._score if name == "scorer" else self._report)(event)
            now = asyncio.run(runs.get(run.run_id))
            assert now is not None
            if now.state is RunState.REPORTED and sweeps % 2 == 0:
                return now
            time.sleep(SWEEP_S)
        raise AssertionError(f"not reported after {PATIENCE_S:g} s")

    def _work(self, platform: str) -> None:
        """One execution environment of a worker."""
        env = self._environment(platform)
        worker = wiring.worker(env)
        worker._client = worker._caller._client = self._client

        def batch(records: Sequence[Delivered]) -> None:
            self.meter.invoked("worker")
            name = f"{threading.get_ident()}-{self.meter.invocations['worker']}"
            again = env.run(worker.handle(records, stop_at=time.time() + FUNCTION_S, invocation=name))
            assert not again

        while not self._over.is_set():
            if not self._poll(env, calls_queue(platform), self._batch, batch):
                time.sleep(POLL_S)

    def _score(self, event: Mapping[str, Any]) -> None:
        """As the entry point does it."""
        env = self._environment()
        self.meter.invoked("scorer")

        async def scored() -> None:
            ports: Any = {name: getattr(env, name) for name in READING}
            await score(event["run_id"], event["pass_no"], event["buckets"], **ports)
            run = await env.runs.get(event["run_id"])
            assert run is not None
            await wiring.advance(env).step(run)

        env.run(scored())

    def _report(self, event: Mapping[str, Any]) -> None:
        """As the entry point does it."""
        env = self._environment()
        self.meter.invoked("reporter")
        ports: Any = {name: getattr(env, name) for name in READING}
        env.run(publish(event["run_id"], event["pass_no"], env.chance.token(), **ports))

    def _poll(self, env: Environment, queue: str, size: int, work: Callable[[Sequence[Delivered]], None]) -> bool:
        """Take one batch, as Lambda's poller does, and delete it when it has been worked on; False when there was none."""
        sqs, url = env.clients.sqs, self._url(queue)
        received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=size).get("Messages", [])
        if not received:
            return False
        work([Delivered(m["MessageId"], m["ReceiptHandle"], m["Body"]) for m in received])
        entries: Any = [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(received)]
        sqs.delete_message_batch(QueueUrl=url, Entries=entries)
        return True

    def _url(self, queue: str) -> str:
        with self._lock:
            if queue not in self._urls:
                name = queue_name(self._stack, queue)
                self._urls[queue] = self._clients.sqs.get_queue_url(QueueName=name)["QueueUrl"]
            return self._urls[queue]
