"""Records to test with; every one has names of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from brandvane import moves
from brandvane.result import ResultRow, row_of
from brandvane.run import Run
from brandvane.task import Change, Outcome, State, Task, prompt_hash_of, task_id_of, watch_of
from contract.worlds import unique

NOW = 1_760_000_000.25
OVERDUE = NOW - 100.125  # act_at of sample records


def task(state: State = State.PENDING, **fields: Any) -> Task:
    """A record in ``state``, overdue, of a platform and a run of its own."""
    run_id, platform = unique("run"), unique("platform")
    prompt_hash = prompt_hash_of(run_id)
    fresh = Task(
        task_id=task_id_of(run_id, f"{platform}/m1", prompt_hash, "en", 0),
        run_id=run_id,
        platform=platform,
        model="m1",
        question_ids=("q1", "q2"),
        brand_group="",
        prompt_hash=prompt_hash,
        locale="en",
        sample=0,
        priority="normal",
        planned_time=NOW - 300,
        next_execute_time=NOW - 200,
        deadline_at=NOW + 7200,
        created_at=NOW - 5000,
        updated_at=NOW - 150,
        dispatch_no=2,
        attempt_id="attempt-1",
    )
    given = replace(fresh, state=state, act_at=OVERDUE, watch=watch_of(fresh, state))
    if state is State.WRITEBACK:
        given = replace(given, outcome=Outcome.OK, answer=b"an answer", finished_at=NOW - 110)
    if state is State.DONE:
        given = replace(given, outcome=Outcome.OK, act_at=None, finished_at=NOW - 110, expires_at=1_770_000_000)
    if state is State.FAILED:
        given = replace(given, outcome=Outcome.TIMEOUT, act_at=None, finished_at=NOW - 110, expires_at=1_770_000_000)
    return replace(given, **fields)


def run(run_id: str | None = None, **fields: Any) -> Run:
    """An open run."""
    return replace(
        Run(
            run_id=run_id or unique("run"),
            schedule_id="daily",
            catalogue_version="c1",
            window_start=NOW - 3600,
            window_end=NOW + 3600,
            deadline=NOW + 7200.5,
            created_at=NOW - 4000.125,
            seed=7,
            planned={"gpt": 3, "kimi": 2},
            chunks=4,
        ),
        **fields,
    )


def row(of: Task | None = None, **fields: Any) -> ResultRow:
    """The result row of a record in WRITEBACK."""
    return replace(row_of(of or task(State.WRITEBACK), NOW), **fields)


# How each row of the moves table (and each touch) is asked for, on a record as its mover has read it.
CHANGES: dict[str, Callable[[Task], Change]] = {
    "dispatch": lambda t: moves.dispatched(t.platform, t.dispatch_no, NOW + 10, NOW),
    "claim": lambda t: moves.claim(t.platform, t.dispatch_no, "attempt-2", NOW),
    "resend": lambda t: moves.resend(t, NOW + 1.5, NOW),
    "redrive": lambda t: moves.redrive(t, NOW + 1.5, NOW),
    "begin": lambda t: moves.begin(t, 75.0, 3, NOW),
    "release": lambda t: moves.release(t, NOW + 4.5, NOW),
    "give_back": lambda t: moves.give_back(t, NOW + 4.5, NOW),
    "retry": lambda t: moves.retry(t, NOW + 12.5, NOW, "retry_count", "timeout"),
    "rescue": lambda t: moves.rescue(t, NOW + 12.5, NOW),
    "answer": lambda t: moves.answered(t, Outcome.TRUNCATED, NOW, answer=b"\x00\xff", answer_key=None),
    "fail": lambda t: moves.failed(t, Outcome.EMPTY, NOW, error_kind="empty", answer_key="answers/x"),
    "end": lambda t: moves.ended(t, Outcome.TIMEOUT, NOW, error_kind="timeout"),
    "end_final": lambda t: moves.ended(t, Outcome.EXPIRED, NOW, error_kind=None, run_is_final=True),
    "finish": lambda t: moves.finished(t, NOW, 86_400),
    "retry_failed": lambda t: moves.retried(t, NOW + 1.5, "attempt-3", NOW),
    "heartbeat": lambda t: moves.heartbeat(t, 75.0, NOW),
    "defer": lambda t: moves.deferred(t, NOW + 8.5, NOW, failed_write=True),
    "extend": lambda t: moves.extended(t, NOW + 30.5, NOW),
}
