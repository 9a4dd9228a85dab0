"""The arithmetic behind the metrics, with values worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane.control import Control, Pause
from brandvane.gauges import (
    FAR_S,
    LastHour,
    Lately,
    asks_still,
    lateness,
    left_of,
    not_planned,
    pauses,
    progress,
    rate_used,
    report_missing,
    share,
    spent,
    window_start,
)
from brandvane.run import Run, RunState
from brandvane.stat import Stat
from builders import catalogue, run_of

MINUTE = 30_000_000
NOW = MINUTE * 60.0 + 30  # half past a minute
RUN = run_of(catalogue(20), window_start=NOW - 700, created_at=NOW - 690, deadline=NOW + 7200)


def stat(ago: int = 0, **fields: Any) -> Stat:
    """An item of the minute that began ``ago`` minutes before this one."""
    return Stat(platform="openai", minute=MINUTE - ago, invocation=f"i{ago}", **fields)


def test_a_share_is_zero_where_there_is_too_little_to_judge_by() -> None:
    assert share(10, 19, 20) == 0.0
    assert share(10, 20, 20) == 50.0
    assert share(4, 100, 5, of_whole=False) == 0.0
    assert share(5, 100, 5, of_whole=False) == 5.0
    assert share(0, 0) == 0.0


def test_the_window_is_this_minute_and_the_four_before_it() -> None:
    assert window_start(NOW) == NOW - 30 - 240
    lately = Lately.of([stat(0, calls=1), stat(4, calls=10), stat(5, calls=100)], NOW)
    assert (lately.calls, lately.seconds) == (11, 270.0)


def test_calls_a_second_are_those_of_the_window_by_its_seconds() -> None:
    assert Lately.of([stat(calls=54), stat(1, calls=81)], NOW).calls_per_second == 0.5


def test_success_is_of_tasks_that_ended_and_says_nothing_below_twenty() -> None:
    assert Lately.of([stat(calls=60, answered=17, failed=2, retried=41)], NOW).success_rate is None
    assert Lately.of([stat(calls=60, answered=17, failed=3, retried=40)], NOW).success_rate == 85.0


def test_a_storm_is_of_calls_and_says_nothing_below_twenty() -> None:
    assert Lately.of([stat(calls=19, again=19)], NOW).storm_share == 0.0
    assert Lately.of([stat(calls=12, again=6), stat(1, calls=8, again=1)], NOW).storm_share == 35.0


def test_a_latency_is_the_smallest_that_a_share_of_the_calls_did_not_exceed() -> None:
    lately = Lately.of([stat(latencies=(4.0, 2.0)), stat(1, latencies=(1.0, 3.0))], NOW)
    assert [lately.latency(q) for q in (0.5, 0.75, 0.95, 0.99)] == [2.0, 3.0, 4.0, 4.0]
    assert Lately.of([], NOW).latency(0.5) is None


def test_the_longest_wait_of_the_window_counts() -> None:
    assert (
        Lately.of([stat(queue_wait_s=3.0), stat(2, queue_wait_s=9.5), stat(7, queue_wait_s=99)], NOW).longest_wait_s
        == 9.5
    )


def test_used_up_retries_are_of_the_tasks_of_an_hour_and_say_nothing_below_five() -> None:
    hour = LastHour()
    hour.take([stat(0, answered=300, failed=4, used_up=4), stat(59, answered=600)], NOW - 3570, NOW)
    assert hour.used_up_share == 0.0
    hour.take([stat(0, answered=395, failed=5, used_up=5)], window_start(NOW), NOW)
    assert hour.used_up_share == 0.5  # 5 of 1,000


def test_an_hour_is_read_once_and_then_only_what_is_new() -> None:
    hour = LastHour()
    whole = NOW - 30 - 59 * 60
    assert hour.read_from(NOW) == whole
    hour.take([], whole, NOW)
    assert hour.read_from(NOW + 30) == window_start(NOW + 30)
    assert hour.read_from(NOW + 1200) == NOW - 120  # another environment swept for 20 minutes
    assert hour.read_from(NOW + 7200) == whole + 7200


def test_what_is_read_again_is_not_counted_twice_and_what_is_older_than_an_hour_is_forgotten() -> None:
    hour = LastHour()
    hour.take([stat(0, answered=10, failed=5, used_up=5), stat(30, answered=5)], NOW - 3570, NOW)
    hour.take([stat(0, answered=10, failed=5, used_up=5)], window_start(NOW), NOW)
    assert hour.used_up_share == 25.0  # 5 of 20
    later = NOW + 31 * 60
    hour.take([], window_start(later), later)
    assert hour.used_up_share == pytest.approx(100 * 5 / 15)


def test_what_a_day_has_cost_is_remembered_beyond_the_hour() -> None:
    hour, day_start = LastHour(), NOW - 30 - 30 * 60
    hour.take([stat(0, cost_microusd=5), stat(31, cost_microusd=100)], NOW - 3570, NOW, day_start)
    assert (hour.before, hour.spent(day_start)) == (0, 5e-6)  # the day began half an hour ago
    for _ in range(2):
        later = NOW + 45 * 60
        hour.take([], window_start(later), later, day_start)
    assert (hour.before, hour.spent(day_start)) == (0, 5e-6)
    much_later = NOW + 61 * 60
    hour.take([], window_start(much_later), much_later, day_start)
    assert (hour.before, hour.spent(day_start)) == (5, 5e-6)


def test_an_environment_that_has_not_swept_for_an_hour_does_not_know_what_the_day_has_cost() -> None:
    hour = LastHour()
    hour.take([], NOW - 3570, NOW, NOW - 40)
    hour.read_from(NOW + 7200)
    assert hour.before is None


def test_the_rate_used_is_of_what_is_allowed_now() -> None:
    assert rate_used(2.0, 10.0, Control("openai"), 0.05) == 20.0
    assert rate_used(2.0, 10.0, Control("openai", rate_override=4.0, factor=0.5), 0.05) == 100.0
    assert rate_used(2.0, 0.0, Control("openai"), 0.05) == 0.0


def test_each_pause_that_holds_counts() -> None:
    over = Pause("quota_exhausted", "worker", NOW - 100, NOW - 1)
    held = Pause("model_gone", "worker", NOW - 100)
    control = Control("openai", paused=held, targets={"openai/a": held, "openai/b": over})
    assert pauses(control, NOW, breaker_open=True) == 3
    assert pauses(Control("openai", paused=over), NOW, breaker_open=False) == 0


def test_spend_is_of_the_present_day() -> None:
    control = Control("openai", day="2026-11-30", day_microusd=2_500_000)
    assert (spent(control, "2026-11-30"), spent(control, "2026-12-01")) == (2.5, 0.0)


@pytest.mark.parametrize(
    ("fields", "late"),
    [
        ({"plan_complete": False}, True),
        ({"plan_complete": True}, False),
        ({"plan_complete": False, "window_start": NOW - 599}, False),
        ({"plan_complete": False, "schedule_id": None, "created_at": NOW - 599}, False),
        ({"plan_complete": False, "schedule_id": None, "created_at": NOW - 600}, True),
        ({"plan_complete": False, "cancelled_at": NOW - 5}, False),
    ],
)
def test_a_run_is_not_planned_ten_minutes_after_it_was_due(fields: dict[str, Any], late: bool) -> None:
    assert not_planned(replace(RUN, **fields), NOW) is late


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({"state": RunState.SCORING, "finished_at": NOW - 1799}, False),
        ({"state": RunState.SCORING, "finished_at": NOW - 1800}, True),
        ({"state": RunState.REPORTED, "finished_at": NOW - 1800}, False),
        ({"deadline": NOW - 1800}, True),
        ({"deadline": NOW - 1799}, False),
        ({"state": RunState.CANCELLED, "deadline": NOW - 1800}, False),
    ],
)
def test_a_report_is_missing_half_an_hour_after_the_end(fields: dict[str, Any], missing: bool) -> None:
    assert report_missing(replace(RUN, **fields), NOW) is missing


def test_progress_is_of_all_unfinished_runs_together() -> None:
    half: Run = replace(RUN, counted=10)
    scored = replace(RUN, state=RunState.SCORING, counted=0)
    assert progress([half]) == 50.0
    assert progress([half, scored]) == 75.0
    assert progress([replace(half, cancelled_at=NOW)]) is None


def test_what_is_left_of_a_run_is_what_is_unfinished_on_its_platforms() -> None:
    assert left_of(RUN, {"openai": 7, "kimi": 9}) == {"openai": 7}
    assert left_of(RUN, {"openai": 7000}) == {"openai": 20}
    assert left_of(RUN, {}) == {"openai": 20}  # it could not be looked at
    assert left_of(replace(RUN, plan_complete=False), {"openai": 7}) == {"openai": 20}


def test_what_is_left_where_not_all_was_counted_is_what_rows_and_the_others_leave() -> None:
    run = replace(RUN, planned={"openai": 20_000, "kimi": 10_000, "qwen": 1_000}, counted=4_000)
    # 27,000 are left, 500 of them qwen's: 26,500 for two, two to one.
    assert left_of(run, {"openai": 8_000, "kimi": 8_000, "qwen": 500}, {"openai", "kimi"}) == {
        "openai": 17_666,
        "kimi": 8_833,
        "qwen": 500,
    }
    # Rows that are counted late never make it more than was planned, nor less than was seen.
    assert left_of(replace(run, counted=0), {"openai": 8_000, "kimi": 3, "qwen": 5}, {"openai"})["openai"] == 20_000
    assert left_of(replace(run, counted=30_990), {"openai": 8_000, "kimi": 3, "qwen": 5}, {"openai"})["openai"] == 8_000


def test_an_end_that_waits_for_a_person_is_a_week_late() -> None:
    assert lateness(float("inf"), NOW) == FAR_S
    assert lateness(NOW - 60, NOW) == -60.0


def test_only_an_open_run_before_its_deadline_is_asked_still() -> None:
    assert asks_still(RUN, NOW)
    assert not asks_still(RUN, NOW + 7200)
    assert not asks_still(replace(RUN, state=RunState.SCORING), NOW)
