"""A run's account, on three tasks worked out by hand: what is lost, late, repeated or too fast is seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brandvane.catalogue import Brand, Catalogue, Monitor, PlatformSettings, Question, Schedule, Selection
from brandvane.result import ResultRow
from brandvane.simulation.run_audit import Delay, Plan, Summary, audit_run, plan_of, quantile
from brandvane.simulation.standin_row import CallOutcome, CallRow
from brandvane.task import Outcome

RATES = {"gpt": 10.0}
PLAN = Plan(frozenset({"a", "b", "c"}), {("gpt", "m", "pa"): 1, ("gpt", "m", "pb"): 1, ("gpt", "m", "pc"): 1})


def row(task_id: str, outcome: Outcome = Outcome.OK, planned: float = 100.0) -> ResultRow:
    return ResultRow(
        run_id="r",
        task_id=task_id,
        platform="gpt",
        model="m",
        prompt_hash="00000000",
        locale="",
        sample=1,
        question_ids=("q",),
        brand_group="b",
        outcome=outcome,
        round=1,
        attempt_id="x",
        error_kind=None,
        planned_time=planned,
        started_at=planned,
        finished_at=planned + 1,
        written_at=planned + 2,
        retry_count=0,
        throttle_count=0,
        give_backs=0,
        write_backs=0,
        paid_calls=1,
    )


def call(task_id: str, number: int, arrived: float, outcome: CallOutcome = CallOutcome.OK) -> CallRow:
    """A call that takes half a second; its prompt is the task's own."""
    return CallRow(
        platform="gpt",
        request_id=f"{task_id}/{number}",
        model="m",
        prompt_hash="",
        prompt=f"p{task_id}",
        arrived=arrived,
        finished=arrived + 0.5,
        status=200,
        outcome=outcome,
        complete=outcome is CallOutcome.OK,
        in_flight=1,
    )


def good() -> tuple[list[ResultRow], list[CallRow]]:
    """Three tasks, planned a second apart, each called once, 0.1 s late."""
    rows = [row("a", planned=100.0), row("b", planned=101.0), row("c", planned=102.0)]
    return rows, [call("a", 1, 100.1), call("b", 1, 101.1), call("c", 1, 102.1)]


def account(rows: list[ResultRow], calls: list[CallRow]) -> Summary:
    return audit_run("r", PLAN, rows, calls, RATES, run_s=12.34)


def test_a_run_that_kept_its_promise_passes() -> None:
    summary = account(*good())
    assert (summary.planned, summary.results, summary.lost, summary.done, summary.failed) == (3, 3, 0, 3, 0)
    assert (summary.calls, summary.throttled, summary.injected, summary.repeated_calls) == (3, 0, 0, 0)
    assert summary.retries == {"0": 3, "1": 0, "2": 0, "3": 0}
    assert summary.start_delay_s == Delay(mean=0.1, p50=0.1, p99=0.1)
    assert summary.rate_used == {"gpt": 0.01}  # 3 calls in 30 s of 10 a second
    assert summary.run_s == 12.3
    assert summary.passed
    assert summary.document()["passed"] is True


def test_a_planned_task_without_a_row_is_lost() -> None:
    rows, calls = good()
    summary = account(rows[:2], calls)
    assert (summary.lost, summary.results, summary.passed) == (1, 2, False)
    assert summary.complaints[0] == "1 planned tasks have no result row"


def test_two_rows_of_one_task_do_not_hide_a_lost_one() -> None:
    rows, calls = good()
    summary = account([rows[0], rows[0], rows[1]], calls)
    assert (summary.results, summary.lost, summary.passed) == (3, 1, False)


def test_a_row_that_nobody_planned_fails_the_audit() -> None:
    rows, calls = good()
    summary = account([*rows, row("d")], calls)
    assert (summary.unplanned, summary.results, summary.passed) == (1, 4, False)


def test_a_call_for_a_task_that_nobody_planned_fails_the_audit() -> None:
    rows, calls = good()
    summary = account(rows, [*calls, call("d", 1, 105.0)])
    assert (summary.unplanned, summary.lost, summary.passed) == (1, 0, False)


def test_failed_tasks_are_results_and_do_not_fail_the_audit() -> None:
    rows, calls = good()
    rows[0] = replace(rows[0], outcome=Outcome.RETRIES_USED_UP)
    rows[1] = replace(rows[1], outcome=Outcome.FILTERED)
    summary = account(rows, calls)
    assert (summary.done, summary.failed, summary.passed) == (2, 1, True)
    assert summary.outcomes == {"filtered": 1, "ok": 1, "retries_used_up": 1}


def test_a_call_after_the_answer_was_written_is_repeated_in_both_counts() -> None:
    rows, calls = good()
    summary = account(rows, [*calls, call("a", 2, 100.7)])  # its answer was written at 100.6
    assert (summary.repeated_calls, summary.repeated_by_prompt, summary.groupings_agree) == (1, 1, True)
    assert not summary.passed


def test_a_failed_call_before_the_answer_was_written_is_not_repeated() -> None:
    rows, calls = good()
    summary = account(rows, [*calls, call("a", 2, 100.3, CallOutcome.CUT)])
    assert (summary.repeated_calls, summary.repeated_by_prompt) == (0, 0)


def test_two_answers_at_once_are_one_repeated_call_and_break_the_promise() -> None:
    rows, calls = good()
    summary = account(rows, [*calls, call("a", 2, 100.3)])
    assert (summary.repeated_calls, summary.repeated_by_prompt, summary.groupings_agree) == (1, 1, True)
    assert summary.complaints == ("1 calls were made though their task had been answered, or was being answered",)


def test_a_task_that_was_given_two_ids_makes_the_groupings_disagree() -> None:
    rows, calls = good()
    twice = replace(call("b", 2, 103.0), prompt="pa")  # by request id b's, by prompt a's second
    rows_calls = [calls[0], calls[2], twice]
    summary = account(rows, rows_calls)
    assert (summary.repeated_calls, summary.repeated_by_prompt, summary.groupings_agree) == (0, 1, False)
    assert summary.complaints == ("repeated calls grouped by request id and by prompt disagree",)


def test_refusals_for_a_limit_fail_the_audit_and_injected_ones_do_not() -> None:
    rows, calls = good()
    injected = account(rows, [call("a", 0, 99.0, CallOutcome.INJECTED_429), *calls])
    assert (injected.injected, injected.throttled, injected.passed) == (1, 0, True)
    too_fast = account(rows, [call("a", 0, 99.0, CallOutcome.THROTTLED_RATE), *calls])
    assert (too_fast.injected, too_fast.throttled, too_fast.passed) == (0, 1, False)


def test_retries_are_counted_from_the_log_and_waits_for_a_limit_are_none() -> None:
    rows, _ = good()
    calls = [
        call("a", 1, 100.0, CallOutcome.ERROR_500),
        call("a", 2, 130.0, CallOutcome.INJECTED_429),
        call("a", 3, 133.0, CallOutcome.HANG),
        call("a", 4, 150.0),
        call("b", 1, 101.0, CallOutcome.INJECTED_429),
        call("b", 2, 104.0),
    ]
    assert account(rows, calls).retries == {"0": 2, "1": 0, "2": 1, "3": 0}  # c was never called


def test_more_retries_than_the_policy_allows_are_shown() -> None:
    rows, calls = good()
    four = [call("a", number, 90.0 + number, CallOutcome.EMPTY) for number in range(1, 5)]
    assert account(rows, [*four, *calls]).retries == {"0": 2, "1": 0, "2": 0, "3": 0, "4": 1}


def test_the_start_delay_is_that_of_each_tasks_first_call() -> None:
    rows, calls = good()
    calls = [call("a", 2, 140.0), call("a", 1, 100.4, CallOutcome.ERROR_503), *calls[1:]]
    # 0.4, 0.1, 0.1
    assert account(rows, calls).start_delay_s == Delay(mean=0.2, p50=0.1, p99=0.4)


def test_a_run_that_called_nobody_has_no_delay() -> None:
    rows, _ = good()
    assert account(rows, []).start_delay_s == Delay()


def test_an_empty_plan_fails_the_audit() -> None:
    summary = audit_run("r", Plan(frozenset(), {}), [], [], RATES)
    assert (summary.complaints, summary.retries) == (("nothing was planned",), {"0": 0, "1": 0, "2": 0, "3": 0})


@pytest.mark.parametrize(("share", "expected"), [(0.5, 5), (0.99, 10), (0.1, 1), (0.11, 2), (0.0, 1)])
def test_a_quantile_is_the_nearest_rank(share: float, expected: float) -> None:
    assert quantile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], share) == expected


def test_the_plan_counts_each_task_once_and_each_prompt_by_its_samples() -> None:
    monitor = Monitor(
        (PlatformSettings("gpt", "openai_chat", "https://x.example/v1", ("m1", "m2")),),
        (Schedule("s", "01:00", "02:00", "03:00", "UTC"),),
        samples=2,
    )
    questions = (
        Question("q1", "Which one?", brands=("acme",)),
        Question("q2", " Which one? ", brands=("acme",)),  # the same text: one prompt
        Question("q3", "Is {brand} good?", brands=("acme", "zeta")),
    )
    catalogue = Catalogue((Brand("acme", "Acme"), Brand("zeta", "Zeta")), questions, monitor)
    plan = plan_of("r", catalogue, Selection())
    assert len(plan.ids) == 3 * 2 * 2  # prompts, models, samples
    assert plan.tasks_of == {
        ("gpt", model, text): 2 for model in ("m1", "m2") for text in ("Which one?", "Is Acme good?", "Is Zeta good?")
    }
