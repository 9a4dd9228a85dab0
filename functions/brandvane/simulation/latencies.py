"""How long do the services take? Named distributions through published quantiles, and where each figure comes from."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_STEPS = 4096


@dataclass(frozen=True, slots=True)
class Latency:
    """Quantiles (share, seconds), between which the logarithm of the time runs straight; the ends are the extremes."""

    quantiles: tuple[tuple[float, float], ...]
    source: str

    def at(self, share: float) -> float:
        """The time that ``share`` of all requests do not exceed."""
        shares = [point[0] for point in self.quantiles]
        place = min(max(bisect_right(shares, share), 1), len(shares) - 1)
        (low, fast), (high, slow) = self.quantiles[place - 1], self.quantiles[place]
        return math.exp(math.log(fast) + (math.log(slow) - math.log(fast)) * (share - low) / (high - low))

    def sampler(self, rng: random.Random, factor: float = 1.0) -> Callable[[], float]:
        """Draws of it, each times ``factor``, from a table of 4,096 steps."""
        table = _table(self, factor)
        draw = rng.random
        return lambda: table[int(draw() * _STEPS)]

    def described(self) -> dict[str, Any]:
        """JSON-ready: median, p99 and source."""
        return {"p50_ms": round(self.at(0.5) * 1e3, 1), "p99_ms": round(self.at(0.99) * 1e3, 1), "source": self.source}


@lru_cache(maxsize=64)
def _table(latency: Latency, factor: float) -> tuple[float, ...]:
    return tuple(latency.at((step + 0.5) / _STEPS) * factor for step in range(_STEPS))


def _ms(source: str, low: float, p10: float, p50: float, p90: float, p99: float, high: float) -> Latency:
    shares = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)
    return Latency(
        tuple((share, ms / 1e3) for share, ms in zip(shares, (low, p10, p50, p90, p99, high), strict=True)), source
    )


LATENCIES: Mapping[str, Latency] = {
    "dynamodb_write": _ms(
        "zae-limiter docs/performance.md: a conditional UpdateItem takes 5 to 8 ms in its region; tail assumed",
        3, 4.5, 6, 8, 25, 120,
    ),
    "dynamodb_read": _ms("assumed: somewhat below a write", 1.5, 2.5, 4, 6, 20, 100),
    "dynamodb_index_lag": _ms("AWS: usually within a fraction of a second; figures assumed", 2, 5, 15, 60, 300, 1500),
    "sqs": _ms("assumed: a part of what a message takes from send to function", 2, 4, 7, 15, 45, 200),
    "sqs_to_lambda": _ms(
        "bitesizedserverless.com, serverless messaging latency compared (2022-09): P10/50/90/99",
        10, 13.7, 16.2, 33.8, 105, 400,
    ),
    "s3": _ms("AWS S3 user guide: small objects take roughly 100 to 200 ms", 20, 50, 100, 200, 400, 1500),
    "ssm": _ms("assumed: a parameter takes some tens of milliseconds", 8, 12, 20, 50, 200, 1000),
    "lambda_cold_start": _ms(
        "measured: importing the worker and making its clients takes 0.3 s at full speed; doubled for 256 MB",
        350, 450, 600, 800, 1500, 3000,
    ),
    "lambda_async": _ms("assumed: like an event bus after its update of 2023, and below", 20, 40, 80, 150, 500, 2000),
    "schedule": _ms("assumed: EventBridge Scheduler fires early in its minute", 20, 50, 200, 800, 2000, 5000),
}  # fmt: skip
