"""What does an operator's command work with? The ports of one stack, made when the command begins, and one event loop."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click

from brandvane.aws.blobs import S3Blobs
from brandvane.aws.catalogue_store import S3CatalogueStore
from brandvane.aws.client import Clients
from brandvane.aws.control_store import DynamoControlStore
from brandvane.aws.deployment import SsmDeployment
from brandvane.aws.functions import LambdaFunctions
from brandvane.aws.keys import function_name, tables_of
from brandvane.aws.queues import SqsTaskQueue
from brandvane.aws.result_store import DynamoResultStore
from brandvane.aws.run_store import DynamoRunStore
from brandvane.aws.stat_store import DynamoStatStore
from brandvane.aws.system import SystemClock, system_rng
from brandvane.aws.task_rows import DynamoTaskRows
from brandvane.aws.task_store import DynamoTaskStore
from brandvane.cli.alarm_reader import AlarmReader, CloudWatchAlarms
from brandvane.cli.aws_context import AwsContext, aws_options
from brandvane.cli.errors import CliError
from brandvane.cli.key_store import KeyStore, SsmKeyStore
from brandvane.engine.correct import Corrector
from brandvane.engine.limiter import Limiter
from brandvane.engine.plan import CannotStart
from brandvane.engine.redrive import DeadLetters
from brandvane.engine.refusal import NoSuchRun, Refusal, WrongInput
from brandvane.engine.reopen_failed import FailedTasks
from brandvane.engine.standing import Onlooker
from brandvane.ports import (
    BlobStore,
    CatalogueStore,
    Chance,
    Clock,
    ControlStore,
    Deployment,
    Functions,
    ResultStore,
    RowReader,
    RunStore,
    StatStore,
    TaskQueue,
    TaskStore,
    Telemetry,
)

THREADS = 10  # as many connections as a client of the command line keeps
ROWS_KEPT_DAYS = 400  # for rows that are put; an operator puts none

_P = ParamSpec("_P")
_R = TypeVar("_R")
Planning = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class Silent:
    """Telemetry of a command: what it does, it says itself."""

    def count(self, name: str, number: float = 1, *, platform: str | None = None, unit: str = "Count") -> None:
        """Say nothing."""

    def event(self, name: str, **fields: Any) -> None:
        """Say nothing."""


@dataclass(kw_only=True)
class Desk:
    """Everything that commands need of a stack. ``plan`` asks the planner and waits for what it says."""

    stack: str
    bucket: str
    tasks: TaskStore
    runs: RunStore
    results: ResultStore
    rows: RowReader
    controls: ControlStore
    stats: StatStore
    catalogues: CatalogueStore
    queue: TaskQueue
    blobs: BlobStore
    functions: Functions
    deployment: Deployment
    keys: KeyStore
    alarms: AlarmReader
    plan: Planning
    clock: Clock
    chance: Chance
    interactive: bool
    telemetry: Telemetry = field(default_factory=Silent)
    _runner: asyncio.Runner = field(default_factory=asyncio.Runner, repr=False)

    def run(self, work: Coroutine[Any, Any, _R]) -> _R:
        """Carry ``work`` out.

        Raises:
            CliError: what a use case refuses, as a message; 2 for wrong input, 1 for what the state of things forbids.
        """
        try:
            return self._runner.run(work)
        except (NoSuchRun, CannotStart, WrongInput) as error:
            raise CliError(str(error), 2) from error
        except Refusal as error:
            raise CliError(str(error)) from error

    def close(self) -> None:
        """End the event loop."""
        self._runner.close()

    @property
    def onlooker(self) -> Onlooker:
        """Use case."""
        return Onlooker(
            tasks=self.tasks,
            results=self.results,
            runs=self.runs,
            controls=self.controls,
            catalogues=self.catalogues,
            deployment=self.deployment,
            clock=self.clock,
        )

    @property
    def limiter(self) -> Limiter:
        """Use case."""
        return Limiter(controls=self.controls, clock=self.clock, telemetry=self.telemetry, writer=self.chance.token())

    @property
    def failed_tasks(self) -> FailedTasks:
        """Use case."""
        return FailedTasks(
            tasks=self.tasks,
            results=self.results,
            runs=self.runs,
            functions=self.functions,
            clock=self.clock,
            chance=self.chance,
            telemetry=self.telemetry,
        )

    @property
    def corrector(self) -> Corrector:
        """Use case."""
        return Corrector(
            tasks=self.tasks,
            results=self.results,
            runs=self.runs,
            blobs=self.blobs,
            catalogues=self.catalogues,
            functions=self.functions,
            clock=self.clock,
            chance=self.chance,
        )

    @property
    def dead_letters(self) -> DeadLetters:
        """Use case."""
        return DeadLetters(
            queue=self.queue,
            tasks=self.tasks,
            blobs=self.blobs,
            functions=self.functions,
            clock=self.clock,
            telemetry=self.telemetry,
        )


class _ContextClients(Clients):
    """The clients of the command line's own session (profile, region, endpoint)."""

    def __init__(self, aws: AwsContext) -> None:
        super().__init__(threads=THREADS)
        self._aws = aws

    def _client(self, service: str) -> Any:
        return self._aws.client(service)


def desk_of(aws: AwsContext) -> Desk:
    """The desk of a deployed stack.

    Raises:
        CliError: there is no such stack.
    """
    bucket = aws.output("DataBucket")
    clients, tables, stack = _ContextClients(aws), tables_of(aws.stack), aws.stack
    return Desk(
        stack=stack,
        bucket=bucket,
        tasks=DynamoTaskStore(clients=clients, tables=tables),
        runs=DynamoRunStore(clients=clients, tables=tables),
        results=DynamoResultStore(clients=clients, tables=tables, keep_days=ROWS_KEPT_DAYS),
        rows=DynamoTaskRows(clients=clients, tables=tables),
        controls=DynamoControlStore(clients=clients, tables=tables),
        stats=DynamoStatStore(clients=clients, tables=tables),
        catalogues=S3CatalogueStore(s3=clients.s3, bucket=bucket),
        queue=SqsTaskQueue(clients=clients, stack=stack),
        blobs=S3Blobs(clients=clients, bucket=bucket),
        functions=LambdaFunctions(clients=clients, stack=stack),
        deployment=SsmDeployment(clients=clients, stack=stack),
        keys=SsmKeyStore(clients=clients, stack=stack),
        alarms=CloudWatchAlarms(clients=clients, stack=stack),
        plan=_planning(clients, stack),
        clock=SystemClock(),
        chance=Chance(system_rng()),
        interactive=sys.stdin.isatty(),
    )


def _planning(clients: Clients, stack: str) -> Planning:
    name = function_name(stack, "planner")

    def invoke(payload: bytes) -> tuple[bool, Any]:
        reply = clients.functions.invoke(FunctionName=name, InvocationType="RequestResponse", Payload=payload)
        return "FunctionError" in reply, json.loads(reply["Payload"].read() or b"null")

    async def plan(event: Mapping[str, Any]) -> Mapping[str, Any]:
        failed, told = await clients.call(invoke, json.dumps(dict(event)).encode())
        if failed or not isinstance(told, dict):
            why = told.get("errorMessage", "") if isinstance(told, dict) else ""
            raise CliError(f"the planner failed{f': {why}' if why else ''}; its log is /aws/lambda/{name}")
        return told

    return plan


def desk_options(function: Callable[_P, _R]) -> Callable[..., _R]:
    """Adds ``--stack``, ``--profile`` and ``--region``; the command gets the stack's ports as one argument, ``desk``."""

    @aws_options
    @click.pass_context
    @wraps(function)
    def with_desk(context: click.Context, /, *args: Any, aws: AwsContext, **kwargs: Any) -> _R:
        desk = (context.find_object(DeskOf) or DeskOf(desk_of)).make(aws)
        context.call_on_close(desk.close)
        return function(*args, desk=desk, **kwargs)  # type: ignore[arg-type]

    return with_desk


@dataclass(frozen=True, slots=True)
class DeskOf:
    """How desks are made; given to a command as its ``obj``, it stands in for AWS."""

    make: Callable[[AwsContext], Desk]
