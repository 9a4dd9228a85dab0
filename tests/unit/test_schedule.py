"""When is a run due, also where clocks change?"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brandvane.schedule import Instants, budget_day, day_of, instants, minutes_of, occurrence, run_id
from unit.catalogue_samples import schedule

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai")


def _utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_a_plain_day_has_its_local_times() -> None:
    # Berlin is at UTC+1 in November.
    found = instants(schedule("02:00", "04:00", "06:00"), "2026-11-29")
    assert found == Instants(_utc("2026-11-29 01:00"), _utc("2026-11-29 03:00"), _utc("2026-11-29 05:00"))


def test_over_midnight_end_and_deadline_are_the_next_days() -> None:
    found = instants(schedule("22:30", "01:30", "06:00", "Asia/Shanghai"), "2026-11-29")
    assert found == Instants(_utc("2026-11-29 14:30"), _utc("2026-11-29 17:30"), _utc("2026-11-29 22:00"))


def test_a_deadline_alone_can_be_the_next_days() -> None:
    found = instants(schedule("20:00", "23:30", "00:30", "UTC"), "2026-11-29")
    assert (found.end, found.deadline) == (_utc("2026-11-29 23:30"), _utc("2026-11-30 00:30"))


def test_a_start_in_the_skipped_hour_moves_to_the_first_instant_that_exists() -> None:
    # Berlin, 29 March 2026: 02:00 becomes 03:00 at 01:00 UTC.
    found = instants(schedule("02:15", "05:00", "06:00"), "2026-03-29")
    assert found == Instants(_utc("2026-03-29 01:00"), _utc("2026-03-29 03:00"), _utc("2026-03-29 04:00"))


def test_a_window_that_the_skipped_hour_swallows_keeps_its_length() -> None:
    found = instants(schedule("02:10", "02:30", "02:50"), "2026-03-29")
    assert found == Instants(_utc("2026-03-29 01:00"), _utc("2026-03-29 01:20"), _utc("2026-03-29 01:40"))


def test_times_that_come_twice_mean_their_first_showing() -> None:
    # Berlin, 25 October 2026: 03:00 becomes 02:00 at 01:00 UTC, so 02:30 is at 00:30 and again at 01:30.
    found = instants(schedule("02:15", "02:30", "02:45"), "2026-10-25")
    assert found == Instants(_utc("2026-10-25 00:15"), _utc("2026-10-25 00:30"), _utc("2026-10-25 00:45"))


def test_a_window_across_the_repeated_hour_is_an_hour_longer() -> None:
    found = instants(schedule("01:00", "04:00", "06:00"), "2026-10-25")
    assert found.end - found.start == 4 * 3600


def test_a_jump_of_half_an_hour_is_followed_too() -> None:
    # Lord Howe, 4 October 2026: 02:00 becomes 02:30 at 15:30 UTC of the 3rd.
    assert instants(schedule("02:10", "04:00", "05:00", "Australia/Lord_Howe"), "2026-10-04").start == _utc(
        "2026-10-03 15:30"
    )


def test_a_day_that_a_country_left_out_moves_to_the_next_one() -> None:
    # Samoa had no 30 December 2011: the 29th ended at 10:00 UTC of the 30th, and the 31st began.
    assert instants(schedule("12:00", "13:00", "14:00", "Pacific/Apia"), "2011-12-30").start == _utc("2011-12-30 10:00")


@given(
    zone=st.sampled_from(ZONES),
    day=st.dates(date(2024, 1, 1), date(2032, 12, 31)),
    times=st.tuples(st.integers(0, 1439), st.integers(0, 1439), st.integers(0, 1439)),
)
@example(zone="Europe/Berlin", day=date(2026, 3, 29), times=(130, 150, 170))
@example(zone="Australia/Lord_Howe", day=date(2026, 4, 5), times=(95, 110, 115))
def test_instants_are_in_order_and_show_the_local_times_that_exist(
    zone: str, day: date, times: tuple[int, int, int]
) -> None:
    wished = sorted(set(times))
    if len(wished) < 3:
        return
    start, end, deadline = (f"{t // 60:02}:{t % 60:02}" for t in wished)
    found = instants(schedule(start, end, deadline, zone), day.isoformat())
    assert found.start < found.end < found.deadline
    locals_ = [datetime.combine(day, time(t // 60, t % 60)) for t in wished]
    if all(_exists(local, zone) for local in locals_):
        shown = [
            datetime.fromtimestamp(instant, ZoneInfo(zone)) for instant in (found.start, found.end, found.deadline)
        ]
        assert [local.replace(tzinfo=None) for local in shown] == locals_
        assert [local.fold for local in shown] == [0, 0, 0]
    if not _exists(locals_[0], zone):
        # The clocks have just jumped over it: a second earlier they showed less, now they show more.
        before = datetime.fromtimestamp(found.start - 1, ZoneInfo(zone)).replace(tzinfo=None)
        after = datetime.fromtimestamp(found.start, ZoneInfo(zone)).replace(tzinfo=None)
        assert before < locals_[0] < after


def _exists(local: datetime, zone: str) -> bool:
    return local.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) == local


@given(
    zone=st.sampled_from(ZONES),
    day=st.dates(date(2024, 1, 1), date(2032, 12, 31)),
    minute=st.integers(0, 1439),
    late=st.floats(0, 20 * 3600),
)
def test_a_trigger_names_the_day_it_was_meant_for_however_late_it_comes(
    zone: str, day: date, minute: int, late: float
) -> None:
    found = schedule(f"{minute // 60:02}:{minute % 60:02}", "00:00", "00:00", zone)
    start = instants(found, day.isoformat()).start
    assert occurrence(found, start + late) == day.isoformat()
    assert occurrence(found, start - 0.001) == (day - timedelta(days=1)).isoformat()


def test_a_trigger_after_midnight_names_yesterdays_run() -> None:
    evening = schedule("23:30", "02:00", "06:00", "Asia/Shanghai")
    assert occurrence(evening, _utc("2026-11-29 16:05")) == "2026-11-29"  # 00:05 of the 30th in Shanghai
    assert run_id(evening, "2026-11-29") == "daily-2026-11-29"


@given(zone=st.sampled_from(ZONES), now=st.floats(1_700_000_000, 2_000_000_000))
def test_an_instant_lies_in_the_budget_day_of_its_local_date(zone: str, now: float) -> None:
    day = budget_day(now, zone)
    assert day.start <= now < day.end
    assert day.date == day_of(now, zone) == datetime.fromtimestamp(now, ZoneInfo(zone)).date().isoformat()
    assert day.end - day.start in (23 * 3600, 23.5 * 3600, 24 * 3600, 24.5 * 3600, 25 * 3600)


def test_the_budget_day_of_a_change_is_an_hour_shorter_or_longer() -> None:
    spring, autumn = (
        budget_day(_utc("2026-03-29 12:00"), "Europe/Berlin"),
        budget_day(_utc("2026-10-25 12:00"), "Europe/Berlin"),
    )
    assert (spring.end - spring.start, autumn.end - autumn.start) == (23 * 3600, 25 * 3600)


def test_budget_days_meet_without_a_gap_where_midnight_is_skipped() -> None:
    # Beirut skips midnight: on 29 March 2026 00:00 becomes 01:00 at 22:00 UTC of the 28th.
    before = budget_day(_utc("2026-03-28 12:00"), "Asia/Beirut")
    after = budget_day(_utc("2026-03-29 12:00"), "Asia/Beirut")
    assert before.end == after.start == _utc("2026-03-28 22:00")


@pytest.mark.parametrize("text", ["24:00", "7:00", "07:60", "0700", "", "07:00:00", "²³:00", "-1:00"])
def test_a_time_that_is_none_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a time"):
        minutes_of(text)


def test_an_unknown_zone_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="there is no time zone 'Mars/Olympus'"):
        day_of(0.0, "Mars/Olympus")
