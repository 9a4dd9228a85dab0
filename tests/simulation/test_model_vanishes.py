"""One platform's model vanishes at three in the night: its tasks wait, one event, nobody else is touched, after resume all complete."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime

from brandvane.control import Pause
from brandvane.engine.plan import StartRequest
from brandvane.messages import calls_queue
from brandvane.platforms.errors import classify
from brandvane.run import RunState
from brandvane.task import State
from builders import Asked, Reply, answer, catalogue, platform, schedule, together
from engine_rig import MemoryBench
from simulation.night import PLATFORMS, VANISHED, Night

NIGHT = datetime(2025, 10, 10, 2, 54, tzinfo=UTC).timestamp()
GONE = datetime(2025, 10, 10, 3, 0, tzinfo=UTC).timestamp()
LOOKED_AT = datetime(2025, 10, 10, 3, 8, tzinfo=UTC).timestamp()
MENDED = datetime(2025, 10, 10, 3, 10, tzinfo=UTC).timestamp()
BODY = (
    b'{"error": {"message": "The model m1 does not exist", "type": "invalid_request_error", "code": "model_not_found"}}'
)


class Vanishing:
    """Answers until the model is gone, and again when it is back."""

    def __init__(self, name: str, bench: MemoryBench) -> None:
        self._name = name
        self._clock = bench.clock
        self.refused = 0

    def __call__(self, _number: int, _asked: Asked) -> Reply:
        """The reply of one call."""
        if self._name == VANISHED and GONE <= self._clock.now() < MENDED:
            self.refused += 1
            return classify(self._name, 404, {}, BODY, self._clock.now())
        return answer("Acme leads.")


class Looked(Night):
    """A run over the night, looked at by a person soon after."""

    def __init__(self) -> None:
        day = schedule(start="02:55", end="03:05", deadline="12:00")
        platforms = tuple(platform(name, rate=5.0) for name in PLATFORMS)
        self.behaves: dict[str, Vanishing] = {}
        super().__init__(catalogue(40, platforms=platforms, schedules=(day,)), self._behaviour)

    def _behaviour(self, name: str, bench: MemoryBench) -> Vanishing:
        self.behaves[name] = Vanishing(name, bench)
        return self.behaves[name]

    async def through(self) -> None:
        """From the evening to the report."""
        await self.bench.clock.advance_to(NIGHT)
        await self.bench.planner.start(StartRequest(schedule_id="core"))
        pollers = [self._poll(name) for name in PLATFORMS for _ in range(2)]
        await self.bench.clock.run(
            together(
                self._minutes(60 * 3600.0), self._plan(), self._write_back(), self.person(LOOKED_AT, MENDED), *pollers
            )
        )


async def test_a_model_that_vanishes_at_three_makes_its_tasks_wait_and_touches_nobody_else() -> None:
    night = Looked()
    await asyncio.wait_for(night.through(), 60)
    telemetry = night.bench.world.telemetry

    waiting = night.seen[VANISHED]
    assert waiting[State.DONE] + waiting[State.PENDING] == 40
    assert waiting[State.PENDING] > 0
    assert all(night.seen[name] == Counter({State.DONE: 40}) for name in PLATFORMS if name != VANISHED)
    assert night.control is not None
    assert night.control.paused is None
    (pause,) = night.control.targets.items()
    assert pause[0] == f"{VANISHED}/m1"
    assert isinstance(pause[1], Pause)
    assert (pause[1].why, pause[1].until) == ("model_gone", None)
    assert [fields["target"] for fields in telemetry.named("paused")] == [f"{VANISHED}/m1"]
    assert 1 <= night.behaves[VANISHED].refused <= 10  # those under way; no storm

    (run,) = night.bench.world.runs.runs.values()
    assert run.state is RunState.REPORTED
    rows = night.bench.rows()
    assert Counter(row.outcome for row in rows) == Counter({"ok": 120})
    assert max(row.retry_count for row in rows) == 0
    assert await night.bench.queue.depth(calls_queue(VANISHED)) == 0
