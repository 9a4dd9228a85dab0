"""What does a Lambda execution environment consist of? The ports on AWS, made when first used, and the one event loop.

``wiring.py`` makes use cases of them. The loop and the HTTP client live as long as
the environment does, because a client bound to a closed loop fails on the second, warm invocation.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from aws_lambda_powertools import Logger

from brandvane.aws.blobs import S3Blobs
from brandvane.aws.client import Clients, Refused
from brandvane.aws.control_store import DynamoControlStore
from brandvane.aws.deployment import SsmDeployment
from brandvane.aws.functions import LambdaFunctions
from brandvane.aws.keys import Tables
from brandvane.aws.queues import SqsTaskQueue
from brandvane.aws.result_store import DynamoResultStore
from brandvane.aws.run_store import DynamoRunStore
from brandvane.aws.stat_store import DynamoStatStore
from brandvane.aws.system import LogTelemetry, SystemClock, system_rng
from brandvane.aws.task_store import DynamoTaskStore
from brandvane.engine.limiter import Limiter
from brandvane.engine.pinned import RunReader
from brandvane.engine.send import Sender
from brandvane.engine.write_back import DAY_S, WriteBack
from brandvane.ports import CatalogueStore, Chance, Unavailable

Result = TypeVar("Result")
STOP_MARGIN_S = 2.0
SWITCH_S = 0.0005
THREADS = 8  # enough for a batch of ten: an operation takes some ten milliseconds


@dataclass(frozen=True, slots=True)
class Settings:
    """The function's environment variables, checked once."""

    stack: str
    tables: Tables
    bucket: str
    task_keep_days: int
    result_keep_days: int
    platform: str
    call_timeout_s: float

    @classmethod
    def read(cls, env: Mapping[str, str]) -> Settings:
        """Read the variables that the template sets.

        Raises:
            RuntimeError: one is missing or no number; names all that are.
        """
        names = (
            "STACK_NAME",
            "TASKS_TABLE",
            "RESULTS_TABLE",
            "RUNS_TABLE",
            "CONTROL_TABLE",
            "STATS_TABLE",
            "DATA_BUCKET",
        )
        missing = [name for name in names if not env.get(name)]
        if missing:
            raise RuntimeError(f"environment variables not set: {', '.join(missing)}; see template.yaml")
        tables = Tables(
            tasks=env["TASKS_TABLE"],
            results=env["RESULTS_TABLE"],
            runs=env["RUNS_TABLE"],
            control=env["CONTROL_TABLE"],
            stats=env["STATS_TABLE"],
        )
        return cls(
            stack=env["STACK_NAME"],
            tables=tables,
            bucket=env["DATA_BUCKET"],
            task_keep_days=int(env.get("TASK_KEEP_DAYS", "7")),
            result_keep_days=int(env.get("RESULT_KEEP_DAYS", "400")),
            platform=env.get("PLATFORM", ""),
            call_timeout_s=float(env.get("CALL_TIMEOUT", "60")),
        )


class Environment:
    """One execution environment."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = SystemClock()
        self.chance = Chance(system_rng())
        # Threads that read and write AWS's JSON would each keep the interpreter for 5 ms at a time, and a call's timer waits for all
        # of them; measured on a busy machine: calls up to 300 ms late and in bunches.
        sys.setswitchinterval(SWITCH_S)
        self.clients = Clients(threads=THREADS)
        self._runner = asyncio.Runner()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run one invocation's work on the environment's loop and publish what it counted."""
        return self._runner.run(self._flushed(work))

    async def _flushed(self, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            return await work
        finally:
            try:
                await self.telemetry.flush()
            except (Unavailable, Refused) as error:  # figures that cannot be published must not undo what was done
                self.telemetry.event("metrics_not_published", error=repr(error))

    def stop_at(self, context: Any) -> float:
        """When an invocation must be done (POSIX seconds)."""
        return self.clock.now() + float(context.get_remaining_time_in_millis()) / 1000 - STOP_MARGIN_S

    @cached_property
    def telemetry(self) -> LogTelemetry:
        """Logs, and metrics where the function publishes them."""
        publishes = os.environ.get("PUBLISH_METRICS") == "true"
        logger = Logger(
            service=os.environ.get("POWERTOOLS_SERVICE_NAME", "brandvane"),
            level=os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO"),
        )
        return LogTelemetry(logger=logger, stack=self.settings.stack, clients=self.clients if publishes else None)

    @cached_property
    def tasks(self) -> DynamoTaskStore:
        """Port."""
        return DynamoTaskStore(clients=self.clients, tables=self.settings.tables)

    @cached_property
    def runs(self) -> DynamoRunStore:
        """Port."""
        return DynamoRunStore(clients=self.clients, tables=self.settings.tables)

    @cached_property
    def results(self) -> DynamoResultStore:
        """Port."""
        return DynamoResultStore(
            clients=self.clients, tables=self.settings.tables, keep_days=self.settings.result_keep_days
        )

    @cached_property
    def controls(self) -> DynamoControlStore:
        """Port."""
        return DynamoControlStore(clients=self.clients, tables=self.settings.tables)

    @cached_property
    def stats(self) -> DynamoStatStore:
        """Port."""
        return DynamoStatStore(clients=self.clients, tables=self.settings.tables)

    @cached_property
    def queue(self) -> SqsTaskQueue:
        """Port."""
        return SqsTaskQueue(clients=self.clients, stack=self.settings.stack)

    @cached_property
    def blobs(self) -> S3Blobs:
        """Port."""
        return S3Blobs(clients=self.clients, bucket=self.settings.bucket)

    @cached_property
    def functions(self) -> LambdaFunctions:
        """Port."""
        return LambdaFunctions(clients=self.clients, stack=self.settings.stack)

    @cached_property
    def deployment(self) -> SsmDeployment:
        """Port."""
        return SsmDeployment(clients=self.clients, stack=self.settings.stack)

    @cached_property
    def catalogues(self) -> CatalogueStore:
        """Port."""
        from brandvane.aws.catalogue_store import S3CatalogueStore

        return S3CatalogueStore(s3=self.clients.s3, bucket=self.settings.bucket)

    @cached_property
    def limiter(self) -> Limiter:
        """Use case."""
        return Limiter(controls=self.controls, clock=self.clock, telemetry=self.telemetry, writer=self.chance.token())

    @cached_property
    def run_reader(self) -> RunReader:
        """Use case."""
        return RunReader(runs=self.runs, clock=self.clock)

    @cached_property
    def sender(self) -> Sender:
        """Use case."""
        return Sender(tasks=self.tasks, queue=self.queue, clock=self.clock, telemetry=self.telemetry)

    @cached_property
    def write_back(self) -> WriteBack:
        """Use case."""
        return WriteBack(
            tasks=self.tasks,
            results=self.results,
            blobs=self.blobs,
            queue=self.queue,
            clock=self.clock,
            telemetry=self.telemetry,
            keep_s=self.settings.task_keep_days * DAY_S,
        )


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The environment of this process."""
    return Environment(Settings.read(os.environ))
