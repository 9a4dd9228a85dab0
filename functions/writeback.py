"""Lambda entry point: writes result rows that a worker could not write at once."""

from __future__ import annotations

from typing import Any

from brandvane.aws.environment import environment
from brandvane.aws.sqs_event import batch_response, delivered
from brandvane.engine.take_in import TakeIn


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """SQS messages in, the ids that must come again out."""
    env = environment()
    messages = delivered(event)
    take_in = TakeIn(write_back=env.write_back, queue=env.queue, telemetry=env.telemetry)
    return batch_response(messages, env.run(take_in.handle(messages)))
