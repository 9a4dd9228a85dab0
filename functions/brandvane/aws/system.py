"""What are time, chance and the log when the engine runs for real?"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from brandvane.aws.client import Clients
from brandvane.metrics import COUNTED_ONCE, METRICS, NAMESPACE, dimensions

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

METRICS_A_CALL = 500  # PutMetricData takes 1,000 and 1 MB
# What a reader of ``logs --level warning`` must see: the remedies of the runbook begin there. So is every event that tells of an
# error; everything else is a note.
WARNINGS = frozenset(
    {
        "answer_not_recorded",
        "answer_not_safe",
        "answer_not_sent",
        "answer_not_stored",
        "answer_unreadable",
        "breaker_open",
        "call_failed",
        "canary_failed",
        "gauges_not_published",
        "heartbeat_not_written",
        "lease_ran_out",
        "metrics_not_published",
        "more_results_than_planned",
        "not_postponed",
        "notice_not_delivered",
        "partition_not_dispatched",
        "partition_not_swept",
        "paused",
        "plan_stalled",
        "platform_not_dispatched",
        "record_not_swept",
        "run_not_advanced",
        "run_not_ended",
        "run_not_planned",
        "run_not_started",
        "write_back_failed",
        "write_back_without_record",
    }
)
# Names that a log record has itself; logging refuses them as extra fields.
_TAKEN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class SystemClock:
    """The machine's clock and the running event loop's sleep."""

    def now(self) -> float:
        """POSIX seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 or less returns at once."""
        if seconds > 0:
            await asyncio.sleep(seconds)


def system_rng() -> random.Random:
    """Chance from the operating system: ids made from it fence, so two environments must never agree."""
    return secrets.SystemRandom()


class LogTelemetry:
    """Structured log lines through Powertools; counts are summed and written with ``flush``.

    With ``publish`` those of ``metrics.METRICS`` go to CloudWatch; what is not in that table is only logged, because nobody has
    reckoned with its cost. The workers' own metrics become lines of the log that CloudWatch reads.
    """

    def __init__(self, *, logger: Logger, stack: str, clients: Clients | None = None) -> None:
        self._logger = logger
        self._stack = stack
        self._clients = clients
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._values: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def count(self, name: str, number: float = 1, *, platform: str | None = None, unit: str = "Count") -> None:
        """Add to a metric's value of this flush."""
        metric = METRICS.get(name)
        if metric is not None and metric.by_workers:
            self._values[name, platform or ""].append(number)
        else:
            self._counts[name, platform or "", unit] += number  # type: ignore[assignment]

    def event(self, name: str, **fields: Any) -> None:
        """Write one structured log line; its level follows from its name."""
        shown = {f"{key}_" if key in _TAKEN else key: value for key, value in fields.items() if value is not None}
        (self._logger.warning if name in WARNINGS or "error" in shown else self._logger.info)(name, extra=shown)

    async def flush(self) -> None:
        """Publish what has been counted and begin anew (a warm environment must not count twice).

        Raises:
            Unavailable: CloudWatch refuses. What is counted only when it happens is kept for the next flush; gauges come anew.
            Refused: it refuses for good.
        """
        counts, self._counts = self._counts, Counter()
        values, self._values = self._values, defaultdict(list)
        if values:
            from brandvane.aws import embedded

            embedded.write(self._stack, values)
        if self._clients is None:
            self._log(counts)
        else:
            self._log({key: number for key, number in counts.items() if key[0] not in METRICS})
            try:
                await self._publish(self._clients, {key: number for key, number in counts.items() if key[0] in METRICS})
            except (
                Exception
            ):  # whatever it was: it goes on to the caller, and only what would never be counted again is kept
                self._counts.update({key: number for key, number in counts.items() if key[0] in COUNTED_ONCE})
                raise

    def _log(self, counts: Mapping[tuple[str, str, str], float]) -> None:
        if counts:
            flat = {
                f"{name}/{platform}" if platform else name: number for (name, platform, _), number in counts.items()
            }
            self._logger.info("counts", extra={"counts": flat})

    async def _publish(self, clients: Clients, counts: Mapping[tuple[str, str, str], float]) -> None:
        data = [
            {
                "MetricName": name,
                "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions(self._stack, platform)],
                "Value": float(number),
                "Unit": unit,
            }
            for (name, platform, unit), number in sorted(counts.items())
        ]
        for first in range(0, len(data), METRICS_A_CALL):
            part: Any = data[first : first + METRICS_A_CALL]
            await clients.call(clients.cloudwatch.put_metric_data, Namespace=NAMESPACE, MetricData=part)
