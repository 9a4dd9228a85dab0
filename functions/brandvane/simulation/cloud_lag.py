"""What do the lagging indexes of runs and of result rows know at an instant of the past?"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter

from brandvane.run import Run


class Behind:
    """Runs as they were, and how many rows of a run were counted; instants are virtual seconds, in order."""

    def __init__(self) -> None:
        self._runs: dict[str, list[tuple[float, int, Run]]] = {}
        self._rows: dict[str, list[float]] = {}
        self._removed: Counter[str] = Counter()
        self._number = 0

    def run_changed(self, run: Run, now: float) -> None:
        """A run was put or changed."""
        self._number += 1
        self._runs.setdefault(run.run_id, []).append((now, self._number, run))

    def runs(self, at: float) -> list[Run]:
        """Every run as it was at ``at``."""
        found = []
        for versions in self._runs.values():
            place = bisect_right(versions, at, key=lambda version: version[0])
            if place:
                found.append(versions[place - 1][2])
        return found

    def row_counted(self, run_id: str, now: float) -> None:
        """A row came into the index."""
        insort(self._rows.setdefault(run_id, []), now)

    def row_removed(self, run_id: str) -> None:
        """A row left it; that is known at once, for the count must not lead."""
        self._removed[run_id] += 1

    def rows(self, run_id: str, at: float) -> int:
        """Counted rows as they were at ``at``, never more than there are now."""
        return max(bisect_right(self._rows.get(run_id, []), at) - self._removed[run_id], 0)
