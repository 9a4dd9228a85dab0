"""What follows from what workers reported and from how runs stand? The arithmetic behind the metrics; pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from brandvane.control import Control
from brandvane.run import Run, RunState
from brandvane.stat import Stat

MINUTE_S = 60
WINDOW_MINUTES = 5
HOUR_MINUTES = 60
LEAST_IN_HAND = 20
LEAST_CALLS = 20
LEAST_ENDED = 20
LEAST_USED_UP = 5
NOT_PLANNED_S = 600.0
NO_REPORT_S = 1800.0
FAR_S = 7 * 86_400.0  # CloudWatch takes no infinity: so late is "not before a person acts"


def share(part: float, whole: float, least: float = 1, *, of_whole: bool = True) -> float:
    """Per cent; 0 where the whole (or, on request, the part) is below the least that is judged by."""
    if whole <= 0 or (whole if of_whole else part) < least:
        return 0.0
    return 100.0 * part / whole


def window_start(now: float) -> float:
    """The instant from which on what ended counts as of the last 5 minutes: the present minute and the four before it."""
    return float((int(now // MINUTE_S) - WINDOW_MINUTES + 1) * MINUTE_S)


@dataclass(frozen=True, slots=True)
class Lately:
    """What workers reported of a platform over the last 5 minutes; ``seconds`` of them have passed."""

    seconds: float
    calls: int
    answered: int
    failed: int
    again: int
    expired: int
    latencies: tuple[float, ...]  # in order of size
    longest_wait_s: float

    @classmethod
    def of(cls, stats: Iterable[Stat], now: float) -> Lately:
        """Sums of the items of the window."""
        start = window_start(now)
        mine = [stat for stat in stats if stat.minute * MINUTE_S >= start]
        return cls(
            seconds=max(now - start, 1.0),
            calls=sum(stat.calls for stat in mine),
            answered=sum(stat.answered for stat in mine),
            failed=sum(stat.failed for stat in mine),
            again=sum(stat.again for stat in mine),
            expired=sum(stat.expired for stat in mine),
            latencies=tuple(sorted(latency for stat in mine for latency in stat.latencies)),
            longest_wait_s=max((stat.queue_wait_s for stat in mine), default=0.0),
        )

    @property
    def success_rate(self) -> float | None:
        """Per cent of the tasks that ended; None below 20, which is too few to judge by.

        A call that failed and is tried again has not ended its task: with one call in sixteen failing, as published, five-minute
        windows of twenty calls fall below 90 % every few hours by chance alone. Failing calls are the retry storm's.
        """
        ended = self.answered + self.failed
        return None if ended < LEAST_ENDED else share(self.answered, ended)

    @property
    def calls_per_second(self) -> float:
        """Calls that ended."""
        return self.calls / self.seconds

    @property
    def storm_share(self) -> float:
        """Per cent of the calls that came to a retry or a 429; 0 below 20 calls."""
        return share(self.again, self.calls, LEAST_CALLS)

    def latency(self, quantile: float) -> float | None:
        """The smallest latency that this share of the calls did not exceed (nearest rank)."""
        if not self.latencies:
            return None
        rank = max(math.ceil(quantile * len(self.latencies)), 1)
        return self.latencies[rank - 1]


@dataclass(frozen=True, slots=True)
class Minute:
    """What ended in one minute: tasks by workers, of them those whose retries were used up, and what the answers cost."""

    ended: int = 0
    used_up: int = 0
    microusd: int = 0

    def __add__(self, stat: Stat) -> Minute:
        return Minute(
            self.ended + stat.answered + stat.failed,
            self.used_up + stat.used_up,
            self.microusd + stat.cost_microusd,
        )


class LastHour:
    """What ended in each of the last 60 minutes of a platform, kept between sweeps so that only the newest are read again.

    ``before`` is what the answers of the budget's present day had cost before that hour (micro-dollars); None: not known, because
    this environment is new, or has not swept for an hour.
    """

    def __init__(self) -> None:
        self._minutes: dict[int, Minute] = {}
        self._read_to: float | None = None
        self.before: int | None = None

    def read_from(self, now: float) -> float:
        """From when on items must be read: the 5-minute window, and what was not there yet at the last reading."""
        hour = float((int(now // MINUTE_S) - HOUR_MINUTES + 1) * MINUTE_S)
        if self._read_to is None or self._read_to < hour:
            self.before = None
            return hour
        # An item can be written a little after its minute is over.
        return max(min(window_start(now), self._read_to - 2 * MINUTE_S), hour)

    def take(self, stats: Iterable[Stat], start: float, now: float, day_start: float = 0.0) -> None:
        """These are all the items from ``start`` to ``now``; the budget's present day began at ``day_start``."""
        first = int(start // MINUTE_S)
        oldest = int(now // MINUTE_S) - HOUR_MINUTES + 1
        if oldest * MINUTE_S <= day_start:
            self.before = 0
        elif self.before is not None:
            today = [
                sums for minute, sums in self._minutes.items() if day_start <= minute * MINUTE_S and minute < oldest
            ]
            self.before += sum(sums.microusd for sums in today)
        kept = {minute: sums for minute, sums in self._minutes.items() if oldest <= minute < first}
        for stat in stats:
            kept[stat.minute] = kept.get(stat.minute, Minute()) + stat
        self._minutes = kept
        self._read_to = now

    @property
    def used_up_share(self) -> float:
        """Per cent of the ended tasks whose retries were used up; 0 below 5 such tasks."""
        used_up = sum(minute.used_up for minute in self._minutes.values())
        ended = sum(minute.ended for minute in self._minutes.values())
        return share(used_up, ended, LEAST_USED_UP, of_whole=False)

    def spent(self, day_start: float) -> float:
        """US dollars of the answers since the day began."""
        hour = sum(sums.microusd for minute, sums in self._minutes.items() if minute * MINUTE_S >= day_start)
        return ((self.before or 0) + hour) / 1e6


def rate_used(calls_per_second: float, stated: float, control: Control, floor: float) -> float:
    """Per cent of what the platform allows now: the stated rate or an operator's, lowered by refusals."""
    rate = control.rate_override if control.rate_override is not None else stated
    return share(calls_per_second, rate * max(control.factor, floor), least=0)


def pauses(control: Control, now: float, *, breaker_open: bool) -> int:
    """How many pauses hold."""
    whole = control.paused is not None and control.paused.active(now)
    return int(whole) + int(breaker_open) + sum(pause.active(now) for pause in control.targets.values())


def spent(control: Control, day: str) -> float:
    """US dollars of the budget's present day."""
    return control.day_microusd / 1e6 if control.day == day else 0.0


def not_planned(run: Run, now: float) -> bool:
    """Was it due 10 minutes ago, and has no complete plan? A run that a person started was due when it was started."""
    due = run.window_start if run.schedule_id is not None else max(run.window_start, run.created_at)
    return not (run.plan_complete or _cancelled(run)) and now >= due + NOT_PLANNED_S


def report_missing(run: Run, now: float) -> bool:
    """Has it no report 30 minutes after its end or its deadline, whichever came first?"""
    if _cancelled(run) or run.state is RunState.REPORTED:
        return False
    end = run.deadline if run.finished_at is None else min(run.finished_at, run.deadline)
    if run.reread_at is not None:  # it has a report, and is to get another
        end = max(end, run.reread_at)
    return now >= end + NO_REPORT_S


def progress(runs: Sequence[Run]) -> float | None:
    """Per cent of the planned tasks of unfinished runs that have a row; None where there is no such run."""
    asked = [run for run in runs if not _cancelled(run) and run.state is not RunState.REPORTED and run.total]
    if not asked:
        return None
    rows = sum(run.counted if run.state is RunState.OPEN else run.total for run in asked)
    return min(share(rows, sum(run.total for run in asked)), 100.0)


def left_of(run: Run, unfinished: Mapping[str, int], capped: Collection[str] = ()) -> dict[str, int]:
    """Tasks of each platform that a run may still have to ask: what is unfinished there, but never more than were planned.

    Where two runs share a platform, both are reckoned to come last. Of ``capped`` platforms only a part was counted: what planned
    tasks less rows leave beyond the others' is theirs, in proportion to what was planned.
    """
    left = {
        platform: planned if not run.plan_complete else min(planned, unfinished.get(platform, planned))
        for platform, planned in run.planned.items()
    }
    more = [platform for platform in left if platform in capped] if run.plan_complete else []
    rest = run.total - run.counted - sum(number for platform, number in left.items() if platform not in more)
    whole = sum(run.planned[platform] for platform in more)
    for platform in more:
        planned = run.planned[platform]
        left[platform] = max(left[platform], min(planned, rest * planned // whole))
    return left


def lateness(finish: float, deadline: float) -> float:
    """Seconds by which an end misses the deadline (negative: early), within a week either way."""
    return max(min(finish - deadline, FAR_S), -FAR_S)


def asks_still(run: Run, now: float) -> bool:
    """Is it a run whose tasks are still being asked?"""
    return run.state is RunState.OPEN and not run.is_final(now)


def _cancelled(run: Run) -> bool:
    return run.state is RunState.CANCELLED or run.cancelled_at is not None
