"""An error that no fault brings about is a mistake of the code, whatever event tells of it."""

from __future__ import annotations

import pytest

from brandvane.simulation.auditor import Auditor
from brandvane.simulation.host import Host
from brandvane.simulation.virtual_loop import VirtualLoop
from builders import NOW

EVENTS = (
    "record_not_handled",
    "record_not_swept",
    "not_booked",
    "canaries_not_sent",
    "gauges_not_published",
    "answer_not_recorded",
    "answer_not_stored",
    "late_answer_not_kept",
    "write_back_failed",
    "an_event_to_come",
)


def told(event: str, error: str) -> list[str]:
    auditor = Auditor(lambda: 0.0, NOW, lambda: None)
    auditor.told(Host(VirtualLoop(), "scanner/1", NOW), event, {"error": error})
    return [f"{each.kind}: {each.text}" for each in auditor.history.violations]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("error", ["TypeError('x')", "TypeError", "unsupported operand", "KeyError('s3')"])
def test_an_error_of_the_code_s_own_is_a_crash_in_every_event(event: str, error: str) -> None:
    assert told(event, error) == [f"crash: {event}: {error}"]


@pytest.mark.parametrize(
    "error",
    [
        "Unavailable('dynamodb refuses')",
        "Unavailable",
        "dynamodb refuses",
        "sqs: the reply was lost",
        "s3 does not answer",
        "TooLarge('item of 600000 bytes')",
        "NewerMessage('version 2; this release reads 1')",
        "AnswerNotSafe('t')",
        "None",
    ],
)
def test_what_faults_do_is_no_crash(error: str) -> None:
    assert told("record_not_swept", error) == []


def test_only_those_who_may_not_wait_for_long_run_out_of_time() -> None:
    assert told("answer_not_recorded", "TimeoutError()") == []
    assert told("record_not_handled", "TimeoutError()") == ["crash: record_not_handled: TimeoutError()"]
