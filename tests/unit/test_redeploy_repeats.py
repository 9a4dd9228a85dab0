"""Which repeated calls can an update not have caused?"""

from __future__ import annotations

import pytest

from brandvane.simulation.standin_row import CallOutcome, CallRow
from redeploy.repeats import unexplained

BEGAN, ENDED = 100.0, 136.0


def call(attempt: int, finished: float, *, complete: bool = True) -> CallRow:
    return CallRow(
        platform="openai",
        request_id=f"task/{attempt}",
        model="gpt-5.2",
        prompt_hash="h",
        prompt="Which?",
        arrived=finished - 3.0,
        finished=finished,
        status=200,
        outcome=CallOutcome.OK,
        complete=complete,
        in_flight=1,
    )


@pytest.mark.parametrize("finished", [95.0, 120.0, 136.0])
def test_an_answer_that_came_while_workers_were_replaced_may_be_asked_for_again(finished: float) -> None:
    assert unexplained([call(1, finished), call(2, 190.0)], BEGAN, ENDED) == []


@pytest.mark.parametrize("finished", [94.9, 136.1])
def test_one_that_came_before_or_after_may_not(finished: float) -> None:
    assert unexplained([call(1, finished), call(2, 190.0)], BEGAN, ENDED) == ["task/2"]


def test_every_earlier_answer_needs_the_update() -> None:
    assert unexplained([call(1, 120.0), call(2, 150.0), call(3, 190.0)], BEGAN, ENDED) == ["task/3"]


def test_two_answers_at_once_need_it_too() -> None:
    assert unexplained([call(1, 192.0), call(2, 193.0)], BEGAN, ENDED) == ["task/2"]


def test_a_call_that_was_not_answered_may_always_be_made_again() -> None:
    assert unexplained([call(1, 50.0, complete=False), call(2, 190.0)], BEGAN, ENDED) == []
