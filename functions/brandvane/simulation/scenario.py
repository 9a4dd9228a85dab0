"""What is simulated? Size, load and time of a run, and the catalogue and the stack that follow from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from brandvane.catalogue import BRAND_SLOT, Brand, Catalogue, Monitor, PlatformSettings, Question, Schedule
from brandvane.ports import Deployed
from brandvane.simulation.cloud import BEFORE_S

BATCH = 10
ROOM = 1.6  # slots for this many times rate × latency (DESIGN §4.1: 20 calls/s at 25 s need 500 to 800) ...
MORE_S = 12.0  # ... and these seconds: calls of a batch start one after another, and one that times out holds it
START = datetime(2026, 1, 5, 1, 0, tzinfo=UTC)  # a Monday
SCHEDULE = "day"
DATE = f"{START:%Y-%m-%d}"
RUN_ID = f"{SCHEDULE}-{DATE}"
MODEL = "m1"
CALL_TIMEOUT_S = 60
DAY_MINUTES = 1440


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Every brand's questions are asked of every platform. Times: ``latency`` in seconds, ``hours`` and ``deadline`` in hours.

    ``rate``: calls a second that each platform allows; ``deadline``: after the window's end; ``backlog``: all due at once.
    """

    brands: int = 8
    questions: int = 50
    platforms: int = 3
    rate: float = 10.0
    latency: float = 25.0
    hours: float = 1.0
    deadline: float = 1.0
    backlog: bool = False
    slowness: float = 1.0  # times every latency of AWS
    serial: bool = False  # the last platform takes one call at a time
    call_timeout: int = CALL_TIMEOUT_S  # longer ones send heartbeats

    @property
    def total(self) -> int:
        """Planned tasks."""
        return self.brands * self.questions * self.platforms

    @property
    def window(self) -> tuple[float, float, float]:
        """Start, end and deadline as POSIX seconds."""
        start = START.timestamp()
        end = start + round(self.hours * 60) * 60
        return start, end, end + self.deadline * 3600

    @property
    def epoch(self) -> float:
        """POSIX seconds at the simulation's zero."""
        return self.window[0] - BEFORE_S

    def deployed(self) -> tuple[Deployed, ...]:
        """The workers."""
        slots = self.rate * (self.latency * ROOM + MORE_S)
        invocations = max(math.ceil(slots / BATCH), 2)
        workers = [Deployed(name, invocations, BATCH, self.call_timeout) for name in self.names]
        if self.serial:
            workers[-1] = Deployed(self.names[-1], 2, 1, self.call_timeout)
        return tuple(workers)

    @property
    def names(self) -> tuple[str, ...]:
        """The platforms."""
        return tuple(f"platform-{number + 1}" for number in range(self.platforms))

    def settings(self) -> tuple[PlatformSettings, ...]:
        """The platforms as the monitor knows them."""
        return tuple(
            PlatformSettings(
                name=worker.platform,
                protocol="openai_chat",
                base_url="https://simulated.invalid/v1",
                models=(MODEL,),
                rate=self.rate,
                in_flight=1 if worker.batch_size == 1 else worker.slots,
                call_timeout_s=float(self.call_timeout),
            )
            for worker in self.deployed()
        )

    def catalogue(self) -> Catalogue:
        """Branded questions, each asked about every brand."""
        brands = tuple(Brand(f"b{n}", f"Maker{n}") for n in range(self.brands))
        ids = tuple(brand.id for brand in brands)
        questions = tuple(
            Question(f"q{n}", f"What is known of {BRAND_SLOT} in matter {n}?", brands=ids)
            for n in range(self.questions)
        )
        start, end, deadline = (datetime.fromtimestamp(at, UTC) for at in self.window)
        latest = min(
            deadline, start + timedelta(minutes=DAY_MINUTES)
        )  # what a schedule can say; an operator says the rest
        schedule = Schedule(SCHEDULE, f"{start:%H:%M}", f"{end:%H:%M}", f"{latest:%H:%M}", "UTC")
        monitor = Monitor(
            platforms=self.settings(), schedules=(schedule,), expected_hold_s=max(self.latency * ROOM, 1.0)
        )
        return Catalogue(brands, questions, monitor, version="simulated")
