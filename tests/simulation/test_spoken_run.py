"""A whole run in virtual time in which every platform speaks its own protocol: the engine behind the real readers, faults included."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from brandvane.answer import unpack
from brandvane.engine.plan import StartRequest
from brandvane.platforms.http_client import protocol
from brandvane.run import RunState
from brandvane.simulation.standin_dialects import DIALECTS, dialect_of, kept_alive
from brandvane.simulation.standin_errors import Wrong
from brandvane.simulation.standin_reply import Asked as Question
from brandvane.simulation.standin_reply import Reply as Sent
from brandvane.simulation.standin_reply import Told, malformed
from brandvane.task import Outcome
from builders import Asked, Reply, ScriptedClient, catalogue, platform, schedule, tasks_of, together
from engine_rig import MemoryBench
from unit.test_engine_whole_run import Whole

PLATFORMS = {name.replace("_", "-"): name for name in DIALECTS}
QUESTIONS = 12
TEXT = "Acme leads, then Zeta."


def sent(rng: random.Random, spoken: str, name: str, asked: Asked) -> Sent:
    """What the platform puts on the wire: an answer, or a fault in its own words."""
    dialect, drawn = dialect_of(spoken, name), rng.random()
    question = Question(asked.model, asked.prompt)
    good = dialect.answer(Told("a-1", 0, question, TEXT))
    faults: tuple[tuple[float, Sent], ...] = (
        (0.05, dialect.errors.reply(Wrong.SERVER)),
        (0.05, dialect.errors.reply(Wrong.BUSY)),
        (0.05, dialect.errors.reply(Wrong.RATE, wait=3)),
        (0.05, dialect.errors.inside_success()),
        (0.04, dialect.empty(Told("a-2", 0, question, ""), rng.randrange(2))),
        (0.04, malformed(good.body, rng.randrange(4))),
        (0.05, dialect.answer(Told("a-3", 0, question, TEXT[:8], "truncated"))),
        (0.05, dialect.answer(Told("a-4", 0, question, TEXT, "filtered"))),
        (0.10, kept_alive(good)),
    )
    for share, reply in faults:
        drawn -= share
        if drawn < 0:
            return reply
    return good


class Spoken(Whole):
    """A stack in memory whose platforms speak."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        rows = tuple(platform(name, protocol=spoken, rate=5.0) for name, spoken in PLATFORMS.items())
        given = catalogue(QUESTIONS, platforms=rows, schedules=(schedule(start="08:50", end="09:00"),))
        self.bench = MemoryBench.new(given, plan=False)
        self.clients = {
            row.name: ScriptedClient(
                self.bench.clock, self._reply_of(row.name, random.Random(f"{seed}/{row.name}")), takes=3.0
            )
            for row in rows
        }
        self.workers = {name: self._worker(name) for name in PLATFORMS}

    def _reply_of(self, name: str, rng: random.Random) -> Callable[[int, Asked], Reply]:
        row = self.bench.catalogue.monitor.platform(name)

        def reply(_number: int, asked: Asked) -> Reply:
            wire = sent(rng, row.protocol, name, asked)
            headers = {key.lower(): value for key, value in (wire.headers or {}).items()}
            return protocol(row.protocol).read(row, wire.status, headers, wire.body, self.bench.clock.now())

        return reply

    async def everywhere(self) -> None:
        """A run of everything, to its report."""
        await self.bench.planner.start(StartRequest(schedule_id="core"))
        pollers = [self._poll(name) for name in PLATFORMS for _ in range(2)]
        await together(self._minutes(6 * 3600.0), self._plan(), self._write_back(), *pollers)


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_run_over_all_protocols_ends_with_a_row_a_task_and_its_words(seed: int) -> None:
    spoken = Spoken(seed)
    await spoken.bench.clock.run(spoken.everywhere())
    (run,) = spoken.bench.world.runs.runs.values()
    rows = spoken.bench.rows()
    assert run.state is RunState.REPORTED
    assert {row.task_id for row in rows} == {task.task_id for task in tasks_of(run, spoken.bench.catalogue)}
    assert len(rows) == QUESTIONS * len(PLATFORMS)
    outcomes = Counter(row.outcome for row in rows)
    answered = (Outcome.OK, Outcome.TRUNCATED, Outcome.FILTERED, Outcome.REFUSED)
    assert set(outcomes) <= {*answered, Outcome.RETRIES_USED_UP}  # four faults in a row end a task, rightly
    assert outcomes[Outcome.RETRIES_USED_UP] <= 2
    assert {outcomes[Outcome.TRUNCATED] > 0, outcomes[Outcome.FILTERED] > 0} == {True}
    kept = {row.outcome: unpack(row.answer) for row in rows if row.answer is not None and row.outcome in answered}
    assert kept[Outcome.OK].text == TEXT
    assert kept[Outcome.TRUNCATED].text == TEXT[:8]
    assert {row.platform for row in rows if row.outcome == Outcome.OK} == set(PLATFORMS)
