"""Which repeated call has a cause, and which task that was left was taken up in time?"""

from __future__ import annotations

import pytest

from brandvane.cli.chaos_explain import Left, covered, explain, rescues
from brandvane.cli.chaos_kills import Aim, Kill, Victim
from brandvane.result import ResultRow
from brandvane.simulation.standin_row import CallOutcome, CallRow
from brandvane.task import Outcome


def call(request_id: str, arrived: float, *, finished: float | None = None, ok: bool = True, port: int = 51) -> CallRow:
    return CallRow(
        platform="openai",
        request_id=request_id,
        model="m",
        prompt_hash="h",
        prompt=request_id.partition("/")[0],
        arrived=arrived,
        finished=arrived + 1 if finished is None else finished,
        status=200 if ok else 500,
        outcome=CallOutcome.OK if ok else CallOutcome.ERROR_500,
        complete=ok,
        in_flight=1,
        port=port,
    )


def killed(at: float, *running: str, port: int = 51, aim: Aim = Aim.IN_FLIGHT, chosen: str = "other/1") -> Kill:
    return Kill(at=at, aim=aim, victim=Victim(7, "openai", frozenset({port}), (), chosen), running=frozenset(running))


def row(outcome: Outcome, retries: int = 0) -> ResultRow:
    return ResultRow(
        run_id="r",
        task_id="t",
        platform="openai",
        model="m",
        prompt_hash="00000000",
        locale="",
        sample=0,
        question_ids=("q",),
        brand_group="all",
        outcome=outcome,
        round=1,
        attempt_id="a",
        error_kind=None,
        planned_time=0.0,
        started_at=0.0,
        finished_at=0.0,
        written_at=0.0,
        retry_count=retries,
        throttle_count=0,
        give_backs=0,
        write_backs=0,
        paid_calls=1,
    )


def test_a_call_after_an_answer_that_died_with_its_worker_is_explained() -> None:
    calls = [call("t/1", 100.0), call("t/2", 150.0)]  # the answer was written at 101
    repeats = explain(calls, [killed(101.01, "t/1")])
    assert (repeats.causes, repeats.unexplained) == ({"killed with the answer not yet kept": 1}, ())


def test_a_kill_right_after_the_answer_explains_its_own_call_whatever_connections_were_known() -> None:
    calls = [call("t/1", 100.0, port=99), call("t/2", 150.0)]
    repeats = explain(calls, [killed(101.01, "t/1", aim=Aim.AFTER_ANSWER, chosen="t/1")])
    assert (repeats.causes, repeats.unexplained) == ({"killed right after the answer": 1}, ())


@pytest.mark.parametrize(
    "kill",
    [
        killed(101.01, "t/1", port=52),  # another process
        killed(101.01, "t/2"),  # that call's record was no longer running
        killed(95.9, "t/1"),  # dead before the answer was written
        killed(140.0, "t/1"),  # long after the lease
    ],
)
def test_a_kill_that_cannot_have_lost_the_answer_explains_nothing(kill: Kill) -> None:
    assert explain([call("t/1", 100.0), call("t/2", 150.0)], [kill]).unexplained == ("t/2",)


def test_an_answer_that_was_written_to_a_worker_killed_during_its_call_explains_the_one_beside_it() -> None:
    calls = [call("t/1", 100.0, finished=190.0), call("t/2", 180.0, finished=182.0)]
    repeats = explain(calls, [killed(120.0, "t/1")])
    assert (repeats.causes, repeats.unexplained) == ({"killed with the call under way": 1}, ())


def test_two_answers_at_once_have_no_cause_when_nobody_was_killed() -> None:
    calls = [call("t/1", 100.0, finished=190.0), call("t/2", 180.0, finished=182.0)]
    assert explain(calls, []).unexplained == ("t/2",)


def test_a_kill_of_the_later_worker_does_not_explain_two_answers_at_once() -> None:
    calls = [call("t/1", 100.0, finished=190.0), call("t/2", 180.0, finished=182.0, port=52)]
    assert explain(calls, [killed(182.1, "t/2", port=52)]).unexplained == ("t/2",)


def test_an_answer_that_was_written_while_its_process_died_was_lost() -> None:
    assert explain([call("t/1", 100.0), call("t/2", 150.0)], [killed(100.9, "t/1")]).unexplained == ()


def test_every_answer_before_a_repeated_call_must_have_been_lost() -> None:
    calls = [call("t/1", 100.0), call("t/2", 150.0), call("t/3", 200.0)]
    repeats = explain(calls, [killed(101.01, "t/1")])
    assert (sum(repeats.causes.values()), repeats.unexplained) == (1, ("t/3",))


def test_a_retry_after_a_failure_is_no_repeated_call() -> None:
    repeats = explain([call("t/1", 100.0, ok=False), call("t/2", 150.0)], [])
    assert (repeats.causes, repeats.unexplained) == ({}, ())


def test_only_the_part_of_a_time_that_lies_in_a_span_is_covered() -> None:
    assert covered(10.0, 50.0, [(0.0, 20.0), (40.0, 45.0), (60.0, 70.0)]) == 15.0


def test_the_time_without_scanner_does_not_count() -> None:
    found = rescues([Left("t", 100.0)], [call("t/1", 99.0), call("t/2", 400.0)], [row(Outcome.OK)], [(110.0, 300.0)])
    assert (found.again, found.slowest_s, found.late) == (1, 110.0, ())


def test_a_task_that_is_called_again_after_more_than_three_minutes_is_late() -> None:
    found = rescues([Left("t", 100.0)], [call("t/2", 281.0)], [row(Outcome.OK)], [])
    assert found.late == ("t was called again 181 s after its worker was killed",)


def test_a_task_whose_retries_are_used_up_need_not_be_called_again() -> None:
    found = rescues([Left("t", 100.0)], [], [row(Outcome.TIMEOUT, retries=3)], [])
    assert (found.again, found.ended, found.late) == (0, 1, ())


@pytest.mark.parametrize("rows", [[], [row(Outcome.TIMEOUT, retries=2)], [row(Outcome.OK)]])
def test_a_task_that_is_never_called_again_without_reason_is_late(rows: list[ResultRow]) -> None:
    assert rescues([Left("t", 100.0)], [], rows, []).late == ("t was never called again",)
