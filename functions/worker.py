"""Lambda entry point: executes the calls of one platform (``PLATFORM``)."""

from __future__ import annotations

from typing import Any

from brandvane.aws.environment import environment
from brandvane.aws.sqs_event import batch_response, delivered


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """SQS messages in, the ids that must come again out. An exception keeps the whole batch on the queue."""
    env = environment()
    messages = delivered(event)
    again = env.run(env.worker.handle(messages, stop_at=env.stop_at(context), invocation=context.aws_request_id))
    return batch_response(messages, again)
