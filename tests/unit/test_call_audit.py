"""The audit's arithmetic, on rows worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brandvane.simulation.call_audit import (
    Repeated,
    audit,
    first_arrivals,
    most_at_once,
    most_within,
    repeated_by_task,
    repeated_calls,
)
from brandvane.simulation.standin_row import CallOutcome, CallRow, parse_rows, row_line


def call(
    request_id: str,
    arrived: float,
    finished: float,
    outcome: CallOutcome = CallOutcome.OK,
    *,
    prompt: str = "p",
    model: str = "m",
    platform: str = "gpt",
) -> CallRow:
    """A row; an ``ok`` one is complete."""
    return CallRow(
        platform=platform,
        request_id=request_id,
        model=model,
        prompt_hash="",
        prompt=prompt,
        arrived=arrived,
        finished=finished,
        status=200,
        outcome=outcome,
        complete=outcome is CallOutcome.OK,
        in_flight=1,
    )


def test_two_calls_exactly_a_second_apart_are_not_in_one_sliding_second() -> None:
    assert most_within([0.0, 1.0], 1.0) == 1
    assert most_within([0.0, 0.999], 1.0) == 2


def test_the_fullest_window_is_found_wherever_it_begins() -> None:
    assert most_within([5.0, 0.0, 0.9, 1.1, 1.8, 1.85, 4.0], 1.0) == 4  # 0.9, 1.1, 1.8, 1.85
    assert most_within([], 1.0) == 0


def test_a_call_that_ends_as_another_arrives_was_not_in_flight_with_it() -> None:
    assert most_at_once([(0.0, 1.0), (1.0, 2.0)]) == 1
    assert most_at_once([(0.0, 1.1), (1.0, 2.0), (1.05, 3.0)]) == 3
    assert most_at_once([]) == 0


@given(st.lists(st.integers(0, 60), max_size=20))
def test_the_fullest_window_is_what_counting_every_window_gives(tenths: list[int]) -> None:
    times = [float(tenth) for tenth in tenths]
    assert most_within(times, 10.0) == max((sum(t <= u < t + 10 for u in times) for t in times), default=0)


def test_a_call_after_a_complete_answer_to_its_task_is_repeated_by_both_counts() -> None:
    rows = [call("t1/1", 0, 2), call("t1/2", 3, 4)]
    assert repeated_calls(rows) == {"gpt": Repeated(1, 1, agree=True)}


def test_a_retry_after_a_failure_is_not_repeated() -> None:
    rows = [call("t1/1", 0, 2, CallOutcome.CUT), call("t1/2", 3, 4), call("t2/1", 9, 9.5, prompt="q")]
    assert repeated_calls(rows) == {"gpt": Repeated(0, 0, agree=True)}


def test_a_failed_call_that_arrived_before_the_answer_was_fully_written_is_not_repeated() -> None:
    rows = [call("t1/1", 0, 2), call("t1/2", 1.9, 4, CallOutcome.CUT), call("t1/3", 2, 4, CallOutcome.CUT)]
    assert repeated_calls(rows) == {"gpt": Repeated(0, 0, agree=True)}


def test_a_task_that_two_calls_at_once_bring_answers_for_is_repeated_once() -> None:
    rows = [call("t1/1", 0, 9), call("t1/2", 2, 4)]
    assert repeated_calls(rows) == {"gpt": Repeated(1, 1, agree=True)}


def test_the_later_of_two_calls_at_once_is_the_repeated_one() -> None:
    rows = [call("t1/2", 2, 4), call("t1/1", 0, 9)]
    assert [row.request_id for row in repeated_by_task(rows)] == ["t1/2"]


def test_samples_that_are_asked_at_once_repeat_nothing() -> None:
    rows = [call("t1/1", 0, 9), call("t2/1", 1, 4), call("t3/1", 2, 5)]
    assert repeated_calls(rows) == {"gpt": Repeated(0, 0, agree=True)}


def test_one_answer_too_many_for_samples_that_are_asked_at_once_is_repeated() -> None:
    rows = [call("t1/1", 0, 9), call("t2/1", 1, 4), call("t1/2", 2, 5)]
    assert repeated_calls(rows) == {"gpt": Repeated(1, 1, agree=True)}


def test_a_task_asked_again_under_a_new_call_number_and_refused_still_counts() -> None:
    rows = [call("t1/1", 0, 1), call("t1/2", 2, 2.1, CallOutcome.THROTTLED_RATE)]
    assert repeated_calls(rows) == {"gpt": Repeated(1, 1, agree=True)}


def test_samples_of_one_prompt_may_each_have_a_complete_answer() -> None:
    rows = [call("t1/1", 0, 1), call("t2/1", 2, 3), call("t3/1", 4, 5)]
    assert repeated_calls(rows) == {"gpt": Repeated(0, 0, agree=True)}


def test_one_answer_more_than_a_prompt_has_tasks_is_repeated() -> None:
    rows = [call("t1/1", 0, 1), call("t2/1", 2, 3), call("t1/2", 4, 5)]
    assert repeated_calls(rows) == {"gpt": Repeated(1, 1, agree=True)}


def test_of_several_tasks_with_one_prompt_the_prompts_count_is_a_lower_bound_that_agrees() -> None:
    # t1 is asked again before t2 was answered: by prompt that could have been t2's own call.
    rows = [call("t1/1", 0, 1), call("t1/2", 2, 2.5, CallOutcome.ERROR_500), call("t2/1", 3, 4)]
    assert repeated_calls(rows) == {"gpt": Repeated(1, 0, agree=True)}


def test_a_repetition_without_a_request_id_is_a_disagreement() -> None:
    rows = [call("", 0, 1), call("", 2, 3)]
    assert repeated_calls(rows) == {"gpt": Repeated(0, 1, agree=False)}


def test_a_task_whose_prompt_changes_between_calls_is_a_disagreement() -> None:
    rows = [call("t1/1", 0, 1, prompt="a"), call("t1/2", 2, 3, prompt="b")]
    assert repeated_calls(rows) == {"gpt": Repeated(1, 0, agree=False)}


def test_a_task_given_two_ids_is_found_when_the_plan_is_known() -> None:
    rows = [call("t1/1", 0, 1), call("t2/1", 2, 3)]
    assert repeated_calls(rows, {("gpt", "m", "p"): 1}) == {"gpt": Repeated(0, 1, agree=False)}


def test_disagreements_that_would_cancel_out_in_the_sum_are_kept() -> None:
    rows = [call("", 0, 1), call("", 2, 3), call("t1/1", 0, 1, prompt="a"), call("t1/2", 2, 3, prompt="b")]
    assert repeated_calls(rows) == {"gpt": Repeated(1, 1, agree=False)}


def test_the_same_prompt_on_another_model_or_platform_is_another_group() -> None:
    rows = [call("t1/1", 0, 1), call("t2/1", 2, 3, model="n"), call("t3/1", 4, 5, platform="qwen")]
    none = Repeated(0, 0, agree=True)
    assert repeated_calls(rows) == {"gpt": none, "qwen": none}


def test_throttled_and_injected_429s_are_counted_apart() -> None:
    rows = [
        call("a/1", 0.0, 0.5),
        call("b/1", 0.1, 0.2, CallOutcome.THROTTLED_RATE),
        call("c/1", 0.2, 0.3, CallOutcome.THROTTLED_IN_FLIGHT),
        call("d/1", 0.3, 0.4, CallOutcome.INJECTED_429),
        call("e/1", 1.1, 1.2, CallOutcome.HANG),
    ]
    report = audit(rows, {"gpt": 2.0})
    gpt = report.platforms["gpt"]
    assert (gpt.calls, gpt.throttled, gpt.injected, gpt.complete) == (5, 2, 1, 1)
    assert (report.calls, report.throttled, report.injected) == (5, 2, 1)
    assert gpt.outcomes == {"hang": 1, "injected_429": 1, "ok": 1, "throttled_in_flight": 1, "throttled_rate": 1}
    assert (gpt.max_calls_in_second, gpt.max_admitted_in_second) == (4, 2)
    assert (gpt.max_in_flight, gpt.max_admitted_in_flight) == (2, 2)


def test_the_busiest_thirty_seconds_are_a_share_of_the_limit() -> None:
    # One call each half second for 45 s: 60 calls in any 30 s, 2 a second, of an allowed 2.5.
    rows = [call(f"t{k}/1", k / 2, k / 2 + 0.1) for k in range(90)]
    gpt = audit(rows, {"gpt": 2.5}).platforms["gpt"]
    assert (gpt.busiest_rate, gpt.busiest_share) == (2.0, 0.8)


def test_a_platform_without_calls_has_zeros_and_one_without_a_known_rate_no_share() -> None:
    report = audit([call("t/1", 0, 1, platform="old")], {"gpt": 10.0})
    assert report.platforms["gpt"].calls == 0
    assert report.platforms["gpt"].busiest_share == 0.0
    assert report.platforms["old"].busiest_share is None


def test_the_first_arrival_of_a_task_is_its_earliest_call() -> None:
    rows = [call("t1/2", 5, 6), call("t1/1", 3, 4, CallOutcome.CUT), call("t2/1", 1, 2), call("", 0, 1)]
    assert first_arrivals(rows) == {"t1": 3, "t2": 1}


def test_a_row_reads_back_as_it_was_and_is_one_line_for_every_reader() -> None:
    row = call("t1/1", 1795965899.5360546, 2, prompt="买空调\n选\u2028什么\x85牌子")
    line = row_line(row)
    assert len(line.splitlines()) == 1
    assert parse_rows([line, "\n"]) == [row]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "log, line 2: not a row of a call log"),
        ("[1]", "log, line 2: not a row of a call log .not a JSON object"),
        ('{"platform":"gpt"}', "log, line 2: .*'arrived' is missing"),
    ],
)
def test_a_line_that_is_no_row_is_named(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_rows([row_line(call("t/1", 0, 1)), line])


def test_a_sample_that_is_asked_after_another_one_was_answered_twice_repeats_nothing() -> None:
    rows = [
        call("a/1", 0.0, 1.0),
        call("a/2", 2.0, 3.0),  # its worker died with the first answer
        call("b/1", 4.0, 5.0, CallOutcome.ERROR_500),
        call("b/2", 6.0, 7.0),
    ]
    # By prompt two complete answers are there at 3.0; of the calls after that only b/2 brings a third.
    assert repeated_calls(rows, {("gpt", "m", "p"): 2}) == {"gpt": Repeated(1, 1, True)}
