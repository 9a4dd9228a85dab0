"""Were limits kept and was any task asked again after its answer? Counted from a stand-in's call log, trusting no counter.

Functions over log rows, without clock or files: the stand-in's audit endpoint and the demo's summary use the same ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from brandvane.simulation.standin_row import THROTTLED, CallOutcome, CallRow

BUSY_WINDOW_S = 30.0  # the window of the "share of the rate used"
PromptKey = tuple[str, str, str]  # platform, model, prompt as received


@dataclass(frozen=True, slots=True)
class Repeated:
    """Calls for a task that arrived after a complete valid 200 for it was fully written, or that brought one more beside it,
    counted in two ways.
    """

    by_task: int
    by_prompt: int
    agree: bool


@dataclass(frozen=True, slots=True)
class PlatformAudit:
    """One platform's account. ``max_calls_in_second`` and ``max_in_flight`` are over all calls that arrived; the
    ``admitted`` ones leave out what was refused for exceeding a limit, so they never exceed it if it was enforced.
    ``busiest_rate``: admitted calls a second in the busiest 30 s; ``busiest_share``: that over the limit (None: unknown).
    """

    calls: int
    throttled: int
    injected: int
    complete: int
    outcomes: Mapping[str, int]
    max_calls_in_second: int
    max_admitted_in_second: int
    max_in_flight: int
    max_admitted_in_flight: int
    repeated_calls: Repeated
    busiest_rate: float
    busiest_share: float | None


@dataclass(frozen=True, slots=True)
class Audit:
    """Every platform's account and the sums that matter."""

    platforms: Mapping[str, PlatformAudit]
    calls: int
    throttled: int
    injected: int
    repeated_calls: Repeated

    def document(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def audit(rows: Iterable[CallRow], rates: Mapping[str, float], allowed: Mapping[PromptKey, int] | None = None) -> Audit:
    """The account of a log. ``rates``: calls a second each platform allows; platforms without calls get zeros.

    ``allowed``: see ``repeated_by_prompt``.
    """
    by_platform: dict[str, list[CallRow]] = {name: [] for name in rates}
    for row in rows:
        by_platform.setdefault(row.platform, []).append(row)
    everything = [row for group in by_platform.values() for row in group]
    repeated = repeated_calls(everything, allowed)
    none = Repeated(0, 0, agree=True)
    platforms = {
        name: _platform(group, rates.get(name), repeated.get(name, none)) for name, group in by_platform.items()
    }
    return Audit(
        platforms=platforms,
        calls=len(everything),
        throttled=sum(p.throttled for p in platforms.values()),
        injected=sum(p.injected for p in platforms.values()),
        repeated_calls=Repeated(
            sum(r.by_task for r in repeated.values()),
            sum(r.by_prompt for r in repeated.values()),
            agree=all(r.agree for r in repeated.values()),
        ),
    )


def _platform(rows: Sequence[CallRow], rate: float | None, repeated: Repeated) -> PlatformAudit:
    outcomes = Counter(row.outcome.value for row in rows)
    admitted = [row for row in rows if row.outcome not in THROTTLED]
    arrivals = [row.arrived for row in admitted]
    busiest = most_within(arrivals, BUSY_WINDOW_S) / BUSY_WINDOW_S
    return PlatformAudit(
        calls=len(rows),
        throttled=len(rows) - len(admitted),
        injected=outcomes[CallOutcome.INJECTED_429.value],
        complete=sum(row.complete for row in rows),
        outcomes=dict(sorted(outcomes.items())),
        max_calls_in_second=most_within([row.arrived for row in rows], 1.0),
        max_admitted_in_second=most_within(arrivals, 1.0),
        max_in_flight=most_at_once([(row.arrived, row.finished) for row in rows]),
        max_admitted_in_flight=most_at_once([(row.arrived, row.finished) for row in admitted]),
        repeated_calls=repeated,
        busiest_rate=round(busiest, 4),
        busiest_share=round(busiest / rate, 4) if rate else None,
    )


def most_within(times: Iterable[float], window_s: float) -> int:
    """The most instants in any half-open window of that length: two exactly ``window_s`` apart are never in one."""
    ordered = sorted(times)
    most = start = 0
    for end, time in enumerate(ordered):
        while time - ordered[start] >= window_s:
            start += 1
        most = max(most, end - start + 1)
    return most


def most_at_once(intervals: Iterable[tuple[float, float]]) -> int:
    """The most intervals [start, end) that overlap at any instant: one that ends as another starts does not."""
    edges: list[tuple[float, int]] = []
    for start, end in intervals:
        edges += ((start, 1), (end, -1))
    edges.sort()  # at one instant ends (-1) come before starts
    most = now = 0
    for _, change in edges:
        now += change
        most = max(most, now)
    return most


def repeated_calls(rows: Sequence[CallRow], allowed: Mapping[PromptKey, int] | None = None) -> dict[str, Repeated]:
    """Both counts for each platform, and whether they agree.

    They agree when for every (platform, model, prompt) that stands for one task the numbers are equal, and for every
    one that stands for several (samples, locales) the prompts' number is not above the tasks': there it is a lower bound.
    """
    groups: dict[PromptKey, list[CallRow]] = defaultdict(list)
    for row in rows:
        groups[row.platform, row.model, row.prompt].append(row)
    late = {id(row) for row in repeated_by_task(rows)}
    sums: dict[str, tuple[int, int, bool]] = {row.platform: (0, 0, True) for row in rows}
    for key, group in groups.items():
        quota = _quota(key, group, allowed)
        by_task = sum(id(row) in late for row in group)
        by_prompt = len(repeated_by_prompt(group, quota))
        agree = by_task == by_prompt if quota == 1 else by_prompt <= by_task
        tasks, prompts, so_far = sums[key[0]]
        sums[key[0]] = (tasks + by_task, prompts + by_prompt, so_far and agree)
    return {name: Repeated(*values) for name, values in sums.items()}


def repeated_by_task(rows: Iterable[CallRow]) -> list[CallRow]:
    """Rows that arrived after the first complete answer to their own task (by request id) was fully written, or that were answered
    as well though they arrived before: two calls at once are paid for twice.

    Calls without a request id belong to no task; only the prompts' count sees them.
    """
    by_task: dict[str, list[CallRow]] = defaultdict(list)
    for row in rows:
        if row.request_id:
            by_task[row.task].append(row)
    return [row for group in by_task.values() for row in repeated_by_prompt(group, 1)]


def repeated_by_prompt(group: Iterable[CallRow], quota: int) -> list[CallRow]:
    """Rows of one prompt that arrived when ``quota`` complete answers to it had been fully written already, and those with a
    complete answer beyond the ``quota`` that arrived first, whenever they arrived.

    Samples and locales make several tasks send the same text to the same model, and each of them may have one complete
    answer: the quota is the number of distinct task ids among the prompt's calls (at least 1). A caller who knows the
    plan gives the numbers itself (``allowed`` above), which also finds a task that was given two ids.

    With several tasks only complete answers count: after one task was answered twice, another one may still have to be asked, and
    asked again after an error, without any repetition of its own.
    """
    rows = list(group)
    answered = sorted((row for row in rows if row.complete), key=lambda row: row.arrived)
    if len(answered) < quota:
        return []
    enough = sorted(row.finished for row in answered)[quota - 1]
    too_many = {id(row) for row in answered[quota:]}  # with those that arrived later than enough among them
    return [row for row in rows if id(row) in too_many or (quota == 1 and row.arrived > enough)]


def _quota(key: PromptKey, group: Iterable[CallRow], allowed: Mapping[PromptKey, int] | None) -> int:
    if allowed is not None and key in allowed:
        return max(allowed[key], 1)
    return max(len({row.task for row in group if row.request_id}), 1)


def first_arrivals(rows: Iterable[CallRow]) -> dict[str, float]:
    """Arrival of each task's first call, by task id (for the planned-to-start delay)."""
    first: dict[str, float] = {}
    for row in rows:
        if row.request_id:
            first[row.task] = min(row.arrived, first.get(row.task, row.arrived))
    return first
