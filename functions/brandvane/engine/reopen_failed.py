"""Which failed tasks of a run can be asked again, and how is it done? Each in one transaction over record, row and run.

FAILED rows are found in the run's result buckets, single tasks by their records; what is reopened is the record, which may be
gone: finished records are kept for some days only. A task whose row is there and whose record is not stays as it is.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from brandvane.engine.refusal import NoSuchRun, Refusal
from brandvane.messages import NEW_TASKS
from brandvane.moves import retried
from brandvane.ports import (
    Chance,
    Clock,
    Functions,
    ResultStore,
    RunStore,
    TaskStore,
    Telemetry,
    Unavailable,
)
from brandvane.result import ResultRow, row_of
from brandvane.run import Run, RunState
from brandvane.task import ANSWERED, BUCKETS, FINISHED, RECORD_VERSION, Outcome, State, Task

NEW_DEADLINE_S = 7200.0  # a retry has at least this long, unless its operator says otherwise (DESIGN §2)
AT_ONCE = 16


class Finding(StrEnum):
    """What is known of a task that somebody wants to have asked again."""

    READY = "ready"
    GONE = "gone"  # there is a row, but no record any more
    ANSWERED = "answered"
    UNFINISHED = "unfinished"  # still, or again
    UNKNOWN = "unknown"  # no such task in this run
    NEWER = "newer"  # written by a newer release


class Ending(StrEnum):
    """What became of one that was ready."""

    REOPENED = "reopened"
    CHANGED = "changed"  # somebody else was faster
    UNSURE = "unsure"  # a table did not answer; asking for it again is safe


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which failed tasks; empty means all."""

    task_ids: tuple[str, ...] = ()
    outcomes: frozenset[Outcome] = frozenset()
    platforms: frozenset[str] = frozenset()

    def takes(self, row: ResultRow) -> bool:
        """Is it one of them? A row with an answer never is."""
        return (
            row.outcome not in ANSWERED
            and (not self.task_ids or row.task_id in self.task_ids)
            and (not self.outcomes or row.outcome in self.outcomes)
            and (not self.platforms or row.platform in self.platforms)
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task that was asked for; ``row`` and ``task`` are there when it is READY."""

    task_id: str
    finding: Finding
    row: ResultRow | None = None
    task: Task | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A run and what can be done with its failed tasks."""

    run: Run
    candidates: tuple[Candidate, ...] = ()

    @property
    def ready(self) -> tuple[Candidate, ...]:
        """Those that can be reopened."""
        return tuple(each for each in self.candidates if each.finding is Finding.READY)

    @property
    def others(self) -> tuple[Candidate, ...]:
        """Those that cannot."""
        return tuple(each for each in self.candidates if each.finding is not Finding.READY)


@dataclass(frozen=True, slots=True)
class Reopened:
    """What was done: how each one ended, and the run as it is now."""

    run: Run
    endings: dict[str, Ending] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many tasks are PENDING again."""
        return sum(1 for ending in self.endings.values() if ending is Ending.REOPENED)


class FailedTasks:
    """Finds and reopens the failed tasks of runs."""

    def __init__(
        self,
        *,
        tasks: TaskStore,
        results: ResultStore,
        runs: RunStore,
        functions: Functions,
        clock: Clock,
        chance: Chance,
        telemetry: Telemetry,
    ) -> None:
        self._tasks = tasks
        self._results = results
        self._runs = runs
        self._functions = functions
        self._clock = clock
        self._chance = chance
        self._telemetry = telemetry

    async def find(self, run_id: str, wanted: Wanted) -> Found:
        """Look for failed tasks; changes nothing.

        Raises:
            NoSuchRun: no run has this id.
            Refusal: the run was cancelled and its unfinished tasks have not all been ended.
            Unavailable: a table refuses.
        """
        run = await self._runs.get(run_id)
        if run is None:
            raise NoSuchRun(run_id)
        if (run.state is RunState.CANCELLED or run.cancelled_at is not None) and not run.swept:
            raise Refusal(
                f"run {run_id} was cancelled and some of its tasks have not ended yet: try again in a minute"
                f" ('brandvane run status {run_id}' shows them)"
            )
        if wanted.task_ids:
            return Found(run, tuple(await self._named(run_id, wanted)))
        rows = await self._rows(run_id, wanted)
        tasks = await self._records([row.task_id for row in rows])
        return Found(run, tuple(_candidate(row, task) for row, task in zip(rows, tasks, strict=True)))

    async def _named(self, run_id: str, wanted: Wanted) -> list[Candidate]:
        """Tasks by their records, which say all that a row does; rows are read only for those whose record is gone."""
        names = tuple(dict.fromkeys(wanted.task_ids))
        tasks = await self._records(names)
        rows = {row.task_id: row for row in await self._rows(run_id, wanted)} if None in tasks else {}
        now = self._clock.now()
        found = []
        for task_id, task in zip(names, tasks, strict=True):
            if task is None:
                row = rows.get(task_id)
                found.append(Candidate(task_id, Finding.UNKNOWN) if row is None else _candidate(row, None))
            elif task.run_id != run_id:
                found.append(Candidate(task_id, Finding.UNKNOWN))
            else:
                found.append(_of_record(task, wanted, now))
        return found

    async def _rows(self, run_id: str, wanted: Wanted) -> list[ResultRow]:
        """A run's rows that are wanted, without what failed calls brought."""

        async def failed(bucket: int) -> list[ResultRow]:
            rows = self._results.bucket(run_id, bucket)
            return [replace(row, answer=None) async for row in rows if wanted.takes(row)]

        buckets = await asyncio.gather(*(failed(bucket) for bucket in range(BUCKETS)))
        found = [row for bucket in buckets for row in bucket]
        return sorted(found, key=lambda row: (row.platform, row.planned_time, row.task_id))

    async def _records(self, task_ids: Sequence[str]) -> list[Task | None]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(task_id: str) -> Task | None:
            async with gate:
                return await self._tasks.get(task_id)

        return list(await asyncio.gather(*(one(task_id) for task_id in task_ids)))

    async def reopen(self, found: Found, deadline: float | None = None) -> Reopened:
        """Plan every ready task anew, one after the other (each changes the run), and wake the dispatcher.

        The run's deadline becomes the later of its own and ``deadline`` (default: 2 h from now).

        Raises:
            Refusal: the deadline is past.
        """
        started = self._clock.now()
        until = started + NEW_DEADLINE_S if deadline is None else deadline
        if until <= started:
            raise Refusal("the deadline is past: the tasks would end as expired at once")
        endings: dict[str, Ending] = {}
        for candidate in found.ready:
            endings[candidate.task_id] = await self._reopen(candidate, found.run.run_id, until)
        result = Reopened(await self._runs.get(found.run.run_id) or found.run, endings)
        if result.count:
            self._telemetry.event("tasks_reopened", run_id=found.run.run_id, tasks=result.count)
            with contextlib.suppress(Unavailable):  # it comes every minute anyway
                await self._functions.invoke("dispatcher", NEW_TASKS)
        return result

    async def _reopen(self, candidate: Candidate, run_id: str, deadline: float) -> Ending:
        task, row = candidate.task, candidate.row
        if task is None or row is None:
            return Ending.CHANGED
        now = self._clock.now()
        change = retried(task, now, self._chance.token(), now)
        try:
            done = await self._tasks.reopen(task, change, row.pk, row.sk, run_id, deadline, now)
        except Unavailable as error:
            self._telemetry.event("not_reopened", task_id=task.task_id, run_id=run_id, error=str(error))
            return Ending.UNSURE
        return Ending.REOPENED if done else Ending.CHANGED


def _candidate(row: ResultRow, task: Task | None) -> Candidate:
    return Candidate(row.task_id, Finding.GONE if task is None else _finding(task), row, task)


def _of_record(task: Task, wanted: Wanted, now: float) -> Candidate:
    """A task that was named, as its record has it; one that the filters leave out is unknown here."""
    finding = _finding(task)
    if finding is not Finding.READY:
        return Candidate(task.task_id, finding, None, task)
    row = replace(row_of(task, now), answer=None)
    if not wanted.takes(row):
        return Candidate(task.task_id, Finding.UNKNOWN)
    return Candidate(task.task_id, finding, row, task)


def _finding(task: Task) -> Finding:
    if task.v > RECORD_VERSION:
        return Finding.NEWER
    if task.state not in FINISHED:
        return Finding.UNFINISHED
    return Finding.READY if task.state is State.FAILED and task.outcome is not None else Finding.ANSWERED
