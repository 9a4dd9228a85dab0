"""How Lambda hands messages over, and how it is told which of them must come again."""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.aws.sqs_event import batch_response, delivered, is_sqs
from brandvane.ports import Delivered

RECORD = {
    "messageId": "m1",
    "receiptHandle": "r1",
    "body": "hello",
    "attributes": {"ApproximateReceiveCount": "3", "SentTimestamp": "1760000000250"},
    "eventSource": "aws:sqs",
    "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:q",
}
TWO = [Delivered("m1", "r1", "a"), Delivered("m2", "r2", "b")]


def test_a_record_becomes_a_message() -> None:
    assert delivered({"Records": [RECORD]}) == [Delivered("m1", "r1", "hello", 3, 1760000000.25)]


def test_a_record_without_attributes_was_received_once() -> None:
    bare = {key: value for key, value in RECORD.items() if key != "attributes"}
    assert delivered({"Records": [bare]}) == [Delivered("m1", "r1", "hello", 1, 0.0)]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"Records": [RECORD]}, True),
        ({"Records": []}, False),
        ({"Records": [{"eventSource": "aws:s3"}]}, False),
        ({"Records": None}, False),
        ({}, False),
        ({"schedule": "core"}, False),
    ],
)
def test_an_event_of_sqs_is_told_from_others(event: dict[str, Any], expected: bool) -> None:
    assert is_sqs(event) is expected


def test_messages_that_must_come_again_are_named_and_all_others_deleted() -> None:
    assert batch_response(TWO, ["m2"]) == {"batchItemFailures": [{"itemIdentifier": "m2"}]}


def test_when_none_must_come_again_the_list_is_empty() -> None:
    assert batch_response(TWO, frozenset()) == {"batchItemFailures": []}


def test_a_message_is_named_once() -> None:
    assert batch_response(TWO, ["m1", "m1"]) == {"batchItemFailures": [{"itemIdentifier": "m1"}]}


def test_an_id_that_is_not_in_the_batch_is_a_fault_and_no_answer() -> None:
    # Lambda would keep the whole batch, and an emulator might delete it silently.
    with pytest.raises(ValueError, match="not in the batch: m9"):
        batch_response(TWO, ["m1", "m9"])
