"""What is a report made of? Everything that page and tables show, put together once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from brandvane.catalogue import Catalogue
from brandvane.mentions.tally import Tally
from brandvane.report.corrected import Entry
from brandvane.report.figures import Target
from brandvane.report.rereading import Rereading
from brandvane.report.trend import Trend
from brandvane.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A run's counts and what belongs to them. ``faults``: task id -> why its answer could not be read."""

    run: Run
    catalogue: Catalogue
    tally: Tally
    parsers: Sequence[str]
    targets: Sequence[Target]
    trend: Trend = field(default_factory=Trend)
    corrections: Sequence[Entry] = ()
    reread: Rereading | None = None
    faults: Mapping[str, str] = field(default_factory=dict)
