"""May this call in? The two limits of a platform, enforced without tolerance by the instant a call's first bytes were read.

Only admitted calls count: a platform that counted refused ones would lock out whoever is a little too fast for good.
A call becomes known when its head is complete, which may be later than its first byte and than younger calls; both
limits then look at every instant since, so that no sliding second and no instant is ever overfull in hindsight.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque

from brandvane.simulation.call_audit import most_at_once

KEEP_S = 120.0  # how far back a first byte can lie; connections whose request stays incomplete are cut long before
_PRUNE_AT = 4096


class RateWindow:
    """At most ``rate`` arrivals in any sliding second; a rate below 1 means one in any 1/rate seconds."""

    def __init__(self, rate: float) -> None:
        """``rate``: calls a second, whole or below 1."""
        self._taken: list[float] = []
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """Change the limit; arrivals already admitted go on counting."""
        self._most = max(int(rate), 1)
        self._span = 1.0 if rate >= 1 else 1.0 / rate

    def free_at(self, at: float) -> float:
        """The instant from which a call is admitted again: ``at`` itself when it may come in."""
        taken, most, span = self._taken, self._most, self._span
        place = bisect_right(taken, at)
        for first in range(max(place - most, 0), place + 1):
            # ``first`` begins a window of most + 1 arrivals, the new one among them at ``place``.
            last = first + most
            if last > len(taken):
                break
            begin = at if first == place else taken[first]
            end = at if last == place else taken[last - 1]
            if end - begin < span:
                return max(taken[-most] + span, at)
        return at

    def take(self, at: float) -> None:
        """Count an admitted arrival."""
        insort(self._taken, at)
        if len(self._taken) > _PRUNE_AT:
            del self._taken[: bisect_right(self._taken, self._taken[-1] - max(KEEP_S, self._span))]


class InFlight:
    """At most ``limit`` calls between their first byte read and their last byte written."""

    def __init__(self, limit: int) -> None:
        """``limit``: calls."""
        self.limit = limit
        self._open: dict[int, float] = {}
        self._closed: deque[tuple[float, float]] = deque(maxlen=_PRUNE_AT)
        self._next = 0

    def __len__(self) -> int:
        """Calls in flight now."""
        return len(self._open)

    def peak_since(self, at: float) -> int:
        """The most calls in flight at any instant from ``at`` until now."""
        recent = []
        for arrived, finished in reversed(self._closed):
            if finished <= at:
                break
            recent.append((max(arrived, at), finished))
        if not recent:
            return len(self._open)
        still = [(max(arrived, at), float("inf")) for arrived in self._open.values()]
        return most_at_once(recent + still)

    def enter(self, arrived: float) -> int:
        """A call comes in; the ticket it leaves with."""
        self._next += 1
        self._open[self._next] = arrived
        return self._next

    def leave(self, ticket: int, finished: float) -> None:
        """Its last byte was written, or its connection is gone."""
        self._closed.append((self._open.pop(ticket), finished))
