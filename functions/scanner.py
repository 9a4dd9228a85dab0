"""Lambda entry point: one sweep, on the minute (schedule) or half a minute later (delay queue)."""

from __future__ import annotations

from typing import Any

from brandvane.aws import wiring
from brandvane.aws.environment import environment
from brandvane.aws.sqs_event import is_sqs


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """The event only tells which of the two sweeps a minute it is."""
    env = environment()
    swept = env.run(wiring.scanner(env).sweep(stop_at=env.stop_at(context), on_the_minute=not is_sqs(event)))
    told = {"acted": dict(swept.acted), "in_hand": swept.in_hand, "runs": swept.runs, "busy": swept.busy}
    env.telemetry.event("sweep", **told)
    return told
