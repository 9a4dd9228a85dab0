"""How many messages may wait on a platform's queue?"""

from __future__ import annotations

from brandvane.dispatch_window import window
from brandvane.stat import Stat

MOST = 10 * 75 + 50


def stat(calls: int, *, hold: float, wait: float = 0.0, timeouts: int = 0, name: str = "i") -> Stat:
    return Stat(
        platform="openai",
        minute=1,
        invocation=name,
        calls=calls,
        kinds={"timeout": timeouts},
        queue_wait_s=wait,
        hold_s=hold,
    )


def messages(*reports: Stat) -> int:
    """Five invocations of ten calls each; ten calls a second."""
    return window(reports, rate=10, slots=50, invocations=5, ahead_s=75)


def test_without_reports_it_is_wide_open() -> None:
    assert messages() == MOST


def test_a_healthy_platform_keeps_it_open() -> None:
    assert messages(stat(10, hold=50), stat(10, hold=50)) == MOST


def test_messages_that_wait_lower_it_to_what_is_served() -> None:
    # Batches of ten take 25 seconds, five at once: 2 calls/s, for 75 s, and one for each slot.
    assert messages(stat(10, hold=20, wait=30.0), stat(10, hold=30, wait=40.0)) == 2 * 75 + 50


def test_a_minute_that_has_hardly_begun_does_not_make_a_platform_look_slow() -> None:
    # One batch so far, and its messages have waited: five such batches at once are 10 calls/s.
    assert messages(stat(10, hold=5, wait=6.0)) == MOST


def test_a_platform_that_mostly_times_out_is_sent_what_it_answers() -> None:
    # 2 calls/s, three in four time out: 0.5 useful calls/s for 75 s (37.5, rounded up) and one for each slot.
    assert messages(stat(40, hold=100, timeouts=30)) == 38 + 50


def test_it_never_closes_below_one_message_for_each_slot() -> None:
    assert messages(stat(10, hold=60, timeouts=10)) == 50


def test_it_never_opens_beyond_what_the_rate_allows() -> None:
    assert messages(stat(10, hold=0.1, wait=30.0)) == MOST
