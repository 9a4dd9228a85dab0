"""What will calls cost, roughly?"""

from __future__ import annotations

import pytest

from brandvane.catalogue import Selection
from brandvane.cli.estimate import Call, Estimate, call_usd, estimate, planned_calls, texts_of, tokens_of
from brandvane.expansion import Expansion
from builders import catalogue, platform

REAL = "https://api.example/v1"


def test_a_chinese_character_is_twice_the_tokens_of_an_english_one() -> None:
    assert tokens_of("abcdefghij") == pytest.approx(3.0)
    assert tokens_of("哪个牌子好") == pytest.approx(3.0)
    assert tokens_of("") == 0.0


def test_a_call_costs_its_prompt_and_an_answer_of_800_tokens() -> None:
    settings = platform(price_input=1.0, price_output=10.0)

    # 10 tokens of frame, 30 of text; 800 of answer: (40 × 1 + 800 × 10) / 1,000,000
    assert call_usd(settings, "m1", "x" * 100) == pytest.approx(0.00804)


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_the_system_prompt_is_paid_for_and_a_limit_shortens_the_answer(limit: str) -> None:
    settings = platform(price_input=1.0, price_output=10.0, parameters={"system": "x" * 100, limit: 50})

    assert call_usd(settings, "m1", "x" * 100) == pytest.approx((70 + 500) / 1e6)


def test_a_call_that_searches_pays_for_a_search() -> None:
    asking, searching = (platform(price_search=0.01, parameters={"search": on}) for on in (False, True))
    assert call_usd(searching, "m1", "Who?") - call_usd(asking, "m1", "Who?") == pytest.approx(0.01)


def test_a_model_with_a_price_of_its_own_costs_that() -> None:
    settings = platform(price_input=1.0, price_output=10.0, prices={"m2": (0.0, 1.0)})

    assert call_usd(settings, "m2", "") == pytest.approx(0.0008)


def test_an_estimate_sums_calls_and_dollars_by_platform() -> None:
    monitor = catalogue(
        platforms=(platform("a", base_url=REAL, price_output=1.0), platform("b", price_output=2.0))
    ).monitor

    found = estimate([Call("a", "m1", "x"), Call("a", "m1", "x"), Call("b", "m1", "x")], monitor)

    assert found.calls == {"a": 2, "b": 1}
    assert found.usd == pytest.approx({"a": 0.0016, "b": 0.0016})
    assert found.total_usd == pytest.approx(0.0032)


def test_calls_to_this_machine_are_not_real_ones() -> None:
    monitor = catalogue(platforms=(platform("a", base_url=REAL), platform("b"))).monitor

    assert estimate([Call("a", "m1", "x"), Call("b", "m1", "x")], monitor).real_calls == 1


def test_a_real_target_without_a_price_is_named() -> None:
    monitor = catalogue(platforms=(platform("a", base_url=REAL), platform("b"))).monitor

    assert estimate([Call("a", "m1", "x"), Call("b", "m1", "x")], monitor).unpriced == ("a/m1",)


def test_an_estimate_scales_to_other_numbers_platform_by_platform() -> None:
    whole = Estimate({"a": 10, "b": 4}, {"a": 1.0, "b": 2.0}, real_calls=14)

    part = whole.scaled({"a": 5, "b": 1})

    assert part.usd == {"a": 0.5, "b": 0.5}
    assert part.calls == {"a": 5, "b": 1}
    assert part.real_calls == 6


def test_an_estimate_of_nothing_scales_to_nothing() -> None:
    assert Estimate().scaled({}).total_usd == 0


def test_a_plan_is_as_many_calls_as_it_has_tasks() -> None:
    given = catalogue(questions=3, samples=2)

    calls = list(planned_calls(Expansion(given, Selection(), "normal", 7)))

    assert len(calls) == 6
    assert {call.text for call in calls} == {f"Which maker is number {n}?" for n in range(3)}


def test_texts_are_found_by_their_hash() -> None:
    assert sorted(texts_of(catalogue(questions=2)).values()) == [
        "Which maker is number 0?",
        "Which maker is number 1?",
    ]
