"""How early does a worker prepare a call?"""

from __future__ import annotations

import pytest

from brandvane.engine.lead import Lead


def test_a_slow_begin_is_believed_at_once() -> None:
    lead = Lead()
    lead.began(0.2)

    assert lead.begin_s == pytest.approx(0.3)


def test_a_slow_begin_is_forgotten_by_a_tenth_with_every_faster_one() -> None:
    lead = Lead()
    lead.began(0.2)
    lead.began(0.0)

    assert lead.begin_s == pytest.approx(1.5 * 0.18)


def test_preparations_begin_no_less_than_150_ms_before_the_slot() -> None:
    lead = Lead()
    for _ in range(50):
        lead.began(0.0)

    assert lead.begin_s == 0.15


def test_a_slot_is_asked_for_no_nearer_than_reserving_and_beginning_take() -> None:
    lead = Lead()
    lead.reserved(0.1)
    lead.began(0.2)

    assert lead.notice_s == pytest.approx(0.15 + 0.3)


def test_preparations_begin_less_than_a_second_before_the_slot_however_slow_they_were() -> None:
    lead = Lead()
    lead.reserved(5.0)
    lead.began(5.0)

    assert (lead.begin_s, lead.notice_s) == (0.75, 1.5)
