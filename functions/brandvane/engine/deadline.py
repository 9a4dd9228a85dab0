"""How does an operator move a run's deadline? The run's own is the one that decides; its tasks need no change (DESIGN §2)."""

from __future__ import annotations

from dataclasses import dataclass

from brandvane.engine.refusal import NoSuchRun, Refusal
from brandvane.ports import Clock, RunStore, Telemetry, Unavailable
from brandvane.run import Run, RunState

TRIES = 5  # each failure means that the run was changed in the meantime


@dataclass(frozen=True, slots=True)
class DeadlineMoved:
    """The run as it is now, and its deadline before (POSIX seconds)."""

    run: Run
    before: float


async def move_deadline(
    run_id: str, deadline: float, *, runs: RunStore, clock: Clock, telemetry: Telemetry
) -> DeadlineMoved:
    """Set the deadline of a run that is OPEN. Tasks that the old one has ended stay ended (``retry`` asks them again).

    Raises:
        NoSuchRun: no run has this id.
        Refusal: the run is finished or cancelled, or the instant is past.
        Unavailable: the table refuses, or the run never held still.
    """
    for _ in range(TRIES):
        run = await runs.get(run_id)
        if run is None:
            raise NoSuchRun(run_id)
        if run.state is not RunState.OPEN:
            raise Refusal(f"run {run_id} is {run.state}: its deadline decides nothing any more")
        if deadline <= clock.now():
            raise Refusal("the new deadline is past: to end the run now, use 'brandvane run cancel'")
        # On condition of the deadline as read: the scanner says ``swept`` on the same condition, so that a run which it has
        # just walked to its end by the old deadline is walked again by the new one.
        same = {"state": RunState.OPEN, "deadline": run.deadline}
        changed = await runs.change(run_id, same, {"deadline": deadline, "swept": False})
        if changed is not None:
            telemetry.event("deadline_moved", run_id=run_id, before=run.deadline, deadline=deadline)
            return DeadlineMoved(changed, run.deadline)
    raise Unavailable(f"run {run_id} kept changing")
