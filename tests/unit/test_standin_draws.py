"""Faults and latencies: seeded, fresh for each call number, in the shares asked for."""

from __future__ import annotations

from collections import Counter

import pytest

from brandvane.simulation.standin_behaviour import Behaviour, StandinFault, changed
from brandvane.simulation.standin_draws import Draw, draw, latency_of, outcome_of
from brandvane.simulation.standin_row import CallOutcome


def test_the_same_call_draws_the_same_again() -> None:
    assert draw(7, "gpt", "task/1") == draw(7, "gpt", "task/1")


def test_seed_platform_and_call_number_each_change_the_draw() -> None:
    draws = {draw(7, "gpt", "task/1"), draw(8, "gpt", "task/1"), draw(7, "qwen", "task/1"), draw(7, "gpt", "task/2")}
    assert len(draws) == 4


def test_shares_lie_end_to_end_and_the_rest_is_ok() -> None:
    behaviour = Behaviour(injected_429=0.25, hang=0.25)
    outcomes = [outcome_of(behaviour, Draw(at, 0.5, 0)) for at in (0.0, 0.249, 0.25, 0.499, 0.5, 0.999)]
    assert [outcome.value for outcome in outcomes] == ["injected_429"] * 2 + ["hang"] * 2 + ["ok"] * 2


def test_over_many_calls_each_fault_has_its_share() -> None:
    behaviour = Behaviour(injected_429=0.1, error_500=0.1, error_503=0.1, hang=0.1, cut=0.1, empty=0.1, malformed=0.1)
    counts = Counter(outcome_of(behaviour, draw(1, "gpt", f"t{k}/1")) for k in range(10_000))
    # 1,000 expected of each; 150 is five standard deviations of a binomial count, and the seed is fixed.
    assert all(abs(counts[o] - 1000) < 150 for o in CallOutcome if o is not CallOutcome.OK and counts[o])
    assert len(counts) == 8
    assert abs(counts[CallOutcome.OK] - 3000) < 230


def test_latency_is_the_median_in_the_middle_spreads_by_sigma_and_stops_at_the_cap() -> None:
    behaviour = Behaviour(median=2.0, sigma=0.5, cap=5.0)
    assert latency_of(behaviour, Draw(0, 0.5, 0)) == pytest.approx(2.0)
    # One standard deviation up: 2 · e^0.5.
    assert latency_of(behaviour, Draw(0, 0.8413447460685429, 0)) == pytest.approx(3.2974425414)
    assert latency_of(behaviour, Draw(0, 0.9999, 0)) == 5.0


def test_fields_are_read_from_text_and_numbers_and_the_others_stay() -> None:
    behaviour = changed(Behaviour(median=3.0), {"rate": "5", "in_flight": 7, "hang": "0.5"}, "here")
    assert behaviour == Behaviour(median=3.0, rate=5.0, in_flight=7, hang=0.5)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"speed": 1}, "here: unknown field 'speed'; known are rate, in_flight"),
        ({"rate": "fast"}, "here: rate='fast' is not a number"),
        ({"rate": True}, "here: rate=True is not a number"),
        ({"rate": 0}, "here: rate=0 must be a whole number of calls a second, or between 0 and 1"),
        ({"rate": 2.5}, "here: rate=2.5 must be a whole number"),
        ({"in_flight": 0}, "here: in_flight=0 must be a whole number of at least 1"),
        ({"median": "nan"}, "here: median=nan must be a finite number"),
        ({"median": -1}, "here: median=-1 must be between 0 and 3600 seconds"),
        ({"hang": 1.5}, "here: hang=1.5 must be between 0 and 1"),
        ({"hang": 0.6, "cut": 0.6}, "here: the shares of faults sum to 1.2"),
    ],
)
def test_a_wrong_field_is_named_with_its_value_and_remedy(values: dict[str, object], message: str) -> None:
    with pytest.raises(StandinFault) as caught:
        changed(Behaviour(), values, "here")
    assert str(caught.value).startswith(message)
