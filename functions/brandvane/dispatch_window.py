"""How many messages should be on a platform's queue at most? As many as it serves until the next tick: *available*, not *alive*.

What workers reported in the last two minutes lowers the window or restores it; without reports it is wide open. It never closes
below one batch per free slot, so that there is always something to learn from (DESIGN §4.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from brandvane.stat import Stat

REPORTS_S = 120.0
LATE_S = 5.0  # messages that wait longer than this for a worker: the platform serves less than it is sent
FAILING = 0.5


def window(stats: Sequence[Stat], rate: float, slots: int, invocations: int, ahead_s: float) -> int:
    """Messages that may be on the queue: ``rate`` calls/s over ``ahead_s`` seconds and one for each slot, or what is really served.

    What is served follows from how long batches take when all ``invocations`` work: minutes that a backlog has only partly filled
    do not make a platform look slow.
    """
    most = math.ceil(rate * ahead_s) + slots
    calls = sum(s.calls for s in stats)
    if calls == 0:
        return most
    bad = sum(s.kinds.get("timeout", 0) + s.kinds.get("server_error", 0) for s in stats) / calls
    late = sorted(s.queue_wait_s for s in stats)[len(stats) // 2] > LATE_S
    if bad <= FAILING and not late:
        return most
    held = sum(s.hold_s for s in stats)
    served = min(rate, invocations * calls / held) if held > 0 else rate
    useful = served * (1.0 - bad) if bad > FAILING else served
    return min(most, max(slots, math.ceil(useful * ahead_s) + slots))
