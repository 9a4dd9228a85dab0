"""Lambda entry point: reads the answers of some buckets of a finished run; the last one asks for the report."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from brandvane.aws import wiring
from brandvane.aws.environment import Environment, environment
from brandvane.engine.score import Scored, score
from brandvane.run import RunState


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Event: ``{"run_id", "pass_no", "buckets"}``, sent asynchronously; sent again when nobody has marked a bucket in time."""
    env = environment()
    scored = env.run(_score(env, event))
    env.telemetry.event("scored", **asdict(scored))
    return asdict(scored)


async def _score(env: Environment, event: dict[str, Any]) -> Scored:
    scored = await score(
        event["run_id"],
        event["pass_no"],
        event["buckets"],
        runs=env.runs,
        results=env.results,
        blobs=env.blobs,
        catalogues=env.catalogues,
        clock=env.clock,
        telemetry=env.telemetry,
    )
    run = await env.runs.get(event["run_id"])
    if run is not None and run.state is RunState.SCORING:
        await wiring.advance(env).step(run)
    return scored
