"""Lambda entry point: tells people in their chats what an alarm says."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from brandvane.aws import wiring
from brandvane.aws.environment import environment
from brandvane.engine.notify import Arrived

if TYPE_CHECKING:
    from brandvane.engine.notify import Notifier


@lru_cache(maxsize=1)
def notifier() -> Notifier:
    """The notifier of this execution environment; it remembers what it has delivered."""
    return wiring.notifier(environment())


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Messages of the alarm topics. An exception makes Lambda ask again, and only what is missing is delivered then."""
    messages = [
        Arrived(
            message_id=str(told.get("MessageId", "")),
            topic=str(told.get("TopicArn", "")),
            subject=str(told.get("Subject") or ""),
            message=str(told.get("Message", "")),
        )
        for told in (record["Sns"] for record in event.get("Records", ()))
    ]
    return {"delivered": environment().run(notifier().handle(messages))}
