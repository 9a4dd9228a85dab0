"""How do Lambda functions run in the simulation? Environments that are made, reused, killed and stalled; invocations with a timeout.

An environment takes one invocation at a time. One that was killed or timed out is gone; one whose handler raised lives on.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from brandvane.ports import Deployed, Unavailable
from brandvane.simulation.cloud import Cloud
from brandvane.simulation.cloud_catalogues import Texts
from brandvane.simulation.cloud_platforms import Platforms
from brandvane.simulation.environment import Environment
from brandvane.simulation.host import Doom, Host

Result = TypeVar("Result")
STOP_MARGIN_S = 2.0  # as in brandvane.aws.environment
IDLE_S = 600.0  # an environment that nobody needs for so long is taken away
OVERLAP_S = 300.0  # after a deploy, environments of the old release live on for so long
MANY_STEPS = 150
WORKER_ROOM_S = 90.0  # a worker's timeout is its call's and this (template.yaml: 150 s for 60 s)


class Died(Exception):
    """The environment was killed, or its invocation took longer than the function may."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A function as the template makes it."""

    name: str
    memory_gb: float
    timeout_s: float


SPECS: Mapping[str, Spec] = {
    spec.name: spec
    for spec in (
        Spec("planner", 0.5, 300),
        Spec("dispatcher", 0.25, 50),
        Spec("worker", 0.25, 0),  # its timeout follows from the platform's
        Spec("writeback", 0.25, 60),
        Spec("scanner", 0.25, 60),
        Spec("scorer", 0.5, 300),
        Spec("reporter", 1.0, 300),
    )
}


class Function:
    """One deployed function."""

    def __init__(self, spec: Spec, cloud: Cloud, make: Callable[[Host], Environment], name: str) -> None:
        self.name = name
        self._spec = spec
        self._cloud = cloud
        self._make = make
        self._idle: list[tuple[float, Environment]] = []
        self._running: dict[str, Environment] = {}
        self._made = 0
        self._rng = cloud.chances.of(f"function {name}")
        self._cold = cloud.sampler("lambda_cold_start")

    async def invoke(self, work: Callable[[Environment, float], Awaitable[Result]]) -> Result:
        """Run ``work(environment, stop_at)``, in a warm environment if there is one.

        Raises:
            Died: killed, or timed out.
        """
        loop = self._cloud.loop
        began = loop.time()
        environment, cold = self._take(began)
        host = environment.host
        self._running[host.name] = environment
        if cold:
            await loop.sleeper(self._cold())
        self._befall(host)
        over = loop.create_future()

        async def run() -> Result:
            return await work(environment, host.now() + self._spec.timeout_s - STOP_MARGIN_S)

        task = loop.create_task(run())

        def ended(_: object = None) -> None:
            if not over.done():
                over.set_result(None)

        def died() -> None:
            task.cancel()
            ended()

        task.add_done_callback(ended)
        host.on_death = died
        if not host.alive:  # it died while it was made
            died()
        timer = loop.call_later(self._spec.timeout_s, host.kill)
        await over
        timer.cancel()
        host.on_death = host.doom = None
        del self._running[host.name]
        self._cloud.meter.ran(self._spec.name, self._spec.memory_gb, loop.time() - began)
        if not host.alive:
            raise Died(host.name)
        self._idle.append((loop.time(), environment))
        return task.result()

    def _take(self, now: float) -> tuple[Environment, bool]:
        """The environment that was used last, or a new one."""
        deployed = self._cloud.faults.deploy_at
        release = 2 if deployed is not None and now >= self._cloud.started + deployed else 1
        old_ones_end = math.inf if deployed is None else self._cloud.started + deployed + OVERLAP_S
        while self._idle:
            since, environment = self._idle.pop()
            outdated = environment.host.version < release and now >= old_ones_end
            if now - since < IDLE_S and environment.host.alive and not outdated:
                return environment, False
            if now - since >= IDLE_S:
                self._idle.clear()  # those below have been idle for longer
        self._made += 1
        skew = self._cloud.faults.clock_skew_s
        host = Host(
            self._cloud.loop,
            f"{self.name}/{self._made}",
            self._cloud.epoch,
            self._rng.uniform(-skew, skew),
            release,
        )
        return self._make(host), True

    def _befall(self, host: Host) -> None:
        """What this invocation's environment is to meet: at an await, or at a time."""
        faults, rng = self._cloud.faults, self._rng
        if faults.kill and rng.random() < faults.kill:
            if rng.random() < 0.6:
                host.doom = Doom(int(math.exp(rng.uniform(0, math.log(MANY_STEPS)))))
            else:
                self._cloud.loop.call_later(rng.uniform(0, self._spec.timeout_s / 2), host.kill)
        elif faults.stall and rng.random() < faults.stall:
            seconds = rng.uniform(*faults.stall_s)
            if rng.random() < 0.6:
                host.doom = Doom(int(math.exp(rng.uniform(0, math.log(MANY_STEPS)))), seconds)
            else:
                self._cloud.loop.call_later(rng.uniform(0, self._spec.timeout_s / 2), host.stall, seconds)

    def die(self) -> None:
        """All environments die at once."""
        for environment in [*self._running.values(), *(each for _, each in self._idle)]:
            environment.host.kill()
        self._idle.clear()


class Fleet:
    """All functions of the stack, and who starts whom asynchronously."""

    def __init__(self, cloud: Cloud, platforms: Platforms, deployed: tuple[Deployed, ...], seed: int) -> None:
        self.cloud = cloud
        self.deployed = deployed
        self._platforms = platforms
        self._seed = seed
        self._texts: Texts = {}
        self._late = cloud.sampler("lambda_async")
        self._rng = cloud.chances.of("asynchronous invocations")
        self.functions = {name: self._function(spec, name) for name, spec in SPECS.items() if name != "worker"}
        self.workers = {
            each.platform: self._function(
                replace(SPECS["worker"], timeout_s=each.call_timeout + WORKER_ROOM_S),
                f"worker-{each.platform}",
                each,
            )
            for each in deployed
        }
        self.handlers: dict[str, Callable[[Environment, float, Mapping[str, Any]], Awaitable[Any]]] = {}

    def _function(self, spec: Spec, name: str, worker: Deployed | None = None) -> Function:
        def make(host: Host) -> Environment:
            return Environment(
                host,
                self.cloud,
                platforms=self._platforms,
                deployed=self.deployed,
                texts=self._texts,
                start=self.start,
                seed=self._seed,
                platform="" if worker is None else worker.platform,
                call_timeout_s=60.0 if worker is None else float(worker.call_timeout),
            )

        return Function(spec, self.cloud, make, name)

    def die(self) -> None:
        """All environments of all functions die at once."""
        for function in (*self.functions.values(), *self.workers.values()):
            function.die()

    def environment(self, name: str) -> Environment:
        """An environment of its own, for an operator's commands."""
        host = Host(self.cloud.loop, name, self.cloud.epoch)
        return Environment(
            host,
            self.cloud,
            platforms=self._platforms,
            deployed=self.deployed,
            texts=self._texts,
            start=self.start,
            seed=self._seed,
        )

    def start(self, function: str, event: Mapping[str, Any]) -> None:
        """An asynchronous invocation: late, doubled or lost, as faults will have it."""
        faults, rng = self.cloud.faults, self._rng
        if faults.async_lost and rng.random() < faults.async_lost:
            return
        times = 2 if faults.async_doubled and rng.random() < faults.async_doubled else 1
        for _ in range(times):
            late = self._late() + (rng.random() * faults.async_late_s if faults.async_late_s else 0.0)
            self.cloud.loop.call_later(late, self.begin, function, event)

    def begin(self, function: str, event: Mapping[str, Any], tries: int = 0) -> None:
        """Invoke now."""
        self.cloud.loop.create_task(self._run(function, event, tries))

    async def _run(self, function: str, event: Mapping[str, Any], tries: int) -> None:
        handler = self.handlers[function]
        try:
            if self.cloud.in_trouble(self.cloud.troubles(function)) is not None:
                raise Died(function)
            await self.functions[function].invoke(lambda environment, stop_at: handler(environment, stop_at, event))
        except (Died, Unavailable, LookupError):
            # The template: the planner's events are tried twice more, everybody else's come by themselves.
            if function == "planner" and tries < 2:
                self.cloud.loop.call_later(60.0 * (tries + 1), self.begin, function, event, tries + 1)
