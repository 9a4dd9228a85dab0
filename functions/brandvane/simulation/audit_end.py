"""Is everything there at the end? Planned = result rows, each once; no paid answer is nowhere; the run has ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from brandvane.answer import late_key
from brandvane.run import Run, RunState
from brandvane.simulation.auditor import Auditor
from brandvane.task import ANSWERED, FINISHED, Outcome


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of a run: counts of rows, and of planned tasks that have none or more than one."""

    planned: int
    results: int
    lost: int
    duplicates: int
    outcomes: dict[Outcome, int]
    retries: dict[int, int]


def audit_end(auditor: Auditor, run: Run, planned: Iterable[str], total: int) -> Ending:
    """Look at what is left, and report every broken promise to the auditor.

    ``planned``: the tasks that the engine's own expansion yields; ``total``: how many there must be, whatever that says.
    """
    cloud = auditor.cloud
    ids = dict.fromkeys(planned)
    if len(ids) != total:
        auditor.violated("ended", f"the catalogue expands to {len(ids)} tasks; {total} are to be asked")
    rows = Counter(row.task_id for (pk, _), row in cloud.results.rows.items() if not pk.startswith("history#"))
    outcomes: Counter[Outcome] = Counter()
    retries: Counter[int] = Counter()
    for (pk, _), row in cloud.results.rows.items():
        if pk.startswith("history#"):
            continue
        outcomes[row.outcome] += 1
        retries[row.retry_count] += 1
        if row.task_id not in ids:
            auditor.violated("rows", "a row that was never planned", row.task_id)
        if row.outcome in ANSWERED and row.answer is None and row.answer_key not in cloud.blobs.objects:
            auditor.violated("answers", f"a row says {row.outcome} and has no answer", row.task_id)
    lost = [task_id for task_id in ids if not rows[task_id]]
    for task_id in lost:
        record = cloud.tasks.records.get(task_id)
        auditor.violated("lost", f"no result row; the record is {record.state if record else 'not there'}", task_id)
    duplicates = sum(number - 1 for number in rows.values() if number > 1)
    if duplicates:
        auditor.violated("rows", f"{duplicates} tasks have more than one row")
    for task_id, record in cloud.tasks.records.items():
        if record.state not in FINISHED and rows[task_id] and record.run_id == run.run_id:
            auditor.violated("ended", f"has a row and is {record.state}", task_id)
    swept = run.state is RunState.CANCELLED and run.swept
    if run.state is not RunState.REPORTED and not swept:
        auditor.violated("ended", f"run {run.run_id} has not ended: {run.state}, {run.counted} of {run.total} counted")
    if run.total != len(ids):
        auditor.violated("ended", f"run {run.run_id} says {run.total} tasks; its catalogue has {len(ids)}")
    _answers(auditor, run)
    return Ending(
        len(ids),
        sum(rows.values()),
        len(lost),
        duplicates,
        dict(sorted(outcomes.items())),
        dict(sorted(retries.items())),
    )


def _answers(auditor: Auditor, run: Run) -> None:
    """Every answer that reached a living worker is in a row, or under ``late/``, unless its worker died with it (or still stands
    still with it) or both ways failed.
    """
    cloud = auditor.cloud
    kept = {row.attempt_id for row in cloud.results.rows.values() if row.outcome in ANSWERED}
    for call in auditor.calls.answers():
        if call.attempt_id in kept or call.unsafe:
            continue
        if late_key(run.run_id, call.task_id, call.attempt_id) in cloud.blobs.objects:
            continue
        if call.safe_at is None and call.lost_with_its_worker(cloud.loop.time()):
            continue
        auditor.violated("answers", f"the answer to call {call.number} is nowhere", call.task_id)
