"""The moves table is the design's, and every change takes sources, fences and counters from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from brandvane import moves
from brandvane.simulation.memory_tasks import applied
from brandvane.task import (
    ANSWERED,
    FINISHED,
    MOVES,
    TOUCHES,
    Change,
    Outcome,
    State,
    Task,
    Verdict,
    final_state,
    judge,
    watch_of,
    watches,
)
from builders import NOW, task

P, D, U, R, W, DONE, F = State  # in the order of a task's life

# DESIGN §2, row by row: name -> (from, to, by, fields that must be the same, counters that grow, act_at must have passed)
DESIGN: dict[str, tuple[set[State], State | None, set[str], set[str], set[str], bool]] = {
    "dispatch": ({P}, D, {"dispatcher", "worker"}, {"dispatch_no"}, set(), False),
    "claim": ({P, D}, U, {"worker"}, {"dispatch_no"}, set(), False),
    "resend": ({D}, P, {"scanner"}, {"act_at"}, set(), True),
    "redrive": ({D}, P, {"operator"}, {"dispatch_no"}, set(), False),
    "begin": ({U}, R, {"worker"}, {"attempt_id"}, {"paid_calls"}, False),
    "release": ({U}, P, {"worker"}, {"attempt_id"}, {"dispatch_no"}, False),
    "give_back": ({U}, P, {"scanner"}, {"attempt_id", "act_at"}, {"dispatch_no", "give_backs"}, True),
    "retry": ({R}, P, {"worker"}, {"attempt_id"}, {"dispatch_no"}, False),
    "rescue": ({R}, P, {"scanner"}, {"attempt_id", "act_at"}, {"dispatch_no", "retry_count"}, True),
    "answer": ({R, P, D}, W, {"worker", "writeback"}, {"attempt_id"}, set(), False),
    "fail": ({R}, W, {"worker"}, {"attempt_id"}, set(), False),
    "end": ({P, D, U, R}, W, {"scanner"}, {"act_at"}, set(), True),
    "end_final": ({P, D, U}, W, {"scanner", "operator"}, {"act_at"}, set(), False),
    "finish": ({W}, None, {"writeback"}, {"attempt_id"}, set(), False),
    "retry_failed": ({F}, P, {"operator"}, {"round"}, {"dispatch_no", "round"}, False),
}
TOUCHED: dict[str, tuple[State, str, set[str], bool]] = {
    "heartbeat": (R, "worker", {"attempt_id"}, False),
    "defer": (W, "writeback", {"act_at"}, False),
    "extend": (R, "scanner", {"act_at"}, True),
}
CHANGES: dict[str, Callable[[Task], Change]] = {
    "dispatch": lambda t: moves.dispatched(t.platform, t.dispatch_no, NOW + 30, NOW),
    "claim": lambda t: moves.claim(t.platform, t.dispatch_no, "attempt-2", NOW),
    "resend": lambda t: moves.resend(t, NOW, NOW),
    "redrive": lambda t: moves.redrive(t, NOW, NOW),
    "begin": lambda t: moves.begin(t, 75.0, 4, NOW),
    "release": lambda t: moves.release(t, NOW + 9, NOW),
    "give_back": lambda t: moves.give_back(t, NOW, NOW),
    "retry": lambda t: moves.retry(t, NOW + 10, NOW, None, "timeout"),
    "rescue": lambda t: moves.rescue(t, NOW + 10, NOW),
    "answer": lambda t: moves.answered(t, Outcome.OK, NOW, answer=b"a", answer_key=None),
    "fail": lambda t: moves.failed(t, Outcome.EMPTY, NOW, error_kind="empty"),
    "end": lambda t: moves.ended(t, Outcome.TIMEOUT, NOW, error_kind="timeout"),
    "end_final": lambda t: moves.ended(t, Outcome.CANCELLED, NOW, error_kind="cancelled", run_is_final=True),
    "finish": lambda t: moves.finished(t, NOW, 100.0),
    "retry_failed": lambda t: moves.retried(t, NOW, "attempt-2", NOW),
    "heartbeat": lambda t: moves.heartbeat(t, 75.0, NOW),
    "defer": lambda t: moves.deferred(t, NOW + 21, NOW, failed_write=False),
    "extend": lambda t: moves.extended(t, NOW + 60, NOW),
}
ALL = {**MOVES, **TOUCHES}
ROWS = [(name, source) for name, rule in ALL.items() for source in sorted(rule.sources)]
# What each move leaves for the next look, seconds after NOW (DESIGN §2, column act_at).
LOOKS: dict[str, float | None] = {
    "dispatch": 630,
    "claim": 60,
    "resend": 0,
    "redrive": 0,
    "begin": 75,
    "release": 9,
    "give_back": 0,
    "retry": 10,
    "rescue": 10,
    "answer": 20,
    "fail": 20,
    "end": 20,
    "end_final": 20,
    "finish": None,
    "retry_failed": 0,
    "heartbeat": 75,
    "defer": 21,
    "extend": 60,
}


def made(name: str, source: State) -> tuple[Task, Change, Task]:
    """A record in ``source``, the change, and the record after it."""
    before = task(source)
    change = CHANGES[name](before)
    return before, change, applied(before, change)


def test_the_table_is_the_designs_row_by_row() -> None:
    table = {
        name: (set(m.sources), m.target, set(m.by), set(m.same), set(m.add), m.overdue) for name, m in MOVES.items()
    }
    assert table == DESIGN


def test_every_counter_of_the_table_grows_by_one() -> None:
    assert {number for rule in ALL.values() for number in rule.add.values()} == {1}


def test_touches_leave_the_state_as_it_is() -> None:
    table = {name: (*m.sources, *m.by, set(m.same), m.overdue) for name, m in TOUCHES.items()}
    assert table == TOUCHED
    assert all({m.target} == m.sources for m in TOUCHES.values())


@pytest.mark.parametrize(("name", "source"), ROWS)
def test_a_change_takes_its_conditions_from_the_table(name: str, source: State) -> None:
    before, change, _ = made(name, source)
    rule = ALL[name]
    assert change.sources == rule.sources
    assert change.same == {field: getattr(before, field) for field in rule.same}
    assert change.add == dict(rule.add)
    assert change.not_after == (NOW - 2 if rule.overdue else None)


@pytest.mark.parametrize(("name", "source"), ROWS)
def test_a_change_leads_where_the_table_says(name: str, source: State) -> None:
    _, _, after = made(name, source)
    assert after.state == (ALL[name].target or DONE)


@pytest.mark.parametrize(("name", "source"), ROWS)
def test_every_move_says_who_looks_next_and_when(name: str, source: State) -> None:
    _, _, after = made(name, source)
    look = LOOKS[name]
    assert after.act_at == (None if look is None else NOW + look)
    assert after.watch == watch_of(after, after.state)
    assert (after.watch is None) is (after.state in FINISHED)


@pytest.mark.parametrize(("name", "source"), ROWS)
def test_a_made_change_is_known_again_and_is_not_made_twice(name: str, source: State) -> None:
    before, change, after = made(name, source)
    assert judge(change, before) is Verdict.MOVED
    again = judge(change, after)
    # A heartbeat sent twice in one instant is the same; every other change no longer holds and shows itself.
    assert again is (Verdict.MOVED if name == "heartbeat" else Verdict.ALREADY)


@pytest.mark.parametrize(("name", "source"), ROWS)
def test_a_record_of_a_newer_version_is_left_alone(name: str, source: State) -> None:
    before, change, _ = made(name, source)
    assert judge(change, replace(before, v=2)) is Verdict.LOST


@pytest.mark.parametrize("name", sorted(ALL))
def test_no_other_state_is_moved(name: str) -> None:
    for state in State:
        if state not in ALL[name].sources:
            before = task(state)
            change = CHANGES[name](replace(task(next(iter(ALL[name].sources))), act_at=before.act_at))
            assert judge(change, before) is not Verdict.MOVED


@pytest.mark.parametrize(("name", "source"), [row for row in ROWS if ALL[row[0]].same])
def test_a_record_that_is_not_as_the_mover_knows_it_is_left_alone(name: str, source: State) -> None:
    before, change, _ = made(name, source)
    other: dict[str, Any] = {"dispatch_no": 8, "attempt_id": "another", "act_at": NOW - 101, "round": 3}
    for field in ALL[name].same:
        assert judge(change, replace(before, **{field: other[field]})) is Verdict.LOST


@pytest.mark.parametrize("name", [name for name, rule in ALL.items() if rule.overdue])
def test_the_scanner_acts_two_seconds_after_act_at_and_not_before(name: str) -> None:
    source = sorted(ALL[name].sources)[0]
    for act_at, verdict in ((NOW - 2, Verdict.MOVED), (NOW - 1.999, Verdict.LOST)):
        before = task(source, act_at=act_at)
        assert judge(CHANGES[name](before), before) is verdict


def test_there_is_no_record_to_move() -> None:
    assert judge(CHANGES["claim"](task()), None) is Verdict.LOST


def test_another_workers_claim_is_not_taken_for_ones_own() -> None:
    mine, theirs = CHANGES["claim"](task()), moves.claim("openai", 1, "attempt-3", NOW)
    assert judge(mine, applied(task(), theirs)) is Verdict.LOST


@pytest.mark.parametrize("name", ["answer", "fail", "end"])
def test_another_outcome_in_the_record_is_not_ones_own(name: str) -> None:
    before = task(R)
    others = moves.ended(before, Outcome.EXPIRED, NOW, error_kind="expired")
    assert judge(CHANGES[name](before), applied(before, others)) is Verdict.LOST


def test_the_same_outcome_with_another_answer_is_not_ones_own() -> None:
    before = task(R)
    first = moves.answered(before, Outcome.OK, NOW, answer=b"one", answer_key=None)
    second = moves.answered(before, Outcome.OK, NOW, answer=b"two", answer_key=None)
    assert judge(second, applied(before, first)) is Verdict.LOST


def test_a_claim_sets_a_fresh_attempt() -> None:
    assert made("claim", D)[2].attempt_id == "attempt-2"


def test_a_begun_call_counts_as_paid_and_knows_its_start_and_epoch() -> None:
    after = made("begin", U)[2]
    assert (after.paid_calls, after.started_at, after.slot_epoch) == (1, NOW, 4)


def test_a_running_lease_is_never_longer_than_300_seconds() -> None:
    assert moves.begin(task(U), 915.0, 0, NOW).put["act_at"] == NOW + 300
    assert moves.heartbeat(task(R), 915.0, NOW).put["act_at"] == NOW + 300


def test_a_message_sent_late_is_overdue_ten_minutes_after_it_was_sent() -> None:
    assert moves.dispatched("openai", 1, NOW - 50, NOW).put["act_at"] == NOW + 600


@pytest.mark.parametrize("counter", ["retry_count", "throttle_count", None])
def test_a_retry_counts_as_the_policy_says(counter: str | None) -> None:
    before = task(R)
    after = applied(before, moves.retry(before, NOW + 10, NOW, counter, "server_error"))
    assert (after.retry_count, after.throttle_count) == (counter == "retry_count", counter == "throttle_count")
    assert (after.dispatch_no, after.next_execute_time, after.error_kind) == (2, NOW + 10, "server_error")


def test_planned_time_is_never_written_again() -> None:
    assert not any("planned_time" in CHANGES[name](task(source)).put for name, source in ROWS)


def test_only_finishing_sets_the_time_to_live() -> None:
    setters = {name for name, source in ROWS if made(name, source)[2].expires_at is not None}
    assert setters == {"finish"}
    assert made("finish", W)[2].expires_at == NOW + 100


def test_finishing_frees_the_record_of_its_answer() -> None:
    before = task(W, answer=b"a", answer_key="answers/x")
    after = applied(before, CHANGES["finish"](before))
    assert (after.answer, after.answer_key, after.outcome) == (None, None, Outcome.OK)


def test_a_record_without_an_outcome_cannot_be_finished() -> None:
    with pytest.raises(ValueError, match="has no outcome to finish with"):
        moves.finished(task(W, outcome=None), NOW, 100)


@pytest.mark.parametrize("outcome", Outcome)
def test_an_answered_task_ends_done_and_every_other_failed(outcome: Outcome) -> None:
    answered = {"ok", "truncated", "refused", "filtered"}
    assert {o.value for o in ANSWERED} == answered
    before = task(W, outcome=outcome)
    state = DONE if outcome.value in answered else F
    assert final_state(outcome) is state
    assert applied(before, CHANGES["finish"](before)).state is state


def test_a_retried_task_starts_anew_but_goes_on_numbering_its_calls() -> None:
    used = {"retry_count": 3, "throttle_count": 4, "give_backs": 5, "write_backs": 6, "paid_calls": 4}
    before = task(F, started_at=NOW - 9, error_kind="timeout", dispatch_no=4, **used)
    after = applied(before, CHANGES["retry_failed"](before))
    assert (after.retry_count, after.throttle_count, after.give_backs, after.write_backs) == (0, 0, 0, 0)
    assert (after.round, after.dispatch_no, after.paid_calls, after.attempt_id) == (2, 5, 4, "attempt-2")
    gone = (after.outcome, after.error_kind, after.expires_at, after.started_at, after.finished_at)
    assert gone == (None, None, None, None, None)


def test_a_write_back_that_failed_is_counted_with_the_new_look() -> None:
    before = task(W)
    after = applied(before, moves.deferred(before, NOW + 21, NOW, failed_write=True))
    assert (after.write_backs, after.act_at) == (1, NOW + 21)


def test_a_running_record_of_a_final_run_is_ended_only_when_its_lease_is_over() -> None:
    before = task(R, act_at=NOW + 30)
    change = moves.ended(before, Outcome.EXPIRED, NOW, error_kind="expired", run_is_final=True)
    assert (change.name, judge(change, before)) == ("end", Verdict.LOST)


def test_pending_records_are_watched_by_priority_in_four_shards() -> None:
    ids = ["0000", "0001", "0002", "0003", "0004"]
    found = [watch_of(replace(task(), task_id=i * 8, priority="high"), P) for i in ids]
    assert found == [f"openai#PENDING#high#{shard}" for shard in (0, 1, 2, 3, 0)]


def test_all_partitions_of_a_platform_are_twelve_that_wait_and_four_that_are_held() -> None:
    parts = watches("openai")
    assert len(parts) == len(set(parts)) == 16
    assert parts[-4:] == ("openai#DISPATCHED", "openai#PULLED", "openai#RUNNING", "openai#WRITEBACK")
