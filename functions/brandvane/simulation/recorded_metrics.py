"""What would CloudWatch have been told, and which alarms would have fired? Values recorded in virtual time, judged by the alarms' table."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from brandvane.alarm_state import Change, Sample, history, raised
from brandvane.alarms import ALARMS
from brandvane.metrics import METRICS


class RecordedMetrics:
    """Every value of a metric that the scanner publishes, by name and platform (None: the stack's)."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str | None], tuple[array[float], array[float]]] = {}

    def put(self, at: float, name: str, value: float, platform: str | None) -> None:
        """A value was published; what is in no table, or the workers' own, is not."""
        metric = METRICS.get(name)
        if metric is None or metric.by_workers:
            return
        times, values = self._of.setdefault((name, platform), (array("d"), array("d")))
        times.append(at)
        values.append(value)

    def samples(self, name: str, platform: str | None = None) -> list[Sample]:
        """What was published of one metric."""
        times, values = self._of.get((name, platform), ((), ()))
        return [Sample(at, value) for at, value in zip(times, values, strict=True)]

    def histories(self, platforms: Sequence[str], start: float, end: float) -> dict[str, list[Change]]:
        """Each alarm's changes of state, by its name: ``write-back-pending``, ``openai/retry-storm``."""
        found = {}
        for alarm in ALARMS.values():
            for platform in platforms if alarm.per_platform else (None,):
                name = f"{platform}/{alarm.id}" if platform else alarm.id
                found[name] = history(alarm, self.samples(alarm.metric, platform), start, end)
        return found

    def fired(self, platforms: Sequence[str], start: float, end: float) -> dict[str, list[float]]:
        """When each alarm fired, of those that did."""
        times = {name: raised(changes) for name, changes in self.histories(platforms, start, end).items()}
        return {name: each for name, each in times.items() if each}
