"""The auditor of calls sees every call that is paid for twice, and knows a cause from an excuse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brandvane.run import Run, RunState
from brandvane.simulation.audit_calls import CallAudit, Use
from brandvane.simulation.host import Host
from brandvane.simulation.scenario import Scenario
from brandvane.simulation.simulate import Simulation
from brandvane.simulation.virtual_loop import VirtualLoop
from brandvane.task import State, Task
from builders import NOW, task
from simulation.mutants import mistakes

RUN = Run(
    run_id="r",
    schedule_id="day",
    catalogue_version="v",
    window_start=NOW,
    window_end=NOW,
    deadline=NOW + 3600,
    created_at=NOW,
    plan_progress_at=NOW,
    seed=1,
    planned={"openai": 1},
    spacing={"openai": 0.0},
    chunks=1,
    state=RunState.OPEN,
)
TIMEOUT_S = 60.0


class Watched:
    """Calls of one task, at times of the test's choice; attempt *n* is made by ``hosts[n - 1]``."""

    def __init__(self, run: Run = RUN) -> None:
        self.at = 0.0
        self.run = run
        self.audit = CallAudit(lambda: self.at, NOW)
        self.audit.use["openai"] = Use(1, 10, TIMEOUT_S)
        self.hosts = [Host(VirtualLoop(), f"worker/{number}", NOW) for number in (1, 2)]

    def record(self, number: int) -> Task:
        return replace(task(State.RUNNING), attempt_id=f"a{number}", paid_calls=number, planned_time=NOW)

    def starts(self, number: int, at: float, record: Task | None = None) -> list[str]:
        self.at = at
        record = record or self.record(number)
        return list(self.audit.started(self.hosts[number - 1], record, self.run, record.task_id, number))

    def answers(self, number: int, at: float) -> list[str]:
        self.at = at
        return list(self.audit.answered(f"a{number}"))

    def is_safe(self, number: int, at: float, *, by_message: bool = False) -> None:
        self.at = at
        self.audit.safe(f"a{number}", by_message=by_message)

    def is_taken(self, number: int, at: float) -> None:
        self.at = at
        self.audit.taken(f"a{number}")

    def stalls(self, number: int, since: float, until: float) -> None:
        self.hosts[number - 1].stalls.append((since, until))


UNDER_WAY = ["call 2 repeats call 1, which is under way, without a cause"]
ANSWERED = ["call 2 repeats call 1, which was answered, without a cause"]


def test_a_lease_shorter_than_the_call_repeats_four_calls_of_workers_that_are_well() -> None:
    mutant = next(each for each in mistakes() if each.name == "lease shorter than the call")
    scenario = Scenario(brands=1, questions=10, platforms=1, rate=2.0, latency=40.0, hours=4 / 60, deadline=1.5)
    calls = Simulation(scenario, spoil=mutant.spoil).run().auditor.calls
    assert (calls.repeated, calls.unexplained, dict(calls.causes)) == (4, 4, {"unexplained": 4})


def test_a_call_beside_that_of_a_living_worker_is_seen() -> None:
    watched = Watched()
    assert watched.starts(1, 0.0) == []
    watched.is_taken(1, 80.0)
    assert watched.starts(2, 90.0) == UNDER_WAY
    assert (watched.audit.repeated, watched.audit.unexplained) == (1, 1)


def test_a_call_after_a_failure_repeats_nothing() -> None:
    watched = Watched()
    watched.starts(1, 0.0)
    assert list(watched.audit.replied(task(State.RUNNING).task_id, 1, "timeout")) == []
    assert watched.starts(2, 70.0) == []
    assert watched.audit.repeated == 0


def test_a_refusal_is_an_answer_that_must_not_be_asked_for_again() -> None:
    watched = Watched()
    watched.starts(1, 0.0)
    assert list(watched.audit.replied(task(State.RUNNING).task_id, 1, "refused")) == []
    assert watched.starts(2, 70.0) == ANSWERED


def test_two_answers_of_one_round_are_a_repeated_call_though_both_calls_were_under_way() -> None:
    watched = Watched()
    watched.starts(1, 0.0)
    watched.stalls(1, 20.0, 120.0)
    watched.is_taken(1, 78.0)
    assert watched.starts(2, 90.0) == []
    assert watched.answers(2, 100.0) == []
    assert watched.answers(1, 120.0) == []
    assert (watched.audit.repeated, dict(watched.audit.causes)) == (1, {"worker stood still": 1})


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (30.0, 100.0, []),  # between answer and safety, beyond its lease
        (30.0, 31.0, ANSWERED),  # it had time enough before and after
        (100.0, 200.0, ANSWERED),  # after its lease
    ],
)
def test_only_a_stall_that_cost_the_lease_explains_a_repeated_call(
    since: float, until: float, expected: list[str]
) -> None:
    watched = Watched()
    watched.starts(1, 0.0)
    watched.answers(1, 30.0)
    watched.stalls(1, since, until)
    watched.is_taken(1, 78.0)
    assert watched.starts(2, 90.0) == expected


def test_a_stall_explains_nothing_when_the_record_was_taken_before_the_lease_was_over() -> None:
    watched = Watched()
    watched.starts(1, 0.0)
    watched.stalls(1, 10.0, 100.0)
    watched.is_taken(1, 40.0)
    assert watched.starts(2, 50.0) == UNDER_WAY


@pytest.mark.parametrize(("died", "expected"), [(31.0, []), (85.0, ANSWERED)])
def test_only_a_death_before_its_record_was_taken_explains_a_repeated_call(died: float, expected: list[str]) -> None:
    watched = Watched()
    watched.starts(1, 0.0)
    watched.answers(1, 30.0)
    watched.hosts[0].killed_at = died
    watched.is_taken(1, 78.0)
    assert watched.starts(2, 90.0) == expected


def test_a_death_after_the_answer_was_safe_explains_nothing() -> None:
    watched = Watched()
    watched.starts(1, 0.0)
    watched.answers(1, 30.0)
    watched.is_safe(1, 30.1)
    watched.hosts[0].killed_at = 31.0
    watched.is_taken(1, 78.0)
    assert watched.starts(2, 90.0) == ANSWERED


@pytest.mark.parametrize(("taken", "expected"), [(899.0, ANSWERED), (901.0, [])])
def test_a_message_that_was_not_taken_in_explains_a_call_after_15_minutes(taken: float, expected: list[str]) -> None:
    watched = Watched()
    watched.starts(1, 0.0)
    watched.answers(1, 30.0)
    watched.is_safe(1, 30.1, by_message=True)
    watched.is_taken(1, taken)
    assert watched.starts(2, 950.0) == expected


def test_an_answer_that_nobody_could_keep_explains_a_repeated_call() -> None:
    watched = Watched()
    watched.starts(1, 0.0)
    watched.answers(1, 30.0)
    watched.audit.not_safe(task(State.RUNNING).task_id, watched.hosts[0])
    assert watched.starts(2, 90.0) == []
    assert dict(watched.audit.causes) == {"both ways to safety failed": 1}


def test_a_new_round_repeats_nothing() -> None:
    watched = Watched()
    watched.starts(1, 0.0)
    watched.answers(1, 30.0)
    assert watched.starts(2, 90.0, replace(watched.record(2), round=2)) == []


def test_a_call_for_a_task_that_does_not_exist_is_seen() -> None:
    watched = Watched()
    assert list(watched.audit.started(watched.hosts[0], None, None, "t", 1)) == [
        "a call for a task that does not exist"
    ]


def test_a_call_that_was_not_begun_is_seen() -> None:
    watched = Watched()
    pulled = replace(watched.record(1), state=State.PULLED, paid_calls=0)
    assert watched.starts(1, 0.0, pulled) == ["call 1 in state PULLED with 0 paid calls"]


def test_a_call_after_the_deadline_is_seen() -> None:
    watched = Watched(replace(RUN, deadline=NOW - 1.0))
    assert watched.starts(1, 0.0) == ["call 1 starts 1.000 s after the deadline"]


def test_a_call_of_a_cancelled_run_is_seen_once_everybody_must_know() -> None:
    watched = Watched(replace(RUN, cancelled_at=NOW))
    assert watched.starts(1, 12.0) == []
    assert watched.starts(2, 13.0)[:1] == ["call 2 starts 13.0 s after the run was cancelled"]
