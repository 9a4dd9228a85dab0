"""Sending when SQS takes a part: what was confirmed is told, what failed is tried once more, nothing is raised."""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.aws.queues import BATCH_MAX_BYTES, SqsTaskQueue, batches
from brandvane.ports import Envelope, Unavailable
from unit.aws_fakes import FakeClient, clients_with, refusal

URL = {"QueueUrl": "http://queue"}
THREE = [Envelope("a", "1"), Envelope("b", "2"), Envelope("c", "3", delay_s=7)]


def reply(*, ok: str = "", failed: str = "", sender: bool = False) -> dict[str, Any]:
    """A reply that names these places of the batch."""
    return {
        "Successful": [{"Id": place, "MessageId": f"m{place}"} for place in ok],
        "Failed": [{"Id": place, "SenderFault": sender, "Code": "X"} for place in failed],
    }


def queue_of(*replies: Any) -> tuple[SqsTaskQueue, FakeClient]:
    sqs = FakeClient(get_queue_url=[URL], send_message_batch=list(replies))
    return SqsTaskQueue(clients=clients_with(sqs=sqs), stack="st"), sqs


def places(sqs: FakeClient) -> list[list[str]]:
    """Bodies of each batch that was sent."""
    return [[entry["MessageBody"] for entry in call["Entries"]] for call in sqs.sent("send_message_batch")]


async def test_all_confirmed() -> None:
    queue, sqs = queue_of(reply(ok="012"))
    assert await queue.send("calls-gpt", THREE) == {"a", "b", "c"}
    assert sqs.sent("get_queue_url") == [{"QueueName": "st-calls-gpt"}]
    assert [entry["DelaySeconds"] for entry in sqs.sent("send_message_batch")[0]["Entries"]] == [0, 0, 7]


async def test_an_entry_that_failed_on_the_service_side_is_sent_once_more() -> None:
    queue, sqs = queue_of(reply(ok="02", failed="1"), reply(ok="0"))
    assert await queue.send("calls-gpt", THREE) == {"a", "b", "c"}
    assert places(sqs) == [["1", "2", "3"], ["2"]]


async def test_an_entry_that_fails_twice_is_not_confirmed() -> None:
    queue, sqs = queue_of(reply(ok="02", failed="1"), reply(failed="0"))
    assert await queue.send("calls-gpt", THREE) == {"a", "c"}
    assert len(places(sqs)) == 2


async def test_an_entry_that_was_the_senders_fault_is_not_sent_again() -> None:
    queue, sqs = queue_of(reply(ok="02", failed="1", sender=True))
    assert await queue.send("calls-gpt", THREE) == {"a", "c"}
    assert len(places(sqs)) == 1


async def test_an_entry_that_the_reply_does_not_name_is_neither_confirmed_nor_sent_again() -> None:
    queue, sqs = queue_of(reply(ok="0", failed="2"), reply(ok="0"))
    assert await queue.send("calls-gpt", THREE) == {"a", "c"}
    assert places(sqs) == [["1", "2", "3"], ["3"]]


async def test_a_reply_without_lists_confirms_nothing() -> None:
    queue, _ = queue_of({})
    assert await queue.send("calls-gpt", THREE) == frozenset()


async def test_a_throttled_second_try_keeps_what_the_first_confirmed() -> None:
    queue, _ = queue_of(reply(ok="01", failed="2"), refusal("ThrottlingException"))
    assert await queue.send("calls-gpt", THREE) == {"a", "b"}


async def test_of_two_batches_one_of_which_is_refused_the_other_is_confirmed() -> None:
    queue, _ = queue_of(_unless_first, _unless_first)
    envelopes = [Envelope(str(number), f"{number:02d}") for number in range(12)]
    assert await queue.send("calls-gpt", envelopes) == {"10", "11"}


def _unless_first(**sent: Any) -> dict[str, Any]:
    """Refuse the batch that begins with the first message, confirm any other."""
    if sent["Entries"][0]["MessageBody"] == "00":
        raise refusal("ServiceUnavailable", status=503)
    return reply(ok="".join(entry["Id"] for entry in sent["Entries"]))


async def test_when_nothing_at_all_could_be_sent_the_queue_is_unavailable() -> None:
    queue, _ = queue_of(refusal("ThrottlingException"))
    with pytest.raises(Unavailable):
        await queue.send("calls-gpt", THREE)


async def test_the_queues_address_is_asked_for_once() -> None:
    queue, sqs = queue_of(reply(ok="012"), reply(ok="012"))
    await queue.send("calls-gpt", THREE)
    await queue.send("calls-gpt", THREE)
    assert len(sqs.sent("get_queue_url")) == 1


@pytest.mark.parametrize(
    ("queue", "name"),
    [
        ("calls-gpt", "st-calls-gpt"),
        ("calls-gpt-dead", "st-calls-gpt-dead"),
        ("writeback", "st-writeback"),
        ("writeback-dead", "st-writeback-dead"),
        ("plan", "st-plan"),
        ("sweep", "st-sweep"),
        ("schedules-dead", "st-schedules-dead"),
    ],
)
async def test_queues_have_these_names(queue: str, name: str) -> None:
    sqs = FakeClient(get_queue_url=[URL], get_queue_attributes=[{"Attributes": {"A": "1", "B": "2", "C": "3"}}])
    assert await SqsTaskQueue(clients=clients_with(sqs=sqs), stack="st").depth(queue) == 6
    assert sqs.sent("get_queue_url") == [{"QueueName": name}]


def test_batches_hold_ten_messages_and_256_kilobytes_at_most() -> None:
    small = [Envelope(str(number), "x") for number in range(23)]
    assert [len(batch) for batch in batches(small)] == [10, 10, 3]
    third = "é" * (BATCH_MAX_BYTES // 6)  # two bytes each
    assert [len(batch) for batch in batches([Envelope(str(number), third) for number in range(7)])] == [3, 3, 1]
    huge = Envelope("huge", "x" * (BATCH_MAX_BYTES + 1))
    assert [len(batch) for batch in batches([small[0], huge, small[1]])] == [1, 1, 1]


async def test_receiving_goes_on_until_nothing_more_comes() -> None:
    message = {
        "MessageId": "m",
        "ReceiptHandle": "r",
        "Body": "b",
        "Attributes": {"ApproximateReceiveCount": "3", "SentTimestamp": "1760000000250"},
    }
    sqs = FakeClient(get_queue_url=[URL], receive_message=[{"Messages": [message] * 10}, {"Messages": [message]}, {}])
    received = await SqsTaskQueue(clients=clients_with(sqs=sqs), stack="st").receive("calls-gpt", 15)
    assert len(received) == 11
    assert (received[0].receive_count, received[0].sent_at) == (3, 1_760_000_000.25)
    assert [call["MaxNumberOfMessages"] for call in sqs.sent("receive_message")] == [10, 5, 4]


@pytest.mark.parametrize("code", ["ReceiptHandleIsInvalid", "AWS.SimpleQueueService.MessageNotInflight"])
async def test_a_receipt_that_is_over_is_no_fault(code: str) -> None:
    sqs = FakeClient(get_queue_url=[URL], delete_message=[refusal(code)], change_message_visibility=[refusal(code)])
    queue = SqsTaskQueue(clients=clients_with(sqs=sqs), stack="st")
    await queue.delete("calls-gpt", "r")
    await queue.postpone("calls-gpt", "r", 5)
    assert sqs.sent("change_message_visibility")[0]["VisibilityTimeout"] == 5
