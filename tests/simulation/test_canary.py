"""A model vanishes at three in the night, the day's run begins at half past: the canary finds it first, so that no task meets it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from brandvane.engine.canary import AHEAD_S, TEXT
from brandvane.engine.plan import StartRequest
from brandvane.messages import CallMessage, CanaryMessage, NewerMessage, calls_queue
from brandvane.platforms.errors import classify
from brandvane.ports import Envelope
from brandvane.run import RunState
from brandvane.task import State
from builders import Asked, Reply, ScriptedClient, always, answer, catalogue, platform, schedule, together
from engine_rig import MemoryBench
from simulation.night import PLATFORMS, VANISHED, Night

MODELS = ("m1", "m2")
BODY = b'{"error": {"message": "Not found the model m1", "type": "resource_not_found_error"}}'


def at(hour: int, minute: int) -> float:
    """An instant of that night."""
    return datetime(2025, 10, 10, hour, minute, tzinfo=UTC).timestamp()


EVENING, GONE, START, LOOKED_AT, MENDED = at(2, 50), at(3, 0), at(3, 30), at(3, 50), at(4, 0)


class Watched(Night):
    """A scheduled run, with or without its canary."""

    def __init__(self, *, canary: bool = True) -> None:
        day = schedule(start="03:30", end="03:40", deadline="12:00")
        platforms = tuple(platform(name, rate=5.0, models=MODELS) for name in PLATFORMS)
        given = catalogue(20, platforms=platforms, schedules=(day,), canary=canary)
        super().__init__(given, self._reply_of)

    @staticmethod
    def _reply_of(name: str, bench: MemoryBench) -> Callable[[int, Asked], Reply]:
        def reply(_number: int, asked: Asked) -> Reply:
            now = bench.clock.now()
            if (name, asked.model) == (VANISHED, "m1") and GONE <= now < MENDED:
                return classify(name, 404, {}, BODY, now)
            return answer("Acme leads.")

        return reply

    async def through(self) -> None:
        """From the evening to the report."""
        await self.bench.clock.advance_to(EVENING)
        pollers = [self._poll(name) for name in PLATFORMS for _ in range(2)]
        work = (
            self._minutes(60 * 3600.0),
            self._plan(),
            self._write_back(),
            self._scheduler(),
            self.person(LOOKED_AT, MENDED),
        )
        await asyncio.wait_for(self.bench.clock.run(together(*work, *pollers)), 60)

    async def _scheduler(self) -> None:
        await self.bench.clock.sleep(START - self.bench.clock.now())
        await self.bench.planner.start(StartRequest(schedule_id="core", at=START))

    def refused(self) -> list[Asked]:
        """Calls that met the vanished model."""
        calls = self.clients[VANISHED].asked
        return [call for call in calls if call.model == "m1" and GONE <= call.at < MENDED]


async def test_the_canary_pauses_the_vanished_model_before_any_task_has_met_it() -> None:
    night = Watched()
    await night.through()
    telemetry = night.bench.world.telemetry

    (met,) = night.refused()
    assert met.prompt == TEXT
    assert START - AHEAD_S <= met.at < START
    assert [(fields["target"], fields["who"]) for fields in telemetry.named("paused")] == [("kimi/m1", "canary")]
    assert night.control is not None
    assert (night.control.paused, set(night.control.targets)) == (None, {"kimi/m1"})
    assert night.seen[VANISHED] == Counter({State.PENDING: 20, State.DONE: 20})
    assert all(night.seen[name] == Counter({State.DONE: 40}) for name in PLATFORMS if name != VANISHED)

    gauge = [(name, value) for metric, value, name, _ in telemetry.published if metric == "PlatformPaused"]
    assert {name: max(value for of, value in gauge if of == name) for name in PLATFORMS} == {
        "openai": 0,
        "kimi": 1,  # the alarm "platform paused" rings, and no other platform's
        "qwen": 0,
    }

    (run,) = night.bench.world.runs.runs.values()
    assert run.state is RunState.REPORTED
    rows = night.bench.rows()
    assert Counter(row.outcome for row in rows) == Counter({"ok": 120})
    assert {(row.retry_count, row.paid_calls) for row in rows} == {(0, 1)}
    assert await night.bench.queue.depth(calls_queue(VANISHED)) == 0


async def test_every_target_is_asked_once_and_its_answer_is_no_task() -> None:
    night = Watched()
    await night.through()
    canaries = {name: [call for call in client.asked if call.prompt == TEXT] for name, client in night.clients.items()}
    assert {name: sorted(call.model for call in calls) for name, calls in canaries.items()} == {
        name: list(MODELS) for name in PLATFORMS
    }
    assert len(night.bench.world.tasks.records) == 120


async def test_two_dispatchers_send_one_canary_a_target() -> None:
    day = schedule(start="03:30", end="03:40", deadline="12:00")
    bench = MemoryBench.new(
        catalogue(2, platforms=(platform(models=MODELS),), schedules=(day,), canary=True), plan=False
    )
    await bench.clock.advance_to(START - AHEAD_S)
    for dispatcher in (bench.dispatcher, bench.without().dispatcher, bench.dispatcher):
        await bench.clock.run(dispatcher.tick())
    bodies = [CanaryMessage.decode(record.body) for record in await bench.queue.receive(calls_queue("openai"), 10)]
    assert sorted(body.model for body in bodies if body is not None) == list(MODELS)


async def test_a_canary_that_breaks_is_dropped() -> None:
    bench = MemoryBench.new(catalogue(2, platforms=(platform(models=MODELS),)), plan=False)
    client = ScriptedClient(bench.clock, always(RuntimeError("the worker broke")))
    bench.client = client
    body = CanaryMessage("core-2025-10-09", bench.catalogue.version, "m1").encode()
    await bench.queue.send(calls_queue("openai"), [Envelope("0", body)])
    assert await bench.clock.run(bench.work(await bench.queue.receive(calls_queue("openai"), 1))) == frozenset()
    assert [call.model for call in client.asked] == ["m1"]
    assert len(bench.world.telemetry.named("canary_failed")) == 1


async def test_a_canary_for_a_model_that_the_monitor_has_no_longer_asks_nobody() -> None:
    bench = MemoryBench.new(catalogue(2, platforms=(platform(models=("m2",)),)), plan=False)
    client = ScriptedClient(bench.clock)
    bench.client = client
    body = CanaryMessage("core-2025-10-09", bench.catalogue.version, "m1").encode()
    await bench.queue.send(calls_queue("openai"), [Envelope("0", body)])
    await bench.clock.run(bench.work(await bench.queue.receive(calls_queue("openai"), 1)))
    assert client.asked == []


async def test_a_platform_that_allows_one_call_at_a_time_gets_its_canary_only_when_it_is_idle() -> None:
    bench = MemoryBench.new(catalogue(2, platforms=(platform(in_flight=1),)), plan=False)
    client = ScriptedClient(bench.clock)
    bench.client = client
    body = CanaryMessage("core-2025-10-09", bench.catalogue.version, "m1").encode()
    for _ in range(2):
        await bench.queue.send(calls_queue("openai"), [Envelope("0", body)])
    await bench.controls.acquire("serial#openai", "somebody", bench.clock.now(), 60.0)
    await bench.clock.run(bench.work(await bench.queue.receive(calls_queue("openai"), 1)))
    assert client.asked == []
    await bench.controls.release("serial#openai", "somebody")
    await bench.clock.run(bench.work(await bench.queue.receive(calls_queue("openai"), 1)))
    assert len(client.asked) == 1
    assert await bench.controls.acquire("serial#openai", "another", bench.clock.now(), 60.0)


async def test_switched_off_nobody_is_asked_ahead_and_the_first_tasks_find_out() -> None:
    night = Watched(canary=False)
    await night.through()
    assert not any(call.prompt == TEXT for client in night.clients.values() for call in client.asked)
    assert [fields["who"] for fields in night.bench.world.telemetry.named("paused")] == ["worker"]
    assert Counter(row.outcome for row in night.bench.rows()) == Counter({"ok": 120})


def test_a_canarys_message_is_left_alone_by_workers_of_an_earlier_release() -> None:
    body = CanaryMessage("core-2025-10-10", "v1", "m1").encode()
    assert CanaryMessage.decode(body) == CanaryMessage("core-2025-10-10", "v1", "m1")
    with pytest.raises(NewerMessage):
        CallMessage.decode(body)
    assert CanaryMessage.decode(CallMessage("t", "r", 1, 0.0).encode()) is None
    assert CanaryMessage.decode("{}") is None
