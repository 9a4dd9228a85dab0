"""Does ``make alarms`` judge rightly: twins, worst values, when an alarm cleared?"""

from __future__ import annotations

from dataclasses import replace

from alarms.judgement import RULES, Value, cleared, fires, just_below, just_beyond, rule_of, worst_of
from alarms.table import markdown
from brandvane.alarm_state import AlarmState, Change, Sample
from brandvane.alarms import ALARMS


def minutes(*values: float | None) -> list[Sample]:
    """One sample a minute from zero on; None: silence."""
    return [Sample(60.0 * place, value) for place, value in enumerate(values) if value is not None]


def test_a_twin_just_below_a_greater_than_alarm_stands_on_its_threshold_and_is_quiet() -> None:
    alarm, samples = ALARMS["write-back-pending"], minutes(0, 80, 3)
    assert [each.value for each in just_below(alarm, samples)] == [0, 50, 3]
    assert fires(alarm, samples, 0.0, 180.0) == [120.0]
    assert fires(alarm, just_below(alarm, samples), 0.0, 180.0) == []


def test_a_twin_just_below_an_alarm_that_fires_at_its_threshold_is_a_little_less() -> None:
    alarm, samples = ALARMS["spend-80"], minutes(0, 80, 90)
    assert [each.value for each in just_below(alarm, samples)] == [0, 79.999, 79.999]
    assert fires(alarm, just_below(alarm, samples), 0.0, 180.0) == []


def test_a_twin_of_the_success_rate_is_not_below_ninety() -> None:
    alarm, samples = ALARMS["success-rate"], minutes(100, 0, 95)
    assert [each.value for each in just_below(alarm, samples)] == [100, 90, 95]
    assert fires(alarm, samples, 0.0, 180.0) == [120.0]
    assert fires(alarm, just_below(alarm, samples), 0.0, 180.0) == []


def test_a_twin_just_beyond_fires() -> None:
    for name, value, edge in (("write-back-pending", 80, 50.001), ("spend-80", 90, 80), ("success-rate", 0, 89.999)):
        alarm, samples = ALARMS[name], minutes(value, value)
        assert [each.value for each in just_beyond(alarm, samples)] == [edge, edge]
        assert fires(alarm, just_beyond(alarm, samples), 0.0, 120.0)


def test_an_alarm_whose_threshold_is_not_the_designs_is_told_by_one_of_its_twins() -> None:
    alarm, samples = ALARMS["write-back-pending"], minutes(80, 80)
    assert fires(replace(alarm, threshold=49.0), just_below(alarm, samples), 0.0, 120.0)
    assert not fires(replace(alarm, threshold=51.0), just_beyond(alarm, samples), 0.0, 120.0)


def test_every_alarm_but_the_heartbeat_has_its_rule_also_by_its_deployed_name() -> None:
    assert RULES.keys() == ALARMS.keys() - {"scanner-heartbeat"}
    assert rule_of(replace(ALARMS["backlog"], id="openai-backlog")) == (">", 1000.0)
    assert rule_of(ALARMS["backlog-total"]) == (">", 1000.0)


def test_a_twin_of_the_heartbeat_is_silent_for_two_minutes_and_not_for_three() -> None:
    alarm, samples = ALARMS["scanner-heartbeat"], minutes(1, None, None, None, None, 1)
    assert fires(alarm, samples, 0.0, 360.0) == [240.0]
    assert [each.at for each in just_below(alarm, samples)] == [0.0, 180.0, 300.0]
    assert fires(alarm, just_below(alarm, samples), 0.0, 360.0) == []


def test_nothing_published_has_a_twin_that_is_quiet_too() -> None:
    assert just_below(ALARMS["scanner-heartbeat"], []) == []
    assert worst_of(ALARMS["backlog"], []) is None


def test_the_worst_value_is_the_one_on_the_wrong_side() -> None:
    assert worst_of(ALARMS["success-rate"], minutes(100, 40, 95)) == 40
    assert worst_of(ALARMS["backlog"], minutes(100, 1040, 95)) == 1040


def test_a_value_may_lie_on_either_of_its_bounds() -> None:
    value = Value(51, 120)
    assert [value.fits(each) for each in (50, 51, 120, 121)] == [False, True, True, False]


def test_an_alarm_has_cleared_when_it_first_left_alarm_after_the_undoing() -> None:
    changes = [Change(60.0, AlarmState.OK), Change(120.0, AlarmState.ALARM), Change(240.0, AlarmState.OK)]
    assert cleared(changes, 200.0) == 240.0
    assert cleared(changes, 300.0) == 300.0
    assert cleared(changes[:2], 200.0) is None
    assert cleared([*changes, Change(500.0, AlarmState.ALARM), Change(560.0, AlarmState.OK)], 200.0) == 240.0


def test_a_row_of_the_table_names_metric_dimensions_value_and_times() -> None:
    alarm = {
        "alarm": "openai-success-rate",
        "metric": "SuccessRate",
        "dimensions": {"Stack": "brandvane", "Platform": "openai"},
        "unit": "Percent",
        "threshold": "< 90",
        "value": 12.5,
        "fired_after_s": 71,
        "cleared_after_s": None,
    }
    lines = markdown([{"cause": "bodies", "alarms": [alarm]}]).splitlines()
    assert lines[2] == (
        "| bodies | `openai-success-rate` | SuccessRate (stack, openai) | < 90 | 12.5 % | 71 s | **never** |"
    )


def test_an_alarm_of_another_period_has_a_twin_of_that_period() -> None:
    alarm = replace(ALARMS["scanner-heartbeat"], period_s=5)
    samples = [Sample(0.0, 1.0), Sample(25.0, 1.0)]
    assert fires(alarm, samples, 0.0, 30.0) == [20.0]
    assert fires(alarm, just_below(alarm, samples), 0.0, 30.0) == []
