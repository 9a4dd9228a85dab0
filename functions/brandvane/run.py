"""What is a run, and in which states can it be? One item of the runs table, pinned to a catalogue version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from brandvane.catalogue import Selection
from brandvane.task import Priority

RUN_VERSION = 1
RECOUNT_AFTER_S = 60.0  # by then the index of counted rows has forgotten a reopened one


class RunState(StrEnum):
    """OPEN → FINISHED → SCORING → REPORTING → REPORTED, or CANCELLED; REPORTED → SCORING when its answers are read anew."""

    OPEN = "OPEN"
    FINISHED = "FINISHED"
    SCORING = "SCORING"
    REPORTING = "REPORTING"
    REPORTED = "REPORTED"
    CANCELLED = "CANCELLED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run. Instants are POSIX seconds, pinned at creation; only the deadline may be moved by an operator."""

    run_id: str
    schedule_id: str | None
    catalogue_version: str
    window_start: float
    window_end: float
    deadline: float
    created_at: float
    seed: int
    priority: Priority = "normal"
    selection: Selection = field(default_factory=Selection)
    state: RunState = RunState.OPEN
    pass_no: int = 1
    planned: Mapping[str, int] = field(default_factory=dict)  # platform -> tasks, computed before the first task
    spacing: Mapping[str, float] = field(default_factory=dict)  # platform -> seconds between two of its tasks
    late_by: Mapping[str, float] = field(
        default_factory=dict
    )  # platform -> seconds by which its plan misses the deadline
    chunks: int = 0
    chunks_done: frozenset[int] = frozenset()
    plan_complete: bool = False
    plan_progress_at: float = 0.0
    counted: int = 0
    counted_at: float = 0.0
    not_counted_before: float = 0.0
    finished_at: float | None = None
    cancelled_at: float | None = None
    swept: bool = False  # a final run's unfinished tasks have all been ended
    scored: frozenset[int] = frozenset()  # buckets of the present pass
    step_until: float = 0.0  # when the scorers or the reporter are asked for again
    lease_owner: str = ""
    lease_until: float = 0.0
    report_prefix: str | None = None
    reported_at: float | None = None
    corrections_key: str = ""  # the newest list of corrections to its mentions; none so far when empty
    reread_at: float | None = None  # when the answers of a reported run were last ordered to be read anew
    v: int = RUN_VERSION

    @property
    def total(self) -> int:
        """Planned tasks of all platforms."""
        return sum(self.planned.values())

    def is_final(self, now: float) -> bool:
        """Past its deadline or cancelled: no call may start any more."""
        return self.state is RunState.CANCELLED or self.cancelled_at is not None or now >= self.deadline

    @property
    def waits(self) -> bool:
        """Does it still need somebody to act? Not REPORTED, and not a CANCELLED one that has been swept."""
        return still_waits(self.state, self.swept)


def still_waits(state: RunState, swept: bool) -> bool:
    """The rule behind ``Run.waits`` and the index ``open``, for stores that know only these two fields."""
    return state is not RunState.REPORTED and not (state is RunState.CANCELLED and swept)


def reopened(run: Run, deadline: float, now: float) -> Run | None:
    """The run with one of its failed tasks planned anew: OPEN in its next pass, not counted for ``RECOUNT_AFTER_S``.

    None when that is refused: a cancelled run's unfinished tasks have not all been ended yet.
    """
    cancelled = run.state is RunState.CANCELLED or run.cancelled_at is not None
    if cancelled and not run.swept:
        return None
    return replace(
        run,
        state=RunState.OPEN,
        pass_no=run.pass_no + 1,
        deadline=max(run.deadline, deadline),
        counted=max(run.counted - 1, 0),
        not_counted_before=now + RECOUNT_AFTER_S,
        finished_at=None,
        cancelled_at=None,
        swept=False,
        scored=frozenset(),
        step_until=0.0,
        lease_owner="",
        lease_until=0.0,
    )


RUN_FIELDS = tuple(f.name for f in fields(Run))
