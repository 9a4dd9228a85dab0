"""What does an execution environment of the simulation consist of? The engine on ports that are slow, faulty and watched.

The same wiring as on AWS (``brandvane.aws.wiring``), with the same calls as the Lambda entry points make.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from brandvane.engine.advance import Advance
from brandvane.engine.deliver import Delivery
from brandvane.engine.dispatch import Dispatcher
from brandvane.engine.execute import Worker
from brandvane.engine.gauges import Gauges
from brandvane.engine.limiter import Limiter
from brandvane.engine.pinned import RunReader
from brandvane.engine.plan import Planner
from brandvane.engine.rescue import Rescuer
from brandvane.engine.safety import Safety
from brandvane.engine.send import Sender
from brandvane.engine.sweep import Scanner
from brandvane.engine.take_in import TakeIn
from brandvane.engine.write_back import DAY_S, WriteBack
from brandvane.ports import Chance, Deployed
from brandvane.simulation.cloud import Cloud
from brandvane.simulation.cloud_catalogues import CloudCatalogues, CloudDeployment, CloudPrompts, Texts
from brandvane.simulation.cloud_platforms import PlatformFace, Platforms
from brandvane.simulation.cloud_queue import CloudFunctions, CloudQueue
from brandvane.simulation.cloud_stores import CloudBlobs, CloudControls, CloudResults, CloudRuns, CloudStats
from brandvane.simulation.cloud_tasks import CloudTasks
from brandvane.simulation.host import Host

KEEP_S = 30 * DAY_S


class HostTelemetry:
    """The ``Telemetry`` port: metrics are recorded, events go to the auditor."""

    def __init__(self, host: Host, cloud: Cloud) -> None:
        self._host = host
        self._told = cloud.auditor.told
        self._loop = cloud.loop
        self._metrics = cloud.metrics

    def count(self, name: str, number: float = 1, *, platform: str | None = None, unit: str = "Count") -> None:
        """A value for CloudWatch, by true time."""
        self._metrics.put(self._loop.time(), name, number, platform)

    def event(self, name: str, **fields: Any) -> None:
        """A line of the log."""
        self._told(self._host, name, fields)


class Environment:
    """One environment of any function; use cases are made when first used and live as long as it does."""

    def __init__(
        self,
        host: Host,
        cloud: Cloud,
        *,
        platforms: Platforms,
        deployed: tuple[Deployed, ...],
        texts: Texts,
        start: Callable[[str, Mapping[str, Any]], None],
        seed: int,
        platform: str = "",
        call_timeout_s: float = 60.0,
    ) -> None:
        self.host = host
        self.cloud = cloud
        self.platform = platform
        self.call_timeout_s = call_timeout_s
        self.chance = Chance(random.Random(cloud.chances.of("environments").getrandbits(64)))
        self.telemetry = HostTelemetry(host, cloud)
        self.tasks = CloudTasks(host, cloud)
        self.runs = CloudRuns(host, cloud)
        self.results = CloudResults(host, cloud)
        self.controls = CloudControls(host, cloud)
        self.stats = CloudStats(host, cloud)
        self.queue = CloudQueue(host, cloud)
        self.blobs = CloudBlobs(host, cloud)
        self.catalogues = CloudCatalogues(host, cloud)
        self.prompts = CloudPrompts(catalogues=self.catalogues, texts=texts)
        self.deployment = CloudDeployment(host, cloud, deployed)
        self.functions = CloudFunctions(host, cloud, start)
        self.client = PlatformFace(host, cloud, platforms, seed)

    @cached_property
    def limiter(self) -> Limiter:
        """Use case."""
        return Limiter(controls=self.controls, clock=self.host, telemetry=self.telemetry, writer=self.host.name)

    @cached_property
    def run_reader(self) -> RunReader:
        """Use case."""
        return RunReader(runs=self.runs, clock=self.host)

    @cached_property
    def sender(self) -> Sender:
        """Use case."""
        return Sender(tasks=self.tasks, queue=self.queue, clock=self.host, telemetry=self.telemetry)

    @cached_property
    def write_back(self) -> WriteBack:
        """Use case."""
        return WriteBack(
            tasks=self.tasks,
            results=self.results,
            blobs=self.blobs,
            queue=self.queue,
            clock=self.host,
            telemetry=self.telemetry,
            keep_s=KEEP_S,
        )

    @cached_property
    def take_in(self) -> TakeIn:
        """Use case."""
        return TakeIn(write_back=self.write_back, queue=self.queue, telemetry=self.telemetry)

    @cached_property
    def worker(self) -> Worker:
        """Use case."""
        safety = Safety(
            tasks=self.tasks,
            blobs=self.blobs,
            queue=self.queue,
            write_back=self.write_back,
            clock=self.host,
            telemetry=self.telemetry,
        )
        delivery = Delivery(
            tasks=self.tasks,
            safety=safety,
            limiter=self.limiter,
            runs=self.run_reader,
            sender=self.sender,
            write_back=self.write_back,
            clock=self.host,
            chance=self.chance,
            telemetry=self.telemetry,
        )
        return Worker(
            platform=self.platform,
            call_timeout_s=self.call_timeout_s,
            tasks=self.tasks,
            queue=self.queue,
            controls=self.controls,
            stats=self.stats,
            runs=self.run_reader,
            prompts=self.prompts,
            limiter=self.limiter,
            sender=self.sender,
            delivery=delivery,
            client=self.client,
            clock=self.host,
            chance=self.chance,
            telemetry=self.telemetry,
        )

    @cached_property
    def planner(self) -> Planner:
        """Use case."""
        return Planner(
            tasks=self.tasks,
            runs=self.runs,
            controls=self.controls,
            catalogues=self.catalogues,
            queue=self.queue,
            functions=self.functions,
            deployment=self.deployment,
            clock=self.host,
            chance=self.chance,
            telemetry=self.telemetry,
        )

    @cached_property
    def dispatcher(self) -> Dispatcher:
        """Use case."""
        return Dispatcher(
            tasks=self.tasks,
            runs=self.runs,
            reader=self.run_reader,
            controls=self.controls,
            stats=self.stats,
            catalogues=self.catalogues,
            queue=self.queue,
            sender=self.sender,
            functions=self.functions,
            deployment=self.deployment,
            clock=self.host,
            chance=self.chance,
            telemetry=self.telemetry,
        )

    @cached_property
    def advance(self) -> Advance:
        """Use case."""
        return Advance(
            runs=self.runs,
            results=self.results,
            stats=self.stats,
            limiter=self.limiter,
            functions=self.functions,
            clock=self.host,
            telemetry=self.telemetry,
        )

    @cached_property
    def gauges(self) -> Gauges:
        """Use case."""
        return Gauges(
            tasks=self.tasks,
            runs=self.runs,
            controls=self.controls,
            stats=self.stats,
            catalogues=self.catalogues,
            queue=self.queue,
            clock=self.host,
            telemetry=self.telemetry,
        )

    @cached_property
    def scanner(self) -> Scanner:
        """Use case."""
        rescuer = Rescuer(
            tasks=self.tasks,
            queue=self.queue,
            runs=self.run_reader,
            write_back=self.write_back,
            clock=self.host,
            chance=self.chance,
            telemetry=self.telemetry,
        )
        return Scanner(
            tasks=self.tasks,
            runs=self.runs,
            controls=self.controls,
            rescuer=rescuer,
            advance=self.advance,
            gauges=self.gauges,
            limiter=self.limiter,
            deployment=self.deployment,
            clock=self.host,
            chance=self.chance,
            telemetry=self.telemetry,
        )
