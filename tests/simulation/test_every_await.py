"""A function that dies, or stands still past every lease, at any one of its awaits breaks no promise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brandvane.ports import Unavailable
from brandvane.simulation.environment import Environment
from brandvane.simulation.faults import Faults
from brandvane.simulation.fleet import Fleet, Function
from brandvane.simulation.host import Doom, Host
from brandvane.simulation.scenario import Scenario
from brandvane.simulation.simulate import Simulation
from brandvane.task import Change, Moved

SMALL = Scenario(brands=1, questions=2, platforms=1, rate=2.0, latency=3.0, hours=2 / 60, deadline=1.0)
STALL_S = 100.0  # longer than any lease of a task
MOST_AWAITS = 300

HALF_FAIL = Faults(name="half of the calls fail", first_fails=0.5)


def no_answer_in_the_record(fleet: Fleet) -> None:
    """Workers cannot write answers into records: they go by message, and the write-back function takes them in."""
    make = worker(fleet)._make

    def made(host: Host) -> Environment:
        environment = make(host)
        move = environment.tasks.move

        async def refusing(task_id: str, change: Change) -> Moved:
            if change.name == "answer":
                raise Unavailable("told to refuse")
            return await move(task_id, change)

        environment.tasks.move = refusing  # type: ignore[method-assign]
        return environment

    worker(fleet)._make = made


def as_it_is(fleet: Fleet) -> None:
    """Nothing is changed."""


def struck(
    which: Callable[[Fleet], Function], spoil: Callable[[Fleet], None], at: int, stall_s: float | None
) -> tuple[list[str], bool]:
    """Broken promises when a function's first invocation meets its fate at an await; and whether it had that many."""
    hosts: list[Host] = []

    def prepare(fleet: Fleet) -> None:
        def befall(host: Host) -> None:
            if not hosts:
                hosts.append(host)
                host.doom = Doom(at, stall_s)

        spoil(fleet)
        which(fleet)._befall = befall  # type: ignore[method-assign]

    outcome = Simulation(SMALL, HALF_FAIL, seed=3, prepare=prepare).run()
    # At the simulation's end all that is left dies.
    met = any((host.killed_at or outcome.seconds) < outcome.seconds or host.stalls for host in hosts)
    return [f"{each.kind}: {each.text}" for each in outcome.violations], met


def worker(fleet: Fleet) -> Function:
    return fleet.workers["platform-1"]


def named(name: str) -> Callable[[Fleet], Function]:
    return lambda fleet: fleet.functions[name]


CASES = {
    "worker": (worker, as_it_is),
    "worker whose answer goes by message": (worker, no_answer_in_the_record),
    "planner": (named("planner"), as_it_is),
    "dispatcher": (named("dispatcher"), as_it_is),
    "scanner": (named("scanner"), as_it_is),
    "writeback": (named("writeback"), no_answer_in_the_record),
    "scorer": (named("scorer"), as_it_is),
    "reporter": (named("reporter"), as_it_is),
}


@pytest.mark.parametrize("stall_s", [None, STALL_S], ids=["dies", "stands still"])
@pytest.mark.parametrize("name", list(CASES))
def test_at_every_await(name: str, stall_s: float | None) -> None:
    which, spoil = CASES[name]
    for at in range(1, MOST_AWAITS):
        broken, met = struck(which, spoil, at, stall_s)
        assert broken == [], f"{name}, await {at}"
        if not met:
            break
    else:
        pytest.fail(f"{name} has more than {MOST_AWAITS} awaits")
    assert at > 8, f"{name} was hardly there"
