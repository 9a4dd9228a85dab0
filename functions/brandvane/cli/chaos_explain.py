"""Why was a task asked again after its answer, and was what a kill left taken up in time? Pure: logs in, causes out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from brandvane.cli.chaos_kills import Aim, Kill
from brandvane.cli.chaos_process import DYING_S
from brandvane.result import ResultRow
from brandvane.simulation.call_audit import repeated_by_task
from brandvane.simulation.standin_row import CallRow
from brandvane.task import Outcome

RESCUE_S = 180.0
MAX_RETRY = 3  # DESIGN §5
LEASE_S = 30.0  # call timeout and margin: by then a worker has kept its answer, or the task is another's

Off = tuple[float, float]  # from, until: the scanner's schedules were disabled


@dataclass(frozen=True, slots=True)
class Repeats:
    """Calls made after their task's answer, or answered beside it: by recorded cause, and those without one (request ids)."""

    causes: Mapping[str, int]
    unexplained: tuple[str, ...]


def explain(calls: Sequence[CallRow], kills: Sequence[Kill]) -> Repeats:
    """Every repeated call has a cause when the answer to each call that arrived before it was lost with its worker.

    An answer was lost when the process that held its connection was killed, after it was written, while it was, or while the
    call was under way, and the record still showed that very call as RUNNING when the process was dead.
    """
    answers: dict[str, list[CallRow]] = defaultdict(list)
    for call in calls:
        if call.complete:
            answers[call.task].append(call)
    causes: Counter[str] = Counter()
    unexplained = []
    for call in repeated_by_task(calls):
        before = [each for each in answers[call.task] if each is not call and each.arrived <= call.arrived]
        lost_with = [_lost_with(each, kills) for each in before]
        first = lost_with[0]
        if first is None or None in lost_with:
            unexplained.append(call.request_id)
        else:
            causes[_cause(before[0], first)] += 1
    return Repeats(dict(sorted(causes.items())), tuple(unexplained))


def _cause(answer: CallRow, kill: Kill) -> str:
    if kill.aim is Aim.AFTER_ANSWER:
        return "killed right after the answer"
    under_way = kill.at < answer.finished - DYING_S
    return "killed with the call under way" if under_way else "killed with the answer not yet kept"


def _lost_with(answer: CallRow, kills: Iterable[Kill]) -> Kill | None:
    for kill in kills:
        own = answer.port in kill.victim.ports or answer.request_id == kill.victim.chosen
        # Bytes that are sent while a process dies are taken by its connections, and by nobody else; what is sent to one that is
        # dead reaches nobody, whether or not the sender hears of it.
        earliest = min(answer.arrived, answer.finished - DYING_S)
        if own and earliest <= kill.at <= answer.finished + LEASE_S and answer.request_id in kill.running:
            return kill
    return None


@dataclass(frozen=True, slots=True)
class Left:
    """A task that a killed worker left, and when."""

    task_id: str
    at: float


@dataclass(frozen=True, slots=True)
class Rescues:
    """What became of tasks that killed workers left: how many were called again, after how long at most (seconds, not counting
    the time the scanner was off); how many policy or deadline allowed no further try; and those that broke the promise.
    """

    again: int
    slowest_s: float
    ended: int
    late: tuple[str, ...]


def rescues(left: Iterable[Left], calls: Sequence[CallRow], rows: Sequence[ResultRow], off: Sequence[Off]) -> Rescues:
    """Was every task that was left called again within 3 minutes, unless policy or deadline ended it?"""
    arrivals: dict[str, list[float]] = defaultdict(list)
    for call in sorted(calls, key=lambda call: call.arrived):
        arrivals[call.task].append(call.arrived)
    row_of = {row.task_id: row for row in rows}
    waits, ended, late = [], 0, []
    for each in left:
        after = next((at for at in arrivals[each.task_id] if at > each.at + DYING_S), None)
        if after is None:
            if _allowed_no_more(row_of.get(each.task_id)):
                ended += 1
            else:
                late.append(f"{each.task_id} was never called again")
            continue
        waits.append(after - each.at - covered(each.at, after, off))
        if waits[-1] > RESCUE_S:
            late.append(f"{each.task_id} was called again {waits[-1]:.0f} s after its worker was killed")
    return Rescues(len(waits), round(max(waits, default=0.0), 1), ended, tuple(late))


def _allowed_no_more(row: ResultRow | None) -> bool:
    if row is None:
        return False
    used_up = row.outcome is Outcome.TIMEOUT and row.retry_count >= MAX_RETRY
    return used_up or row.outcome in (Outcome.EXPIRED, Outcome.CANCELLED, Outcome.POISON)


def covered(start: float, end: float, spans: Iterable[Off]) -> float:
    """Seconds of [start, end] that lie in any of the spans, which do not overlap."""
    return sum(max(min(end, until) - max(start, since), 0.0) for since, until in spans)
