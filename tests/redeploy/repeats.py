"""Which calls were made again after their task's answer though no update had replaced the worker that had it? Pure."""

from __future__ import annotations

from collections.abc import Sequence

from brandvane.simulation.call_audit import repeated_by_task
from brandvane.simulation.standin_row import CallRow

KEPT_S = 5.0  # from an answer's last byte to its record, on a busy machine


def unexplained(calls: Sequence[CallRow], began: float, ended: float) -> list[str]:
    """Request ids of repeated calls with an earlier answer that the update (POSIX seconds) cannot have taken away.

    The emulator ends a worker that is replaced. That loses an answer whose last byte was written meanwhile, or shortly before.
    """
    answered = [call for call in calls if call.complete]
    return [
        call.request_id
        for call in repeated_by_task(calls)
        if any(
            not began - KEPT_S <= answer.finished <= ended
            for answer in answered
            if answer.task == call.task and answer.arrived < call.arrived
        )
    ]
