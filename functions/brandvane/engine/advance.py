"""Is a run finished, and who does the next step? OPEN → FINISHED → SCORING → REPORTING; each conditional, steps under a lease.

A run is finished when its plan is complete and the results index counts as many rows as were planned; that index lags only
late, never early, so the count can be trusted when it is reached.
"""

from __future__ import annotations

from brandvane.engine.buckets import plan_buckets
from brandvane.engine.limiter import Limiter
from brandvane.ports import Clock, Functions, ResultStore, RunStore, StatStore, Telemetry
from brandvane.run import Run, RunState
from brandvane.task import BUCKETS

COUNT_EVERY_S = 60.0
COUNT_AT_REST_S = 20.0  # nothing of the run's platforms is in hand any more: count at once, but not twice in one sweep
STEP_LEASE_S = 330.0  # a scorer or reporter may take its function's timeout; after that it is asked for again
HOLD_PERCENTILE = 0.9


class Advance:
    """Moves runs along once their tasks have ended."""

    def __init__(
        self,
        *,
        runs: RunStore,
        results: ResultStore,
        stats: StatStore,
        limiter: Limiter,
        functions: Functions,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._runs = runs
        self._results = results
        self._stats = stats
        self._limiter = limiter
        self._functions = functions
        self._clock = clock
        self._telemetry = telemetry

    async def step(self, run: Run, in_hand: int | None = None) -> Run:
        """Take a run as far as it can go now. ``in_hand``: unfinished records of its platforms (None: unknown)."""
        if run.state is RunState.OPEN and run.plan_complete:
            run = await self._count(run, in_hand)
        if run.state is RunState.FINISHED:
            run = await self._begin_scoring(run)
        elif run.state is RunState.SCORING and len(run.scored) < BUCKETS:
            run = await self._score_again(run)
        if run.state is RunState.SCORING and len(run.scored) == BUCKETS:
            run = await self._begin_reporting(run)
        elif run.state is RunState.REPORTING and self._clock.now() >= run.step_until:
            run = await self._report_again(run)
        return run

    async def all_written(self, run: Run) -> bool:
        """Has every planned task its row? A yes is certain, because the index lags only late."""
        return await self._results.count(run.run_id) >= run.total

    async def _count(self, run: Run, in_hand: int | None) -> Run:
        now = self._clock.now()
        wait = COUNT_AT_REST_S if in_hand == 0 else COUNT_EVERY_S
        if now < run.not_counted_before or now - run.counted_at < wait:
            return run
        counted = await self._results.count(run.run_id)
        same = {"state": RunState.OPEN, "pass_no": run.pass_no}
        run = await self._runs.change(run.run_id, same, {"counted": counted, "counted_at": now}) or run
        if counted < run.total:
            return run
        if counted > run.total:
            self._telemetry.event("more_results_than_planned", run_id=run.run_id, counted=counted, planned=run.total)
        finished = await self._runs.change(run.run_id, same, {"state": RunState.FINISHED, "finished_at": now})
        if finished is None:
            return run
        self._telemetry.event("run_finished", run_id=run.run_id, results=counted)
        await self._remember_holds(finished)
        return finished

    async def _remember_holds(self, run: Run) -> None:
        """The next plan reckons with the p90 of what a batch took in this run."""
        now = self._clock.now()
        for platform in run.planned:
            stats = await self._stats.since(platform, min(run.window_start, now), now)
            holds = sorted(s.hold_s for s in stats if s.calls)
            if len(holds) >= 10:
                await self._limiter.remember_hold(platform, holds[int(HOLD_PERCENTILE * (len(holds) - 1))])

    async def _begin_scoring(self, run: Run) -> Run:
        put = {"state": RunState.SCORING, "scored": frozenset(), "step_until": self._clock.now() + STEP_LEASE_S}
        scoring = await self._runs.change(run.run_id, {"state": RunState.FINISHED, "pass_no": run.pass_no}, put)
        if scoring is None:
            return run
        await self._ask_scorers(scoring, frozenset())
        return scoring

    async def _score_again(self, run: Run) -> Run:
        now = self._clock.now()
        if now < run.step_until:
            return run
        again = await self._runs.change(
            run.run_id,
            {"state": RunState.SCORING, "step_until": run.step_until},
            {"step_until": now + STEP_LEASE_S},
        )
        if again is None:
            return run
        self._telemetry.event("scoring_resumed", run_id=run.run_id, scored=len(run.scored))
        await self._ask_scorers(again, again.scored)
        return again

    async def _ask_scorers(self, run: Run, done: frozenset[int]) -> None:
        await ask_scorers(run, done, self._functions)

    async def _begin_reporting(self, run: Run) -> Run:
        same = {"state": RunState.SCORING, "pass_no": run.pass_no}
        put = {"state": RunState.REPORTING, "step_until": self._clock.now() + STEP_LEASE_S}
        reporting = await self._runs.change(run.run_id, same, put)
        if reporting is None:
            return run
        await self._functions.invoke("reporter", {"run_id": run.run_id, "pass_no": run.pass_no})
        return reporting

    async def _report_again(self, run: Run) -> Run:
        same = {"state": RunState.REPORTING, "step_until": run.step_until}
        again = await self._runs.change(run.run_id, same, {"step_until": self._clock.now() + STEP_LEASE_S})
        if again is None:
            return run
        self._telemetry.event("reporting_resumed", run_id=run.run_id)
        await self._functions.invoke("reporter", {"run_id": run.run_id, "pass_no": run.pass_no})
        return again


async def ask_scorers(run: Run, done: frozenset[int], functions: Functions) -> None:
    """Ask for the scorers of a run's pass; buckets that are ``done`` are left out."""
    for buckets in plan_buckets(run.total):
        missing = [b for b in buckets if b not in done]
        if missing:
            event = {"run_id": run.run_id, "pass_no": run.pass_no, "buckets": missing}
            await functions.invoke("scorer", event)
