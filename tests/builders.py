"""What do the tests build on? A small catalogue, runs, tasks, messages, replies, and a platform that does as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from brandvane.answer import Answer, Failure, Usage
from brandvane.catalogue import Brand, Catalogue, Monitor, PlatformSettings, Question, Schedule, Selection
from brandvane.expansion import Expansion, task_of
from brandvane.policy import ErrorKind
from brandvane.ports import Clock, MaySend
from brandvane.run import Run
from brandvane.task import FINISHED, Change, Moved, Outcome, State, Task, task_id_of, watch_of

NOW = 1_760_000_000.0  # 2025-10-09 08:53:20 UTC
PLATFORM = "openai"
VERSION = "v1"


def platform(name: str = PLATFORM, **given: Any) -> PlatformSettings:
    """A platform of ten calls a second, ten in flight, one model."""
    fields: dict[str, Any] = {
        "protocol": "openai_chat",
        "base_url": "http://127.0.0.1:9/v1",
        "models": ("m1",),
        "rate": 10.0,
        "in_flight": 10,
        "call_timeout_s": 60.0,
    }
    return PlatformSettings(name=name, **(fields | given))


def schedule(**given: Any) -> Schedule:
    """Core brands by 12:00 UTC, deadline 14:00."""
    fields = {"id": "core", "start": "08:00", "end": "12:00", "deadline": "14:00", "time_zone": "UTC"}
    return Schedule(**(fields | given))


def catalogue(
    questions: int = 20,
    *,
    platforms: tuple[PlatformSettings, ...] | None = None,
    version: str = VERSION,
    **monitor: Any,
) -> Catalogue:
    """Two brands that track ``questions`` questions."""
    return Catalogue(
        brands=(Brand("acme", "Acme"), Brand("zeta", "Zeta")),
        questions=tuple(
            Question(f"q{n}", f"Which maker is number {n}?", brands=("acme", "zeta")) for n in range(questions)
        ),
        monitor=Monitor(**({"platforms": platforms or (platform(),), "schedules": (schedule(),)} | monitor)),
        version=version,
    )


def run_of(given: Catalogue, run_id: str = "core-2025-10-09", **fields: Any) -> Run:
    """A run with its plan written: a second between two tasks, deadline two hours away."""
    expansion = Expansion(given, Selection(), "normal", 7)
    planned = expansion.planned
    made = Run(
        run_id=run_id,
        schedule_id="core",
        catalogue_version=given.version,
        window_start=NOW,
        window_end=NOW + 3600,
        deadline=NOW + 7200,
        created_at=NOW - 100,
        seed=7,
        planned=planned,
        spacing=dict.fromkeys(planned, 1.0),
        chunks=expansion.chunks,
        plan_complete=True,
        plan_progress_at=NOW - 50,
    )
    return replace(made, **fields)


def tasks_of(run: Run, given: Catalogue) -> list[Task]:
    """Every task of a run, as planned."""
    expansion = Expansion(given, run.selection, run.priority, run.seed)
    numbered = [pair for chunk in range(expansion.chunks) for pair in expansion.chunk(chunk)]
    return [task_of(run, planned, position, f"planned-{position}", NOW - 60) for position, planned in numbered]


def task(state: State = State.PENDING, **fields: Any) -> Task:
    """One record in a state, consistent with it; without a run of its own."""
    made = Task(
        task_id=task_id_of("r1", "openai/m1", "ab" * 12, "", 1),
        run_id="r1",
        platform=PLATFORM,
        model="m1",
        question_ids=("q1",),
        brand_group="acme",
        prompt_hash="ab" * 12,
        locale="",
        sample=1,
        priority="normal",
        planned_time=NOW,
        next_execute_time=NOW,
        deadline_at=NOW + 7200,
        created_at=NOW - 60,
        updated_at=NOW - 60,
        attempt_id="attempt-1",
    )
    return placed(made, state, **fields)


def placed(made: Task, state: State, **fields: Any) -> Task:
    """The record as it would stand in a state: ``act_at`` 100 s ago, and an outcome where there must be one."""
    values: dict[str, Any] = {"state": state, "act_at": None if state in FINISHED else NOW - 100}
    if state is State.RUNNING:
        values |= {"started_at": NOW - 175, "paid_calls": 1}
    if state in (State.WRITEBACK, State.DONE):
        values |= {"outcome": Outcome.OK, "finished_at": NOW - 120}
    if state is State.FAILED:
        values |= {"outcome": Outcome.TIMEOUT, "finished_at": NOW - 120}
    if state in FINISHED:
        values |= {"expires_at": int(NOW) + 1000}
    made = replace(made, **(values | fields))
    return replace(made, watch=watch_of(made, state))


def answer(text: str = "Acme is number one.", **fields: Any) -> Answer:
    """A usable answer that cost 30 micro-dollars."""
    given: dict[str, Any] = {"status": "ok", "served_model": "m1-2025", "usage": Usage(10, 20), "cost_microusd": 30}
    return Answer(text=text, **(given | fields))


def failure(kind: ErrorKind, **fields: Any) -> Failure:
    """A failed call."""
    return Failure(kind, f"told to fail: {kind}", **fields)


Reply = Answer | Failure | Exception


@dataclass(frozen=True, slots=True)
class Asked:
    """One call as the platform saw it."""

    at: float
    request_id: str
    model: str
    prompt: str
    timeout: float

    @property
    def task_id(self) -> str:
        """The task that it was made for."""
        return self.request_id.partition("/")[0]


@dataclass(slots=True)
class ScriptedClient:
    """A platform that takes ``takes`` seconds a call and replies what ``reply`` says (by number of the call, from 0)."""

    clock: Clock
    reply: Callable[[int, Asked], Reply] = lambda _number, _asked: answer()
    takes: float = 0.0
    connects: float = 0.0  # seconds until the call could be sent
    asked: list[Asked] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    prepared: list[str] = field(default_factory=list)

    async def prepare(self, settings: PlatformSettings) -> None:
        """Remember the platform."""
        self.prepared.append(settings.name)

    async def ask(
        self,
        settings: PlatformSettings,
        model: str,
        prompt: str,
        locale: str,
        request_id: str,
        timeout: float,
        may_send: MaySend,
    ) -> Answer | Failure | None:
        """The port's one call."""
        await self.clock.sleep(self.connects)
        if not await may_send():
            return None
        asked = Asked(self.clock.now(), request_id, model, prompt, timeout)
        self.asked.append(asked)
        reply = self.reply(len(self.asked) - 1, asked)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await self.clock.sleep(self.takes)
        self.in_flight -= 1
        if isinstance(reply, Exception):
            raise reply
        return reply

    @property
    def starts(self) -> list[float]:
        """When each call began, in seconds after ``NOW``."""
        return [round(call.at - NOW, 6) for call in self.asked]


def always(reply: Reply) -> Callable[[int, Asked], Reply]:
    """A script of one reply."""
    return lambda _number, _asked: reply


def in_turn(*replies: Reply) -> Callable[[int, Asked], Reply]:
    """A script: one reply after another, the last for ever."""
    return lambda number, _asked: replies[min(number, len(replies) - 1)]


class Faulty:
    """A port of which some calls go wrong: each named method has a list of faults, used up call by call.

    ``None``: goes well. An exception: raised, nothing is done. ``Lost(error)``: done, and then raised.
    """

    def __init__(self, inner: Any, faults: Mapping[str, list[Any]]) -> None:
        self._inner = inner
        self.faults = faults

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name not in self.faults:
            return method

        async def called(*args: Any, **kwargs: Any) -> Any:
            script = self.faults[name]
            fault = script.pop(0) if script else None
            if isinstance(fault, Lost):
                await method(*args, **kwargs)
                raise fault.error
            if fault is not None:
                raise fault
            return await method(*args, **kwargs)

        return called


class Slow:
    """A task store of which some moves take a while after they are made: ``Slow(clock, tasks, begin=0.2)``."""

    def __init__(self, clock: Clock, inner: Any, **seconds: float) -> None:
        self._clock = clock
        self._inner = inner
        self._seconds = seconds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def move(self, task_id: str, change: Change) -> Moved:
        """The port's move."""
        moved: Moved = await self._inner.move(task_id, change)
        await self._clock.sleep(self._seconds.get(change.name, 0.0))
        return moved


@dataclass(frozen=True, slots=True)
class Lost:
    """The call is carried out, its reply never arrives."""

    error: Exception


async def together(*work: Awaitable[Any]) -> list[Any]:
    """All of it at once."""
    return list(await asyncio.gather(*work))


async def later(clock: Clock, seconds: float, act: Callable[[], object]) -> None:
    """Something that happens in a while."""
    await clock.sleep(seconds)
    act()
