"""Which worker process is killed, and what did a kill hit? Pure: what was seen goes in, a choice or a count comes out."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from brandvane.simulation.standin_row import CallOutcome


class Aim(StrEnum):
    """What a kill is meant to hit."""

    IN_FLIGHT = "in_flight"  # a worker whose calls are under way
    AFTER_ANSWER = "after_answer"  # a worker that has just been sent a complete answer and has not kept it yet


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that a stand-in has under way; ``port`` is the caller's, ``outcome`` how it will end."""

    platform: str
    request_id: str
    arrived: float
    port: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Victim:
    """The process to kill, all its connections to the stand-ins, its calls under way, and the call it was chosen for."""

    pid: int
    platform: str
    ports: frozenset[int]
    calls: tuple[str, ...]
    chosen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One kill. ``running``: request ids (task id and number of the call) of the platform's records that were read as RUNNING
    after the process was gone; those of living workers are among them. ``at``: POSIX seconds.
    """

    at: float
    aim: Aim
    victim: Victim
    running: frozenset[str]

    @property
    def hit(self) -> bool:
        """Was it what it was meant to be: did the record of a call of this very process stay RUNNING?"""
        if self.aim is Aim.AFTER_ANSWER:
            return self.victim.chosen in self.running
        return not self.running.isdisjoint(self.victim.calls)

    def left(self) -> frozenset[str]:
        """Tasks that the dead process left RUNNING, by id."""
        known = {*self.victim.calls, self.victim.chosen}
        return frozenset(task_of(call) for call in self.running & known)

    def document(self) -> dict[str, Any]:
        """JSON-ready."""
        told = asdict(self)
        told["victim"]["ports"] = sorted(self.victim.ports)
        return {**told, "running": sorted(self.running), "hit": self.hit}


def task_of(request_id: str) -> str:
    """The task of a request id (``task/number``)."""
    return request_id.rpartition("/")[0]


def choose(
    aim: Aim, calls: Sequence[OpenCall], pids: Mapping[int, int], rng: random.Random, *, now: float, young_s: float
) -> Victim | None:
    """A process with a call under way, by chance; None where there is none. ``pids``: process by port.

    To be killed after its answer, a call must be one that will be answered, and not older than ``young_s``: it takes a moment
    until its end can be waited for.
    """
    known = [call for call in calls if call.port in pids]
    fit = [call for call in known if aim is Aim.IN_FLIGHT or _will_be_answered(call, now, young_s)]
    if not fit:
        return None
    chosen = rng.choice(fit)
    pid = pids[chosen.port]
    ports = frozenset(port for port, holder in pids.items() if holder == pid)
    own = tuple(call.request_id for call in known if call.port in ports)
    return Victim(pid, chosen.platform, ports, own, chosen.request_id)


def _will_be_answered(call: OpenCall, now: float, young_s: float) -> bool:
    return call.outcome == CallOutcome.OK and now - call.arrived <= young_s


def hits(kills: Iterable[Kill], aim: Aim) -> int:
    """Kills that were meant so and hit."""
    return sum(kill.aim is aim and kill.hit for kill in kills)
