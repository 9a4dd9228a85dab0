"""Was every planned question asked, answered and kept, and was no limit broken? A run's account that trusts no counter.

What was to be done is expanded anew from the catalogue, what was done is read from the result rows, and what was sent is read
from the stand-ins' own log of calls. Pure: no clock, no files, no tables.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from brandvane.catalogue import Catalogue, Selection
from brandvane.expansion import Expansion, planned_ids
from brandvane.policy import MAX_RETRY
from brandvane.result import ResultRow
from brandvane.simulation.call_audit import PromptKey, audit, first_arrivals
from brandvane.simulation.standin_row import THROTTLED, CallOutcome, CallRow
from brandvane.task import ANSWERED

_LIMITED = THROTTLED | {CallOutcome.INJECTED_429}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run has to ask: every task's id, and how many tasks send each prompt to each model (samples, locales)."""

    ids: frozenset[str]
    tasks_of: Mapping[PromptKey, int]


def plan_of(run_id: str, catalogue: Catalogue, selection: Selection) -> Plan:
    """Expand the catalogue anew. Order and instants do not matter here, so priority and seed do not either."""
    expansion = Expansion(catalogue, selection, "normal", 0)
    tasks_of = Counter((task.platform, task.model, task.prompt.text) for task in expansion)
    return Plan(frozenset(planned_ids(run_id, expansion)), tasks_of)


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds between the planned instant of a task and the arrival of its first call; None where nothing was called."""

    mean: float | None = None
    p50: float | None = None
    p99: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run's account.

    ``planned``: distinct tasks of the catalogue; ``results``: rows read; ``lost``: planned tasks without a row; ``unplanned``:
    rows and called tasks that the plan does not know. ``calls``: lines of the log; ``throttled``: 429s because a limit was
    exceeded; ``injected``: 429s that were drawn. ``repeated_calls``: calls for a task after a complete answer to it had been
    written, and those that brought a further one at the same time, by request id; ``repeated_by_prompt`` counts them by prompt.
    ``retries``: rows by number of retries, counted from the log. ``rate_used``: share of a platform's limit in its busiest 30 s.
    ``run_s``: from the run's creation to its report.
    """

    run_id: str
    planned: int
    results: int
    lost: int
    unplanned: int
    done: int
    failed: int
    outcomes: Mapping[str, int]
    calls: int
    throttled: int
    injected: int
    repeated_calls: int
    repeated_by_prompt: int
    groupings_agree: bool
    retries: Mapping[str, int]
    start_delay_s: Delay
    rate_used: Mapping[str, float | None]
    call_outcomes: Mapping[str, int]
    run_s: float | None = None
    complaints: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Was everything kept that is promised?"""
        return not self.complaints

    def document(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "passed": self.passed}


def audit_run(
    run_id: str,
    plan: Plan,
    rows: Sequence[ResultRow],
    calls: Sequence[CallRow],
    rates: Mapping[str, float],
    *,
    run_s: float | None = None,
) -> Summary:
    """The account of one run. ``calls``: the whole log, or where several runs share one, this run's part of it.

    ``rates``: calls a second that each stand-in enforces.
    """
    ids = {row.task_id for row in rows}
    called = audit(calls, rates, plan.tasks_of)
    done = sum(row.outcome in ANSWERED for row in rows)
    counts = {
        "planned": len(plan.ids),
        "results": len(rows),
        "lost": len(plan.ids - ids),
        "unplanned": len((ids | {call.task for call in calls}) - plan.ids),
        "done": done,
        "failed": len(rows) - done,
    }
    repeated = called.repeated_calls
    return Summary(
        run_id=run_id,
        **counts,
        outcomes=dict(sorted(Counter(row.outcome.value for row in rows).items())),
        calls=called.calls,
        throttled=called.throttled,
        injected=called.injected,
        repeated_calls=repeated.by_task,
        repeated_by_prompt=repeated.by_prompt,
        groupings_agree=repeated.agree,
        retries=_retries(rows, calls),
        start_delay_s=_delay(rows, calls),
        rate_used={name: account.busiest_share for name, account in called.platforms.items()},
        call_outcomes=dict(sorted(Counter(call.outcome.value for call in calls).items())),
        run_s=None if run_s is None else round(run_s, 1),
        complaints=tuple(_complaints(counts, called.throttled, repeated.by_task, repeated.agree)),
    )


def _complaints(counts: Mapping[str, int], throttled: int, repeated: int, agree: bool) -> Iterable[str]:
    if counts["planned"] == 0:
        yield "nothing was planned"
    if counts["lost"]:
        yield f"{counts['lost']} planned tasks have no result row"
    if counts["results"] != counts["planned"]:
        yield f"{counts['results']} result rows for {counts['planned']} planned tasks"
    if counts["unplanned"]:
        yield f"{counts['unplanned']} tasks have a row or a call and are not planned"
    if throttled:
        yield f"{throttled} calls were refused because a platform's limit was exceeded"
    if repeated:
        yield f"{repeated} calls were made though their task had been answered, or was being answered"
    if not agree:
        yield "repeated calls grouped by request id and by prompt disagree"


def _retries(rows: Sequence[ResultRow], calls: Sequence[CallRow]) -> dict[str, int]:
    """Rows by retries: calls after the first, but for those that follow a 429 (a limit's wait is no retry)."""
    made: dict[str, list[CallRow]] = defaultdict(list)
    for call in sorted(calls, key=lambda call: call.arrived):
        made[call.task].append(call)
    found = Counter(sum(call.outcome not in _LIMITED for call in made[row.task_id][:-1]) for row in rows)
    shown = range(max(MAX_RETRY, *found, 0) + 1)
    return {str(number): found[number] for number in shown}


def _delay(rows: Sequence[ResultRow], calls: Sequence[CallRow]) -> Delay:
    first = first_arrivals(calls)
    delays = sorted(first[row.task_id] - row.planned_time for row in rows if row.task_id in first)
    if not delays:
        return Delay()
    mean = math.fsum(delays) / len(delays)
    return Delay(round(mean, 3), round(quantile(delays, 0.5), 3), round(quantile(delays, 0.99), 3))


def quantile(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank quantile of sorted values: the least one that ``share`` of them do not exceed."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]
