"""How does a test say an operator's command? A world in memory behind the command line, keys and planner included."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import click
from click.testing import CliRunner, Result

from brandvane.aws.keys import history_pk, history_sk
from brandvane.catalogue import Catalogue, Selection
from brandvane.cli.alarm_reader import Alarm
from brandvane.cli.desk import Desk, DeskOf
from brandvane.cli.key_store import KeyFacts
from brandvane.engine.plan import CannotStart, Planner, StartRequest, describe
from brandvane.ports import Deployed
from brandvane.result import ResultRow, row_of
from brandvane.run import Run
from brandvane.simulation.memory_stores import MemoryResultStore
from brandvane.simulation.memory_world import ManualClock, MemoryWorld, StatedDeployment
from brandvane.task import Outcome, State, Task
from builders import NOW, placed, tasks_of

BUCKET = "data"


class MemoryKeys:
    """Keys by platform."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.facts: dict[str, KeyFacts] = {}

    async def put(self, platform: str, value: str) -> KeyFacts:
        """Set a platform's key."""
        version = self.facts[platform].version + 1 if platform in self.facts else 1
        self.values[platform] = value
        self.facts[platform] = KeyFacts(platform, version, datetime(2025, 10, 9, tzinfo=UTC))
        return self.facts[platform]

    async def known(self) -> dict[str, KeyFacts]:
        """Which platforms have a key."""
        return dict(self.facts)

    def name_of(self, platform: str) -> str:
        """Where it lies."""
        return f"/test/keys/{platform}"

    async def value(self, platform: str, parameter: str = "") -> str | None:
        """The key."""
        return self.values.get(platform)


class MemoryRows:
    """The ``RowReader`` port on rows in memory."""

    def __init__(self, results: MemoryResultStore) -> None:
        self._results = results

    async def row(self, pk: str, sk: str) -> ResultRow | None:
        """The row at a key."""
        return self._results.rows.get((pk, sk))

    async def earlier(self, row: ResultRow) -> list[ResultRow]:
        """Rows of earlier rounds."""
        keys = [(history_pk(row.pk), history_sk(number, row.sk)) for number in range(1, row.round)]
        return [self._results.rows[key] for key in keys if key in self._results.rows]

    async def find(self, run_id: str, task_id: str) -> ResultRow | None:
        """A counted row."""
        counted = (self._results.rows[key] for key in self._results.counted)
        return next((row for row in counted if (row.run_id, row.task_id) == (run_id, task_id)), None)


@dataclass
class StatedAlarms:
    """Alarms as a test states them; ``refusal`` is raised instead."""

    alarms: list[Alarm] = field(default_factory=list)
    refusal: Exception | None = None

    async def all(self) -> list[Alarm]:
        """All of them."""
        if self.refusal is not None:
            raise self.refusal
        return list(self.alarms)


@dataclass
class Office:
    """A world, its desk, and what was said at it."""

    world: MemoryWorld
    interactive: bool = False
    keys: MemoryKeys = field(default_factory=MemoryKeys)
    alarms: StatedAlarms = field(default_factory=StatedAlarms)
    planned: list[Mapping[str, Any]] = field(default_factory=list)
    reply: Mapping[str, Any] | None = None  # the planner's, in place of its own

    def desk(self) -> Desk:
        """A desk on the world's ports."""
        world = self.world
        return Desk(
            stack="test",
            bucket=BUCKET,
            tasks=world.tasks,
            runs=world.runs,
            results=world.results,
            rows=MemoryRows(world.results),
            controls=world.control,
            stats=world.stats,
            catalogues=world.catalogues,
            queue=world.queue,
            blobs=world.blobs,
            functions=world.functions,
            deployment=world.deployment,
            keys=self.keys,
            alarms=self.alarms,
            plan=self._plan,
            clock=world.clock,
            chance=world.chance,
            interactive=self.interactive,
            telemetry=world.telemetry,
        )

    async def _plan(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """As the planner's entry point does it."""
        self.planned.append(event)
        if self.reply is not None:
            return self.reply
        wanted = event["start"]
        told = wanted["selection"]
        request = StartRequest(
            schedule_id=wanted["schedule_id"],
            date=wanted["date"],
            label=wanted["label"],
            version=wanted["version"],
            selection=Selection(
                tuple(told["platforms"]), tuple(told["brands"]), tuple(told["questions"]), told["limit"]
            ),
        )
        try:
            return describe(await self.planner().start(request))
        except CannotStart as error:
            return {"error": str(error), "code": 2}

    def planner(self) -> Planner:
        """The world's planner."""
        world = self.world
        return Planner(
            tasks=world.tasks,
            runs=world.runs,
            controls=world.control,
            catalogues=world.catalogues,
            queue=world.queue,
            functions=world.functions,
            deployment=world.deployment,
            clock=world.clock,
            chance=world.chance,
            telemetry=world.telemetry,
        )

    def say(self, command: click.Command, *words: str, stdin: str | bytes | None = None) -> Result:
        """Say a command; its exit code, stdout and stderr."""
        opened = DeskOf(lambda _aws: self.desk())
        result = CliRunner().invoke(command, list(words), obj=opened, input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def json(self, command: click.Command, *words: str) -> Any:
        """What a command says with ``--json``."""
        result = self.say(command, *words, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


def office(*catalogues: Catalogue, interactive: bool = False, auto: bool = False) -> Office:
    """An office on the morning of 9 October 2025, where each platform of the catalogues has a worker of ten slots."""
    names = dict.fromkeys(name for each in catalogues for name in each.monitor.platform_names)
    world = MemoryWorld(
        clock=ManualClock(NOW, auto=auto), deployment=StatedDeployment(*(Deployed(name, 5, 2, 60) for name in names))
    )
    for each in catalogues:
        world.catalogues.push(each)
    return Office(world, interactive)


def lay_out(world: MemoryWorld, run: Run, tasks: Sequence[Task]) -> None:
    """Put a run and its tasks into the stores; those that are finished get their rows."""

    async def put() -> None:
        await world.runs.create(run)
        await world.tasks.create(tasks)
        for task in tasks:
            if task.outcome is not None and task.state in (State.DONE, State.FAILED):
                await world.results.put(row_of(task, NOW - 110))

    asyncio.run(put())


def as_ended(tasks: Sequence[Task], *outcomes: Outcome | State) -> list[Task]:
    """Tasks ended with the outcomes given, in their order, or standing in a state."""
    return [
        placed(task, given)
        if isinstance(given, State)
        else placed(
            task, State.DONE if given in ("ok", "truncated", "refused", "filtered") else State.FAILED, outcome=given
        )
        for task, given in zip(tasks, outcomes, strict=True)
    ]


def laid_out(here: Office, run: Run, catalogue: Catalogue, *ended: Outcome | State) -> list[Task]:
    """A run whose first tasks ended as given and whose others are PENDING."""
    tasks = tasks_of(run, catalogue)
    tasks = as_ended(tasks[: len(ended)], *ended) + tasks[len(ended) :]
    lay_out(here.world, run, tasks)
    return tasks


def row_in(here: Office, task: Task) -> ResultRow:
    """The row of a task."""
    row = row_of(replace(task, outcome=task.outcome or Outcome.OK), NOW)
    return here.world.results.rows[row.pk, row.sk]
