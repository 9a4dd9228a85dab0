"""When each call may start: worked out by hand, and what must hold in any interleaving."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brandvane.control import Act, Control, Pause, paused, rate_changed, resumed, target_paused
from brandvane.pacing import (
    Fit,
    Grant,
    Limits,
    Want,
    charged,
    fit,
    grant,
    interval,
    plan_rate,
    pushed,
    restored,
)

NOW = 1000.0
FAR = 1e9
# 97 % of 100/97 calls a second is exactly one a second.
ONE_A_SECOND = Limits(rate=100 / 97)


def wants(*dues: float, deadline: float = FAR) -> list[Want]:
    """Calls wanted so many seconds after ``NOW``."""
    return [Want(NOW + due, deadline) for due in dues]


def granted(
    control: Control, limits: Limits, wanted: list[Want], now: float = NOW
) -> tuple[Control, Grant, list[float]]:
    """The grant and its starts in seconds after ``NOW``."""
    changed, given = grant(control, limits, wanted, now)
    return changed, given, [round(start - NOW, 6) for start in given.starts]


def test_calls_are_spaced_at_97_percent_of_the_rate() -> None:
    assert interval(Limits(rate=10.0), Control("p")) == pytest.approx(1 / 9.7)


def test_an_operators_rate_and_a_lowered_factor_change_the_spacing() -> None:
    assert interval(Limits(rate=10.0), Control("p", rate_override=5.0, factor=0.5)) == pytest.approx(1 / (5 * 0.97 / 2))


def test_a_batch_due_now_starts_one_interval_apart() -> None:
    changed, given, starts = granted(Control("p", clock=NOW - 50), ONE_A_SECOND, wants(0, 0, 0))
    assert starts == [0, 1, 2]
    assert changed.clock == pytest.approx(NOW + 3)
    assert given.resume_at == ()


def test_the_clock_of_the_platform_is_waited_for() -> None:
    _, _, starts = granted(Control("p", clock=NOW + 4), ONE_A_SECOND, wants(0, 0))
    assert starts == [4, 5]


def test_a_call_never_starts_before_it_is_due() -> None:
    changed, _, starts = granted(Control("p"), ONE_A_SECOND, wants(0, 2.5))
    assert starts == [0, 2.5]
    assert changed.clock == pytest.approx(NOW + 3.5)


def test_a_slot_20_seconds_away_is_taken_and_one_further_away_is_not() -> None:
    changed, given, starts = granted(Control("p", clock=NOW + 20), ONE_A_SECOND, wants(0, 0, 0))
    assert starts == [20]
    assert changed.clock == pytest.approx(NOW + 21)
    assert [at - NOW for at in given.resume_at] == pytest.approx([21, 22])


def test_when_none_fits_nothing_changes() -> None:
    control = Control("p", clock=NOW + 20.001, day="2025-10-08", day_calls=9)
    changed, given, starts = granted(control, replace(ONE_A_SECOND, day="2025-10-09"), wants(0, 0))
    assert changed is control
    assert starts == []
    assert [at - NOW for at in given.resume_at] == pytest.approx([20.001, 21.001])


def test_a_call_whose_deadline_its_slot_reaches_is_not_taken() -> None:
    _, _, starts = granted(Control("p"), ONE_A_SECOND, wants(0, 0, 0, deadline=NOW + 1))
    assert starts == [0]


def test_the_rest_comes_back_by_its_place_behind_the_clock() -> None:
    _, given, _ = granted(Control("p"), ONE_A_SECOND, wants(0, 0, 0, 0, deadline=NOW + 1.5))
    assert [at - NOW for at in given.resume_at] == pytest.approx([2, 3])


def test_the_days_calls_are_counted_and_end_the_grant() -> None:
    limits = replace(ONE_A_SECOND, day="d1", day_calls=5)
    changed, given, starts = granted(Control("p", day="d1", day_calls=3), limits, wants(0, 0, 0))
    assert starts == [0, 1]
    assert (changed.day_calls, given.budget_spent) == (5, True)


def test_a_new_day_begins_with_a_full_budget() -> None:
    limits = replace(ONE_A_SECOND, day="d2", day_calls=1, day_microusd=10)
    changed, _, starts = granted(Control("p", day="d1", day_calls=99, day_microusd=99), limits, wants(0))
    assert starts == [0]
    assert (changed.day, changed.day_calls, changed.day_microusd) == ("d2", 1, 0)


def test_a_batch_of_yesterday_does_not_bring_yesterday_back() -> None:
    today = Control("p", day="2025-10-09", day_calls=7, day_microusd=50)
    late = replace(ONE_A_SECOND, day="2025-10-08", day_calls=100)
    changed, _, _ = granted(today, late, wants(0))
    assert (changed.day, changed.day_calls, changed.day_microusd) == ("2025-10-09", 8, 50)
    assert charged(today, "2025-10-08", 30) == today


def test_when_the_days_money_is_spent_nothing_starts() -> None:
    limits = replace(ONE_A_SECOND, day="d1", day_microusd=1000)
    control = Control("p", day="d1", day_microusd=1000)
    changed, given, starts = granted(control, limits, wants(0))
    assert (starts, changed, given.budget_spent) == ([], control, True)


def test_a_grant_tells_the_epoch_it_was_made_in() -> None:
    assert granted(Control("p", epoch=6), ONE_A_SECOND, wants(0))[1].epoch == 6


def test_a_429_of_the_present_epoch_pushes_the_clock_begins_an_epoch_and_halves_the_rate() -> None:
    after = pushed(Control("p", clock=NOW, epoch=2, factor=1.0), NOW + 30, 2)
    assert (after.clock, after.epoch, after.factor) == (NOW + 30, 3, 0.5)


def test_a_429_of_an_older_epoch_only_pushes_the_clock() -> None:
    after = pushed(Control("p", clock=NOW, epoch=3, factor=0.5), NOW + 30, 2)
    assert (after.clock, after.epoch, after.factor) == (NOW + 30, 3, 0.5)


def test_pushes_are_not_added_up_and_never_pull_the_clock_back() -> None:
    once = pushed(Control("p", clock=NOW), NOW + 30, 9)
    assert pushed(pushed(once, NOW + 30, 9), NOW + 10, 9).clock == NOW + 30


def test_the_rate_is_never_halved_below_five_percent() -> None:
    control = Control("p")
    for epoch in range(8):
        control = pushed(control, NOW, epoch)
    assert control.factor == 0.05


def test_the_rate_comes_back_by_five_percent_a_minute_up_to_what_is_stated() -> None:
    control = restored(Control("p", factor=0.5))
    assert control.factor == pytest.approx(0.55)
    assert restored(control, minutes=20).factor == 1.0


def test_an_answers_cost_is_booked_on_its_day() -> None:
    control = charged(charged(Control("p", day="d1", day_calls=2), "d1", 30), "d1", 12)
    assert (control.day_microusd, control.day_calls) == (42, 2)
    assert charged(control, "d2", 5) == replace(control, day="d2", day_calls=0, day_microusd=5)


def test_resuming_lifts_all_pauses_and_begins_an_epoch_a_second_from_now() -> None:
    pause = Pause("auth_error", "worker", NOW - 60)
    control = Control("p", paused=pause, targets={"p/m1": pause}, clock=NOW - 9, epoch=4)
    after = resumed(control, NOW)
    assert (after.paused, after.targets, after.epoch, after.clock) == (None, {}, 5, NOW + 1)


def test_another_rate_begins_an_epoch_and_forgets_the_lowered_factor() -> None:
    after = rate_changed(Control("p", factor=0.25, clock=NOW), 3.0, NOW)
    assert (after.rate_override, after.factor, after.epoch, after.clock) == (3.0, 1.0, 1, NOW + 1)


def test_a_pause_until_a_person_resumes_is_never_shortened() -> None:
    control = paused(Control("p"), Pause("auth_error", "worker", NOW))
    assert paused(control, Pause("quota_exhausted", "worker", NOW, NOW + 60)) == control


MAINTENANCE = Pause("maintenance", "operator ada", NOW, NOW + 36_000)


@pytest.mark.parametrize("ends", [NOW + 7200, NOW + 36_000])
def test_a_pause_that_ends_no_later_neither_shortens_the_one_there_nor_replaces_its_reason(ends: float) -> None:
    control = Control("p", paused=MAINTENANCE, targets={"p/m1": MAINTENANCE}, epoch=4)
    shorter = Pause("quota_exhausted", "worker", NOW + 5, ends)

    assert paused(control, shorter) == control
    assert target_paused(control, "p/m1", shorter) == control


@pytest.mark.parametrize("ends", [NOW + 36_001, None])
def test_a_pause_that_ends_later_replaces_the_one_there_with_its_reason(ends: float | None) -> None:
    control = Control("p", paused=MAINTENANCE, targets={"p/m1": MAINTENANCE}, epoch=4)
    longer = Pause("budget", "worker", NOW + 5, ends)

    assert (paused(control, longer).paused, paused(control, longer).epoch) == (longer, 5)
    assert target_paused(control, "p/m1", longer).targets == {"p/m1": longer}


def test_a_pause_of_another_target_is_no_reason_to_leave_one_out() -> None:
    control = Control("p", targets={"p/m1": MAINTENANCE})
    shorter = Pause("model_gone", "worker", NOW, NOW + 60)

    assert target_paused(control, "p/m2", shorter).targets == {"p/m1": MAINTENANCE, "p/m2": shorter}


def test_who_resumed_and_who_stated_the_rate_are_kept_apart() -> None:
    lifted, slowed = Act("resume", "operator ada", "paid", NOW), Act("rate 3", "operator bob", "429s", NOW + 1)
    after = rate_changed(resumed(Control("p"), NOW, lifted), 3.0, NOW + 1, slowed)

    assert (after.resumed, after.rated) == (lifted, slowed)


def test_a_pause_holds_until_its_end() -> None:
    control = paused(Control("p"), Pause("quota_exhausted", "worker", NOW, NOW + 60))
    assert control.pause_of("p/m1", NOW + 59.9) is not None
    assert control.pause_of("p/m1", NOW + 60) is None


def test_a_plan_keeps_to_90_percent_of_the_scarcer_of_rate_and_slots() -> None:
    assert plan_rate(20.0, 800, 25.0) == pytest.approx(18.0)
    assert plan_rate(20.0, 100, 25.0) == pytest.approx(3.6)
    assert plan_rate(20.0, 100, 0.0) == pytest.approx(18.0)


def test_a_plan_is_spread_evenly_over_its_window() -> None:
    assert fit(100, 1.0, 0.0, 1000.0) == Fit(10.0, 990.0, 0.0)


def test_a_plan_that_does_not_fit_says_by_how_much_and_drops_nothing() -> None:
    assert fit(101, 1.0, 0.0, 60.0) == Fit(1.0, 100.0, 40.0)


def test_a_window_that_is_over_is_planned_as_fast_as_allowed() -> None:
    assert fit(3, 2.0, 100.0, 50.0) == Fit(0.5, 101.0, 51.0)


def test_an_empty_plan_fits() -> None:
    assert fit(0, 1.0, 100.0, 50.0) == Fit(0.0, 100.0, 0.0)


RESERVE = st.tuples(
    st.just("reserve"),
    st.floats(0, 3),
    st.lists(st.tuples(st.floats(-30, 25), st.floats(0, 60)), min_size=1, max_size=8),
)
PUSH = st.tuples(st.just("push"), st.floats(0, 3), st.tuples(st.floats(0, 40), st.integers(-2, 0)))
RESTORE = st.tuples(st.just("restore"), st.floats(0, 3), st.just(None))


@given(rate=st.floats(0.2, 50), steps=st.lists(RESERVE | PUSH | RESTORE, max_size=25))
def test_in_any_interleaving_starts_are_an_interval_apart_and_the_clock_moves_by_what_was_granted(
    rate: float, steps: list[tuple[str, float, object]]
) -> None:
    limits, control, now = Limits(rate=rate), Control("p"), NOW
    free = 0.0  # the earliest instant of the next start, by the starts alone
    for what, later, told in steps:
        now += later
        if what == "push":
            assert isinstance(told, tuple)
            control = pushed(control, now + told[0], control.epoch + told[1])
            continue
        if what == "restore":
            control = restored(control)
            continue
        assert isinstance(told, list)
        wanted = sorted((Want(now + due, now + due + life) for due, life in told), key=lambda want: want.due)
        step, before = interval(limits, control), control
        control, got = grant(control, limits, wanted, now)
        for start, want in zip(got.starts, wanted, strict=False):
            assert start >= max(free, now, want.due, before.clock) - 1e-6
            assert start <= now + 20
            assert start < want.deadline
            free = start + step
        assert len(got.starts) + len(got.resume_at) == len(wanted)
        if got.starts:
            assert control.clock == got.starts[-1] + step
        else:
            assert control is before


@given(count=st.integers(1, 3000), rate=st.floats(0.01, 50), window=st.floats(-100, 50_000))
def test_a_plan_is_never_denser_than_its_rate_and_fills_its_window(count: int, rate: float, window: float) -> None:
    fitted = fit(count, rate, NOW, NOW + window)
    assert fitted.spacing >= 1 / rate - 1e-9
    assert fitted.last == pytest.approx(NOW + (count - 1) * fitted.spacing)
    assert fitted.late_by == pytest.approx(max(0.0, fitted.last - NOW - window))
    if count / rate <= window:
        assert fitted.late_by == 0
        assert fitted.spacing == pytest.approx(window / count)
