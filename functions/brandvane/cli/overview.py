"""What is the overview of a whole stack: runs, platforms, queues, what is stuck, alarms, spending?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from brandvane.cli.alarm_reader import RINGING, Alarm
from brandvane.cli.platform_view import PlatformFacts
from brandvane.engine.projection import Wait
from brandvane.messages import PLAN_QUEUE, WRITEBACK_QUEUE
from brandvane.run import Run
from brandvane.task import State

OTHER_QUEUES = (PLAN_QUEUE, WRITEBACK_QUEUE, "sweep")
SCHEDULES_DEAD = "schedules-dead"  # has no queue of its own


@dataclass(frozen=True, slots=True)
class RunGlance:
    """A run: results so far, and when its last task will probably have ended (None: nothing is left; infinite: not by itself)."""

    run: Run
    results: int
    finish: float | None = None
    waits: tuple[Wait, ...] = ()

    @property
    def late_by(self) -> float:
        """Seconds by which that misses the deadline (0: it does not)."""
        return 0.0 if self.finish is None else max(self.finish - self.run.deadline, 0.0)


@dataclass(frozen=True, slots=True)
class Recent:
    """What workers reported of the last five minutes; ``rate`` is calls a second of the last two whole ones."""

    calls: int = 0
    answered: int = 0
    failed: int = 0
    retried: int = 0
    rate: float = 0.0
    p50: float | None = None
    p95: float | None = None
    kinds: Mapping[str, int] = field(default_factory=dict)  # of calls that failed

    @property
    def worst(self) -> str | None:
        """The most common kind of failure, where not one call was answered; None where some were, or there was none."""
        if not self.calls or self.answered or not self.kinds:
            return None
        return max(sorted(self.kinds), key=lambda kind: self.kinds[kind])

    @property
    def success(self) -> float | None:
        """Share of tasks that were answered, of those that ended: a call that is tried again has not ended its task."""
        ended = self.answered + self.failed
        return self.answered / ended if ended else None

    @property
    def retries(self) -> float | None:
        """Share of calls that will be tried again."""
        return self.retried / self.calls if self.calls else None


@dataclass(frozen=True, slots=True)
class PlatformGlance:
    """A platform: limits and pauses, unfinished tasks by state (of each partition at most 2,000), and its last minutes."""

    facts: PlatformFacts
    states: Mapping[State, int]
    backlog: int
    capped: bool
    recent: Recent
    spent_usd: float  # today

    @property
    def name(self) -> str:
        """Its name."""
        return self.facts.known.name

    @property
    def in_hand(self) -> int:
        """Unfinished tasks."""
        return sum(self.states.values())


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """Messages of a queue and of its dead-letter queue."""

    name: str
    waiting: int
    dead: int


@dataclass(frozen=True, slots=True)
class Stuck:
    """Tasks of a platform whose time came more than a minute and a half ago; the oldest of them, and its brand where one is known."""

    platform: str
    state: State
    tasks: int
    oldest_s: float
    task_id: str
    brand: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """A part that could not be read, and why."""

    part: str
    why: str


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything at the instant ``at``; None: could not be read (``unread`` says why)."""

    stack: str
    at: float
    time_zone: str
    runs: tuple[RunGlance, ...] | None
    platforms: tuple[PlatformGlance, ...] | None
    queues: tuple[QueueDepth, ...] | None
    stuck: tuple[Stuck, ...] | None
    alarms: tuple[Alarm, ...] | None
    budget_usd: float | None = None
    unread: tuple[Unread, ...] = ()

    @property
    def ringing(self) -> tuple[Alarm, ...]:
        """Alarms in state ALARM."""
        return tuple(alarm for alarm in self.alarms or () if alarm.state == RINGING)

    @property
    def spent_usd(self) -> float:
        """Dollars of today, of all platforms."""
        return sum(each.spent_usd for each in self.platforms or ())

    @property
    def calls_today(self) -> int:
        """Of all platforms."""
        return sum(each.facts.day_calls for each in self.platforms or ())

    @property
    def done(self) -> bool:
        """Is nothing left to wait for?"""
        return self.runs is not None and not any(glance.run.waits for glance in self.runs)
