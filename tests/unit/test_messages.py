"""What travels on the queues comes out as it went in, and nothing else comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brandvane.messages import (
    CallMessage,
    Carried,
    NewerMessage,
    PlanMessage,
    UnreadableMessage,
    WriteBackMessage,
    calls_queue,
)
from brandvane.task import Outcome

CALL = CallMessage("t1", "r1", 3, 1760000000.125)
PLAN = PlanMessage("r1", 7)
WRITE = WriteBackMessage("t1", "r1", "a1", 2)
CARRYING = WriteBackMessage("t1", "r1", "a1", 0, Carried(Outcome.OK, None, b"\x00\xff answer", None))
IN_S3 = WriteBackMessage("t1", "r1", "a1", 0, Carried(Outcome.TRUNCATED, "x", None, "answers/r1/t1/a1"))
ALL = [CALL, PLAN, WRITE, CARRYING, IN_S3]
READERS = [CallMessage.decode, PlanMessage.decode, WriteBackMessage.decode]


@pytest.mark.parametrize("message", ALL)
def test_a_message_is_read_as_it_was_written(message: CallMessage | PlanMessage | WriteBackMessage) -> None:
    assert type(message).decode(message.encode()) == message


def test_a_call_message_says_version_task_run_number_and_instant() -> None:
    body = {"v": 1, "task_id": "t1", "run_id": "r1", "dispatch_no": 3, "due": 1760000000.125}
    assert json.loads(CALL.encode()) == body


def test_a_plan_message_says_run_and_chunk_only() -> None:
    assert json.loads(PLAN.encode()) == {"v": 1, "run_id": "r1", "chunk": 7}


def test_a_write_back_message_carries_its_answer_as_base64() -> None:
    body = json.loads(CARRYING.encode())
    assert (body["outcome"], body["answer"], body["answer_key"]) == ("ok", "AP8gYW5zd2Vy", None)
    assert "outcome" not in json.loads(WRITE.encode())


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "body",
    [
        "",
        "not json",
        "[]",
        "null",
        "7",
        '"text"',
        "{}",
        '{"v": "1"}',
        '{"v": null}',
        '{"v": 1}',
        '{"v": 1, "task_id": 5}',
    ],
)
def test_what_is_no_message_is_unreadable(read: Any, body: str) -> None:
    with pytest.raises(UnreadableMessage):
        read(body)


@pytest.mark.parametrize("message", ALL)
def test_a_newer_message_is_told_from_an_unreadable_one(message: CallMessage | PlanMessage | WriteBackMessage) -> None:
    with pytest.raises(NewerMessage, match="version 2; this release reads 1"):
        type(message).decode(json.dumps({**json.loads(message.encode()), "v": 2}))


def test_a_newer_message_needs_nothing_that_this_release_knows() -> None:
    with pytest.raises(NewerMessage):
        CallMessage.decode('{"v": 9}')


@pytest.mark.parametrize(
    ("message", "broken"),
    [
        (CALL, {"task_id": ""}),
        (CALL, {"run_id": None}),
        (CALL, {"dispatch_no": "x"}),
        (CALL, {"dispatch_no": float("inf")}),
        (CALL, {"due": None}),
        (CALL, {"due": float("nan")}),
        (CALL, {"due": float("-inf")}),
        (PLAN, {"run_id": 4}),
        (PLAN, {"chunk": []}),
        (WRITE, {"attempt_id": ""}),
        (WRITE, {"tries": None}),
        (CARRYING, {"outcome": "splendid"}),
        (CARRYING, {"answer": "not base64!"}),
    ],
)
def test_a_broken_field_makes_a_message_unreadable(
    message: CallMessage | PlanMessage | WriteBackMessage, broken: dict[str, Any]
) -> None:
    with pytest.raises(UnreadableMessage):
        type(message).decode(json.dumps({**json.loads(message.encode()), **broken}))


@pytest.mark.parametrize("read", READERS)
@given(body=st.text() | st.recursive(st.none() | st.text() | st.floats(), st.lists).map(json.dumps))
def test_no_body_raises_anything_else(read: Any, body: str) -> None:
    with pytest.raises((UnreadableMessage, NewerMessage)):
        read(body)


@given(st.fixed_dictionaries({"v": st.integers(0, 1)}, optional={
    name: st.none() | st.text() | st.integers() | st.floats() | st.lists(st.integers(), max_size=1)
    for name in ("task_id", "run_id", "dispatch_no", "due", "attempt_id", "tries", "outcome", "answer", "answer_key", "chunk", "error_kind")
}))  # fmt: skip
def test_any_object_is_a_message_or_unreadable(row: dict[str, Any]) -> None:
    for read in READERS:
        try:
            read(json.dumps(row))
        except UnreadableMessage:
            continue


@given(st.builds(CallMessage, st.text(min_size=1), st.text(min_size=1), st.integers(), st.floats(0, 1e11)))
def test_any_call_message_survives_the_queue(message: CallMessage) -> None:
    assert CallMessage.decode(message.encode()) == message


def test_a_platforms_queue_is_named_after_it() -> None:
    assert calls_queue("openai") == "calls-openai"
