"""Which instant does an operator mean, and how is one shown?"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from brandvane.cli.when import instant_of, iso, local, span


def _at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


NOW = _at("2025-10-09T08:53:20")


@pytest.mark.parametrize(
    ("text", "zone", "means"),
    [
        ("09:00", "UTC", "2025-10-09T09:00"),
        ("9:00", "UTC", "2025-10-09T09:00"),
        ("08:00", "UTC", "2025-10-10T08:00"),
        ("11:00", "Europe/Berlin", "2025-10-09T09:00"),
        ("06:30", "Asia/Shanghai", "2025-10-09T22:30"),
    ],
)
def test_a_time_of_day_is_the_next_one_that_clocks_show(text: str, zone: str, means: str) -> None:
    assert instant_of(text, NOW, zone) == _at(means)


def test_a_time_that_the_clocks_skip_is_the_first_one_after_the_gap() -> None:
    before = _at("2026-03-29T00:00")

    assert instant_of("02:30", before, "Europe/Berlin") == _at("2026-03-29T01:00")


@pytest.mark.parametrize(
    ("text", "seconds"), [("+2h", 7200), ("+90m", 5400), ("+1d", 86400), ("+1h30m", 5400), ("+1d2h3m", 93780)]
)
def test_a_time_from_now_begins_with_a_plus(text: str, seconds: int) -> None:
    assert instant_of(text, NOW, "UTC") == NOW + seconds


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("2025-10-10T06:00", "2025-10-10T04:00"),
        ("2025-10-10 06:00", "2025-10-10T04:00"),
        ("2025-10-10T06:00Z", "2025-10-10T06:00"),
        ("2025-10-10T06:00+08:00", "2025-10-09T22:00"),
    ],
)
def test_an_iso_time_is_of_the_zone_unless_it_has_an_offset(text: str, means: str) -> None:
    assert instant_of(text, NOW, "Europe/Berlin") == _at(means)


@pytest.mark.parametrize("text", ["tomorrow", "+", "+2", "+2x", "25:00", "06:60", "2025-10-10", "", "-2h"])
def test_what_is_no_time_is_said_with_its_text(text: str) -> None:
    with pytest.raises(ValueError, match=r"no time|a day without"):
        instant_of(text, NOW, "UTC")


def test_instants_are_shown_in_their_zone_with_seconds_only_where_there_are_some() -> None:
    assert local(_at("2025-10-09T04:30"), "Europe/Berlin") == "2025-10-09 06:30 Europe/Berlin"
    assert local(NOW + 0.4, "UTC") == "2025-10-09 08:53:20 UTC"


def test_json_shows_instants_in_utc() -> None:
    assert iso(NOW) == "2025-10-09T08:53:20Z"
    assert iso(None) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (89.4, "89 s"), (90, "2 min"), (3599, "1 h 00 min"), (11100, "3 h 05 min"), (187200, "2 d 4 h")],
)
def test_spans_are_shown_in_the_units_that_people_use(seconds: float, text: str) -> None:
    assert span(seconds) == text
