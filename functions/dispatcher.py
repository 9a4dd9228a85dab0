"""Lambda entry point: one tick of the dispatcher."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from brandvane.aws.environment import environment


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Invoked every minute, and by the planner when first tasks are there. The event says nothing."""
    env = environment()
    tick = env.run(env.dispatcher.tick())
    env.telemetry.event("tick", **asdict(tick))
    return asdict(tick)
