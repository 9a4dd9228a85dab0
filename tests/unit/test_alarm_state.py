"""CloudWatch's evaluation of an alarm, cell by cell as its User Guide prints it (O in place of its 0)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brandvane.alarm_state import AlarmState, Change, Sample, breaches, datapoints, evaluated, history, raised
from brandvane.alarms import ALARMS, Comparison, Missing, Statistic

KEPT = "as before"
TREATMENTS: tuple[Missing, ...] = ("missing", "ignore", "breaching", "notBreaching")
OK, ALARM, NO_DATA = AlarmState.OK, AlarmState.ALARM, AlarmState.INSUFFICIENT_DATA
# Points, then the states under "missing", "ignore", "breaching", "not breaching". The last row of each first part is the present
# edition's; the rows after it are those that only the edition of 2019 prints.
THREE_OF_THREE = {
    "O - X - X": (OK, OK, OK, OK),
    "O - - - -": (OK, OK, OK, OK),
    "- - - - -": (NO_DATA, KEPT, ALARM, OK),
    "O X X - X": (ALARM, ALARM, ALARM, ALARM),
    "- - X - -": (ALARM, KEPT, ALARM, OK),
    "- - - - X": (NO_DATA, KEPT, ALARM, OK),
    "X - - - -": (ALARM, KEPT, ALARM, OK),
}
TWO_OF_THREE = {
    "O - X - X": (ALARM, ALARM, ALARM, ALARM),
    "O O X O X": (ALARM, ALARM, ALARM, ALARM),
    "O - X - -": (OK, OK, ALARM, OK),
    "- - - - O": (OK, OK, ALARM, OK),
    "- - - X -": (ALARM, KEPT, ALARM, OK),
    "- - - - X": (NO_DATA, KEPT, ALARM, OK),
}
CELLS = [
    (points, to_alarm, treatment, state)
    for to_alarm, table in ((3, THREE_OF_THREE), (2, TWO_OF_THREE))
    for points, row in table.items()
    for treatment, state in zip(TREATMENTS, row, strict=True)
]


def read(points: str) -> list[bool | None]:
    """``O - X``: not breaching, missing, breaching."""
    return [{"O": False, "X": True, "-": None}[point] for point in points.split()]


@pytest.mark.parametrize("before", list(AlarmState))
@pytest.mark.parametrize(("points", "to_alarm", "treatment", "state"), CELLS)
def test_a_cell_of_the_guides_tables(
    points: str, to_alarm: int, treatment: Missing, state: AlarmState | str, before: AlarmState
) -> None:
    found = evaluated(read(points), periods=3, to_alarm=to_alarm, missing=treatment, before=before)
    assert found == (before if state == KEPT else state)


@pytest.mark.parametrize("points", ["- - - - X", "- - - X -"])
def test_a_breach_that_the_next_point_may_contradict_is_no_alarm_yet(points: str) -> None:
    assert evaluated(read(points), periods=3, to_alarm=3, missing="missing", before=OK) is NO_DATA


@pytest.mark.parametrize("points", ["- - - X O", "- - X - O"])
def test_a_breach_that_was_contradicted_is_none(points: str) -> None:
    assert evaluated(read(points), periods=3, to_alarm=3, missing="missing", before=ALARM) is OK


@pytest.mark.parametrize(
    ("points", "to_alarm", "state"),
    [
        ("X O X O X", 3, ALARM),
        ("X O X O O", 3, OK),
        ("X X X X X", 5, ALARM),
        ("O X X X X", 5, OK),
        ("X O O O O", 1, ALARM),
    ],
)
def test_m_of_n_need_not_be_in_a_row(points: str, to_alarm: int, state: AlarmState) -> None:
    assert evaluated(read(points), periods=5, to_alarm=to_alarm, missing="missing", before=OK) is state


@pytest.mark.parametrize(
    ("comparison", "below", "equal", "above"),
    [
        ("GreaterThanThreshold", False, False, True),
        ("GreaterThanOrEqualToThreshold", False, True, True),
        ("LessThanThreshold", True, False, False),
        ("LessThanOrEqualToThreshold", True, True, False),
    ],
)
def test_a_comparison(comparison: Comparison, below: bool, equal: bool, above: bool) -> None:
    assert [breaches(comparison, value, 90.0) for value in (89.9, 90.0, 90.1)] == [below, equal, above]


@pytest.mark.parametrize(
    ("statistic", "value"), [("Maximum", 5.0), ("Minimum", 1.0), ("Sum", 8.0), ("Average", 8 / 3), ("SampleCount", 3.0)]
)
def test_a_statistic_is_of_what_was_published_in_its_period(statistic: Statistic, value: float) -> None:
    samples = [Sample(60.0, 5.0), Sample(90.0, 2.0), Sample(119.9, 1.0), Sample(120.0, 99.0)]
    assert datapoints(samples, statistic, 60)[1] == pytest.approx(value)


def every_half_minute(start: float, end: float, value: float) -> list[Sample]:
    """As the scanner publishes."""
    return [Sample(start + 30 * n, value) for n in range(int((end - start) // 30))]


def test_an_alarm_fires_at_the_end_of_the_minute_and_clears_at_the_end_of_a_good_one() -> None:
    samples = [*every_half_minute(0, 300, 0.0), Sample(310, 51.0), *every_half_minute(330, 600, 0.0)]
    changes = history(ALARMS["write-back-pending"], samples, 0, 600)
    assert changes == [Change(60, OK), Change(360, ALARM), Change(420, OK)]
    assert raised(changes) == [360]


def test_just_below_its_threshold_an_alarm_stays_quiet() -> None:
    assert raised(history(ALARMS["write-back-pending"], every_half_minute(0, 600, 50.0), 0, 600)) == []


@pytest.mark.parametrize("last", [300.0, 330.0, 359.0])
def test_a_heartbeat_that_stops_is_an_alarm_after_three_minutes_and_within_four(last: float) -> None:
    samples = [*every_half_minute(0, 300, 1.0), Sample(last, 1.0)]
    (fired,) = raised(history(ALARMS["scanner-heartbeat"], samples, 0, 1200))
    assert 180 < fired - last <= 240


def test_three_periods_would_let_a_heartbeat_be_missed_for_five_minutes() -> None:
    three = replace(ALARMS["scanner-heartbeat"], evaluation_periods=3, datapoints_to_alarm=3)
    (fired,) = raised(history(three, every_half_minute(0, 300, 1.0), 0, 1200))
    assert fired == 600


def test_two_missed_sweeps_are_no_alarm() -> None:
    samples = [*every_half_minute(0, 300, 1.0), *every_half_minute(420, 900, 1.0)]
    assert raised(history(ALARMS["scanner-heartbeat"], samples, 0, 900)) == []


def test_a_deadline_is_at_risk_when_three_minutes_in_a_row_say_so() -> None:
    alarm = ALARMS["deadline-at-risk"]
    late = [Sample(60.0 * n + 10, 5.0 if n in {2, 4, 5, 6} else -5.0) for n in range(9)]
    assert raised(history(alarm, late, 0, 540)) == [420]
