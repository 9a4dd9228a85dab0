"""Does an answer come back from its stored form as it went in?"""

from __future__ import annotations

import pytest

from brandvane.answer import Answer, Citation, Usage, pack, unpack
from brandvane.task import Outcome


def test_a_packed_answer_is_read_back_as_it_was() -> None:
    answer = Answer(
        status="ok",
        text="小米 and Apple",
        served_model="m-1",
        usage=Usage(3, 5, 1),
        citations=(Citation("https://example.org/a", "A", "retrieved"),),
        search_queries=("best phone",),
        cost_microusd=42,
        request={"temperature": 0.2},
        raw='{"x": 1}',
        latency_s=1.25,
    )

    assert unpack(pack(answer)) == answer


def test_equal_answers_are_packed_to_equal_bytes() -> None:
    first = Answer(status="ok", text="a", request={"b": 1, "a": 2})
    second = Answer(status="ok", text="a", request={"a": 2, "b": 1})

    assert pack(first) == pack(second)


def test_half_a_surrogate_pair_does_not_stop_an_answer() -> None:
    answer = Answer(status="ok", text="good \ud83d phone")

    assert unpack(pack(answer)).text == "good ? phone"


def test_bytes_that_are_no_answer_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        unpack(b"not compressed")


def test_the_status_of_an_answer_is_its_outcome() -> None:
    assert Answer(status="filtered", text="").outcome is Outcome.FILTERED
