"""Real workers with a backlog on one clock: do they use what the limiter allows, and never more than an operator has just stated?"""

from __future__ import annotations

import asyncio
import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from brandvane.messages import CallMessage, calls_queue
from brandvane.pacing import LIMITER_SHARE
from brandvane.ports import Clock, Envelope
from brandvane.task import FINISHED
from builders import NOW, PLATFORM, ScriptedClient, Slow, catalogue, platform
from engine_rig import MemoryBench

QUEUE = calls_queue(PLATFORM)
LATENESS_S = 0.015  # a slot may be used this late (docs/decisions/0006)
MOST_WORKERS = 36
LONGEST_S = 600.0
FEWER = settings(max_examples=settings().max_examples // 4)


@dataclass(frozen=True, slots=True)
class SlowControls:
    """The control table, some milliseconds away."""

    inner: Any
    clock: Clock
    away_s: float

    async def read(self, platform_name: str) -> Any:
        """Half the way there, half the way back."""
        await self.clock.sleep(self.away_s / 2)
        found = await self.inner.read(platform_name)
        await self.clock.sleep(self.away_s / 2)
        return found

    async def replace(self, old: Any, new: Any) -> Any:
        """Half the way there, half the way back."""
        await self.clock.sleep(self.away_s / 2)
        there = await self.inner.replace(old, new)
        await self.clock.sleep(self.away_s / 2)
        return there


class Fleet:
    """A backlog of tasks, all due, and as many workers as it takes to serve a platform at its rate."""

    def __init__(self, rate: float, tasks: int, batch: int, takes: float, away_s: float) -> None:
        settings = platform(rate=rate, in_flight=1000)
        self.bench = MemoryBench.new(catalogue(tasks, platforms=(settings,)))
        self.bench.controls = SlowControls(self.bench.world.control, self.bench.clock, away_s)
        self.bench.tasks = Slow(self.bench.clock, self.bench.world.tasks, claim=away_s, begin=away_s)
        self.bench.client = ScriptedClient(self.bench.clock, takes=takes)
        self.tasks = self.bench.waiting(tasks)
        # A batch holds its slots until its last call is through: twice what the calls alone would need, and some; not so many
        # workers that they keep each other from the table.
        slots = 2 * rate * (takes + 1)
        self.batch = max(batch, math.ceil(slots / MOST_WORKERS))
        self.workers = 3 + round(slots / self.batch)

    def run(self, *others: Any) -> list[float]:
        """Work the backlog off; when each call started."""
        asyncio.run(self.bench.clock.run(self._run(others)))
        starts = self.bench.client.starts
        assert len(starts) == len(self.tasks)
        return starts

    async def _run(self, others: Any) -> None:
        for first in range(0, len(self.tasks), 10):
            ten = self.tasks[first : first + 10]
            bodies = [(t.task_id, CallMessage(t.task_id, t.run_id, t.dispatch_no, NOW).encode()) for t in ten]
            await self.bench.queue.send(QUEUE, [Envelope(task_id, body) for task_id, body in bodies])
        await asyncio.gather(*(self._worker() for _ in range(self.workers)), *(other(self) for other in others))

    async def _worker(self) -> None:
        bench = self.bench.without()
        while any(state not in FINISHED for state in self.bench.states()):
            assert bench.clock.now() < NOW + LONGEST_S, "some tasks are left alone"
            records = await bench.queue.receive(QUEUE, self.batch)
            again = await bench.work(records, for_s=900.0)
            for record in records:
                if record.message_id not in again:
                    await bench.queue.delete(QUEUE, record.receipt)
            if not records:
                await bench.clock.sleep(0.1)


@FEWER
@given(
    rate=st.sampled_from([2.0, 5.0, 10.0, 20.0]),
    batch=st.sampled_from([1, 2, 5, 10]),
    takes=st.floats(0.1, 8.0),
    away_s=st.floats(0.0, 0.03),
)
def test_a_backlog_uses_what_the_limiter_allows(rate: float, batch: int, takes: float, away_s: float) -> None:
    starts = Fleet(rate, 120, batch, takes, away_s).run()
    used = (len(starts) - 1) / (starts[-1] - starts[0])
    assert used <= rate * LIMITER_SHARE * 1.001
    assert used >= 0.98 * rate * LIMITER_SHARE


Orders = st.lists(
    st.tuples(st.floats(0.1, 6.0), st.sampled_from(["rate 2", "rate 5", "rate 20", "resume", "429"])),
    min_size=1,
    max_size=4,
)


@FEWER
@given(orders=Orders, batch=st.sampled_from([1, 5, 10]), away_s=st.floats(0.0, 0.03))
@example(orders=[(1.0, "rate 5"), (1.5, "rate 20")], batch=10, away_s=0.01)
def test_no_order_of_an_operator_makes_calls_come_faster_than_was_stated(
    orders: list[tuple[float, str]], batch: int, away_s: float
) -> None:
    rates = [(-100.0, 10.0)]

    async def operator(fleet: Fleet) -> None:
        bench = fleet.bench.without()
        for wait, order in orders:
            await bench.clock.sleep(wait)
            what, _, number = order.partition(" ")
            if what == "rate":
                rates.append((bench.clock.now() - NOW, float(number)))
                await bench.limiter.set_rate(PLATFORM, float(number))
            elif what == "resume":
                await bench.limiter.resume(PLATFORM)
            else:
                await bench.limiter.push(PLATFORM, bench.clock.now() + 1.0, fleet.bench.control().epoch)

    starts = Fleet(10.0, 80, batch, 0.5, away_s).run(operator)
    # A slot of the old rate is used for a second after its end.
    slack = LATENESS_S + away_s
    for last, end in enumerate(starts):
        for first, begin in enumerate(starts[:last]):
            known = bisect_right(rates, (begin - 1.0 - 2 * slack, 0.0)) - 1
            most = max(rate for _, rate in rates[known:]) * (end - begin + slack)
            assert last - first <= most, f"{last - first + 1} calls in {end - begin:.3f} s after {rates[known:]}"
