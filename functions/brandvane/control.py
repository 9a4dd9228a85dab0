"""What does the whole fleet agree on about one platform? The control item: pauses, rate, limiter clock, day's spend.

Values only; ``pacing.py`` computes new ones and the ``ControlStore`` port swaps old for new by ``revision``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace


@dataclass(frozen=True, slots=True)
class Pause:
    """Why nothing is called, who said so, and until when (POSIX seconds; None: until a person resumes)."""

    why: str
    who: str
    since: float
    until: float | None = None

    def active(self, now: float) -> bool:
        """Does it still hold?"""
        return self.until is None or now < self.until


@dataclass(frozen=True, slots=True)
class Act:
    """What a person did to a platform last, and why: kept until the next act of the same kind."""

    what: str
    who: str
    why: str
    at: float


@dataclass(frozen=True, slots=True)
class Control:
    """The control item of one platform.

    ``clock`` is the limiter's: the earliest instant of the next call, ``step`` seconds after the last one that was granted.
    ``factor`` scales the stated rate (halved by a 429, restored step by step). ``epoch`` grows whenever slots granted before must
    be read anew. ``written_by`` is different in every write: two that replace the same item by equal values stay two.
    """

    platform: str
    revision: int = 0
    paused: Pause | None = None
    targets: Mapping[str, Pause] = field(default_factory=dict)
    rate_override: float | None = None
    clock: float = 0.0
    step: float = 0.0
    epoch: int = 0
    factor: float = 1.0
    day: str = ""
    day_calls: int = 0
    day_microusd: int = 0
    hold_s: float | None = None  # p90 wall time of a batch in the last finished run
    breaker_wait_s: float = 0.0  # 0: closed; else how long it stays open this time
    breaker_at: float = 0.0  # when the next probe may start
    probe_owner: str = ""
    probe_until: float = 0.0
    tried: int = 0  # attempts and failures of the present window
    tried_failed: int = 0
    tried_since: float = 0.0
    written_by: str = ""
    rated: Act | None = None  # who stated the rate override, or took it back
    resumed: Act | None = None  # who lifted pauses last

    def pause_of(self, target: str, now: float) -> Pause | None:
        """The pause that holds for a target now, if any."""
        if self.paused is not None and self.paused.active(now):
            return self.paused
        pause = self.targets.get(target)
        return pause if pause is not None and pause.active(now) else None


CONTROL_FIELDS = tuple(f.name for f in fields(Control))


def paused(control: Control, pause: Pause) -> Control:
    """The platform is paused; of two pauses the one that holds longer stays, with its reason: only a resume shortens one."""
    if _outlasts(control.paused, pause):
        return control
    return replace(control, paused=pause, epoch=control.epoch + 1)


def target_paused(control: Control, target: str, pause: Pause) -> Control:
    """One target of the platform is paused; as with the whole platform, the pause that holds longer stays."""
    if _outlasts(control.targets.get(target), pause):
        return control
    return replace(control, targets={**control.targets, target: pause})


def _outlasts(there: Pause | None, pause: Pause) -> bool:
    """Does the pause that is there hold at least as long as another?"""
    if there is None or there.until is None:
        return there is not None
    return pause.until is not None and pause.until <= there.until


def resumed(control: Control, now: float, act: Act | None = None) -> Control:
    """All pauses are lifted, the breaker closes; a new epoch begins, its first slot at least 1 s away (nearer ones are not re-read)."""
    lifted = replace(
        control, paused=None, targets={}, breaker_wait_s=0.0, breaker_at=0.0, probe_owner="", probe_until=0.0
    )
    return _new_epoch(replace(lifted, tried=0, tried_failed=0, resumed=act), now)


def rate_changed(control: Control, rate: float | None, now: float, act: Act | None = None) -> Control:
    """An operator states another rate (None: back to the configured one)."""
    return _new_epoch(replace(control, rate_override=rate, factor=1.0, rated=act), now)


def _new_epoch(control: Control, now: float) -> Control:
    # Slots of the old epoch that are more than a second away are void, nearer ones are not read anew: the first call of the new
    # epoch keeps its distance from the last of them.
    clock = max(min(control.clock, now + 1 + control.step), now + 1)
    return replace(control, epoch=control.epoch + 1, clock=clock)


def with_hold(control: Control, hold_s: float) -> Control:
    """The measured p90 wall time of a batch."""
    return replace(control, hold_s=hold_s)


def next_revision(old: Control, new: Control) -> Control:
    """What is stored when ``new`` replaces ``old``."""
    return replace(new, revision=old.revision + 1)
