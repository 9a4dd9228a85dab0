"""Is a platform left alone for as long as its 429 asks? What the reply said is known here, whatever the limiter makes of it.

DESIGN §4.5: the limiter's clock goes to the end of the Retry-After; slots of the call's epoch are void, but for those that nobody
reads anew because they are less than a second away. What an operator's resume or a stated rate says comes after that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from brandvane.control import Control
from brandvane.policy import ErrorKind
from brandvane.simulation.host import Host

LONGEST_S = 3600.0  # DESIGN §4.5: a longer one is a quota, and pauses the platform
UNREAD_S = 1.0  # slots as near as this are used all the same
TOLD_S = 0.5  # until the clock is pushed, with tables that answer slowly
SLACK_S = 0.05


@dataclass(frozen=True, slots=True)
class Wait:
    """What one 429 asks for: ``until`` is virtual time, ``epoch`` that of its call's slot."""

    host: Host
    epoch: int
    heard: float
    until: float

    def holds(self, now: float) -> bool:
        """Must everybody know of it, because its worker was well when it heard and had the time to tell?"""
        told = self.heard + TOLD_S
        if not told <= now < self.until:
            return False
        died = self.host.killed_at
        if died is not None and died <= told:
            return False
        return not any(began <= told and ended >= self.heard for began, ended in self.host.stalls)


class RetryAfterAudit:
    """The waits that one platform asks for. ``unreachable``: did the control table refuse between two virtual instants?"""

    def __init__(self, epoch: float, skew_s: float, unreachable: Callable[[float, float], bool]) -> None:
        self._posix = epoch
        self._skew_s = skew_s
        self._unreachable = unreachable
        self._waits: list[Wait] = []
        self._asked: dict[str, float] = {}  # by request id
        self._slot_epochs: dict[str, int] = {}

    def fated(self, request_id: str, kind: ErrorKind | None, retry_after: float | None) -> None:
        """What the platform is going to say to a call."""
        if kind is ErrorKind.RATE_LIMITED and retry_after is not None and 0 < retry_after <= LONGEST_S:
            self._asked[request_id] = retry_after

    def started(self, request_id: str, slot_epoch: int | None, now: float) -> Iterator[str]:
        """A call starts; what is wrong with that."""
        if slot_epoch is None:
            return
        self._slot_epochs[request_id] = slot_epoch
        for wait in self._waiting(now):
            if slot_epoch <= wait.epoch and now > wait.heard + TOLD_S + UNREAD_S + 2 * self._skew_s:
                yield (
                    f"a call in an old slot {now - wait.heard:.3f} s after a 429"
                    f" that asks for {wait.until - wait.heard:.1f} s"
                )

    def replied(self, host: Host, request_id: str, kind: str, now: float) -> None:
        """The caller knows what its call came to, or is gone."""
        slot_epoch = self._slot_epochs.pop(request_id, None)
        seconds = self._asked.pop(request_id, None)
        if seconds is not None and slot_epoch is not None and kind == ErrorKind.RATE_LIMITED:
            self._waits.append(Wait(host, slot_epoch, now, now + seconds))

    def changed(self, old: Control, new: Control, now: float) -> Iterator[str]:
        """The control item was replaced; what is wrong with that."""
        if new.epoch > old.epoch and new.clock < old.clock:
            self._waits.clear()  # resumed, or another rate
            return
        granted = new.day_calls - old.day_calls if new.day == old.day else new.day_calls
        if granted <= 0:
            return
        for wait in self._waiting(now):
            if old.clock < self._posix + wait.until - self._skew_s - SLACK_S:
                yield (
                    f"{new.platform}: slots are given {now - wait.heard:.3f} s after a 429"
                    f" that asks for {wait.until - wait.heard:.1f} s"
                )

    def _waiting(self, now: float) -> Iterator[Wait]:
        if not self._waits:
            return
        over = now + self._skew_s + SLACK_S  # by the clock of whoever is furthest ahead
        self._waits = [wait for wait in self._waits if wait.until > over]
        for wait in self._waits:
            if wait.holds(now) and not self._unreachable(wait.heard, wait.heard + TOLD_S):
                yield wait
