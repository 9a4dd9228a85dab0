"""What if one condition were missing? Every condition of the moves table taken away in turn, and nine mistakes of other parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brandvane.control import Control, Pause
from brandvane.engine.execute import Worker
from brandvane.engine.limiter import Limiter
from brandvane.engine.rescue import Rescuer
from brandvane.engine.send import Due, Sender
from brandvane.engine.take_in import TakeIn
from brandvane.moves import resend
from brandvane.pacing import Grant, Limits, Want, interval
from brandvane.ports import Delivered, Watched
from brandvane.simulation.cloud_stores import CloudResults
from brandvane.simulation.environment import Environment
from brandvane.simulation.fleet import Fleet
from brandvane.simulation.host import Host
from brandvane.task import MOVES, TOUCHES, Change, State

SCANNERS = frozenset({"resend", "give_back", "rescue", "end", "end_final", "extend"})


@dataclass(frozen=True, slots=True)
class Mutant:
    """A broken engine: its moves, its environments, or both."""

    name: str
    spoil: Callable[[Change], Change] | None = None
    prepare: Callable[[Fleet], None] | None = None


def without(move: str, condition: str) -> Mutant:
    """The table with one condition of one move taken away."""

    def spoil(change: Change) -> Change:
        if change.name != move:
            return change
        if condition == "state":
            return replace(change, sources=frozenset(State))
        if condition == "overdue":
            return replace(change, not_after=None)
        return replace(change, same={name: value for name, value in change.same.items() if name != condition})

    return Mutant(f"{move} without {condition}", spoil)


def conditions() -> list[Mutant]:
    """One mutant for every condition of every row: the state, what must not have changed, that its time has come."""
    return [
        without(name, condition)
        for name, rule in {**MOVES, **TOUCHES}.items()
        for condition in ("state", *rule.same, *(("overdue",) if rule.overdue else ()))
    ]


def in_every_environment(change: Callable[[Environment], None]) -> Callable[[Fleet], None]:
    """Break each environment as it is made."""

    def prepare(fleet: Fleet) -> None:
        for function in (*fleet.functions.values(), *fleet.workers.values()):
            make = function._make

            def made(host: Host, make: Callable[[Host], Environment] = make) -> Environment:
                environment = make(host)
                change(environment)
                return environment

            function._make = made

    return prepare


class MarksFirst(Sender):
    """DISPATCHED before SQS has confirmed anything."""

    async def send(self, platform: str, dues: Sequence[Due]) -> int:
        for due in dues:
            await self._mark(platform, due)
        return await super().send(platform, dues)


class ForgetsFailures(Worker):
    """An exception becomes an empty list of failures: the batch is deleted."""

    async def handle(self, records: Sequence[Delivered], *, stop_at: float, invocation: str) -> frozenset[str]:
        await super().handle(records, stop_at=stop_at, invocation=invocation)
        return frozenset()


class ForgetsAnswers(TakeIn):
    """The same in the write-back function."""

    async def handle(self, messages: Sequence[Delivered]) -> frozenset[str]:
        await super().handle(messages)
        return frozenset()


class ReservesForAll(Limiter):
    """The clock advances for every call that asks, also for those that are then sent back."""

    async def reserve(
        self,
        platform: str,
        limits: Limits,
        wants: Sequence[Want],
        target: str,
        token: str = "",
        notice: float = 0.0,
    ) -> Grant | Pause:
        granted = await super().reserve(platform, limits, wants, target, token, notice)
        if isinstance(granted, Grant) and granted.resume_at:
            more = len(granted.resume_at)

            def ahead(item: Control) -> Control:
                return replace(item, clock=item.clock + more * interval(limits, item), day_calls=item.day_calls + more)

            await self.change(platform, ahead)
        return granted


class PushesNothing(Limiter):
    """A 429 is heard and not told to anybody."""

    async def push(self, platform: str, until: float, epoch: int) -> None:
        return


class VoidsNothing(Limiter):
    """A 429 pushes the clock, and slots that are out already are used."""

    async def push(self, platform: str, until: float, epoch: int) -> None:
        await self.change(platform, lambda item: replace(item, clock=max(item.clock, until)))


class IgnoresTime(Rescuer):
    """Acts on what the index names, whatever time the record has."""

    async def act(self, entry: Watched) -> None:
        task, now = await self._tasks.get(entry.task_id), self._clock.now()
        if task is None or task.state not in ACTS:
            return
        if task.state is State.DISPATCHED:
            await self._make(task, resend(task, now, now), "resent")
        else:
            await ACTS[task.state](self, task, now)


ACTS: dict[State, Any] = {
    State.DISPATCHED: None,
    State.PULLED: Rescuer._pulled,
    State.RUNNING: Rescuer._running,
    State.WRITEBACK: Rescuer._writeback,
}


class CountsAhead(CloudResults):
    """The index that counts a run's rows knows of one that is still to be written."""

    async def count(self, run_id: str) -> int:
        return await super().count(run_id) + 1


def _as(environment: Environment, name: str, kind: type) -> None:
    """A use case of the environment becomes one of another class: nothing else about it changes."""
    use_case = getattr(environment, name)
    use_case.__class__ = kind


def _marks_first(environment: Environment) -> None:
    _as(environment, "sender", MarksFirst)


def _forgets(environment: Environment) -> None:
    _as(environment, "worker", ForgetsFailures)
    _as(environment, "take_in", ForgetsAnswers)


def _reserves_for_all(environment: Environment) -> None:
    _as(environment, "limiter", ReservesForAll)


def _pushes_nothing(environment: Environment) -> None:
    _as(environment, "limiter", PushesNothing)


def _voids_nothing(environment: Environment) -> None:
    _as(environment, "limiter", VoidsNothing)


def _counts_ahead(environment: Environment) -> None:
    _as(environment, "results", CountsAhead)


def _ignores_time(environment: Environment) -> None:
    environment.scanner._rescuer.__class__ = IgnoresTime


def _timeless(change: Change) -> Change:
    if change.name not in SCANNERS:
        return change
    return replace(
        change, not_after=None, same={name: value for name, value in change.same.items() if name != "act_at"}
    )


def _same_number(change: Change) -> Change:
    return replace(change, add={name: number for name, number in change.add.items() if name != "dispatch_no"})


def _short_lease(change: Change) -> Change:
    """The scanner takes calls from workers that are well."""
    return (
        replace(change, put={**change.put, "act_at": change.put["updated_at"] + 5.0})
        if change.name == "begin"
        else change
    )


def mistakes() -> list[Mutant]:
    """The mistakes that are made elsewhere than in the table."""
    return [
        Mutant("DISPATCHED marked before SQS confirmed", None, in_every_environment(_marks_first)),
        Mutant("empty failure list on exception", None, in_every_environment(_forgets)),
        Mutant("limiter that reserves more than it uses", None, in_every_environment(_reserves_for_all)),
        Mutant("scanner without act_at", _timeless, in_every_environment(_ignores_time)),
        Mutant("dispatch_no not raised", _same_number),
        Mutant("lease shorter than the call", _short_lease),
        Mutant("push does nothing", None, in_every_environment(_pushes_nothing)),
        Mutant("push voids no slots", None, in_every_environment(_voids_nothing)),
        Mutant("run finished a row early", None, in_every_environment(_counts_ahead)),
    ]
