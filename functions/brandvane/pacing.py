"""When may each call start? Slots for a batch (GCRA), the push of a 429, and the even spread of a plan over its window.

Pure arithmetic on ``Control`` values (DESIGN §4). Measured there: at 97 % of a limit 0 of 3,768 calls were refused, at exactly
100 % 82 to 91 of 1,800 were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from brandvane.control import Control

LIMITER_SHARE = 0.97
PLAN_SHARE = 0.90
MAX_WAIT_S = 20.0  # a slot further away is not taken: the task goes back instead
FACTOR_FLOOR = 0.05
FACTOR_STEP = 0.05  # restored per minute
MISSED_SLOT_S = 0.015  # docs/decisions/0006-a-call-is-ready-before-its-slot.md


@dataclass(frozen=True, slots=True)
class Limits:
    """A platform's limits for the limiter: calls a second; calls and micro-dollars a day (None: no budget); ``day`` is today's name."""

    rate: float
    day: str = ""
    day_calls: int | None = None
    day_microusd: int | None = None
    probe_lease_s: float = 75.0  # how long a breaker's probe may take: call timeout + 15 s


@dataclass(frozen=True, slots=True)
class Want:
    """One call that wants a slot: not before ``due``, not after ``deadline``."""

    due: float
    deadline: float


@dataclass(frozen=True, slots=True)
class Grant:
    """Start instants for the first ``len(starts)`` wants, in their order; ``resume_at`` tells the rest when to come back."""

    starts: tuple[float, ...]
    epoch: int
    resume_at: tuple[float, ...] = ()
    budget_spent: bool = False
    probe: str = ""  # the token of a breaker's probe, which its worker must report


def interval(limits: Limits, control: Control) -> float:
    """Seconds between two calls of a platform: 97 % of the rate leaves 31 ms in a second for calls that start late."""
    stated = control.rate_override if control.rate_override is not None else limits.rate
    rate = stated * max(control.factor, FACTOR_FLOOR)
    return 1.0 / (rate * LIMITER_SHARE)


def grant(
    control: Control, limits: Limits, wants: Sequence[Want], now: float, notice: float = 0.0
) -> tuple[Control, Grant]:
    """Take only as many slots as can start within 20 s, before their deadlines and within the day's budget.

    The clock advances by exactly those; when none fits, the control item comes back unchanged. ``wants`` are sorted by due time.
    No slot is nearer than ``notice`` seconds: the caller could not use it.
    A want whose deadline cannot be met is skipped by ending the prefix there: its task goes back and the policy ends it.
    """
    step = interval(limits, control)
    day = max(control.day, limits.day)  # a batch that began before midnight does not bring yesterday back
    spent_calls = control.day_calls if control.day == day else 0
    spent_money = control.day_microusd if control.day == day else 0
    left = None if limits.day_calls is None else max(limits.day_calls - spent_calls, 0)
    if limits.day_microusd is not None and spent_money >= limits.day_microusd:
        left = 0
    clock = control.clock
    starts: list[float] = []
    for want in wants:
        start = max(clock, now + notice, want.due)
        if start > now + MAX_WAIT_S or start >= want.deadline or (left is not None and len(starts) >= left):
            break
        starts.append(start)
        clock = start + step
    rest = len(wants) - len(starts)
    resume = tuple(max(clock, now) + place * step for place in range(rest))
    granted = Grant(tuple(starts), control.epoch, resume, left is not None and len(starts) >= left and rest > 0)
    if not starts:
        return control, granted
    changed = replace(
        control, clock=clock, step=step, day=day, day_calls=spent_calls + len(starts), day_microusd=spent_money
    )
    return changed, granted


def pushed(control: Control, until: float, epoch: int) -> Control:
    """A 429 speaks for the platform: no slot before ``until``, never added up; the first of its epoch halves the rate."""
    clock = max(control.clock, until)
    if epoch != control.epoch:
        return replace(control, clock=clock)
    return replace(control, clock=clock, epoch=control.epoch + 1, factor=max(control.factor / 2, FACTOR_FLOOR))


def restored(control: Control, minutes: float = 1.0) -> Control:
    """The scanner gives back 5 % of the stated rate a minute."""
    return replace(control, factor=min(control.factor + FACTOR_STEP * minutes, 1.0))


def charged(control: Control, day: str, microusd: int) -> Control:
    """An answer cost money. What comes for a day that is over changes nothing: its budget has been closed."""
    if day < control.day:
        return control
    spent = control.day_microusd if control.day == day else 0
    calls = control.day_calls if control.day == day else 0
    return replace(control, day=day, day_calls=calls, day_microusd=spent + microusd)


@dataclass(frozen=True, slots=True)
class Fit:
    """How a platform's share of a plan fits its window: seconds between tasks, and by how much the last one misses the end."""

    spacing: float
    last: float
    late_by: float


def plan_rate(rate: float, slots: int, hold_s: float) -> float:
    """Planned calls a second: 90 % of min(rate, slots ÷ hold time), because retries need room."""
    return PLAN_SHARE * min(rate, slots / hold_s if hold_s > 0 else rate)


def fit(count: int, rate: float, start: float, end: float) -> Fit:
    """Spread ``count`` tasks evenly over [start, end), never closer than ``1/rate``."""
    if count == 0:
        return Fit(0.0, start, 0.0)
    closest = 1.0 / rate
    spacing = max((end - start) / count if end > start else 0.0, closest)
    last = start + (count - 1) * spacing
    return Fit(spacing, last, max(last - end, 0.0))
