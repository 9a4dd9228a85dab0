"""The auditor of the limiter's clock sees one that runs away, and knows the design's numbers itself."""

from __future__ import annotations

import pytest

from brandvane import moves, pacing, policy
from brandvane.control import Control
from brandvane.simulation import audit_clock, audit_moves
from builders import NOW

STEP = 1 / (10.0 * 0.97)


def told(old: Control, new: Control) -> list[str]:
    return list(audit_clock.faults_of(old, new, 10.0, NOW))


def test_the_engine_s_numbers_are_those_that_it_is_audited_by() -> None:
    engine = (pacing.LIMITER_SHARE, pacing.MAX_WAIT_S, pacing.FACTOR_FLOOR, policy.RETRY_AFTER_MAX_S)
    audited = (
        audit_clock.LIMITER_SHARE,
        audit_clock.MAX_WAIT_S,
        audit_clock.FACTOR_FLOOR,
        audit_clock.RETRY_AFTER_MAX_S,
    )
    assert engine == audited == (0.97, 20.0, 0.05, 3600.0)
    counts = (policy.MAX_RETRY, policy.MAX_THROTTLES, moves.MAX_GIVE_BACKS)
    assert counts == (audit_moves.MAX_RETRY, audit_moves.MAX_THROTTLES, audit_moves.GIVE_BACKS) == (3, 20, 10)


def test_a_clock_that_advances_by_what_is_granted_is_right() -> None:
    old = Control("openai", clock=NOW + 5.0, day_calls=7)
    assert told(old, Control("openai", clock=NOW + 5.0 + 3 * STEP, day_calls=10)) == []


def test_a_clock_that_advances_by_one_call_more_than_is_granted_is_seen() -> None:
    old = Control("openai", clock=NOW + 5.0, day_calls=7)
    ahead = Control("openai", clock=NOW + 5.0 + 4 * STEP, day_calls=10)
    assert told(old, ahead) == ["openai: the clock ran 5.412 s ahead for 3 calls"]


def test_a_slot_beyond_twenty_seconds_is_seen() -> None:
    old = Control("openai", clock=NOW + 23.2, day_calls=7)
    ahead = Control("openai", clock=NOW + 23.2 + STEP, day_calls=8)
    assert told(old, ahead) == ["openai: the clock ran 23.303 s ahead for 1 calls"]


def test_the_calls_of_a_new_day_are_counted_from_nought() -> None:
    old = Control("openai", clock=NOW, day="1", day_calls=900)
    assert told(old, Control("openai", clock=NOW + 3.0 + 2 * STEP, day="2", day_calls=2)) == []


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [(3600.0, []), (3604.0, ["openai: the clock ran 3604.000 s ahead for 0 calls"])],
)
def test_a_429_pushes_the_clock_by_an_hour_at_most(ahead: float, expected: list[str]) -> None:
    assert told(Control("openai"), Control("openai", clock=NOW + ahead)) == expected


def test_a_rate_stated_by_an_operator_is_the_one_that_counts() -> None:
    old = Control("openai", clock=NOW + 5.0, rate_override=1.0)
    assert told(old, Control("openai", clock=NOW + 6.0, rate_override=1.0, day_calls=1)) == []


def test_a_clock_that_stands_still_or_goes_back_is_right() -> None:
    assert told(Control("openai", clock=NOW + 9999.0), Control("openai", clock=NOW + 1.0)) == []
