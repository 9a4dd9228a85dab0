"""How are a reported run's answers read anew, asking no platform? A further pass of its scorers and reporter.

``begin`` only moves the run and asks for the scorers; whatever follows is what follows for every run (``advance.py``). The
earlier pass's objects stay; ``report/rereading.py`` says what the new reading changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brandvane.catalogue import Catalogue
from brandvane.engine.advance import STEP_LEASE_S, ask_scorers
from brandvane.engine.answer_reader import Reader
from brandvane.engine.corrections_of_run import corrections_of
from brandvane.engine.counted import Counted
from brandvane.engine.refusal import NoSuchRun, Refusal
from brandvane.engine.score import score_bucket
from brandvane.mentions.corrections import by_task
from brandvane.mentions.tally import Tally
from brandvane.ports import BlobStore, Clock, Functions, ResultStore, RunStore
from brandvane.run import Run, RunState
from brandvane.task import BUCKETS


async def begin(
    run: Run, *, runs: RunStore, functions: Functions, clock: Clock, put: Mapping[str, Any] | None = None
) -> Run:
    """Order a reported run to be scored and reported again; ``put`` are fields of the run to set in the same move.

    Raises:
        NoSuchRun: the run is gone.
        Refusal: it is not in REPORTED, or somebody else has moved it in the meantime.
        Unavailable: a store refused.
    """
    ready(run)
    now = clock.now()
    move = {
        "state": RunState.SCORING,
        "pass_no": run.pass_no + 1,
        "scored": frozenset[int](),
        "step_until": now + STEP_LEASE_S,
        "reread_at": now,
    }
    same = {"state": RunState.REPORTED, "pass_no": run.pass_no, "corrections_key": run.corrections_key}
    moved = await runs.change(run.run_id, same, {**(put or {}), **move})
    if moved is None:
        there = await runs.get(run.run_id)
        if there is None:
            raise NoSuchRun(run.run_id)
        if any(getattr(there, name) != value for name, value in move.items()):
            raise Refusal(
                f"run {run.run_id} was changed by somebody else in the meantime; the same command again is safe"
            )
        moved = there  # the reply had been lost: it is our own move
    await ask_scorers(moved, frozenset(), functions)
    return moved


def ready(run: Run) -> None:
    """Can the run be read anew?

    Raises:
        Refusal: it has no report yet, is being scored or reported, or was cancelled.
    """
    if run.state in (RunState.SCORING, RunState.REPORTING):
        raise Refusal(
            f"run {run.run_id} is {run.state}: its answers are being read just now; try again when it is REPORTED"
        )
    if run.state is not RunState.REPORTED:
        raise Refusal(f"run {run.run_id} is {run.state}: only a run that has been REPORTED can be read anew")


async def rehearsed(run: Run, catalogue: Catalogue, *, results: ResultStore, blobs: BlobStore) -> Counted:
    """What this release's scorers would count, by the same code, here and now; nothing is written.

    Raises:
        LookupError: the run's corrections are gone.
        Unavailable: a store refused.
    """
    reader = Reader.of(catalogue, corrections=by_task(await corrections_of(run, blobs)))
    tally, mentions = Tally(), 0
    for bucket in range(BUCKETS):
        score = await score_bucket(run.run_id, bucket, reader, results, blobs)
        tally.merge(score.tally)
        mentions += score.mention_count
    return Counted(tally, (reader.matcher.version,), mentions)
