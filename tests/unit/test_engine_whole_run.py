"""A whole run in memory, from its start to its report, in virtual time: every planned task ends as exactly one row."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from brandvane.answer import Answer, unpack
from brandvane.engine.plan import StartRequest
from brandvane.messages import PLAN_QUEUE, WRITEBACK_QUEUE, PlanMessage, calls_queue
from brandvane.policy import ErrorKind
from brandvane.ports import Unavailable
from brandvane.run import RunState
from brandvane.task import FINISHED, Outcome
from builders import (
    NOW,
    Asked,
    Reply,
    ScriptedClient,
    answer,
    catalogue,
    failure,
    platform,
    schedule,
    tasks_of,
    together,
)
from engine_rig import MemoryBench

PLATFORMS = ("openai", "kimi", "qwen")
RATE = 5.0
LONG = random.Random(2).randbytes(9_000).hex()


class Shaky:
    """A port of which a share of the calls is refused: half of them done all the same, their replies lost."""

    def __init__(self, inner: Any, rng: random.Random, share: float, *methods: str) -> None:
        self._inner = inner
        self._rng = rng
        self._share = share
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name not in self._methods:
            return method

        async def called(*args: Any, **kwargs: Any) -> Any:
            drawn = self._rng.random()
            if drawn < self._share / 2:
                raise Unavailable(f"{name} refused")
            done = await method(*args, **kwargs)
            if drawn < self._share:
                raise Unavailable(f"reply of {name} lost")
            return done

        return called


class Moody:
    """A platform's behaviour: a seeded mixture of everything that can come back."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self.answered: Counter[str] = Counter()

    def __call__(self, _number: int, asked: Asked) -> Reply:
        """The reply of one call."""
        drawn = self._rng.random()
        for share, reply in (
            (0.04, failure(ErrorKind.TIMEOUT)),
            (0.08, failure(ErrorKind.SERVER_ERROR)),
            (0.11, failure(ErrorKind.EMPTY)),
            (0.14, failure(ErrorKind.MALFORMED)),
            (0.16, failure(ErrorKind.RATE_LIMITED, retry_after=5.0)),
            (0.18, failure(ErrorKind.CLIENT_ERROR)),
            (0.20, RuntimeError("the worker broke")),
            (0.25, answer(LONG)),
        ):
            if drawn < share:
                if isinstance(reply, Answer):
                    self.answered[asked.task_id] += 1
                return reply
        self.answered[asked.task_id] += 1
        return answer(f"Acme, says {asked.model}.")


class Whole:
    """A stack in memory: pollers, schedules, functions that call one another."""

    def __init__(self, seed: int, *, shaky: float = 0.0) -> None:
        platforms = tuple(platform(name, rate=RATE) for name in PLATFORMS)
        given = catalogue(40, platforms=platforms, schedules=(schedule(start="08:50", end="09:00"),))
        self.bench = MemoryBench.new(given, plan=False)
        self.moody = {name: Moody(seed + place) for place, name in enumerate(PLATFORMS)}
        self.clients = {name: ScriptedClient(self.bench.clock, self.moody[name], takes=3.0) for name in PLATFORMS}
        rng = random.Random(seed)
        if shaky:
            self.bench.tasks = Shaky(self.bench.tasks, rng, shaky, "move", "get", "due", "create")
            self.bench.results = Shaky(self.bench.results, rng, shaky, "put", "count")
            self.bench.queue = Shaky(self.bench.queue, rng, shaky, "send", "depth", "postpone")
            self.bench.blobs = Shaky(self.bench.blobs, rng, shaky, "put")
            self.bench.controls = Shaky(self.bench.controls, rng, shaky, "read", "replace", "acquire")
            self.bench.runs = Shaky(self.bench.runs, rng, shaky, "get", "change", "mark")
        self.workers = {name: self._worker(name) for name in PLATFORMS}
        self.over = False

    def _worker(self, name: str) -> MemoryBench:
        bench = self.bench.without()
        bench.platform, bench.client = name, self.clients[name]
        return bench

    async def run(self, limit_s: float = 6 * 3600.0) -> None:
        """Start a run of everything and go on until it is reported."""
        await self._tried(self.bench.planner.start(StartRequest(schedule_id="core")))
        pollers = [self._poll(name) for name in PLATFORMS for _ in range(2)]
        await together(self._minutes(limit_s), self._plan(), self._write_back(), *pollers)

    async def _tried(self, work: Any) -> Any:
        """A function that is refused: its event comes again by itself, sooner or later."""
        try:
            return await work
        except Unavailable:
            return None

    async def _minutes(self, limit_s: float) -> None:
        bench = self.bench
        while bench.clock.now() < NOW + limit_s and not self.over:
            await self._tried(bench.dispatcher.tick())
            await self._tried(bench.sweep())
            await self._functions()
            await bench.clock.sleep(30)
            await self._tried(bench.scanner.sweep(stop_at=bench.clock.now() + 50, on_the_minute=False))
            await self._functions()
            await bench.clock.sleep(30)
            self.over = {run.state for run in bench.world.runs.runs.values()} == {RunState.REPORTED}
        self.over = True  # also when the time is up

    async def _functions(self) -> None:
        runs = self.bench.world.runs
        for name, event in self.bench.functions.take():
            if name == "planner" and "resume" in event:
                await self._tried(self.bench.planner.resume(event["resume"]))
            elif name == "planner":
                await self._tried(self.bench.planner.start(StartRequest(**event["start"])))
            elif name == "scorer":
                for bucket in event["buckets"]:
                    await runs.mark(event["run_id"], event["pass_no"], "scored", bucket, self.bench.clock.now())
            elif name == "reporter":
                await runs.change(event["run_id"], {"state": RunState.REPORTING}, {"state": RunState.REPORTED})

    async def _poll(self, name: str) -> None:
        """An event source mapping and its functions."""
        bench, queue = self.workers[name], calls_queue(name)
        while not self.over:
            records = await bench.world.queue.receive(queue, 5)
            again = await bench.work(records) if records else frozenset()
            for record in records:
                if record.message_id not in again:
                    await bench.world.queue.delete(queue, record.receipt)
            await bench.clock.sleep(0.3)

    async def _plan(self) -> None:
        queue = self.bench.world.queue
        while not self.over:
            for message in await queue.receive(PLAN_QUEUE, 2):
                try:
                    await self.bench.planner.chunk(PlanMessage.decode(message.body))
                except Unavailable:
                    await queue.postpone(PLAN_QUEUE, message.receipt, 5)
                else:
                    await queue.delete(PLAN_QUEUE, message.receipt)
            await self.bench.clock.sleep(1.0)

    async def _write_back(self) -> None:
        queue = self.bench.world.queue
        while not self.over:
            records = await queue.receive(WRITEBACK_QUEUE, 10)
            again = await self.bench.take_in.handle(records)
            for record in records:
                if record.message_id not in again:
                    await queue.delete(WRITEBACK_QUEUE, record.receipt)
            await self.bench.clock.sleep(1.0)


def checked(whole: Whole) -> None:
    """What must hold at the end of every run, whatever went wrong in it."""
    world = whole.bench.world
    (run,) = world.runs.runs.values()
    planned = {task.task_id for task in tasks_of(run, whole.bench.catalogue)}
    rows = whole.bench.rows()
    assert run.state is RunState.REPORTED
    assert (len(rows), {row.task_id for row in rows}) == (len(planned), planned)
    assert set(world.tasks.records) == planned
    assert {record.state for record in world.tasks.records.values()} <= FINISHED
    assert all(record.act_at is None and record.expires_at is not None for record in world.tasks.records.values())
    answered = sum((moody.answered for moody in whole.moody.values()), Counter[str]())
    for row in rows:
        key = row.answer_key
        packed = row.answer if key is None else world.blobs.objects[key]
        if row.outcome == "ok":
            assert packed is not None
            assert unpack(packed).text
            assert answered[row.task_id] >= 1
        assert row.retry_count <= 3
    for client in whole.clients.values():
        starts = sorted(call.at for call in client.asked)
        assert min(after - before for before, after in pairwise(starts)) >= 1 / RATE
        assert len({call.request_id for call in client.asked}) == len(client.asked)
        assert client.most_in_flight <= 10


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_every_task_of_a_run_on_moody_platforms_ends_as_one_row(seed: int) -> None:
    whole = Whole(seed)
    await whole.bench.world.clock.run(whole.run())
    checked(whole)
    answered = sum((moody.answered for moody in whole.moody.values()), Counter[str]())
    assert max(answered.values()) == 1  # no call after its answer
    outcomes = Counter(row.outcome for row in whole.bench.rows())
    assert outcomes[Outcome.OK] == len(answered)
    assert sum(outcomes.values()) == 120


@pytest.mark.parametrize("seed", [11, 12, 13, 14])
async def test_every_task_ends_as_one_row_when_every_port_is_shaky_too(seed: int) -> None:
    whole = Whole(seed, shaky=0.06)
    await whole.bench.world.clock.run(whole.run())
    checked(whole)
