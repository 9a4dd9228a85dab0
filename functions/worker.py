"""Lambda entry point: executes the calls of one platform (``PLATFORM``)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from brandvane.aws import wiring
from brandvane.aws.environment import environment
from brandvane.aws.sqs_event import batch_response, delivered

if TYPE_CHECKING:
    from brandvane.engine.execute import Worker


@lru_cache(maxsize=1)
def worker() -> Worker:
    """The worker of this execution environment, with its one HTTP client."""
    return wiring.worker(environment())


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """SQS messages in, the ids that must come again out. An exception keeps the whole batch on the queue.

    Without messages the environment is only made ready.
    """
    env = environment()
    messages = delivered(event)
    if not messages:
        env.run(worker().warm())
        return batch_response(messages, ())
    again = env.run(worker().handle(messages, stop_at=env.stop_at(context), invocation=context.aws_request_id))
    return batch_response(messages, again)
