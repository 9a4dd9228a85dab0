"""How does Lambda hand over SQS messages, and how is it told which of them must come again?

An empty failure list means *delete the whole batch* (research/engine §0.1), so the answer is built here and nowhere else, from
ids that are in the batch; an exception is never turned into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from brandvane.ports import Delivered


def is_sqs(event: Mapping[str, Any]) -> bool:
    """Did an event source mapping of SQS make this event?"""
    records = event.get("Records")
    return isinstance(records, list) and bool(records) and records[0].get("eventSource") == "aws:sqs"


def delivered(event: Mapping[str, Any]) -> list[Delivered]:
    """The messages of an SQS event."""
    messages = []
    for record in event["Records"]:
        told = record.get("attributes", {})
        messages.append(
            Delivered(
                message_id=record["messageId"],
                receipt=record["receiptHandle"],
                body=record["body"],
                receive_count=int(told.get("ApproximateReceiveCount", 1)),
                sent_at=int(told.get("SentTimestamp", 0)) / 1000,
            )
        )
    return messages


def batch_response(messages: Sequence[Delivered], again: Iterable[str]) -> dict[str, list[dict[str, str]]]:
    """Lambda's partial batch response: the messages in ``again`` are kept, all others deleted.

    Raises:
        ValueError: an id is not in the batch (Lambda would keep the whole of it).
    """
    wanted = list(dict.fromkeys(again))
    unknown = set(wanted) - {message.message_id for message in messages}
    if unknown:
        raise ValueError(f"not in the batch: {', '.join(sorted(map(str, unknown)))}")
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in wanted]}
