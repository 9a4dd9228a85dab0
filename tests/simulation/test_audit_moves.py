"""The auditor of moves agrees with every move the engine can build, and sees each rule that is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane import moves
from brandvane.simulation.audit_moves import RULES, faults_of
from brandvane.simulation.memory_tasks import applied
from brandvane.task import MOVES, TOUCHES, Change, Outcome, State, Task, judge
from builders import NOW, task

LEGAL: dict[str, tuple[Task, Change]] = {
    "dispatch": (t := task(State.PENDING), moves.dispatched("openai", 1, NOW, NOW)),
    "claim": (t, moves.claim("openai", 1, "fresh", NOW)),
    "resend": (t := task(State.DISPATCHED), moves.resend(t, NOW, NOW)),
    "redrive": (t, moves.redrive(t, NOW, NOW)),
    "begin": (t := task(State.PULLED), moves.begin(t, 75, 0, NOW)),
    "release": (t, moves.release(t, NOW, NOW)),
    "give_back": (t, moves.give_back(t, NOW, NOW)),
    "retry": (t := task(State.RUNNING), moves.retry(t, NOW + 30, NOW, "retry_count", "server_error")),
    "rescue": (t, moves.rescue(t, NOW + 10, NOW)),
    "answer": (t, moves.answered(t, Outcome.OK, NOW, answer=b"x", answer_key=None)),
    "fail": (t, moves.failed(t, Outcome.CLIENT_ERROR, NOW, error_kind="client_error")),
    "end": (t, moves.ended(t, Outcome.EXPIRED, NOW, error_kind="expired")),
    "end_final": (t := task(State.PENDING), moves.ended(t, Outcome.CANCELLED, NOW, error_kind="c", run_is_final=True)),
    "finish": (t := task(State.WRITEBACK), moves.finished(t, NOW, 3600)),
    "retry_failed": (t := task(State.FAILED), moves.retried(t, NOW, "fresh", NOW)),
    "heartbeat": (t := task(State.RUNNING), moves.heartbeat(t, 75, NOW)),
    "extend": (t, moves.extended(t, NOW + 60, NOW)),
    "defer": (t := task(State.WRITEBACK), moves.deferred(t, NOW + 20, NOW, failed_write=True)),
}


def carried_out(name: str) -> tuple[Change, Task, Task]:
    old, change = LEGAL[name]
    assert judge(change, old) == "moved"
    return change, old, applied(old, change)


def test_every_row_of_the_table_has_a_rule_and_no_rule_is_without_a_row() -> None:
    assert set(RULES) == {*MOVES, *TOUCHES} == set(LEGAL)


@pytest.mark.parametrize("name", list(LEGAL))
def test_a_legal_move_is_found_legal(name: str) -> None:
    assert list(faults_of(*carried_out(name))) == []


@pytest.mark.parametrize("name", list(LEGAL))
def test_a_move_from_a_wrong_state_is_seen(name: str) -> None:
    change, old, new = carried_out(name)
    wrong = State.DONE if old.state is not State.DONE else State.PENDING
    assert any(" from DONE" in text for text in faults_of(change, replace(old, state=wrong), new))


@pytest.mark.parametrize(
    ("name", "field"), [(name, field) for name, rule in RULES.items() for field in rule.same.split()]
)
def test_a_record_that_has_changed_since_the_mover_looked_is_seen(name: str, field: str) -> None:
    change, old, new = carried_out(name)
    others: dict[str, Any] = {"attempt_id": "another", "dispatch_no": 9, "act_at": NOW - 200, "round": 9}
    changed = {field: others[field]}
    assert any(f"knew {field}" in text for text in faults_of(change, replace(old, **changed), new))


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.overdue])
def test_acting_before_the_time_has_come_is_seen(name: str) -> None:
    change, old, new = carried_out(name)
    early = replace(old, act_at=NOW - 1.9)
    same = {**change.same, "act_at": NOW - 1.9}
    assert f"{name} before its time" in list(faults_of(replace(change, same=same), early, new))


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.waits_anew])
def test_a_dispatch_no_that_does_not_grow_is_seen(name: str) -> None:
    change, old, new = carried_out(name)
    assert f"{name}: dispatch_no went from 1 to 1" in list(faults_of(change, old, replace(new, dispatch_no=1)))


def test_a_fourth_retry_is_seen() -> None:
    change, old, new = carried_out("retry")
    old, new = replace(old, retry_count=3), replace(new, retry_count=4)
    assert list(faults_of(change, old, new)) == ["retry: 4 retries and 0 throttles are more than the policy allows"]


def test_an_expiry_on_an_unfinished_record_is_seen() -> None:
    change, old, new = carried_out("answer")
    assert list(faults_of(change, old, replace(new, expires_at=1))) == ["answer: expires_at is 1 in WRITEBACK"]


def test_an_answer_that_is_none_is_seen() -> None:
    change, old, new = carried_out("answer")
    assert list(faults_of(change, old, replace(new, outcome=Outcome.TIMEOUT))) == ["answer without an answer: timeout"]


def test_a_timeout_with_retries_left_is_seen() -> None:
    old = task(State.RUNNING)
    change = moves.ended(old, Outcome.TIMEOUT, NOW, error_kind="timeout")
    assert list(faults_of(change, old, applied(old, change))) == ["end: timeout with 0 of 3 retries"]


def test_an_act_at_that_stays_in_the_same_partition_is_seen() -> None:
    change, old, new = carried_out("extend")
    assert list(faults_of(change, old, replace(new, act_at=old.act_at))) == [f"extend: act_at is still {old.act_at}"]


def test_the_same_instant_in_another_partition_is_another_place() -> None:
    change, old, new = carried_out("retry")
    assert list(faults_of(change, old, replace(new, act_at=old.act_at))) == []
