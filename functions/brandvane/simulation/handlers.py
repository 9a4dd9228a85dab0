"""What does each function do with its event? The calls that the Lambda entry points make, on an environment of the simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brandvane.engine.plan import CannotStart, StartRequest
from brandvane.engine.publish import publish
from brandvane.engine.score import score
from brandvane.messages import PlanMessage
from brandvane.ports import Delivered
from brandvane.simulation.cloud_queue import as_read
from brandvane.simulation.environment import Environment

Event = Mapping[str, Any]
NOTHING: frozenset[str] = frozenset()


async def planner(env: Environment, _: float, event: Event) -> None:
    """``{"schedule": id, "at": POSIX seconds}``, ``{"start": {...}}`` or ``{"resume": run id}``."""
    if "resume" in event:
        await env.planner.resume(event["resume"])
        return
    started = event.get("start") or {"schedule_id": event["schedule"], "at": event.get("at")}
    try:
        await env.planner.start(StartRequest(started.get("schedule_id"), started.get("date"), started.get("at")))
    except CannotStart as error:
        env.telemetry.event("run_not_started", error=str(error))


async def dispatcher(env: Environment, _: float, __: Event) -> None:
    """One tick."""
    await env.dispatcher.tick()


async def scanner(env: Environment, stop_at: float, event: Event) -> None:
    """One sweep."""
    await env.scanner.sweep(stop_at=stop_at, on_the_minute=event.get("on_the_minute", True))


async def scorer(env: Environment, _: float, event: Event) -> None:
    """Score some buckets, then see whether the run can go on."""
    await score(
        event["run_id"],
        event["pass_no"],
        event["buckets"],
        runs=env.runs,
        results=env.results,
        blobs=env.blobs,
        catalogues=env.catalogues,
        clock=env.host,
        telemetry=env.telemetry,
    )
    run = await env.runs.get(event["run_id"])
    if run is not None:
        await env.advance.step(run)


async def reporter(env: Environment, _: float, event: Event) -> None:
    """Write the report."""
    await publish(
        event["run_id"],
        event["pass_no"],
        env.chance.token(),
        runs=env.runs,
        results=env.results,
        blobs=env.blobs,
        catalogues=env.catalogues,
        clock=env.host,
        telemetry=env.telemetry,
    )


BY_EVENT = {
    "planner": planner,
    "dispatcher": dispatcher,
    "scanner": scanner,
    "scorer": scorer,
    "reporter": reporter,
}


async def worker(env: Environment, stop_at: float, messages: Sequence[Delivered]) -> frozenset[str]:
    """A batch of calls; the ids that must come again."""
    batch = [as_read(env.host, message) for message in messages]
    return await env.worker.handle(batch, stop_at=stop_at, invocation=env.chance.token())


async def writeback(env: Environment, _: float, messages: Sequence[Delivered]) -> frozenset[str]:
    """A batch of write-backs."""
    return await env.take_in.handle([as_read(env.host, message) for message in messages])


async def plan(env: Environment, _: float, messages: Sequence[Delivered]) -> frozenset[str]:
    """A chunk; an exception leaves it on its queue."""
    for message in messages:
        await env.planner.chunk(PlanMessage.decode(as_read(env.host, message).body))
    return NOTHING


async def sweep(env: Environment, stop_at: float, _: Sequence[Delivered]) -> frozenset[str]:
    """The sweep between two minutes."""
    await env.scanner.sweep(stop_at=stop_at, on_the_minute=False)
    return NOTHING
