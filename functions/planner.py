"""Lambda entry point: plans runs, on schedule, on request, and chunk by chunk from its queue."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

from brandvane.aws import wiring
from brandvane.aws.environment import environment
from brandvane.aws.sqs_event import delivered, is_sqs
from brandvane.catalogue import Selection
from brandvane.engine.plan import CannotStart, Planner, StartRequest, describe
from brandvane.messages import PlanMessage


@lru_cache(maxsize=1)
def planner() -> Planner:
    """The planner of this execution environment; it keeps the expansion of the last runs between chunks."""
    return wiring.planner(environment())


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Events: Scheduler ``{"schedule", "time"}``, ``{"start": {…}}``, ``{"resume": run_id}``, or SQS messages of chunks."""
    env = environment()
    if is_sqs(event):
        # One message a batch: an exception leaves it on the queue, where it comes again.
        for message in delivered(event):
            env.run(planner().chunk(PlanMessage.decode(message.body)))
        return {}
    if "resume" in event:
        env.run(planner().resume(event["resume"]))
        return {"resumed": event["resume"]}
    try:
        return describe(env.run(planner().start(request_of(event))))
    except CannotStart as error:
        env.telemetry.event("run_not_started", error=str(error))
        return {"error": str(error), "code": 2}


def request_of(event: dict[str, Any]) -> StartRequest:
    """What a schedule or a person asks for."""
    if "schedule" in event:
        return StartRequest(schedule_id=event["schedule"], at=_instant(event.get("time")))
    wanted = event["start"]
    told = wanted.get("selection") or {}
    filters = {name: tuple(told.get(name) or ()) for name in ("platforms", "brands", "questions")}
    selection = Selection(**filters, limit=told.get("limit"))
    return StartRequest(
        wanted.get("schedule_id"), wanted.get("date"), None, wanted.get("label"), selection, wanted.get("version")
    )


def _instant(text: str | None) -> float | None:
    """The schedule's own time; None where the emulator does not fill it in."""
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return None
