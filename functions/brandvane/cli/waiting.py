"""How many tasks wait for a platform, or for one model of it, and what would their calls cost?"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from brandvane.catalogue import Selection, prompts
from brandvane.cli.desk import Desk
from brandvane.cli.estimate import BASIS, Call, Estimate, estimate
from brandvane.cli.lookup import current_catalogue
from brandvane.cli.run_plan_view import estimate_document
from brandvane.cli.view import dollars, number
from brandvane.task import PENDING_SHARDS, PRIORITIES, State, held_watch, pending_watch

FAR_FUTURE = 1e11
COUNT_CAP = 2000  # a partition; beyond it "at least" is said


@dataclass(frozen=True, slots=True)
class Waiting:
    """Tasks that are planned or dispatched and not begun; ``capped``: there may be more."""

    tasks: int
    capped: bool
    cost: Estimate

    @property
    def text(self) -> str:
        """For people."""
        return f"{'at least ' * self.capped}{number(self.tasks, 'task')}"

    @property
    def price(self) -> str:
        """What their calls would cost, for people."""
        unknown = ", more where no price is known" * bool(self.cost.unpriced)
        return f"about {dollars(self.cost.total_usd)} ({BASIS}{unknown})"

    def document(self) -> dict[str, object]:
        """As JSON."""
        return {"tasks": self.tasks, "at_least": self.capped, "estimate": estimate_document(self.cost)}


async def waiting_for(desk: Desk, platform: str, target: str | None = None) -> Waiting:
    """Count them by the index, each partition up to the cap; a model's are told apart by reading the entries."""
    partitions = [
        *(pending_watch(platform, priority, shard) for priority in PRIORITIES for shard in range(PENDING_SHARDS)),
        held_watch(platform, State.DISPATCHED),
    ]
    if target is None:
        counts = await asyncio.gather(*(desk.tasks.count_due(each, FAR_FUTURE, COUNT_CAP) for each in partitions))
        tasks, capped = sum(counts), max(counts) >= COUNT_CAP
    else:
        model = target.removeprefix(f"{platform}/")
        pages = await asyncio.gather(*(desk.tasks.due(each, FAR_FUTURE, COUNT_CAP) for each in partitions))
        tasks = sum(1 for page in pages for entry in page if entry.model == model)
        capped = max(map(len, pages)) >= COUNT_CAP
    return Waiting(tasks, capped, await _cost(desk, platform, target, tasks))


async def _cost(desk: Desk, platform: str, target: str | None, tasks: int) -> Estimate:
    """By the current catalogue: the mean of its prompts on the platform's models, times the tasks."""
    catalogue = await current_catalogue(desk)
    if catalogue is None or platform not in catalogue.monitor.platform_names:
        return Estimate()
    settings = catalogue.monitor.platform(platform)
    models = settings.models if target is None else (target.removeprefix(f"{platform}/"),)
    texts = [prompt.text for prompt in prompts(catalogue, Selection())]
    whole = estimate((Call(platform, model, text) for model in models for text in texts), catalogue.monitor)
    return whole.scaled({platform: tasks})
