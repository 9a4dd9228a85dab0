"""Lambda entry point: writes result rows that a worker could not write at once."""

from __future__ import annotations

from typing import Any

from brandvane.aws import wiring
from brandvane.aws.environment import environment
from brandvane.aws.sqs_event import batch_response, delivered


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """SQS messages in, the ids that must come again out."""
    env = environment()
    messages = delivered(event)
    return batch_response(messages, env.run(wiring.take_in(env).handle(messages)))
