"""The two limits, by arrival and without tolerance, also for calls that become known late."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brandvane.simulation.call_audit import most_at_once, most_within
from brandvane.simulation.standin_limits import InFlight, RateWindow


def admitted(window: RateWindow, at: float) -> bool:
    """Take the arrival if the window lets it in."""
    if window.free_at(at) > at:
        return False
    window.take(at)
    return True


def test_one_call_more_than_the_rate_within_a_second_is_refused() -> None:
    window = RateWindow(3)
    assert [admitted(window, at) for at in (0.0, 0.5, 0.9, 0.999)] == [True, True, True, False]


def test_a_call_exactly_a_second_after_the_first_is_let_in() -> None:
    window = RateWindow(1)
    assert [admitted(window, at) for at in (10.0, 10.999, 11.0)] == [True, False, True]


def test_refused_calls_do_not_count() -> None:
    window = RateWindow(1)
    assert [admitted(window, at) for at in (0.0, 0.4, 0.8, 1.2)] == [True, False, False, True]


def test_the_window_tells_when_it_is_free_again() -> None:
    window = RateWindow(2)
    window.take(0.0)
    window.take(0.25)
    assert window.free_at(0.75) == 1.0


def test_a_rate_below_one_is_one_call_in_its_reciprocal() -> None:
    window = RateWindow(0.5)
    assert [admitted(window, at) for at in (0.0, 1.999, 2.0)] == [True, False, True]


def test_a_call_known_late_is_refused_when_it_would_overfill_a_second_that_is_past() -> None:
    window = RateWindow(2)
    for at in (5.0, 5.5):
        window.take(at)
    assert window.free_at(4.8) > 4.8  # 4.8, 5.0 and 5.5 are in one second
    assert window.free_at(4.4) == 4.4  # 4.4 and 5.0, then 5.0 and 5.5: two each


def test_a_lower_rate_counts_what_was_let_in_before() -> None:
    window = RateWindow(10)
    for at in (0.0, 0.1, 0.2):
        window.take(at)
    window.set_rate(2)
    assert window.free_at(0.9) == 1.1


@given(st.integers(1, 4), st.lists(st.integers(0, 400), max_size=40))
def test_whatever_the_order_no_sliding_second_is_ever_overfull(rate: int, hundredths: list[int]) -> None:
    window = RateWindow(rate)
    taken = [at / 128 for at in hundredths if admitted(window, at / 128)]
    assert most_within(taken, 1.0) <= rate
    assert len(taken) >= min(rate, len(hundredths))


def test_calls_in_flight_are_those_that_entered_and_did_not_leave() -> None:
    calls = InFlight(5)
    first, _ = calls.enter(0.0), calls.enter(1.0)
    assert calls.peak_since(2.0) == 2
    calls.leave(first, 3.0)
    assert calls.peak_since(3.0) == 1


def test_a_call_known_late_sees_those_that_were_in_flight_since_its_first_byte() -> None:
    calls = InFlight(5)
    tickets = [calls.enter(at) for at in (0.0, 1.0, 2.0)]
    calls.leave(tickets[0], 2.0)
    calls.leave(tickets[1], 4.0)
    assert calls.peak_since(0.5) == 2  # at 1.0: the first and the second; at 2.0 the first is gone
    assert calls.peak_since(4.0) == 1


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), max_size=25), st.integers(0, 110))
def test_the_peak_is_what_the_intervals_say(spans: list[tuple[int, int]], since: int) -> None:
    calls = InFlight(1)
    intervals = [(float(start), float(start + length)) for start, length in spans]
    for ticket, (_, end) in sorted([(calls.enter(s), (s, e)) for s, e in intervals], key=lambda item: item[1][1]):
        calls.leave(ticket, end)
    assert calls.peak_since(since) == most_at_once([(max(s, since), e) for s, e in intervals if e > since])
