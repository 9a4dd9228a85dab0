"""What have the platforms cost today? Reckoned as the scanner does for its gauge ``SpendToday``.

A platform with a budget of its own has its spending booked in the control item, and its calls stop by that. For every other one
what its workers reported is summed. Minutes that are over do not change, so a watch that looks again reads only the newest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from brandvane.cli.platform_view import PlatformFacts
from brandvane.ports import StatStore
from brandvane.schedule import Day
from brandvane.stat import Stat

MINUTE_S = 60


@dataclass(slots=True)
class _Sum:
    """Micro-dollars of a day's minutes before ``minute``."""

    date: str
    minute: int
    microusd: int = 0


@dataclass(slots=True)
class Spending:
    """Remembers, from one look to the next, what the minutes that are over have cost."""

    sums: dict[str, _Sum] = field(default_factory=dict)

    async def usd(self, facts: PlatformFacts, day: Day, stats: StatStore, newest: Sequence[Stat], since: int) -> float:
        """Dollars of the day; ``newest`` are all the platform's items from minute ``since`` on."""
        if budgeted(facts):
            return facts.day_usd
        name, first = facts.known.name, int(day.start // MINUTE_S)
        known = self.sums.get(name)
        if known is None or known.date != day.date:
            known = self.sums[name] = _Sum(day.date, first)
        if known.minute < since:
            older = await stats.since(name, known.minute * MINUTE_S, (since - 1) * MINUTE_S)
            known.microusd += sum(stat.cost_microusd for stat in older)
            known.minute = since
        lately = sum(stat.cost_microusd for stat in newest if stat.minute >= max(known.minute, first))
        return (known.microusd + lately) / 1e6


def budgeted(facts: PlatformFacts) -> bool:
    """Has the platform a budget of money of its own?"""
    settings = facts.known.settings
    return settings is not None and bool(settings.day_budget_usd)
