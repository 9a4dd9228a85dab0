"""Lambda entry point: writes the report of a run whose buckets are all scored."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from brandvane.aws.environment import environment
from brandvane.engine.publish import publish


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Event: ``{"run_id", "pass_no"}``, sent asynchronously; sent again when no report is there in time."""
    env = environment()
    published = env.run(
        publish(
            event["run_id"],
            event["pass_no"],
            env.chance.token(),
            runs=env.runs,
            results=env.results,
            blobs=env.blobs,
            catalogues=env.catalogues,
            clock=env.clock,
            telemetry=env.telemetry,
        )
    )
    return {} if published is None else asdict(published)
