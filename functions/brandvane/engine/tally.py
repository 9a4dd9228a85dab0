"""What did one invocation of a worker do? Counted while it works, reported once at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from brandvane.answer import Answer, Failure
from brandvane.breaker import OUTAGE
from brandvane.engine.deliver import CallReport
from brandvane.stat import Stat
from brandvane.task import Outcome

USED_UP = frozenset({Outcome.RETRIES_USED_UP, Outcome.EMPTY})  # the last of the tries failed, or came back empty


@dataclass(slots=True)
class Tally:
    """Counts of one invocation; ``outages`` are calls that timed out, lost their connection or met a 5xx."""

    kinds: Counter[str] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    answered: int = 0
    failed: int = 0
    retried: int = 0
    throttled: int = 0
    again: int = 0
    used_up: int = 0
    expired: int = 0
    outages: int = 0
    cost_microusd: int = 0
    queue_wait_s: float = 0.0

    def waited(self, seconds: float) -> None:
        """A message came this long after its task was due."""
        self.queue_wait_s = max(self.queue_wait_s, seconds)

    def add(self, report: CallReport, reply: Answer | Failure) -> None:
        """A call came back and was delivered."""
        self.kinds[report.kind] += 1
        self.latencies.append(reply.latency_s)
        self.answered += report.answered
        self.retried += report.retried
        self.throttled += report.throttled
        self.again += report.retried or report.throttled
        self.used_up += report.outcome in USED_UP
        self.expired += report.outcome is Outcome.EXPIRED
        self.failed += not (report.answered or report.retried)
        self.outages += isinstance(reply, Failure) and reply.kind in OUTAGE
        self.cost_microusd += report.cost_microusd

    def stat(self, platform: str, invocation: str, started: float, now: float) -> Stat:
        """The item of the stats table."""
        return Stat(
            platform=platform,
            minute=int(now // 60),
            invocation=invocation,
            calls=len(self.latencies),
            answered=self.answered,
            failed=self.failed,
            retried=self.retried,
            throttled=self.throttled,
            again=self.again,
            used_up=self.used_up,
            expired=self.expired,
            kinds=dict(self.kinds),
            latencies=tuple(round(x, 3) for x in self.latencies),
            queue_wait_s=round(self.queue_wait_s, 3),
            hold_s=round(now - started, 3),
            cost_microusd=self.cost_microusd,
        )
