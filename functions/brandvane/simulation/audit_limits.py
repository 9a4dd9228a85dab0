"""Does a platform get more than it allows? Calls in any sliding window, and calls in flight, by the platform's own watch."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

WINDOWS_S = (1.0, 10.0, 60.0)
STRICT_SKEW_S = 0.002
LATENESS_S = 0.0265  # a slot may be used 25 ms late (DESIGN §4.4), and the network's times differ a little
LIMITER_ROOM = 1 / 0.97 - 1  # of any window, is what the limiter leaves
ROUNDING_S = 1e-6


@dataclass(order=True, slots=True)
class InFlight:
    """A call under way, until the platform is through with it or its caller is gone."""

    end: float
    gone: bool = field(default=False, compare=False)


class LimitAudit:
    """The limits of one platform. ``skew_s``: how far the callers' clocks are off, either way.

    In any window of *w* seconds at most ``rate`` × *w* calls may start. Clocks that are off by more than a few milliseconds can
    bring calls nearer to each other by twice that, which short windows show and long ones do not: there a window is as much
    shorter.
    """

    def __init__(self, rate: float, in_flight: int, skew_s: float) -> None:
        self._most = in_flight
        self._windows: list[tuple[int, float]] = []
        for seconds in WINDOWS_S:
            number = max(math.floor(rate * seconds + 1e-9), 1)
            span = number / rate
            spread = 2 * skew_s if skew_s > STRICT_SKEW_S and span * LIMITER_ROOM < 2 * skew_s + LATENESS_S else 0.0
            if span > spread:
                self._windows.append((number, span - spread))
        longest = max((number for number, _ in self._windows), default=1)
        self._starts: deque[float] = deque(maxlen=longest)
        self._ends: list[InFlight] = []
        self._running = 0
        self.calls = 0
        self.most_in_flight = 0

    def started(self, at: float) -> Iterator[str]:
        """A call starts; what is wrong with that."""
        self.calls += 1
        starts = self._starts
        for number, span in self._windows:
            if len(starts) >= number and at - starts[-number] < span - ROUNDING_S:
                yield f"{number + 1} calls within {at - starts[-number]:.3f} s; {number} in {span:.3f} s are allowed"
        starts.append(at)
        while self._ends and self._ends[0].end <= at:
            self._running -= not heappop(self._ends).gone
        if self._running >= self._most:
            yield f"{self._running + 1} calls in flight; {self._most} are allowed"

    def takes(self, until: float) -> InFlight:
        """The call that has just started keeps the platform busy until then."""
        self._running += 1
        self.most_in_flight = max(self.most_in_flight, self._running)
        call = InFlight(until)
        heappush(self._ends, call)
        return call

    def leaves(self, call: InFlight) -> None:
        """Its caller is gone before its end."""
        if not call.gone:
            call.gone = True
            self._running -= 1
