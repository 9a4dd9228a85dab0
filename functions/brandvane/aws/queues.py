"""How are messages sent and received? The ``TaskQueue`` port on SQS; a batch that fails in part is reported, never raised."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from brandvane.aws.client import Clients, Refused
from brandvane.aws.keys import queue_name
from brandvane.ports import Delivered, Envelope, Unavailable

BATCH_MAX = 10
# AWS takes 1 MiB a batch today; emulators and older queues stop at the former limit.
BATCH_MAX_BYTES = 256 * 1024
RECEIVE_MAX = 10

# The message is no longer held under this receipt: somebody else will see it, or it is gone.
_RECEIPT_OVER = frozenset({"ReceiptHandleIsInvalid", "MessageNotInflight", "InvalidParameterValue"})

IN_FLIGHT: Literal["ApproximateNumberOfMessagesNotVisible"] = "ApproximateNumberOfMessagesNotVisible"


class SqsTaskQueue:
    """Queues of one stack by their logical names."""

    def __init__(self, *, clients: Clients, stack: str) -> None:
        self._clients = clients
        self._stack = stack
        self._urls: dict[str, str] = {}

    async def send(self, queue: str, envelopes: Sequence[Envelope]) -> frozenset[str]:
        """Send in batches of at most 10 messages and 256 KB; the ids that SQS named as successful.

        Entries that failed on SQS's own side are sent once more. An entry of which the reply says nothing may have been sent:
        it is neither confirmed nor repeated.

        Raises:
            Unavailable: nothing at all could be confirmed because SQS refused or did not answer.
        """
        if not envelopes:
            return frozenset()
        url = await self._url(queue)
        outcomes = await asyncio.gather(
            *(self._send_batch(url, batch) for batch in batches(envelopes)), return_exceptions=True
        )
        confirmed: set[str] = set()
        failures: list[BaseException] = []
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                failures.append(outcome)
            else:
                confirmed |= outcome
        unexpected = [failure for failure in failures if not isinstance(failure, Unavailable | Refused)]
        if failures and (unexpected or not confirmed):
            raise (unexpected or failures)[0]
        return frozenset(confirmed)

    async def _send_batch(self, url: str, batch: Sequence[Envelope]) -> set[str]:
        confirmed, again = await self._send_once(url, batch)
        if again:
            try:
                more, _ = await self._send_once(url, again)
            except (Unavailable, Refused):
                more = set()  # what the first reply confirmed stays confirmed
            confirmed |= more
        return confirmed

    async def _send_once(self, url: str, batch: Sequence[Envelope]) -> tuple[set[str], list[Envelope]]:
        reply = await self._clients.call(
            self._clients.sqs.send_message_batch,
            QueueUrl=url,
            # Ids within a batch are places, because envelope ids need not obey SQS's rules for them.
            Entries=[
                {"Id": str(place), "MessageBody": envelope.body, "DelaySeconds": envelope.delay_s}
                for place, envelope in enumerate(batch)
            ],
        )
        confirmed = {batch[int(entry["Id"])].id for entry in reply.get("Successful", ())}
        again = [batch[int(entry["Id"])] for entry in reply.get("Failed", ()) if not entry["SenderFault"]]
        return confirmed, again

    async def receive(self, queue: str, limit: int) -> list[Delivered]:
        """Receive up to ``limit`` messages without waiting for any."""
        url = await self._url(queue)
        received: list[Delivered] = []
        while len(received) < limit:
            reply = await self._clients.call(
                self._clients.sqs.receive_message,
                QueueUrl=url,
                MaxNumberOfMessages=min(limit - len(received), RECEIVE_MAX),
                WaitTimeSeconds=0,
                MessageSystemAttributeNames=["ApproximateReceiveCount", "SentTimestamp"],
            )
            messages = reply.get("Messages", [])
            if not messages:
                break
            received += [_delivered(message) for message in messages]
        return received

    async def delete(self, queue: str, receipt: str) -> None:
        """Acknowledge a message; a receipt that is over changes nothing."""
        url = await self._url(queue)
        try:
            await self._clients.call(self._clients.sqs.delete_message, QueueUrl=url, ReceiptHandle=receipt)
        except Refused as refusal:
            if refusal.code not in _RECEIPT_OVER:
                raise

    async def postpone(self, queue: str, receipt: str, seconds: int) -> None:
        """Make a received message visible again ``seconds`` from now; a receipt that is over changes nothing."""
        url = await self._url(queue)
        try:
            await self._clients.call(
                self._clients.sqs.change_message_visibility,
                QueueUrl=url,
                ReceiptHandle=receipt,
                VisibilityTimeout=seconds,
            )
        except Refused as refusal:
            if refusal.code not in _RECEIPT_OVER:
                raise

    async def depth(self, queue: str, held_most: int | None = None) -> int:
        """Messages in the queue, waiting, delayed or in flight (SQS counts approximately); of the last at most ``held_most``."""
        url = await self._url(queue)
        reply = await self._clients.call(
            self._clients.sqs.get_queue_attributes,
            QueueUrl=url,
            AttributeNames=[
                "ApproximateNumberOfMessages",
                IN_FLIGHT,
                "ApproximateNumberOfMessagesDelayed",
            ],
        )
        told = {name: int(number) for name, number in reply.get("Attributes", {}).items()}
        held = told.pop(IN_FLIGHT, 0)
        return sum(told.values()) + (held if held_most is None else min(held, held_most))

    async def _url(self, queue: str) -> str:
        if queue not in self._urls:
            name = queue_name(self._stack, queue)
            reply = await self._clients.call(self._clients.sqs.get_queue_url, QueueName=name)
            self._urls[queue] = reply["QueueUrl"]
        return self._urls[queue]


def batches(envelopes: Sequence[Envelope]) -> Iterator[list[Envelope]]:
    """Cut a sequence into batches that SQS takes. A body above the limit stands alone (SQS will refuse it)."""
    batch: list[Envelope] = []
    size = 0
    for envelope in envelopes:
        length = len(envelope.body.encode())
        if batch and (len(batch) == BATCH_MAX or size + length > BATCH_MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(envelope)
        size += length
    if batch:
        yield batch


def _delivered(message: Mapping[str, Any]) -> Delivered:
    attributes = message.get("Attributes", {})
    return Delivered(
        message_id=message["MessageId"],
        receipt=message["ReceiptHandle"],
        body=message["Body"],
        receive_count=int(attributes.get("ApproximateReceiveCount", 1)),
        sent_at=int(attributes.get("SentTimestamp", 0)) / 1000,
    )
