"""What will it cost to ask tasks again? Each by the catalogue that its run is pinned to."""

from __future__ import annotations

from collections.abc import Iterable

from brandvane.catalogue import Catalogue
from brandvane.cli.desk import Desk
from brandvane.cli.estimate import BASIS, Call, Estimate, estimate, texts_of
from brandvane.cli.view import dollars
from brandvane.result import ResultRow
from brandvane.task import Task


async def cost_of_tasks(desk: Desk, tasks: Iterable[Task]) -> Estimate:
    """An estimate over all their runs; targets of a run or catalogue that is gone have no price."""
    by_run: dict[str, list[Task]] = {}
    for task in tasks:
        by_run.setdefault(task.run_id, []).append(task)
    whole = Estimate()
    for run_id, of_run in by_run.items():
        run = await desk.runs.get(run_id)
        try:
            catalogue = None if run is None else await desk.catalogues.load(run.catalogue_version)
        except LookupError:
            catalogue = None
        whole = _together(whole, _unknown(of_run) if catalogue is None else cost_in(catalogue, of_run))
    return whole


def cost_in(catalogue: Catalogue, asked: Iterable[Task | ResultRow]) -> Estimate:
    """An estimate for tasks, or rows of tasks, of one catalogue."""
    texts = texts_of(catalogue)
    calls = [
        Call(each.platform, each.model, texts.get(each.prompt_hash, ""))
        for each in asked
        if each.platform in catalogue.monitor.platform_names
    ]
    return estimate(calls, catalogue.monitor)


def price_text(cost: Estimate) -> str:
    """For people."""
    unknown = f"; no price is known for {', '.join(cost.unpriced)}" if cost.unpriced else ""
    return f"about {dollars(cost.total_usd)} ({BASIS}{unknown})"


def _unknown(tasks: Iterable[Task]) -> Estimate:
    return Estimate(unpriced=tuple(dict.fromkeys(task.target for task in tasks)))


def _together(one: Estimate, other: Estimate) -> Estimate:
    calls, usd = dict(one.calls), dict(one.usd)
    for name, count in other.calls.items():
        calls[name] = calls.get(name, 0) + count
        usd[name] = usd.get(name, 0.0) + other.usd[name]
    unpriced = tuple(dict.fromkeys((*one.unpriced, *other.unpriced)))
    return Estimate(calls, usd, one.real_calls + other.real_calls, unpriced)
