"""What do many simulations in one process leave behind?"""

from __future__ import annotations

import gc

from brandvane.simulation.auditor import Auditor
from brandvane.simulation.faults import NONE
from brandvane.simulation.trials import LARGE, Trial, Verdict, carry_out_all


def test_of_a_large_simulation_nothing_is_left_when_the_next_begins() -> None:
    left = []

    def told(verdict: Verdict) -> None:
        assert verdict.figures["results"] == LARGE
        left.append(_auditors())

    size = {"brands": 10, "questions": LARGE // 10, "platforms": 1, "hours": 0.1}
    gc.collect()
    before = _auditors()
    carry_out_all([Trial(seed, size, NONE) for seed in (1, 2)], 1, told)
    assert left == [before, before]


def _auditors() -> int:
    return sum(isinstance(thing, Auditor) for thing in gc.get_objects())
