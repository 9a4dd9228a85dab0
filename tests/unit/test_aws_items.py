"""Records as DynamoDB items: exact, tolerant, and clear about what cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brandvane.aws.items import Unreadable, item_of, record_of, value_of
from brandvane.control import Act, Control, Pause
from brandvane.task import Outcome, State


@dataclass(frozen=True, slots=True)
class Sample:
    """One field of every kind that records have."""

    name: str
    state: State
    instant: float
    number: int = 0
    flag: bool = False
    outcome: Outcome | None = None
    answer: bytes | None = None
    ids: tuple[str, ...] = ()
    times: tuple[float, ...] = ()
    done: frozenset[int] = frozenset()
    planned: dict[str, int] = field(default_factory=dict)
    pauses: dict[str, Pause] = field(default_factory=dict)
    pause: Pause | None = None
    v: int = 1


SAMPLE = Sample("n", State.RUNNING, 1.5)


def test_a_record_becomes_these_attributes() -> None:
    full = replace(
        SAMPLE,
        number=7,
        flag=True,
        outcome=Outcome.OK,
        answer=b"\x00",
        ids=("q1", ""),
        times=(0.1,),
        done=frozenset({2, 1}),
        planned={"gpt": 3},
        pause=Pause("why", "who", 2.5),
    )
    assert item_of(full) == {
        "name": {"S": "n"},
        "state": {"S": "RUNNING"},
        "instant": {"N": "1.5"},
        "number": {"N": "7"},
        "flag": {"BOOL": True},
        "outcome": {"S": "ok"},
        "answer": {"B": b"\x00"},
        "ids": {"L": [{"S": "q1"}, {"NULL": True}]},
        "times": {"L": [{"N": "0.1"}]},
        "done": {"NS": ["1", "2"]},
        "planned": {"M": {"gpt": {"N": "3"}}},
        "pauses": {"M": {}},
        "pause": {"M": {"why": {"S": "why"}, "who": {"S": "who"}, "since": {"N": "2.5"}}},
        "v": {"N": "1"},
    }
    assert record_of(Sample, item_of(full), v=1) == full


def test_what_is_empty_is_absent_and_reads_back_empty() -> None:
    empty = replace(SAMPLE, name="", ids=(), done=frozenset())
    item = item_of(empty)
    assert {"name", "outcome", "answer", "done", "pause"} & item.keys() == set()
    assert record_of(Sample, item, v=1) == empty


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e100, max_value=1e100))
def test_every_float_travels_exactly(instant: float) -> None:
    assert record_of(Sample, item_of(replace(SAMPLE, instant=instant)), v=1).instant == instant


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_float_that_is_no_number_cannot_be_stored(number: float) -> None:
    with pytest.raises(ValueError, match="cannot be stored as a number"):
        value_of(number)


def test_a_value_of_an_unknown_type_cannot_be_stored() -> None:
    with pytest.raises(TypeError, match="complex cannot be stored"):
        value_of(1j)


def test_attributes_that_are_not_known_are_left_out() -> None:
    assert record_of(Sample, {**item_of(SAMPLE), "novelty": {"S": "x"}}, v=1) == SAMPLE


def test_a_control_item_from_before_acts_were_kept_has_none() -> None:
    acted = Control(
        "p", rate_override=3.0, rated=Act("rate 3", "ada", "429s", 1.5), resumed=Act("resume", "bob", "", 2.5)
    )
    item = item_of(acted)

    assert record_of(Control, item, v=1) == acted
    old = {name: value for name, value in item.items() if name not in ("rated", "resumed")}
    assert record_of(Control, old, v=1) == replace(acted, rated=None, resumed=None)


def test_a_missing_number_is_named() -> None:
    item = item_of(SAMPLE)
    del item["instant"]
    with pytest.raises(Unreadable, match="Sample without attribute 'instant'"):
        record_of(Sample, item, v=1)


BROKEN: list[tuple[str, dict[str, Any]]] = [
    ("instant", {"S": "noon"}),
    ("instant", {"N": "noon"}),
    ("number", {"N": "1.5"}),
    ("state", {"S": "LIMBO"}),
    ("ids", {"S": "q1"}),
    ("planned", {"L": []}),
    ("pause", {"M": {"why": {"S": "x"}}}),
]


@pytest.mark.parametrize(("name", "value"), BROKEN)
def test_an_attribute_of_the_wrong_kind_is_named(name: str, value: dict[str, Any]) -> None:
    with pytest.raises(Unreadable, match=f"attribute '{name}'|without attribute 'since'"):
        record_of(Sample, {**item_of(SAMPLE), name: value}, v=1)


def test_a_name_that_a_newer_version_has_added_stays_text() -> None:
    newer = {**item_of(SAMPLE), "state": {"S": "LIMBO"}, "v": {"N": "2"}}
    read = record_of(Sample, newer, v=1)
    assert (read.state, read.v) == ("LIMBO", 2)
