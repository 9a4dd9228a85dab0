"""Latencies are what their quantiles say."""

from __future__ import annotations

import random

import pytest

from brandvane.simulation.latencies import LATENCIES


def test_the_published_quantiles_of_sqs_to_lambda_are_met() -> None:
    latency = LATENCIES["sqs_to_lambda"]
    assert [round(latency.at(share) * 1e3, 1) for share in (0.1, 0.5, 0.9, 0.99)] == [13.7, 16.2, 33.8, 105.0]


@pytest.mark.parametrize("name", list(LATENCIES))
def test_draws_have_the_median_that_is_named(name: str) -> None:
    draw = LATENCIES[name].sampler(random.Random(1))
    drawn = sorted(draw() for _ in range(4001))
    assert drawn[2000] == pytest.approx(LATENCIES[name].at(0.5), rel=0.15)


def test_a_factor_makes_every_draw_as_much_slower() -> None:
    usual = LATENCIES["sqs"].sampler(random.Random(7))
    slow = LATENCIES["sqs"].sampler(random.Random(7), 2.0)
    assert [slow() for _ in range(20)] == pytest.approx([2 * usual() for _ in range(20)])


def test_each_says_where_it_comes_from() -> None:
    assert all(latency.described()["source"] for latency in LATENCIES.values())
