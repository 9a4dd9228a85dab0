"""How many messages may wait on a platform's queue?"""

from __future__ import annotations

from brandvane.dispatch_window import window
from brandvane.stat import Stat

MOST = 10 * 75 + 50


def stat(calls: int, minute: int = 1, wait: float = 0.0, timeouts: int = 0, name: str = "i") -> Stat:
    return Stat(
        platform="openai", minute=minute, invocation=name, calls=calls, kinds={"timeout": timeouts}, queue_wait_s=wait
    )


def test_without_reports_it_is_wide_open() -> None:
    assert window([], rate=10, slots=50, ahead_s=75) == MOST


def test_a_healthy_platform_keeps_it_open() -> None:
    assert window([stat(300), stat(280, minute=2)], rate=10, slots=50, ahead_s=75) == MOST


def test_messages_that_wait_lower_it_to_what_is_served() -> None:
    # 120 calls in each of two minutes: 2 calls/s, for 75 s, and one for each slot.
    reports = [stat(120, wait=30.0), stat(120, minute=2, wait=40.0)]

    assert window(reports, rate=10, slots=50, ahead_s=75) == 2 * 75 + 50


def test_a_platform_that_mostly_times_out_is_sent_what_it_answers() -> None:
    # 2 calls/s, three in four time out: 0.5 useful calls/s for 75 s (37.5, rounded up) and one for each slot.
    assert window([stat(120, timeouts=90)], rate=10, slots=50, ahead_s=75) == 38 + 50


def test_it_never_closes_below_one_message_for_each_slot() -> None:
    assert window([stat(60, timeouts=60)], rate=10, slots=50, ahead_s=75) == 50


def test_it_never_opens_beyond_what_the_rate_allows() -> None:
    assert window([stat(6_000, wait=30.0)], rate=10, slots=50, ahead_s=75) == MOST
