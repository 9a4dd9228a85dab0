"""Each fault that published accounts tell of raises its alarm in time and no other one; without faults there is none."""

from __future__ import annotations

import pytest

from brandvane.alarms import ALARMS
from brandvane.simulation.healthy_week import day
from brandvane.simulation.known_faults import KNOWN_FAULTS, SCENARIO, KnownFault
from brandvane.simulation.recorded_metrics import RecordedMetrics


@pytest.mark.parametrize("fault", KNOWN_FAULTS, ids=lambda fault: fault.name)
def test_a_known_fault_raises_its_alarm_in_time_and_no_other(fault: KnownFault) -> None:
    assert fault.missed(fault.carry_out()) == []


def test_there_is_no_alarm_in_a_healthy_run_and_the_idle_hour_after_it() -> None:
    outcome = day(1, SCENARIO, at_least_s=7200.0)
    assert outcome.alarms == {}
    assert outcome.ending is not None
    assert outcome.ending.results == SCENARIO.total


def test_one_platforms_values_never_fire_anothers_alarm() -> None:
    metrics = RecordedMetrics()
    for minute in range(10):
        metrics.put(minute * 60.0, "RetryStormShare", 99.0, "openai")
        metrics.put(minute * 60.0, "RetryStormShare", 30.0, "kimi")
    fired = metrics.fired(("openai", "kimi"), 0.0, 600.0)
    assert set(fired) == {"openai/retry-storm", "scanner-heartbeat"}  # nothing beat its heart


def test_what_is_in_no_table_is_not_recorded() -> None:
    metrics = RecordedMetrics()
    metrics.put(0.0, "LateAnswers", 1.0, "openai")
    metrics.put(0.0, "CallSeconds", 1.0, "openai")
    assert (metrics.samples("LateAnswers", "openai"), metrics.samples("CallSeconds", "openai")) == ([], [])


def test_every_alarm_has_a_history_for_every_platform() -> None:
    names = RecordedMetrics().histories(("a", "b"), 0.0, 60.0)
    assert len(names) == sum(2 if alarm.per_platform else 1 for alarm in ALARMS.values())
