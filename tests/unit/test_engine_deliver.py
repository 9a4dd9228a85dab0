"""What follows from each kind of reply: the right move, the right counter, and a message with the right delay."""

from __future__ import annotations

import json
import random
import string
from typing import Any

import pytest

from brandvane.answer import Answer, Failure, unpack
from brandvane.control import Pause
from brandvane.policy import ErrorKind
from brandvane.ports import Unavailable
from brandvane.task import Outcome, State, Task
from builders import NOW, answer, failure
from engine_rig import MemoryBench

K = ErrorKind
QUEUE = "calls-openai"


class Still:
    """No jitter."""

    def uniform(self, low: float, _high: float) -> float:
        """The least."""
        return low

    def getrandbits(self, _bits: int) -> int:
        """A token."""
        return 7


async def taken(bench: MemoryBench, reply: Answer | Failure, **fields: Any) -> Task:
    """A running task's reply delivered; the record after it."""
    object.__setattr__(bench.chance, "rng", Still())
    given = {"started_at": NOW - 5, "act_at": NOW + 70, "paid_calls": 1, **fields}
    (task,) = bench.waiting(1, State.RUNNING, **given)
    await bench.clock.run(bench.delivery.take(task, 0, reply))
    return bench.record(task.task_id)


@pytest.mark.parametrize(
    ("kind", "wait", "counts"),
    [
        (K.TIMEOUT, 10, (1, 0)),
        (K.SERVER_ERROR, 30, (1, 0)),
        (K.MALFORMED, 10, (1, 0)),
        (K.EMPTY, 10, (1, 0)),
        (K.RATE_LIMITED, 10, (0, 1)),
    ],
)
async def test_a_retryable_failure_is_sent_again_after_its_wait(
    kind: ErrorKind, wait: int, counts: tuple[int, int]
) -> None:
    bench = MemoryBench.new()
    record = await taken(bench, failure(kind))
    assert (record.state, record.dispatch_no, record.error_kind) == (State.DISPATCHED, 2, kind)
    assert (record.retry_count, record.throttle_count) == counts
    assert record.next_execute_time == NOW + wait
    assert bench.queue.next_visible(QUEUE) == NOW + wait - 1  # a second early
    assert record.act_at == NOW + wait + 600


async def test_the_message_of_a_retry_carries_the_new_number_and_instant() -> None:
    bench = MemoryBench.new()
    record = await taken(bench, failure(K.TIMEOUT), dispatch_no=4)
    await bench.clock.advance(10)
    (message,) = await bench.queue.receive(QUEUE, 1)
    wanted = {"v": 1, "task_id": record.task_id, "run_id": record.run_id, "dispatch_no": 5, "due": NOW + 10}
    assert json.loads(message.body) == wanted


@pytest.mark.parametrize(("told", "state", "visible"), [(900.0, State.DISPATCHED, 899), (901.0, State.PENDING, None)])
async def test_a_wait_beyond_900_seconds_stays_pending(told: float, state: State, visible: int | None) -> None:
    bench = MemoryBench.new()
    record = await taken(bench, failure(K.RATE_LIMITED, retry_after=told))
    assert (record.state, record.next_execute_time) == (state, NOW + told)
    assert bench.queue.next_visible(QUEUE) == (None if visible is None else NOW + visible)


async def test_a_429_speaks_for_the_platform() -> None:
    bench = MemoryBench.new()
    await taken(bench, failure(K.RATE_LIMITED, retry_after=40.0))
    control = bench.control()
    assert (control.clock, control.epoch, control.factor) == (NOW + 40, 1, 0.5)


async def test_a_429_without_retry_after_halves_the_rate_too() -> None:
    bench = MemoryBench.new()
    await taken(bench, failure(K.RATE_LIMITED))
    assert (bench.control().clock, bench.control().factor) == (NOW, 0.5)


async def test_a_retry_after_of_more_than_an_hour_is_a_quota_and_pauses_until_then() -> None:
    bench = MemoryBench.new()
    record = await taken(bench, failure(K.RATE_LIMITED, retry_after=3601.0))
    assert (record.state, record.error_kind, record.throttle_count) == (State.PENDING, K.QUOTA_EXHAUSTED, 0)
    assert bench.control().paused == Pause("quota_exhausted", "worker", NOW, NOW + 3601)
    assert bench.control().factor == 1.0
    assert await bench.queue.depth(QUEUE) == 0


@pytest.mark.parametrize("kind", [K.AUTH_ERROR, K.QUOTA_EXHAUSTED])
async def test_what_a_person_must_mend_pauses_the_platform_and_the_task_waits(kind: ErrorKind) -> None:
    bench = MemoryBench.new()
    record = await taken(bench, failure(kind), retry_count=3)
    assert (record.state, record.retry_count, record.dispatch_no) == (State.PENDING, 3, 2)
    assert bench.control().paused == Pause(kind, "worker", NOW, None)
    assert await bench.queue.depth(QUEUE) == 0


async def test_a_short_wait_beside_an_empty_wallet_is_not_believed() -> None:
    bench = MemoryBench.new()
    await taken(bench, failure(K.QUOTA_EXHAUSTED, retry_after=7.0))
    assert bench.control().paused == Pause(K.QUOTA_EXHAUSTED, "worker", NOW, None)


async def test_an_allowance_of_one_model_that_is_used_up_pauses_its_target_only() -> None:
    bench = MemoryBench.new()
    record = await taken(bench, failure(K.QUOTA_EXHAUSTED, scope="target"))
    assert bench.control().paused is None
    assert bench.control().targets == {record.target: Pause(K.QUOTA_EXHAUSTED, "worker", NOW, None)}


async def test_a_vanished_model_pauses_its_target_only() -> None:
    bench = MemoryBench.new()
    record = await taken(bench, failure(K.MODEL_GONE))
    assert record.state is State.PENDING
    assert bench.control().paused is None
    assert bench.control().targets == {"openai/m1": Pause("model_gone", "worker", NOW)}


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        (K.TIMEOUT, Outcome.RETRIES_USED_UP),
        (K.SERVER_ERROR, Outcome.RETRIES_USED_UP),
        (K.MALFORMED, Outcome.RETRIES_USED_UP),
        (K.EMPTY, Outcome.EMPTY),
        (K.CLIENT_ERROR, Outcome.CLIENT_ERROR),
        (K.CONTEXT_TOO_LONG, Outcome.CLIENT_ERROR),
    ],
)
async def test_a_final_failure_has_its_row(kind: ErrorKind, outcome: Outcome) -> None:
    bench = MemoryBench.new()
    record = await taken(bench, failure(kind, raw="what came"), retry_count=3)
    (row,) = bench.rows()
    assert (record.state, record.outcome) == (State.FAILED, outcome)
    assert (row.outcome, row.error_kind, row.retry_count) == (outcome, kind, 3)
    assert row.answer is not None
    assert unpack(row.answer).raw == "what came"


async def test_throttles_used_up_end_the_task_and_the_kind_says_why() -> None:
    bench = MemoryBench.new()
    await taken(bench, failure(K.RATE_LIMITED), throttle_count=20)
    (row,) = bench.rows()
    assert (row.outcome, row.error_kind, row.throttle_count) == (Outcome.RETRIES_USED_UP, "rate_limited", 20)


@pytest.mark.parametrize(("kind", "outcome"), [(K.REFUSED, Outcome.REFUSED), (K.CONTENT_FILTERED, Outcome.FILTERED)])
async def test_a_refusal_told_as_an_error_is_an_answer(kind: ErrorKind, outcome: Outcome) -> None:
    bench = MemoryBench.new()
    record = await taken(bench, failure(kind, raw="policy"))
    (row,) = bench.rows()
    assert (record.state, row.outcome, row.error_kind) == (State.DONE, outcome, None)
    assert row.answer is not None
    assert unpack(row.answer).raw == "policy"


@pytest.mark.parametrize(("status", "outcome"), [("ok", "ok"), ("truncated", "truncated"), ("refused", "refused")])
async def test_an_answers_status_is_its_outcome(status: Any, outcome: str) -> None:
    bench = MemoryBench.new()
    await taken(bench, answer(status=status))
    assert [row.outcome for row in bench.rows()] == [outcome]


async def test_a_retry_that_would_wait_past_the_deadline_ends_as_expired_now() -> None:
    bench = MemoryBench.new(deadline=NOW + 30)
    record = await taken(bench, failure(K.SERVER_ERROR))
    assert (record.state, record.outcome, record.error_kind) == (State.FAILED, Outcome.EXPIRED, "server_error")


async def test_the_run_is_read_anew_before_its_deadline_ends_a_task() -> None:
    bench = MemoryBench.new(deadline=NOW + 20)
    await bench.reader.get(bench.run.run_id)
    bench.set_run(deadline=NOW + 7200)
    record = await taken(bench, failure(K.SERVER_ERROR))
    assert (record.state, record.next_execute_time) == (State.DISPATCHED, NOW + 30)


async def test_the_runs_deadline_decides_and_not_the_planned_one() -> None:
    bench = MemoryBench.new()
    record = await taken(bench, failure(K.SERVER_ERROR), deadline_at=NOW - 1)
    assert record.state is State.DISPATCHED


async def test_a_retry_of_a_task_that_somebody_else_has_is_dropped() -> None:
    bench = MemoryBench.new()
    (task,) = bench.waiting(1, State.RUNNING)
    bench.put(*bench.waiting(1, State.PULLED, attempt_id="another"))
    await bench.clock.run(bench.delivery.take(task, 0, failure(K.TIMEOUT)))
    assert bench.record(task.task_id).state is State.PULLED
    assert await bench.queue.depth(QUEUE) == 0
    assert [event["move"] for event in bench.telemetry.named("authority_lost")] == ["retry"]


async def test_a_failure_after_a_new_claim_is_dropped() -> None:
    bench = MemoryBench.new()
    (task,) = bench.waiting(1, State.RUNNING, retry_count=3)
    bench.waiting(1, State.PULLED, attempt_id="another")
    await bench.clock.run(bench.delivery.take(task, 0, failure(K.CLIENT_ERROR)))
    assert (bench.record(task.task_id).state, bench.rows()) == (State.PULLED, [])


async def test_a_retry_that_the_queue_does_not_take_is_left_to_the_dispatcher() -> None:
    bench = MemoryBench.new()
    faulty = bench.without(queue={"send": [Unavailable("no")]})
    (task,) = bench.waiting(1, State.RUNNING)
    await bench.clock.run(faulty.delivery.take(task, 0, failure(K.EMPTY)))
    record = bench.record(task.task_id)
    assert (record.state, record.dispatch_no, record.act_at) == (State.PENDING, 2, NOW + 10)


async def test_a_large_body_of_a_failed_call_is_not_kept_in_the_row() -> None:
    bench = MemoryBench.new()
    noise = "".join(random.Random(1).choices(string.printable, k=40_000))
    await taken(bench, failure(K.CLIENT_ERROR, raw=noise))
    assert [(row.outcome, row.answer) for row in bench.rows()] == [(Outcome.CLIENT_ERROR, None)]


async def test_a_platform_that_cannot_be_told_does_not_keep_a_task_from_its_retry() -> None:
    bench = MemoryBench.new()
    faulty = bench.without(controls={"read": [Unavailable("no")] * 9, "replace": [Unavailable("no")] * 9})
    record = await taken(faulty, failure(K.RATE_LIMITED))
    assert (record.state, record.throttle_count, record.retry_count) == (State.DISPATCHED, 1, 0)
    assert bench.telemetry.named("platform_not_told")


async def test_a_platform_is_told_at_the_third_try() -> None:
    bench = MemoryBench.new()
    faulty = bench.without(controls={"read": [Unavailable("no")] * 2})
    await taken(faulty, failure(K.RATE_LIMITED))
    assert bench.control().factor == 0.5
