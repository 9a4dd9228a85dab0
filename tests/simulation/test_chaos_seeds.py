"""Two hundred seeds of chaos: nothing is lost, nothing is paid twice without a cause, no limit is broken."""

from __future__ import annotations

import pytest

from brandvane.simulation.faults_chaos import CHAOS, chaos
from brandvane.simulation.trials import Trial, carry_out

SEEDS = range(1, 201)
TOGETHER = 10


@pytest.mark.parametrize("first", range(SEEDS.start, SEEDS.stop, TOGETHER))
def test_no_promise_is_broken(first: int) -> None:
    for seed in range(first, first + TOGETHER):
        verdict = carry_out(Trial(seed, replay=f"brandvane simulate --faults chaos --seed {seed}"))
        assert verdict.held, "\n".join(verdict.broken)
        figures = verdict.figures
        assert (figures["lost"], figures["duplicate_results"], figures["repeated_unexplained"]) == (0, 0, 0)
        assert figures["results"] == figures["planned"]


def test_every_kind_of_fault_is_among_them() -> None:
    drawn = {name.strip() for seed in SEEDS for name in chaos(seed).name.removeprefix("chaos:").split(",")}
    assert set(CHAOS) <= drawn


def test_a_seed_draws_the_same_faults_every_time() -> None:
    assert [chaos(seed, 300.0) for seed in range(20)] == [chaos(seed, 300.0) for seed in range(20)]
