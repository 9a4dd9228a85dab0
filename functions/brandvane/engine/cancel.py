"""How does an operator end a run? Its state becomes CANCELLED; the scanner then ends what is left, each task with its row.

No call starts after the workers have seen it (run items are cached for at most 10 s); calls under way are let finish, and what
they answer is kept (DESIGN §2).
"""

from __future__ import annotations

from dataclasses import dataclass

from brandvane.engine.refusal import NoSuchRun, Refusal
from brandvane.ports import Clock, RunStore, Telemetry, Unavailable
from brandvane.run import Run, RunState

TRIES = 5  # each failure means that the run's state was changed in the meantime


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The run as it is now; ``already`` when it had been cancelled before."""

    run: Run
    already: bool


async def cancel(run_id: str, *, runs: RunStore, clock: Clock, telemetry: Telemetry) -> Cancelled:
    """Cancel a run that is OPEN; one that is cancelled already is reported as such.

    Raises:
        NoSuchRun: no run has this id.
        Refusal: all its tasks have ended, so there is nothing left to cancel.
        Unavailable: the table refuses, or the run never held still.
    """
    now = clock.now()
    for _ in range(TRIES):
        run = await runs.get(run_id)
        if run is None:
            raise NoSuchRun(run_id)
        if run.state is RunState.CANCELLED:
            return Cancelled(run, run.cancelled_at != now)  # the same instant: the reply of our own try had been lost
        if run.state is not RunState.OPEN:
            raise Refusal(f"run {run_id} is {run.state}: all its tasks have ended, there is nothing left to cancel")
        put = {"state": RunState.CANCELLED, "cancelled_at": now, "swept": False}
        changed = await runs.change(run_id, {"state": RunState.OPEN}, put)
        if changed is not None:
            telemetry.event("run_cancelled", run_id=run_id)
            return Cancelled(changed, False)
    raise Unavailable(f"run {run_id} kept changing")
