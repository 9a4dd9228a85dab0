"""Whoever calls before a platform's Retry-After is over is seen, and nobody else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from brandvane.control import Control
from brandvane.policy import ErrorKind
from brandvane.simulation.audit_retry_after import RetryAfterAudit
from brandvane.simulation.host import Host
from brandvane.simulation.virtual_loop import VirtualLoop
from builders import NOW

ASKED_S = 30.0
ITEM = Control("openai", clock=NOW + 5.0, epoch=3)


@dataclass
class Told:
    """A platform that has answered a call of epoch 3 by a 429, heard at 10 s."""

    unreachable: bool = False
    host: Host = field(default_factory=lambda: Host(VirtualLoop(), "worker/1", NOW))

    def __post_init__(self) -> None:
        self.audit = RetryAfterAudit(NOW, 0.0, lambda _since, _until: self.unreachable)

    def hears(self, seconds: float | None = ASKED_S, kind: ErrorKind = ErrorKind.RATE_LIMITED) -> Told:
        self.audit.fated("t/1", kind, seconds)
        assert list(self.audit.started("t/1", 3, 9.0)) == []
        self.audit.replied(self.host, "t/1", kind, 10.0)
        return self

    def starts(self, at: float, epoch: int = 3) -> list[str]:
        return list(self.audit.started("t/2", epoch, at))

    def grants(self, at: float, clock: float) -> list[str]:
        old = replace(ITEM, clock=NOW + clock)
        return list(self.audit.changed(old, replace(old, clock=old.clock + 0.1, day_calls=1), at))


def test_a_call_in_an_old_slot_before_the_wait_is_over_is_seen() -> None:
    assert Told().hears().starts(12.0) == ["a call in an old slot 2.000 s after a 429 that asks for 30.0 s"]


def test_a_slot_so_near_that_nobody_reads_it_anew_may_be_used() -> None:
    assert Told().hears().starts(11.4) == []


def test_a_call_after_the_wait_is_right() -> None:
    assert Told().hears().starts(40.0) == []


def test_a_call_in_a_slot_of_a_newer_epoch_is_judged_when_that_is_given() -> None:
    assert Told().hears().starts(12.0, epoch=4) == []


def test_a_slot_that_is_given_before_the_wait_is_over_is_seen() -> None:
    expected = "openai: slots are given 2.000 s after a 429 that asks for 30.0 s"
    assert Told().hears().grants(12.0, clock=39.0) == [expected]


def test_a_slot_that_is_given_for_the_time_after_the_wait_is_right() -> None:
    assert Told().hears().grants(12.0, clock=40.0) == []


def test_after_a_resume_calls_may_start() -> None:
    told = Told().hears()
    pushed = replace(ITEM, clock=NOW + 40.0, epoch=4)
    assert list(told.audit.changed(pushed, replace(pushed, clock=NOW + 14.0, epoch=5), 13.0)) == []
    assert told.grants(15.0, clock=14.0) == []


def test_a_worker_that_died_or_stood_still_has_told_nobody() -> None:
    dead, stalled = Told().hears(), Told().hears()
    dead.host.killed_at = 10.1
    stalled.host.stalls.append((10.1, 80.0))
    assert (dead.starts(12.0), stalled.starts(12.0)) == ([], [])


def test_a_death_after_the_worker_had_the_time_to_tell_is_no_excuse() -> None:
    told = Told().hears()
    told.host.killed_at = 11.0
    assert len(told.starts(12.0)) == 1


def test_a_table_that_refused_could_not_be_told() -> None:
    assert Told(unreachable=True).hears().starts(12.0) == []


def test_a_429_without_retry_after_a_quota_and_other_errors_ask_for_nothing_here() -> None:
    assert Told().hears(None).starts(12.0) == []
    assert Told().hears(3601.0).starts(12.0) == []
    assert Told().hears(kind=ErrorKind.SERVER_ERROR).starts(12.0) == []
