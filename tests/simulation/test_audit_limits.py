"""The auditor of limits sees a call too many, and none where there is none."""

from __future__ import annotations

from brandvane.simulation.audit_limits import LimitAudit


def told(audit: LimitAudit, *starts: float) -> list[str]:
    return [text for at in starts for text in audit.started(at)]


def test_calls_at_97_per_cent_of_the_rate_are_within_it_even_when_25_ms_late() -> None:
    audit = LimitAudit(rate=20.0, in_flight=1000, skew_s=0.001)
    step = 1 / (20 * 0.97)
    # Every 20th is late, so that the one 20 places later comes as near as it can.
    assert told(audit, *(n * step + (0.025 if n % 20 == 0 else 0.0) for n in range(2000))) == []


def test_one_call_too_many_in_a_second_is_seen() -> None:
    audit = LimitAudit(rate=2.0, in_flight=1000, skew_s=0.0)
    assert told(audit, 0.0, 0.5) == []
    assert told(audit, 0.99) == ["3 calls within 0.990 s; 2 in 1.000 s are allowed"]


def test_a_rate_below_one_a_second_allows_one_call_in_its_interval() -> None:
    audit = LimitAudit(rate=0.5, in_flight=10, skew_s=0.0)
    assert told(audit, 0.0) == []
    assert told(audit, 1.9) == ["2 calls within 1.900 s; 1 in 2.000 s are allowed"]


def test_clocks_that_are_50_ms_off_shorten_the_short_window_and_not_the_long_ones() -> None:
    audit = LimitAudit(rate=10.0, in_flight=1000, skew_s=0.05)
    assert told(audit, *(0.1 * n for n in range(10)), 0.91) == []
    assert told(LimitAudit(rate=10.0, in_flight=1000, skew_s=0.05), *(0.098 * n for n in range(101)))[-1:] == [
        "101 calls within 9.800 s; 100 in 10.000 s are allowed"
    ]


def test_calls_in_flight_are_counted_until_they_end_or_their_caller_is_gone() -> None:
    audit = LimitAudit(rate=1000.0, in_flight=2, skew_s=0.0)
    assert told(audit, 0.0) == []
    first = audit.takes(until=10.0)
    assert told(audit, 1.0) == []
    audit.takes(until=5.0)
    assert told(audit, 4.0) == ["3 calls in flight; 2 are allowed"]
    assert told(audit, 5.0) == []  # the second has ended
    audit.takes(until=20.0)
    audit.leaves(first)
    assert told(audit, 6.0) == []
    audit.takes(until=20.0)
    assert audit.most_in_flight == 2
