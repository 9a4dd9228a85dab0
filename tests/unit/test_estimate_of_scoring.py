"""Does the estimate know how many objects scorers and reporter read and write?"""

from __future__ import annotations

from dataclasses import replace

from brandvane.cli.aws_usage import RunLoad, Share, Usage, _report, _score
from brandvane.run import RunState
from unit.scored_samples import RUN_ID, Case, row

YESTERDAY = "daily-2026-03-01"
LOAD = RunLoad(platforms={"alpha": Share(tasks=2, rate=1.0, batch=1)}, minutes=1.0, hold_s=1.0)


async def test_objects_of_scoring_and_reporting_are_those_that_are_reckoned() -> None:
    case = Case()
    first = await case.reported([row("Try Oolong."), row("Nothing.", sample=2)])
    await case.world.runs.create(replace(first, run_id=YESTERDAY))
    put, get = case.world.blobs.put, case.world.blobs.get
    written: list[str] = []
    read: list[str] = []

    async def counted_put(key: str, body: bytes, content_type: str) -> None:
        written.append(key)
        await put(key, body, content_type)

    async def counted_get(key: str) -> bytes | None:
        read.append(key)
        return await get(key)

    case.world.blobs.put = counted_put  # type: ignore[method-assign]
    case.world.blobs.get = counted_get  # type: ignore[method-assign]
    await case.world.runs.change(RUN_ID, {}, {"state": RunState.SCORING, "scored": frozenset()})
    await case.score()
    await case.world.runs.change(RUN_ID, {}, {"state": RunState.REPORTING})
    await case.publish()

    usage = Usage()
    _score(usage, LOAD)
    _report(usage, LOAD)
    assert usage.requests["s3 PutObject"] == len(written)
    catalogues = 2  # the scorer's and the reporter's: they come through another port
    assert usage.requests["s3 GetObject"] == len(read) + catalogues
