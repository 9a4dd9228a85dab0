"""What is AWS in the simulation? The tables, queues and bucket of one stack, and the way to them: slow, refusing, losing replies.

Every request takes two waits, one before it takes effect and one before its reply arrives; the caller may die in either. The
tables themselves are the right ones of ``memory_*``: what is faulty is the way.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from brandvane.ports import Unavailable
from brandvane.simulation.cloud_lag import Behind
from brandvane.simulation.faults import Faults, Trouble, calmed
from brandvane.simulation.host import Host
from brandvane.simulation.latencies import LATENCIES
from brandvane.simulation.memory_blobs import MemoryBlobs
from brandvane.simulation.memory_index import LaggingIndex
from brandvane.simulation.memory_queue import MemoryQueue
from brandvane.simulation.memory_stores import (
    MemoryControlStore,
    MemoryResultStore,
    MemoryRunStore,
    MemoryStatStore,
)
from brandvane.simulation.memory_tasks import MemoryTaskStore
from brandvane.simulation.memory_world import MemoryCatalogues
from brandvane.simulation.meter import Meter
from brandvane.simulation.recorded_metrics import RecordedMetrics
from brandvane.simulation.virtual_loop import VirtualClock, VirtualLoop
from brandvane.task import Change

if TYPE_CHECKING:
    from brandvane.simulation.auditor import Auditor

Result = TypeVar("Result")
READ_TIMEOUT_S = 5.0  # of the clients in brandvane.aws.client, which try three times in all
TRIES = 3
BEFORE_S = 60.0  # the simulation begins this long before the run's window
VISIBILITY_OF = {"plan": 1800.0, "writeback": 360.0, "sweep": 360.0}  # template.yaml; a platform's queue: 900 s


class TooLarge(Exception):
    """DynamoDB refuses an item above 400 KB, SQS a message above 1 MiB; the same again is refused again."""


class Chances:
    """One seeded source of chance for each concern, so that one concern's draws do not move another's."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._made: dict[str, random.Random] = {}

    def of(self, name: str) -> random.Random:
        """The source of a concern."""
        if name not in self._made:
            self._made[name] = random.Random(f"{self._seed}/{name}")
        return self._made[name]


class Service:
    """The way to one service."""

    def __init__(
        self, name: str, loop: VirtualLoop, faults: Faults, rng: random.Random, write: Callable[[], float],
        read: Callable[[], float], started: float, troubled_as: str = "",
    ) -> None:  # fmt: skip
        self._name = name
        self._loop = loop
        self._rng = rng
        self._write = write
        self._read = read
        self._lost = faults.reply_lost
        what = troubled_as or name
        self._troubles = [each for each in faults.troubles if each.what == what and each.name in ("", name)]
        self._started = started
        self._calm = not self._troubles and not self._lost

    def calm(self) -> None:
        """From now on replies are lost in windows of trouble only."""
        self._lost = 0.0

    async def call(
        self,
        host: Host,
        effect: Callable[[], Result],
        repeat: Callable[[], Result] | None = None,
        *,
        write: bool = True,
    ) -> Result:
        """One request of an environment. ``repeat`` is the effect of the same request sent again by the client.

        Raises:
            Unavailable: refused, or no reply in time; the effect may or may not have come to pass.
        """
        half = (self._write() if write else self._read()) / 2
        if not self._calm:
            how = self._trouble(write)
            if how is not None:
                return await self._troubled(host, effect, repeat or effect, how, half)
        await self._way_there(host, half, effect)
        result = effect()
        await host.pause(half)
        return result

    async def _way_there(self, host: Host, seconds: float, effect: Callable[[], object]) -> None:
        """The wait before a request takes effect: it does so too when its caller gives up, because its thread goes on."""
        try:
            await host.pause(seconds)
        except asyncio.CancelledError:
            if host.alive:
                self._loop.call_soon(_unheard, effect)
            raise

    def _trouble(self, write: bool) -> str | None:
        now = self._loop.time() - self._started
        for trouble in self._troubles:
            if trouble.start <= now < trouble.end and self._rng.random() < trouble.share:
                return trouble.how
        return "lost" if write and self._lost and self._rng.random() < self._lost else None

    async def _troubled(
        self, host: Host, effect: Callable[[], Result], repeat: Callable[[], Result], how: str, half: float
    ) -> Result:
        if how == "refused":  # at each of the client's tries
            await host.pause(half * 2 * TRIES + self._rng.uniform(0.1, 1.0))
            raise Unavailable(f"{self._name} refuses")
        if how == "hangs":
            if (
                self._rng.random() < 0.5
            ):  # carried out by one of the client's tries, whether or not somebody still waits for it
                late = self._rng.random() < 0.5
                wait = self._rng.uniform(half, READ_TIMEOUT_S * TRIES) if late else half
                self._loop.call_later(wait, _unheard, effect)
            await host.pause(READ_TIMEOUT_S * TRIES)
            raise Unavailable(f"{self._name} does not answer")
        await self._way_there(host, half, effect)
        effect()
        await host.pause(self._rng.choice((0.05, READ_TIMEOUT_S)))  # a cut connection, or no reply in time
        if self._rng.random() < 0.3:
            await host.pause(READ_TIMEOUT_S)
            raise Unavailable(f"{self._name}: the reply was lost")
        result = repeat()
        await host.pause(half)
        return result


def _unheard(effect: Callable[[], object]) -> None:
    """Carry out a request to which nobody listens any more."""
    with contextlib.suppress(TooLarge):
        effect()


class Cloud:
    """The stack. ``slowness``: a factor on every latency; ``spoil`` lets a test break a move.

    ``started``: the virtual time that windows of trouble count from.
    """

    def __init__(
        self,
        *,
        loop: VirtualLoop,
        epoch: float,
        seed: int,
        faults: Faults,
        auditor: Auditor,
        slowness: float = 1.0,
        spoil: Callable[[Change], Change] | None = None,
    ) -> None:
        self.loop = loop
        self.epoch = epoch
        self.clock = VirtualClock(loop, epoch)
        self.faults = faults
        self.chances = Chances(seed)
        self.auditor = auditor
        self.meter = Meter()
        self.metrics = RecordedMetrics()
        self.spoil = spoil
        self.started = BEFORE_S
        self.slowness = slowness
        self.runs = MemoryRunStore()
        self.results = MemoryResultStore()
        self.controls = MemoryControlStore()
        self.stats = MemoryStatStore()
        self.blobs = MemoryBlobs()
        self.catalogues = MemoryCatalogues()
        self.queue = MemoryQueue(
            clock=self.clock, visibility_of=VISIBILITY_OF, default_max_receives=faults.most_receives
        )
        self.behind = Behind()
        self.lag = self._lag()
        self.tasks = MemoryTaskStore(runs=self.runs, results=self.results, index=LaggingIndex(loop.time, self.lag))
        self.dynamodb = self._service("dynamodb", "dynamodb_write", "dynamodb_read")
        self.sqs = self._service("sqs", "sqs", "sqs")
        self.s3 = self._service("s3", "s3", "s3")
        self.ssm = self._service("ssm", "ssm", "ssm", "s3")
        self.functions = self._service("lambda", "lambda_async", "lambda_async")

    def calm(self) -> None:
        """The storm is over."""
        self.faults = calmed(self.faults)
        for service in (self.dynamodb, self.sqs, self.s3, self.ssm, self.functions):
            service.calm()

    def _service(self, name: str, write: str, read: str, troubled_as: str = "") -> Service:
        """The way to a service. ``troubled_as``: it shares that other one's windows of trouble, but for those that name either."""
        return Service(
            name, self.loop, self.faults, self.chances.of(f"{name} troubles"),
            self.sampler(write), self.sampler(read), self.started, troubled_as,
        )  # fmt: skip

    def sampler(self, name: str) -> Callable[[], float]:
        """Draws of a named latency."""
        return LATENCIES[name].sampler(self.chances.of(f"latency {name}"), self.slowness)

    def _lag(self) -> Callable[[], float]:
        """How long an index takes to hear of a write now."""
        usual, rng, more = self.sampler("dynamodb_index_lag"), self.chances.of("index lag"), self.faults.index_lag_s
        troubles = self.troubles("index")

        def lag() -> float:
            seconds = usual() + (rng.random() ** 4 * more if more else 0.0)
            trouble = self.in_trouble(troubles) if troubles else None
            return seconds if trouble is None else seconds + rng.random() * trouble.share

        return lag

    def troubles(self, what: str, name: str = "") -> tuple[Trouble, ...]:
        """The windows of one service (or one platform)."""
        return tuple(each for each in self.faults.troubles if each.what == what and each.name in ("", name))

    def in_trouble(self, troubles: Sequence[Trouble]) -> Trouble | None:
        """The first of these windows that is open now."""
        now = self.loop.time() - self.started
        return next((each for each in troubles if each.start <= now < each.end), None)
