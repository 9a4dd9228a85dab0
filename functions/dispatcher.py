"""Lambda entry point: one tick of the dispatcher."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from brandvane.aws import wiring
from brandvane.aws.environment import environment
from brandvane.engine.dispatch import PATIENCE_S

if TYPE_CHECKING:
    from brandvane.engine.dispatch import Dispatcher


@lru_cache(maxsize=1)
def dispatcher() -> Dispatcher:
    """The dispatcher of this execution environment; it remembers which runs it has seen."""
    return wiring.dispatcher(environment())


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Invoked every minute (event ``{}``), and by whoever knows of new tasks (``NEW_TASKS``): that tick is worth waiting for."""
    env = environment()
    tick = env.run(dispatcher().tick(PATIENCE_S if event.get("new_tasks") else 0.0))
    env.telemetry.event("tick", **asdict(tick))
    return asdict(tick)
