"""How early does a worker prepare a call?"""

from __future__ import annotations

import pytest

from brandvane.engine.lead import Lead


def test_a_slow_begin_is_believed_at_once() -> None:
    lead = Lead()
    lead.began(0.2)

    assert lead.begin_s == pytest.approx(0.3)


def test_a_slow_begin_is_forgotten_by_a_fifth_with_every_faster_one() -> None:
    lead = Lead()
    lead.began(0.2)
    lead.began(0.0)

    assert lead.begin_s == pytest.approx(1.5 * 0.16)


def test_preparations_begin_no_less_than_50_ms_before_the_slot() -> None:
    lead = Lead()
    for _ in range(50):
        lead.began(0.0)

    assert lead.begin_s == 0.05


def test_a_slot_is_asked_for_no_nearer_than_reserving_and_beginning_take() -> None:
    lead = Lead()
    lead.reserved(0.1)
    lead.began(0.2)

    assert lead.notice_s == pytest.approx(0.15 + 0.3)


def test_no_notice_is_longer_than_a_second_and_a_half() -> None:
    lead = Lead()
    lead.reserved(5.0)

    assert lead.notice_s == 1.5


def test_calls_that_start_late_are_expected_to_do_so_again() -> None:
    lead = Lead()
    lead.started(0.02)

    assert lead.jitter_s == pytest.approx(0.045)


def test_calls_in_time_keep_the_full_rate() -> None:
    lead = Lead()
    lead.started(0.013)

    assert lead.jitter_s == pytest.approx(0.031)
