"""Which buckets does each scorer take? Apart from the scorer itself, so that who only asks for it need not load the matcher."""

from __future__ import annotations

from brandvane.task import BUCKETS

# A scorer reads some 400 answers a second at least, so this is a quarter of a minute of one invocation's work.
ROWS_AN_INVOCATION = 5_000


def plan_buckets(total: int) -> tuple[tuple[int, ...], ...]:
    """Which buckets each invocation of the scorer takes, for a run of ``total`` rows: 1, 2, 4, 8 or 16 even groups."""
    groups = 1
    while groups < BUCKETS and total > groups * ROWS_AN_INVOCATION:
        groups *= 2
    size = BUCKETS // groups
    return tuple(tuple(range(first, first + size)) for first in range(0, BUCKETS, size))
