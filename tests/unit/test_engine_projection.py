"""When will a platform be through, and what keeps it waiting?"""

from __future__ import annotations

import math

import pytest

from brandvane.control import Control, Pause
from brandvane.engine.projection import BUDGET, Pace, Wait, finish_at, pace_of, waits_of
from brandvane.schedule import Day
from builders import NOW, catalogue, platform

DAY = Day("2025-10-09", NOW - 1000, NOW + 50_000)
MONITOR = catalogue(platforms=(platform(rate=10.0, in_flight=100),)).monitor


def test_the_pace_is_97_percent_of_the_rate_where_slots_allow_it() -> None:
    pace = pace_of(MONITOR, "openai", Control("openai", hold_s=5.0), 100)

    assert pace is not None
    assert pace.rate == pytest.approx(9.7)
    assert pace.hold_s == 5.0


def test_the_pace_is_slots_by_hold_time_where_they_do_not() -> None:
    assert pace_of(MONITOR, "openai", Control("openai"), 20) == Pace(0.5, 40.0)


def test_a_rate_set_by_hand_and_one_lowered_by_refusals_count() -> None:
    control = Control("openai", hold_s=1.0, rate_override=4.0, factor=0.5)

    pace = pace_of(MONITOR, "openai", control, 100)

    assert pace is not None
    assert pace.rate == pytest.approx(1.94)


def test_a_platform_without_a_worker_or_outside_the_monitor_has_no_pace() -> None:
    assert pace_of(MONITOR, "openai", Control("openai"), 0) is None
    assert pace_of(MONITOR, "kimi", Control("kimi"), 10) is None


def test_a_pause_that_is_over_holds_nothing_up() -> None:
    control = Control("openai", paused=Pause("breaker", "breaker", NOW - 90, NOW - 30))

    assert waits_of(MONITOR, "openai", control, {"openai/m1": 5}, 5, DAY, NOW) == ()


def test_a_paused_target_without_tasks_is_not_mentioned() -> None:
    control = Control("openai", targets={"openai/m1": Pause("model_gone", "worker", NOW)})

    assert waits_of(MONITOR, "openai", control, {"openai/m2": 5}, 5, DAY, NOW) == ()


def test_tasks_beyond_the_days_calls_wait_for_the_next_day() -> None:
    monitor = catalogue(platforms=(platform(day_calls=100),)).monitor
    control = Control("openai", day="2025-10-09", day_calls=70)

    (wait,) = waits_of(monitor, "openai", control, {}, 50, DAY, NOW)

    assert wait == Wait("openai", None, BUDGET, "limiter", None, NOW + 50_000, 20)


def test_yesterdays_calls_do_not_count() -> None:
    monitor = catalogue(platforms=(platform(day_calls=100),)).monitor

    assert waits_of(monitor, "openai", Control("openai", day="2025-10-08", day_calls=100), {}, 50, DAY, NOW) == ()


def test_money_that_is_spent_holds_up_everything() -> None:
    monitor = catalogue(platforms=(platform(day_budget_usd=2.0),)).monitor
    control = Control("openai", day="2025-10-09", day_microusd=2_000_000)

    assert [wait.tasks for wait in waits_of(monitor, "openai", control, {}, 50, DAY, NOW)] == [50]


def test_the_finish_is_no_earlier_than_the_last_planned_task() -> None:
    assert finish_at(Pace(1.0, 5.0), (), 10, NOW, NOW + 100) == NOW + 105
    assert finish_at(Pace(1.0, 5.0), (), 10, NOW, NOW - 100) == NOW + 15


def test_held_tasks_begin_when_their_wait_ends() -> None:
    wait = Wait("openai", None, BUDGET, "limiter", None, NOW + 1000, 4)

    assert finish_at(Pace(2.0, 5.0), (wait,), 10, NOW, NOW) == NOW + 1000 + 2 + 5


def test_one_wait_for_a_person_makes_the_finish_infinite() -> None:
    wait = Wait("openai", "openai/m1", "model_gone", "worker", NOW, None, 1)

    assert finish_at(Pace(2.0, 5.0), (wait,), 10, NOW, NOW) == math.inf
