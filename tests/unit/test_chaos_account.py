"""When has a run under attack kept its promise, and when was the attack too weak to say so?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane.cli.chaos_account import Account
from brandvane.cli.chaos_explain import Repeats, Rescues
from brandvane.cli.chaos_kills import Aim, Kill, Victim
from brandvane.simulation.run_audit import Delay, Summary
from brandvane.simulation.standin_behaviour import SHARES

VICTIM = Victim(7, "openai", frozenset({51}), ("t/1",), "t/1")
RUN = Summary(
    run_id="chaos",
    planned=2000,
    results=2000,
    lost=0,
    unplanned=0,
    done=2000,
    failed=0,
    outcomes={"ok": 2000},
    calls=2100,
    throttled=0,
    injected=5,
    repeated_calls=3,
    repeated_by_prompt=3,
    groupings_agree=True,
    retries={},
    start_delay_s=Delay(),
    rate_used={},
    call_outcomes={fault.value: 1 for fault in SHARES},
    complaints=("3 calls were made though their task had been answered, or was being answered",),
)


def kills(aim: Aim, number: int) -> list[Kill]:
    return [Kill(at=1.0, aim=aim, victim=VICTIM, running=frozenset({"t/1"}))] * number


def account(**given: Any) -> Account:
    """An attack that was just strong enough, on a run that kept its promise."""
    fields: dict[str, Any] = {
        "run": RUN,
        "kills": [*kills(Aim.IN_FLIGHT, 20), *kills(Aim.AFTER_ANSWER, 3)],
        "duplicates": 1,
        "off": [(0.0, 180.0)],
        "repeats": Repeats({"killed right after the answer": 3}, ()),
        "rescues": Rescues(40, 90.0, 0, ()),
    }
    return Account(**(fields | given))


def test_repeated_calls_with_a_cause_break_no_promise() -> None:
    assert account().complaints == ()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (
            {"run": replace(RUN, planned=1999, results=1999)},
            "1999 planned tasks, and 2000 are the least",
        ),
        (
            {"kills": [*kills(Aim.IN_FLIGHT, 19), *kills(Aim.AFTER_ANSWER, 3)]},
            "19 kills of a worker with RUNNING records, and 20 are the least",
        ),
        (
            {"kills": [*kills(Aim.IN_FLIGHT, 20), *kills(Aim.AFTER_ANSWER, 2)]},
            "2 kills between an answer and its WRITEBACK, and 3 are the least",
        ),
        ({"duplicates": 0}, "0 duplicate messages, and 1 are the least"),
        ({"off": [(0.0, 179.0)]}, "179 seconds without scanner, and 180 are the least"),
        ({"run": replace(RUN, call_outcomes={**RUN.call_outcomes, "hang": 0})}, "no call met the fault hang"),
    ],
)
def test_an_attack_that_was_too_weak_is_a_failure(given: dict[str, Any], complaint: str) -> None:
    assert account(**given).complaints == (complaint,)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (
            {"run": replace(RUN, results=1999, lost=1)},
            "1999 result rows for 2000 planned tasks, 1 of them without one",
        ),
        ({"run": replace(RUN, throttled=2)}, "2 calls were refused because a platform's limit was exceeded"),
        (
            {"repeats": Repeats({}, ("t/2",))},
            "1 calls were made after their task's answer without a recorded cause",
        ),
        ({"rescues": Rescues(0, 0.0, 0, ("t was never called again",))}, "t was never called again"),
    ],
)
def test_a_broken_promise_is_a_failure(given: dict[str, Any], complaint: str) -> None:
    assert account(**given).complaints == (complaint,)


def test_the_document_begins_with_what_was_done_and_what_came_of_it() -> None:
    told = account().document()
    assert list(told)[:13] == [
        *("kills", "kills_in_flight", "kills_after_answer", "duplicates_sent", "scanner_off_s"),
        *("planned", "results", "lost", "repeated_calls", "repeated_causes", "repeated_unexplained"),
        *("above_limit", "rescued"),
    ]
    assert (told["kills"], told["kills_in_flight"], told["kills_after_answer"], told["passed"]) == (23, 20, 3, True)
