"""When does a platform's breaker open, who may probe, and what closes it?"""

from __future__ import annotations

from dataclasses import replace

from brandvane import breaker
from brandvane.control import Control, resumed

NOW = 1_000.0


def opened(now: float = NOW) -> Control:
    return breaker.noted(Control("openai"), attempts=20, failed=17, now=now)


def test_seventeen_failures_of_twenty_open_it_for_a_minute() -> None:
    item = opened()

    assert breaker.is_open(item)
    assert breaker.held_until(item) == NOW + 60


def test_sixteen_failures_of_twenty_do_not() -> None:
    item = breaker.noted(Control("openai"), attempts=20, failed=16, now=NOW)

    assert not breaker.is_open(item)
    assert item.tried == 0


def test_nineteen_failures_of_nineteen_are_too_few() -> None:
    item = breaker.noted(Control("openai"), attempts=19, failed=19, now=NOW)

    assert not breaker.is_open(item)
    assert (item.tried, item.tried_failed) == (19, 19)


def test_batches_add_up() -> None:
    item = breaker.noted(Control("openai"), attempts=10, failed=10, now=NOW)
    item = breaker.noted(item, attempts=10, failed=9, now=NOW + 30)

    assert breaker.is_open(item)


def test_failures_spread_over_more_than_five_minutes_are_no_run() -> None:
    item = breaker.noted(Control("openai"), attempts=10, failed=10, now=NOW)
    item = breaker.noted(item, attempts=10, failed=10, now=NOW + 301)

    assert not breaker.is_open(item)
    assert item.tried == 10


def test_a_window_without_failures_is_never_written_down() -> None:
    item = Control("openai")

    assert breaker.noted(item, attempts=10, failed=0, now=NOW) is item


def test_opening_begins_a_new_epoch_so_that_granted_slots_are_void() -> None:
    assert opened().epoch == Control("openai").epoch + 1


def test_nobody_calls_before_the_wait_is_over() -> None:
    item = opened()

    assert breaker.pause(item, NOW + 59) is not None
    assert breaker.pause(item, NOW + 60) is None


def test_one_owner_probes_and_the_others_wait_for_its_lease() -> None:
    item = breaker.probing(opened(), "first", 75.0, NOW + 60)

    assert item.probe_owner == "first"
    pause = breaker.pause(item, NOW + 61)
    assert pause is not None
    assert pause.until == NOW + 60 + 75


def test_a_probe_that_was_answered_closes_it() -> None:
    item = breaker.probing(opened(), "first", 75.0, NOW + 60)

    item = breaker.probed(item, "first", answered=True, now=NOW + 62)

    assert not breaker.is_open(item)
    assert breaker.pause(item, NOW + 62) is None


def test_a_probe_that_failed_doubles_the_wait_up_to_ten_minutes() -> None:
    item, now, waits = opened(), NOW, []
    for _ in range(5):
        now = breaker.held_until(item)
        item = breaker.probing(item, "p", 75.0, now)
        item = breaker.probed(item, "p", answered=False, now=now + 1)
        waits.append(item.breaker_wait_s)

    assert waits == [120, 240, 480, 600, 600]


def test_a_probe_that_lapsed_without_a_word_counts_as_failed() -> None:
    item = breaker.probing(opened(), "first", 75.0, NOW + 60)

    item = breaker.probing(item, "second", 75.0, NOW + 60 + 75)

    assert item.probe_owner == ""
    assert item.breaker_wait_s == 120
    assert breaker.held_until(item) == NOW + 60 + 75 + 120


def test_a_late_word_of_a_lapsed_probe_changes_nothing() -> None:
    item = breaker.probing(opened(), "first", 75.0, NOW + 60)
    item = breaker.probing(item, "second", 75.0, NOW + 135)

    assert breaker.probed(item, "first", answered=True, now=NOW + 140) == item


def test_failures_that_come_in_while_it_is_open_do_not_prolong_it() -> None:
    item = opened()

    assert breaker.noted(item, attempts=50, failed=50, now=NOW + 30) == item


def test_a_person_who_resumes_closes_it() -> None:
    assert not breaker.is_open(resumed(opened(), NOW + 5))


def test_closing_leaves_a_persons_pause_alone() -> None:
    from brandvane.control import Pause

    pause = Pause("maintenance", "ann", NOW)
    item = replace(opened(), paused=pause)

    assert breaker.closed(item).paused == pause
