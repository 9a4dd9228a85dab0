"""What does asking a catalogue make of requests to AWS? Reckoned from the catalogue and from what the engine does at each step.

Each function below is one part of the engine and says what it asks of AWS. ``tests/e2e/test_estimate_counts.py`` counts the
requests of a run and compares; whoever changes what a step asks changes it here as well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from brandvane.engine.buckets import plan_buckets
from brandvane.engine.dispatch import SEND_SIZE
from brandvane.engine.gauges import HELD
from brandvane.engine.slots import GATHER_S
from brandvane.expansion import CHUNK_TASKS
from brandvane.task import BUCKETS, PENDING_SHARDS, PRIORITIES

KB = 1024
READ_KB = 4 * KB
PAGE_BYTES = 1024 * KB  # a query's page
# Compressed, text and body as it came: an answer of 800 tokens (cli/estimate.py).
ANSWER_BYTES = 1_600
RECORD_BYTES = 800  # of a task or a row without its answer
WATCH_ENTRY_BYTES = 260
ROW_ENTRY_BYTES = 160  # in the index that counts a run's rows
# What an answer leaves in the bucket, packed: its mentions (two forms) and its result (two), 2,700 bytes for one of 1,000 characters
# with ten mentions and four sources (tests/bench/scoring.py), and its part of the counts and of the page.
OBJECT_BYTES = 3_000
RUN_BYTES = KB
# Write units of a happy life with a short answer, 18 in all (tests/contract/test_dynamo.py): the record is planned, then
# dispatched, claimed, begun and answered, its row is put, and it ends. The last three carry the answer.
PLANNED_UNITS, MOVE_UNITS, ROW_UNITS, END_UNITS = 2, 3, 2, 2
EARLY_MOVES = 3
RUN_WRITE_UNITS = 3  # the run and its two indexes
COUNT_CAP = 2000  # entries of a partition that a sweep counts at most
PENDING_PARTITIONS = len(PRIORITIES) * PENDING_SHARDS
REPORT_OBJECTS = 5
MINUTES_A_DAY = 1440
SWEEPS_A_MINUTE = 2
# Lambda's pollers ask each queue all the time: five of them, waiting up to 20 s
# (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html).
POLLS_A_MINUTE = 15
OWN_QUEUES = 3  # plan, writeback, sweep
OTHER_DEAD = 4  # dead-letter queues beside the platforms': of those three and of the schedules
TICK_S = SWEEP_S = 2.0
ONE_CALL = 25 / 40  # how long a call takes, as a share of what the slowest of ten does
LOG_BYTES = 400  # a structured line with what Lambda adds
LINES_A_BATCH = 5
MEMORY_GB = {"worker": 0.25, "dispatcher": 0.25, "scanner": 0.25, "planner": 0.5, "scorer": 0.5, "reporter": 1.0}
PLANNED_A_SECOND = 150.0  # engine/plan.py: puts a platform and second
SCORED_A_SECOND = 400.0  # engine/score.py


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A platform's part of a run: tasks, planned calls a second, and what one invocation takes at most."""

    tasks: int
    rate: float
    batch: int
    budget: bool = False  # of money: then what a batch cost is booked

    @property
    def batches(self) -> float:
        """Invocations. Messages come visible in the second they are due in, and what is visible goes in one batch."""
        if not self.tasks:
            return 0.0
        return self.tasks / max(self.rate / math.ceil(self.rate / self.batch), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLoad:
    """One run: its shares, the minutes from its first task to its report, and how long a batch holds its function."""

    platforms: Mapping[str, Share]
    minutes: float
    hold_s: float

    @property
    def tasks(self) -> int:
        """All planned tasks."""
        return sum(share.tasks for share in self.platforms.values())


@dataclass(slots=True)
class Usage:
    """Requests by ``service Operation``; units, gigabyte-seconds by function, bytes that are written to stay (in tables, in the bucket)."""

    requests: Counter[str] = field(default_factory=Counter)
    write_units: float = 0.0
    read_units: float = 0.0
    invocations: Counter[str] = field(default_factory=Counter)
    gb_s: Counter[str] = field(default_factory=Counter)
    kept_bytes: float = 0.0
    object_bytes: float = 0.0
    log_bytes: float = 0.0

    def asked(self, what: str, number: float = 1) -> None:
        """So many requests."""
        self.requests[what] += number  # type: ignore[assignment]  # a Counter adds floats as well

    def wrote(self, operation: str, number: float, units: float) -> None:
        """So many writes of DynamoDB, of ``units`` each."""
        self.asked(f"dynamodb {operation}", number)
        self.write_units += number * units

    def read(self, operation: str, number: float, bytes_each: float = 0.0, *, consistent: bool = False) -> None:
        """So many reads of DynamoDB; a query that brings more than a page becomes several."""
        pages = max(math.ceil(bytes_each / PAGE_BYTES), 1)
        units = max(math.ceil(bytes_each / READ_KB), 1)
        self.asked(f"dynamodb {operation}", number * pages)
        self.read_units += number * (units if consistent else units / 2)

    def ran(self, function: str, number: float, seconds: float) -> None:
        """So many invocations of a function."""
        self.invocations[function] += number  # type: ignore[assignment]
        self.gb_s[function] += number * seconds * MEMORY_GB[function]  # type: ignore[assignment]

    def add(self, other: Usage) -> None:
        """The sum of both."""
        for mine, its in (
            (self.requests, other.requests),
            (self.invocations, other.invocations),
            (self.gb_s, other.gb_s),
        ):
            mine.update(its)
        self.write_units += other.write_units
        self.read_units += other.read_units
        self.kept_bytes += other.kept_bytes
        self.object_bytes += other.object_bytes
        self.log_bytes += other.log_bytes


def total(parts: Iterable[Usage]) -> Usage:
    """The sum of all."""
    whole = Usage()
    for part in parts:
        whole.add(part)
    return whole


def run_usage(load: RunLoad) -> Usage:
    """Everything that a run asks for, from its start to its report, while nothing fails."""
    usage = Usage()
    _plan(usage, load)
    for share in load.platforms.values():
        _send(usage, share)
        _work(usage, share, load.hold_s)
    _watch_over(usage, load)
    _score(usage, load)
    _report(usage, load)
    return usage


def minutes_usage(platforms: int, minutes: float) -> Usage:
    """What a stack asks for in so many minutes whether there is a run or not."""
    usage = Usage()
    _tick(usage, platforms, minutes)
    _sweep(usage, platforms, minutes * SWEEPS_A_MINUTE)
    usage.asked("sqs SendMessage", minutes)  # by the schedule, to the queue of the half minute
    for operation in ("ReceiveMessage", "DeleteMessageBatch"):
        usage.asked(f"sqs {operation}", minutes)  # and by the scanner's poller
    usage.asked("sqs idle ReceiveMessage", (platforms + OWN_QUEUES) * POLLS_A_MINUTE * minutes)
    usage.asked("scheduler Invoke", 3 * minutes)
    return usage


def _plan(usage: Usage, load: RunLoad) -> None:
    """The run item, then its chunks by message; the first of them wakes the dispatcher."""
    chunks = max(math.ceil(load.tasks / CHUNK_TASKS), 1)
    usage.asked("s3 GetObject", 2)  # which version is current, and that one
    usage.asked("ssm GetParametersByPath")
    usage.read("GetItem", 1 + len(load.platforms), consistent=True)  # is there such a run; each platform's limits
    usage.wrote("PutItem", 1, RUN_WRITE_UNITS)
    usage.asked("sqs SendMessageBatch", math.ceil(chunks / SEND_SIZE))
    usage.asked("sqs ReceiveMessage", chunks)
    usage.asked("sqs DeleteMessageBatch", chunks)
    usage.read("GetItem", chunks, consistent=True)
    usage.wrote("PutItem", load.tasks, PLANNED_UNITS)
    usage.wrote("UpdateItem", chunks + 1, RUN_WRITE_UNITS)  # each chunk, and that the plan is complete
    usage.asked("lambda Invoke")
    _tick(usage, len(load.platforms), 1)
    usage.ran("planner", 1 + chunks, load.tasks / max(len(load.platforms), 1) / PLANNED_A_SECOND / (1 + chunks))
    usage.log_bytes += 2 * chunks * LOG_BYTES


def _send(usage: Usage, share: Share) -> None:
    """A minute's tasks in tens; marking them is a part of their lives."""
    minute = min(max(share.rate * 60, 1.0), max(share.tasks, 1))
    usage.asked("sqs SendMessageBatch", share.tasks / minute * math.ceil(minute / SEND_SIZE))


def _work(usage: Usage, share: Share, hold_s: float) -> None:
    """A platform's batches: messages, lives, slots, what each batch did."""
    if not share.tasks:
        return
    batches = share.batches
    size = share.tasks / batches
    usage.asked("sqs ReceiveMessage", batches)
    usage.asked("sqs DeleteMessageBatch", batches)
    with_answer = math.ceil((RECORD_BYTES + ANSWER_BYTES) / KB) - 1  # units above those of a short one
    usage.wrote("UpdateItem", share.tasks * EARLY_MOVES, MOVE_UNITS)
    usage.wrote("UpdateItem", share.tasks, MOVE_UNITS + with_answer)
    usage.wrote("PutItem", share.tasks, ROW_UNITS + with_answer)
    usage.wrote("UpdateItem", share.tasks, END_UNITS + with_answer)
    slots = 1 + (size - 1) / share.rate // GATHER_S  # reservations: each takes what is due within 0.3 s
    usage.wrote("UpdateItem", batches * (slots + share.budget), 1)
    usage.wrote("PutItem", batches, 1)  # stats
    # Records of a batch ask for their run at once, until one of them has its reply: about half of them.
    usage.read("GetItem", batches * (size + 1) / 2, RUN_BYTES, consistent=True)
    environments = max(math.ceil(batches * held_s(hold_s, size) * share.rate / share.tasks), 1)
    usage.asked(
        "s3 GetObject", environments + batches
    )  # the pinned catalogue; which one was pushed last, for its budgets
    usage.asked("ssm GetParameter", environments)  # the key
    usage.read("GetItem", environments, consistent=True)  # the limits, which it knows from then on
    usage.ran("worker", batches, held_s(hold_s, size))
    usage.kept_bytes += share.tasks * (RECORD_BYTES + ANSWER_BYTES + ROW_ENTRY_BYTES)
    usage.log_bytes += batches * LINES_A_BATCH * LOG_BYTES


def held_s(hold_s: float, size: float) -> float:
    """How long a batch of ``size`` calls holds its function in the mean, when one of ten holds it for ``hold_s``: as long as its
    slowest call takes. With calls of 25 s in the mean one of five takes 35 s, one of ten 40 s (docs/simulation.md's latencies).
    """
    return hold_s * (ONE_CALL + (1 - ONE_CALL) * math.log10(max(size, 1.0)))


def _watch_over(usage: Usage, load: RunLoad) -> None:
    """What ticks and sweeps do because a run is there: look at it, count its rows, page through what waits."""
    # Planner, dispatcher and scanner come up anew since the last run, and ask for their queues and the catalogue.
    usage.asked("sqs GetQueueUrl", 3 * len(load.platforms) + 2)
    usage.asked("s3 GetObject")
    sweeps = load.minutes * SWEEPS_A_MINUTE
    usage.read("GetItem", load.minutes * len(load.platforms) * PENDING_SHARDS, RUN_BYTES, consistent=True)
    usage.read("Query", load.minutes, load.tasks * ROW_ENTRY_BYTES / 2)
    usage.wrote("UpdateItem", load.minutes, RUN_WRITE_UNITS)
    for share in load.platforms.values():
        waiting = min(share.tasks / 2 / PENDING_SHARDS, COUNT_CAP)  # in the mean, in each shard of its priority
        beyond = max(math.ceil(waiting * WATCH_ENTRY_BYTES / READ_KB) - 1, 0) / 2
        usage.read_units += sweeps * PENDING_SHARDS * beyond
    # Its end: finished, then scored, then reported; each step reads the run before it writes.
    usage.wrote("UpdateItem", 2, RUN_WRITE_UNITS)
    usage.read("GetItem", 2, RUN_BYTES, consistent=True)
    usage.read("Query", len(load.platforms), sum(s.batches for s in load.platforms.values()) * 300)
    usage.wrote("UpdateItem", len(load.platforms), 1)


def _score(usage: Usage, load: RunLoad) -> None:
    """Every answer read once, three objects a bucket."""
    scorers = len(plan_buckets(load.tasks))
    usage.asked("lambda Invoke", scorers)
    usage.asked("s3 GetObject", scorers)
    usage.read("GetItem", 2 * scorers + 1, RUN_BYTES, consistent=True)
    usage.read("Query", BUCKETS, load.tasks / BUCKETS * (RECORD_BYTES + ANSWER_BYTES), consistent=True)
    usage.asked("s3 PutObject", 3 * BUCKETS)
    usage.wrote("UpdateItem", BUCKETS + 1, RUN_WRITE_UNITS)
    usage.ran("scorer", scorers, load.tasks / scorers / SCORED_A_SECOND)
    usage.log_bytes += scorers * LINES_A_BATCH * LOG_BYTES


def _report(usage: Usage, load: RunLoad) -> None:
    """Every answer read once more, what the scorers wrote, and the counts of the run of the day before."""
    usage.asked("lambda Invoke")
    usage.asked("s3 GetObject", 2 + 2 * BUCKETS)
    usage.read("GetItem", 3, RUN_BYTES, consistent=True)
    usage.read("Query", BUCKETS, load.tasks / BUCKETS * (RECORD_BYTES + ANSWER_BYTES), consistent=True)
    usage.asked("s3 PutObject", REPORT_OBJECTS)
    usage.object_bytes += load.tasks * OBJECT_BYTES
    usage.wrote("UpdateItem", 2, RUN_WRITE_UNITS)
    usage.ran("reporter", 1, load.tasks / SCORED_A_SECOND)


def _tick(usage: Usage, platforms: int, ticks: float) -> None:
    """The dispatcher: its lease, the current catalogue, each platform's limits, reports, queue and partitions."""
    usage.wrote("UpdateItem", ticks, 1)
    usage.wrote("DeleteItem", ticks, 1)
    usage.asked("s3 GetObject", ticks)
    usage.asked("ssm GetParametersByPath", ticks)
    usage.read("GetItem", ticks * platforms, consistent=True)
    usage.read("Query", ticks * (platforms * (1 + PENDING_PARTITIONS) + 1))
    usage.asked("sqs GetQueueAttributes", ticks * platforms)
    usage.ran("dispatcher", ticks, TICK_S)
    usage.log_bytes += ticks * 2 * LOG_BYTES


def _sweep(usage: Usage, platforms: int, sweeps: float) -> None:
    """The scanner: its lease, open runs, each platform's overdue records and gauges; lowered rates every other time."""
    usage.wrote("UpdateItem", sweeps, 1)
    usage.wrote("DeleteItem", sweeps, 1)
    usage.asked("ssm GetParametersByPath", sweeps / SWEEPS_A_MINUTE)
    # What is overdue; how many are due, sent long ago, pulled long ago, held; the reports; how many wait, while they are few.
    looks = 2 * PENDING_PARTITIONS + 2 * len(HELD) + 3
    usage.read("Query", sweeps * (1 + platforms * looks))
    usage.asked("sqs GetQueueAttributes", sweeps * (platforms + OTHER_DEAD + 1))
    usage.asked("s3 GetObject", 2 * sweeps)  # which catalogue is current, for the platforms' and for the runs' gauges
    usage.read("GetItem", sweeps * (1 + 1 / SWEEPS_A_MINUTE) * platforms, consistent=True)
    usage.asked("cloudwatch PutMetricData", sweeps)
    usage.ran("scanner", sweeps, SWEEP_S)
    usage.log_bytes += sweeps * 2 * LOG_BYTES
