"""How does the published design fare on the same scenario? Sorted set, remove then run, local timers, four states.

As its accounts describe it: one process a platform takes due tasks out of a sorted set, *then* runs them, and keeps its retries in
timers of its own. What a process has in hand when it dies is in no set any more and in nobody's memory: it stays RUNNING or
PENDING for ever, and nothing says so. It stands on the same services here and meets the same fates, drawn from the calls' ids.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from heapq import heappop

from brandvane.catalogue import PlatformSettings, Selection
from brandvane.expansion import Expansion
from brandvane.policy import ErrorKind
from brandvane.ports import Unavailable
from brandvane.simulation.audit_limits import LimitAudit
from brandvane.simulation.auditor import Auditor
from brandvane.simulation.cloud import Cloud
from brandvane.simulation.cloud_platforms import Platforms
from brandvane.simulation.faults import Faults
from brandvane.simulation.host import Host
from brandvane.simulation.scenario import CALL_TIMEOUT_S, RUN_ID, Scenario
from brandvane.simulation.schedules import DAY_S
from brandvane.simulation.virtual_loop import VirtualLoop, run_virtual
from brandvane.task import target_name, task_id_of

POLL_S, TAKEN_AT_ONCE = 2.0, 50
RETRIES, BACKOFF_S, RESTART_S = 3, 10.0, 10.0
# Its rules: what did not come, or came as a 5xx, is tried again; a body that is no answer is a failure of the task.
RETRIED = frozenset({ErrorKind.TIMEOUT, ErrorKind.SERVER_ERROR, ErrorKind.RATE_LIMITED})


class Step(StrEnum):
    """The four states of a task."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"


@dataclass(slots=True)
class Job:
    """A task: its place in the set is its time; the state is what the table says."""

    task_id: str
    due: float
    state: Step = Step.PENDING
    retries: int = 0
    calls: int = 0


@dataclass(slots=True)
class ArticleOutcome:
    """What it came to. ``lost``: neither DONE nor FAILED when nothing moves any more; ``delays`` in seconds."""

    planned: int
    done: int
    failed: int
    lost: int
    retries: dict[int, int]
    violations: int
    delays: list[float]


class ArticleEngine:
    """The processes of one platform, one after another."""

    def __init__(self, cloud: Cloud, settings: PlatformSettings, platforms: Platforms, jobs: list[Job]) -> None:
        self._cloud = cloud
        self._settings = settings
        self._platforms = platforms
        self._set = sorted(((job.due, job.task_id, job) for job in jobs), key=lambda entry: entry[:2])
        self._limits = LimitAudit(settings.rate, settings.in_flight, 0.0)
        self._rng = cloud.chances.of(f"deaths {settings.name}")
        self._room = asyncio.Semaphore(settings.in_flight)
        self.delays: list[float] = []
        self.violations = 0

    async def live(self, until: float) -> None:
        """Process after process, until a virtual time."""
        loop, number = self._cloud.loop, 0
        while loop.time() < until:
            number += 1
            host = Host(loop, f"{self._settings.name}/{number}", self._cloud.epoch)
            deaths = self._cloud.faults.deaths_a_day / DAY_S
            lives = min(self._rng.expovariate(deaths) if deaths else until, until - loop.time() + 1.0)
            process = loop.create_task(self._process(host))
            await loop.sleeper(lives)
            host.kill()
            process.cancel()
            self._room = asyncio.Semaphore(self._settings.in_flight)
            await loop.sleeper(RESTART_S)

    async def _process(self, host: Host) -> None:
        children: dict[asyncio.Task[None], None] = {}
        try:
            while True:
                for job in await self._take(host):
                    child = asyncio.ensure_future(self._run(host, job))
                    children[child] = None
                    child.add_done_callback(children.pop)
                await host.pause(POLL_S)
        finally:
            for child in children:
                child.cancel()

    async def _take(self, host: Host) -> list[Job]:
        """Remove what is due from the set; it is in this process's hands alone from here on."""

        def effect() -> list[Job]:
            taken: list[Job] = []
            while self._set and self._set[0][0] <= host.now() and len(taken) < TAKEN_AT_ONCE:
                taken.append(heappop(self._set)[2])
            return taken

        try:
            return await self._cloud.dynamodb.call(host, effect, list)
        except Unavailable:
            return []

    async def _run(self, host: Host, job: Job) -> None:
        async with self._room:
            await self._state(host, job, Step.RUNNING)
            fate = await self._call(host, job)
        if fate is None:
            await self._state(host, job, Step.DONE)
        elif fate in RETRIED and job.retries < RETRIES:
            job.retries += 1
            await self._state(host, job, Step.PENDING)
            await host.pause(BACKOFF_S * 2 ** (job.retries - 1))  # the local timer
            await self._run(host, job)
        else:
            await self._state(host, job, Step.FAILED)

    async def _state(self, host: Host, job: Job, state: Step) -> None:
        def effect() -> None:
            job.state = state

        while True:
            try:
                await self._cloud.dynamodb.call(host, effect)
            except Unavailable:
                await host.pause(1.0)
            else:
                return

    async def _call(self, host: Host, job: Job) -> ErrorKind | None:
        loop, job.calls = self._cloud.loop, job.calls + 1
        if job.calls == 1:
            self.delays.append(self._cloud.epoch + loop.time() - job.due)
        self.violations += sum(1 for _ in self._limits.started(loop.time()))
        fate = self._platforms.fate(self._settings.name, f"{job.task_id}/{job.calls}")
        takes = min(fate.seconds, float(CALL_TIMEOUT_S))
        busy = self._limits.takes(loop.time() + takes)
        try:
            await host.pause(takes)
        except asyncio.CancelledError:
            self._limits.leaves(busy)
            raise
        return fate.kind


def simulate_article(scenario: Scenario, faults: Faults, seed: int) -> ArticleOutcome:
    """The same scenario, faults and seed on the published design."""

    async def main(loop: VirtualLoop) -> ArticleOutcome:
        auditor = Auditor(loop.time, scenario.epoch, lambda: None)
        cloud = Cloud(
            loop=loop, epoch=scenario.epoch, seed=seed, faults=faults, auditor=auditor, slowness=scenario.slowness
        )
        platforms = Platforms(cloud, seed, scenario.latency, scenario.call_timeout)
        expansion = Expansion(scenario.catalogue(), Selection(), "normal", 1)
        start, end, deadline = scenario.window
        jobs: dict[str, list[Job]] = {name: [] for name in scenario.names}
        for planned in expansion:
            mine = jobs[planned.platform]
            step = 0.0 if scenario.backlog else (end - start) / expansion.planned[planned.platform]
            target = target_name(planned.platform, planned.model)
            task_id = task_id_of(RUN_ID, target, planned.prompt.prompt_hash, planned.prompt.locale, planned.sample)
            mine.append(Job(task_id, start + len(mine) * step))
        engines = [ArticleEngine(cloud, each, platforms, jobs[each.name]) for each in scenario.settings()]
        await asyncio.gather(*(engine.live(deadline - scenario.epoch) for engine in engines))
        ended = [job for mine in jobs.values() for job in mine if job.state in (Step.DONE, Step.FAILED)]
        done = sum(job.state is Step.DONE for job in ended)
        return ArticleOutcome(
            planned=scenario.total,
            done=done,
            failed=len(ended) - done,
            lost=scenario.total - len(ended),
            retries=dict(sorted(Counter(job.retries for job in ended).items())),
            violations=sum(engine.violations for engine in engines),
            delays=[delay for engine in engines for delay in engine.delays],
        )

    return run_virtual(main)
