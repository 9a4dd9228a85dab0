"""Which faults did the published accounts of such systems tell of, and which alarm must say so by when? Eight cases, in virtual time.

``holds_at`` is when the alarm's rule (DESIGN §8) begins to hold, by the case's own arithmetic and not by what was measured: seconds
after the simulation's zero, the run's window beginning at ``BEFORE_S``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from brandvane.alarms import ALARMS
from brandvane.messages import calls_queue
from brandvane.moves import RUNNING_MARGIN_S
from brandvane.ports import Unavailable
from brandvane.simulation.cloud import BEFORE_S
from brandvane.simulation.faults import NONE, Faults, Trouble
from brandvane.simulation.fleet import Fleet
from brandvane.simulation.scenario import CALL_TIMEOUT_S, Scenario
from brandvane.simulation.simulate import Outcome, Simulation

FIRST = "platform-1"
BEGINS_S = 120.0  # of the window; the fault, where it does not last from the beginning
CALL_S = 5.0
TASKS = 600  # a platform
MINUTES = 10
RATE = TASKS / (MINUTES * 60)  # tasks a second
# Two platforms of 600 tasks in ten minutes: one a second each.
SCENARIO = Scenario(
    brands=10, questions=TASKS // 10, platforms=2, rate=5.0, latency=CALL_S, hours=MINUTES / 60, deadline=1.0
)


@dataclass(frozen=True, slots=True)
class KnownFault:
    """One case: what is wrong, the alarms that must fire and no other, and when their rule holds."""

    name: str
    must: tuple[str, ...]
    holds_at: float
    faults: Faults = NONE
    scenario: Scenario = SCENARIO
    prepare: Callable[[Fleet], None] | None = None
    may: tuple[str, ...] = ()  # what follows from the fault sooner or later

    def carry_out(self, seed: int = 1) -> Outcome:
        """Simulate until the alarms must have fired, and no longer."""
        end = max(self.latest(alarm) for alarm in self.must) + 60.0
        simulation = Simulation(self.scenario, self.faults, seed, stop_at_first=True)

        def prepare(fleet: Fleet) -> None:
            if self.prepare is not None:
                self.prepare(fleet)
            fleet.cloud.loop.call_later(end, simulation.broken.set)

        simulation.prepare = prepare
        return simulation.run()

    def latest(self, alarm: str) -> float:
        """When it must have fired at the latest."""
        return self.holds_at + ALARMS[alarm.rpartition("/")[2]].raises_within_s

    def missed(self, outcome: Outcome) -> list[str]:
        """What is wrong with the alarms that fired; nothing, if all is well."""
        fired = outcome.alarms
        wrong = [
            f"{alarm} fired without a cause at {times[0]:.0f} s"
            for alarm, times in fired.items()
            if alarm not in (*self.must, *self.may)
        ]
        for alarm in self.must:
            first = fired.get(alarm, [float("inf")])[0]
            if first > self.latest(alarm):
                wrong.append(f"{alarm} fired at {first:.0f} s; its rule held from {self.holds_at:.0f} s on")
        wrong += [
            f"{alarm} fired before the fault, at {times[0]:.0f} s"
            for alarm, times in fired.items()
            if times[0] < BEFORE_S + BEGINS_S and self.holds_at > BEFORE_S + BEGINS_S
        ]
        return wrong


def _not_consumed(fleet: Fleet) -> None:
    """The event source of a platform's queue is off."""
    fleet.cloud.queue.waiters[calls_queue(FIRST)] = lambda: None


def _rows_refused(fleet: Fleet) -> None:
    """The results table takes no rows any more."""
    make = fleet.cloud.results.put_at_once

    def refused(row: object) -> bool:
        if fleet.cloud.loop.time() >= BEFORE_S + BEGINS_S:
            raise Unavailable("the results table refuses")
        return make(row)  # type: ignore[arg-type]

    fleet.cloud.results.put_at_once = refused  # type: ignore[method-assign]


def _crashed(fleet: Fleet) -> None:
    """All environments of a platform's worker die in the middle of their calls, and whatever timers they had with them."""
    fleet.cloud.loop.call_later(BEFORE_S + BEGINS_S, fleet.workers[FIRST].die)


_LONG = 1e6

KNOWN_FAULTS = (
    KnownFault(
        "queue not consumed",
        (f"{FIRST}/backlog", "backlog-total"),
        # 1,300 tasks in 6.5 minutes: 3.33 a second, the 1001st due after 300 s.
        holds_at=BEFORE_S + 1001 / (1300 / 390),
        scenario=replace(SCENARIO, brands=13, questions=100, platforms=1, hours=6.5 / 60),
        prepare=_not_consumed,
    ),
    KnownFault(
        "pulled but never run",
        (f"{FIRST}/pulled-not-started", "platform-2/pulled-not-started"),
        # The 20th task is claimed 20 s after the window's start, and stands still from then on; there must be workers to claim it.
        holds_at=BEFORE_S + 20 / RATE + 30,
        scenario=replace(SCENARIO, rate=20.0),
        faults=Faults(
            stall_before="begin", stall_before_share=1.0, stall_before_until=_LONG, stall_before_s=(100.0, 110.0)
        ),
    ),
    KnownFault(
        "run and hung",
        ("global-timeouts",),
        holds_at=BEFORE_S + CALL_TIMEOUT_S + RUNNING_MARGIN_S + CALL_S,
        faults=Faults(stall_at_reply=1.0, stall_s=(140.0, 145.0)),
    ),
    KnownFault(
        "finished and not written back",
        ("write-back-pending",),
        holds_at=BEFORE_S + BEGINS_S + 51 / (2 * RATE) + CALL_S,
        prepare=_rows_refused,
    ),
    KnownFault(
        "retry storm",
        (f"{FIRST}/retry-storm", "platform-2/retry-storm"),
        holds_at=BEFORE_S + BEGINS_S,
        faults=Faults(troubles=(Trouble("platform", BEGINS_S, _LONG, 0.4, "server_error"),)),
        may=(f"{FIRST}/retries-used-up", "platform-2/retries-used-up"),
    ),
    KnownFault(
        "one platform blocks the others",
        (f"{FIRST}/platform-paused",),
        # Hanging calls end after their timeout; the breaker opens when twenty have failed.
        holds_at=BEFORE_S + BEGINS_S + CALL_TIMEOUT_S + 20 / RATE,
        faults=Faults(troubles=(Trouble("platform", BEGINS_S, _LONG, 1.0, "hangs", FIRST),)),
        may=(f"{FIRST}/retry-storm", f"{FIRST}/success-rate", "deadline-at-risk"),
    ),
    KnownFault(
        "consumer crashed with its own timer",
        ("global-timeouts",),
        holds_at=BEFORE_S + BEGINS_S + CALL_TIMEOUT_S + RUNNING_MARGIN_S,
        prepare=_crashed,
    ),
    KnownFault(
        "run never planned",
        ("run-not-planned",),
        holds_at=BEFORE_S,  # DESIGN counts the ten minutes in
        faults=Faults(day_tick_missed=True, troubles=(Trouble("planner", 0, _LONG),)),
    ),
)
