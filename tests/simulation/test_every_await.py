"""A function that dies, or stands still past every lease, at any one of its awaits breaks no promise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brandvane.simulation.faults import Faults, Trouble
from brandvane.simulation.fleet import Fleet, Function
from brandvane.simulation.host import Doom, Host
from brandvane.simulation.scenario import Scenario
from brandvane.simulation.simulate import Simulation

SMALL = Scenario(brands=1, questions=2, platforms=1, rate=2.0, latency=3.0, hours=2 / 60, deadline=1.0)
STALL_S = 100.0  # longer than any lease of a task
MOST_AWAITS = 300

HALF_FAIL = Faults(name="half of the calls fail", first_fails=0.5)
# The answers come while the table refuses: they go by message, and the write-back function takes them in.
REFUSED = Faults(name="no table", troubles=(Trouble("dynamodb", 22, 35.03, 1.0, "refused"),))


def struck(
    which: Callable[[Fleet], Function], at: int, stall_s: float | None, faults: Faults
) -> tuple[list[str], bool]:
    """Broken promises when a function's first invocation meets its fate at an await; and whether it had that many."""
    hosts: list[Host] = []

    def prepare(fleet: Fleet) -> None:
        def befall(host: Host) -> None:
            if not hosts:
                hosts.append(host)
                host.doom = Doom(at, stall_s)

        which(fleet)._befall = befall  # type: ignore[method-assign]

    outcome = Simulation(SMALL, faults, seed=3, prepare=prepare).run()
    met = any(host.killed_at is not None or host.stalls for host in hosts)
    return [f"{each.kind}: {each.text}" for each in outcome.violations], met


def worker(fleet: Fleet) -> Function:
    return fleet.workers["platform-1"]


def named(name: str) -> Callable[[Fleet], Function]:
    return lambda fleet: fleet.functions[name]


CASES = {
    "worker": (worker, HALF_FAIL),
    "worker whose answer goes by message": (worker, REFUSED),
    "planner": (named("planner"), HALF_FAIL),
    "dispatcher": (named("dispatcher"), HALF_FAIL),
    "scanner": (named("scanner"), HALF_FAIL),
    "writeback": (named("writeback"), REFUSED),
    "scorer": (named("scorer"), HALF_FAIL),
    "reporter": (named("reporter"), HALF_FAIL),
}


@pytest.mark.parametrize("stall_s", [None, STALL_S], ids=["dies", "stands still"])
@pytest.mark.parametrize("name", list(CASES))
def test_at_every_await(name: str, stall_s: float | None) -> None:
    which, faults = CASES[name]
    for at in range(1, MOST_AWAITS):
        broken, met = struck(which, at, stall_s, faults)
        assert broken == [], f"{name}, await {at}"
        if not met:
            break
    else:
        pytest.fail(f"{name} has more than {MOST_AWAITS} awaits")
    print(name, at)
    assert at > 8, f"{name} was hardly there"
