"""When do the schedules fire, and what else happens by the clock? Ticks every minute, the day's start, mass deaths of workers."""

from __future__ import annotations

from collections.abc import Callable

from brandvane.simulation.fleet import Fleet

MINUTE_S = 60.0
DAY_S = 86_400.0
SWEEP_DELAY_S = 30.0


class Schedules:
    """The stack's schedules: missed, doubled, late, many at once, as faults will have it."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._cloud = fleet.cloud
        self._rng = self._cloud.chances.of("schedules")
        self._late = self._cloud.sampler("schedule")
        self._ended = False

    def begin(self) -> None:
        """From now on."""
        for fire in (self._dispatch, self._scan, self._half_minute):
            self._every_minute(fire, self._rng.uniform(0, MINUTE_S))
        burst = self._cloud.faults.ticks_at_once
        if burst:
            at = self._cloud.started + self._rng.uniform(0, 600)
            for fire in (self._dispatch, self._scan):
                self._cloud.loop.call_later(max(at - self._cloud.loop.time(), 0), self._burst, fire, burst)
        if self._cloud.faults.deaths_a_day:
            for platform in self._fleet.workers:
                self._deaths(platform)

    def end(self) -> None:
        """No more ticks."""
        self._ended = True

    def day(self, schedule: str, at: float, fires: float) -> None:
        """The schedule that starts the run names the POSIX time ``at``, and fires at the virtual time ``fires``."""
        if self._cloud.faults.day_tick_missed:
            return
        event = {"schedule": schedule, "at": at}
        wait = fires - self._cloud.loop.time()
        for _ in range(2 if self._rng.random() < self._cloud.faults.tick_doubled else 1):
            self._cloud.loop.call_later(max(wait, 0) + self._late(), self._fleet.begin, "planner", event)

    def _every_minute(self, fire: Callable[[], None], first: float) -> None:
        def tick() -> None:
            if self._ended:
                return
            self._cloud.loop.call_later(MINUTE_S, tick)
            faults = self._cloud.faults
            if faults.tick_missed and self._rng.random() < faults.tick_missed:
                return
            for _ in range(2 if faults.tick_doubled and self._rng.random() < faults.tick_doubled else 1):
                late = self._late() + (self._rng.random() * faults.tick_late_s if faults.tick_late_s else 0.0)
                self._cloud.loop.call_later(late, fire)

        self._cloud.loop.call_later(first, tick)

    def _burst(self, fire: Callable[[], None], number: int) -> None:
        for _ in range(number):
            fire()

    def _dispatch(self) -> None:
        self._fleet.begin("dispatcher", {})

    def _scan(self) -> None:
        self._fleet.begin("scanner", {"on_the_minute": True})

    def _half_minute(self) -> None:
        self._cloud.meter.asked("sqs", "send")
        self._cloud.queue.send_at_once("sweep", '{"v":1}', SWEEP_DELAY_S)

    def _deaths(self, platform: str) -> None:
        wait = self._rng.expovariate(self._cloud.faults.deaths_a_day / DAY_S)

        def die() -> None:
            if not self._ended:
                self._fleet.workers[platform].die()
                self._deaths(platform)

        self._cloud.loop.call_later(wait, die)
