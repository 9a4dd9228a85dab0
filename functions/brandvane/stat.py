"""What did one invocation of a worker do? One item of the stats table per platform, minute and invocation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """Counts of one batch. ``latencies`` are seconds, at most one per record of the batch; ``hold_s`` is the batch's wall time.

    ``again`` are calls that came to a retry or a 429; ``used_up`` and ``expired`` say of which of the ``failed`` tasks the retries
    were used up or the deadline came too early.
    """

    platform: str
    minute: int  # POSIX seconds // 60
    invocation: str
    calls: int = 0
    answered: int = 0
    failed: int = 0
    retried: int = 0
    throttled: int = 0
    again: int = 0
    used_up: int = 0
    expired: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    latencies: tuple[float, ...] = ()
    queue_wait_s: float = 0.0
    hold_s: float = 0.0
    cost_microusd: int = 0
