"""A platform that is down: nobody calls, tasks wait uncounted, one probes, and an answer lets everybody in again."""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.breaker import is_open
from brandvane.control import Control, Pause
from brandvane.policy import ErrorKind
from brandvane.task import State, Task
from builders import NOW, Slow, always, answer, catalogue, failure, in_turn, platform, tasks_of, together
from engine_rig import MemoryBench

QUEUE = "calls-openai"
DOWN = failure(ErrorKind.SERVER_ERROR)
FAST = platform(rate=100.0)


def bench_of(number: int = 40, **control: Any) -> MemoryBench:
    """A platform of a hundred calls a second."""
    bench = MemoryBench.new(catalogue(number, platforms=(FAST,)))
    if control:
        bench.set_control(**control)
    return bench


def opened(**control: Any) -> MemoryBench:
    """Its breaker opened a minute ago: a probe is due now."""
    return bench_of(**{"breaker_wait_s": 60.0, "breaker_at": NOW, **control})


async def batch(bench: MemoryBench, number: int, first: int = 0, **fields: Any) -> list[Task]:
    """One batch; its records after it."""
    made = bench.waiting(first + number, **fields)[first:]
    records = [await bench.on_queue(task) for task in made]
    await bench.clock.run(bench.work(records))
    return [bench.record(task.task_id) for task in made]


async def test_a_run_of_failures_opens_the_breaker() -> None:
    bench = bench_of()
    bench.client.reply = always(DOWN)
    await batch(bench, 10)
    assert not is_open(bench.control())
    await batch(bench, 10, first=10)
    control = bench.control()
    assert is_open(control)
    assert control.breaker_at == pytest.approx(bench.clock.now() + 60)
    assert len(bench.telemetry.named("breaker_open")) == 1


async def test_as_many_failures_among_answers_do_not() -> None:
    bench = bench_of()
    bench.client.reply = lambda number, _: answer() if number % 4 == 0 else DOWN
    for place in range(4):
        await batch(bench, 10, first=10 * place)
    assert not is_open(bench.control())


@pytest.mark.parametrize("kind", [ErrorKind.RATE_LIMITED, ErrorKind.EMPTY, ErrorKind.CLIENT_ERROR])
async def test_failures_that_are_responses_do_not_open_it(kind: ErrorKind) -> None:
    bench = bench_of()
    bench.client.reply = always(failure(kind))
    for place in range(3):
        await batch(bench, 10, first=10 * place)
    assert not is_open(bench.control())


async def test_while_it_is_open_nobody_is_called_and_tasks_stay_pending() -> None:
    bench = bench_of(breaker_wait_s=60.0, breaker_at=NOW + 40)
    records = await batch(bench, 3)
    assert bench.client.asked == []
    assert {(record.state, record.retry_count) for record in records} == {(State.PENDING, 0)}
    assert {record.next_execute_time for record in records} == {NOW + 40}


async def test_failures_of_calls_under_way_when_it_opens_are_not_counted_as_retries() -> None:
    bench = opened(breaker_at=NOW + 60)
    (task,) = bench.waiting(1, State.RUNNING, act_at=NOW + 70, retry_count=3)
    await bench.clock.run(bench.delivery.take(task, 0, failure(ErrorKind.TIMEOUT)))
    record = bench.record(task.task_id)
    assert (record.state, record.retry_count) == (State.PENDING, 3)
    assert await bench.queue.depth(QUEUE) == 0


async def test_when_a_probe_is_due_one_task_of_a_batch_is_called_and_its_answer_closes_the_breaker() -> None:
    bench = opened()
    records = await batch(bench, 5)
    assert len(bench.client.asked) == 1
    assert sorted(record.state for record in records) == [State.DISPATCHED] * 4 + [State.DONE]
    assert not is_open(bench.control())
    assert (await batch(bench, 5, first=5))[0].state is State.DONE


async def test_workers_that_come_at_once_make_one_probe() -> None:
    bench = opened()
    bench.client.takes = 2.0
    made = bench.waiting(4)
    records = [await bench.on_queue(task) for task in made]
    fleet = [bench.without() for _ in records]
    await bench.clock.run(together(*(worker.work([record]) for worker, record in zip(fleet, records, strict=True))))
    assert len(bench.client.asked) == 1


@pytest.mark.parametrize("reply", [answer(), failure(ErrorKind.RATE_LIMITED), failure(ErrorKind.CLIENT_ERROR)])
async def test_any_response_closes_the_breaker(reply: Any) -> None:
    bench = opened()
    bench.client.reply = always(reply)
    await batch(bench, 1)
    assert not is_open(bench.control())


@pytest.mark.parametrize("kind", [ErrorKind.TIMEOUT, ErrorKind.SERVER_ERROR])
async def test_a_probe_that_fails_doubles_the_wait_and_costs_its_task_no_retry(kind: ErrorKind) -> None:
    bench = opened()
    bench.client.reply = always(failure(kind))
    (record,) = await batch(bench, 1, retry_count=3)
    control = bench.control()
    assert control.breaker_wait_s == 120.0
    assert control.breaker_at == pytest.approx(bench.clock.now() + 120)
    assert (record.state, record.retry_count, record.paid_calls) == (State.PENDING, 3, 1)


async def test_a_probe_that_never_reports_has_failed_when_its_lease_is_over() -> None:
    bench = opened()
    bench.client.reply = always(RuntimeError("the worker died"))
    await batch(bench, 1)
    assert is_open(bench.control())
    await bench.clock.advance(76)
    await batch(bench, 1, first=1)
    assert (bench.control().breaker_wait_s, len(bench.client.asked)) == (120.0, 1)


async def test_a_probe_that_misses_its_slot_is_made_all_the_same() -> None:
    bench = opened()
    bench.tasks = Slow(bench.clock, bench.tasks, begin=0.5)
    (record,) = await batch(bench, 1)
    assert record.state is State.DONE
    assert not is_open(bench.control())


async def test_closing_lifts_only_the_breakers_own_pause() -> None:
    bench = opened(targets={"openai/m9": Pause("model_gone", "worker", NOW)})
    await batch(bench, 1)
    assert set(bench.control().targets) == {"openai/m9"}


def pending(bench: MemoryBench, number: int) -> None:
    """Tasks that are due."""
    bench.waiting(number, State.PENDING, act_at=NOW - 5)


async def test_the_dispatcher_sends_one_task_for_the_probe_and_the_worker_makes_it() -> None:
    bench = opened(breaker_at=NOW + 30)
    pending(bench, 10)
    tick = await bench.clock.run(bench.dispatcher.tick())
    assert tick.sent == {"openai": 1}
    visible = bench.queue.next_visible(QUEUE)
    assert visible is not None
    assert NOW + 30 <= visible <= NOW + 32
    await bench.clock.advance_to(visible)
    await bench.clock.run(bench.work(await bench.queue.receive(QUEUE, 10)))
    assert len(bench.client.asked) == 1
    assert not is_open(bench.control())


async def test_while_no_probe_is_near_the_dispatcher_sends_nothing() -> None:
    bench = opened(breaker_wait_s=600.0, breaker_at=NOW + 76)
    pending(bench, 10)
    assert (await bench.clock.run(bench.dispatcher.tick())).sent == {"openai": 0}


async def test_an_outage_of_ten_minutes_costs_no_task_and_needs_no_person() -> None:
    bench = bench_of(30)
    end = NOW + 600
    bench.client.reply = lambda _, asked: DOWN if asked.at < end else answer()
    bench.waiting(30, State.PENDING, act_at=NOW)
    for _ in range(40):
        await bench.clock.run(bench.dispatcher.tick())
        for _ in range(30):
            records = await bench.queue.receive(QUEUE, 10)
            if records:
                again = await bench.clock.run(bench.work(records))
                assert again == frozenset()
                for record in records:
                    await bench.queue.delete(QUEUE, record.receipt)
            await bench.clock.advance(2)
    outcomes = {row.outcome for row in bench.rows()}
    assert (len(bench.rows()), outcomes) == (30, {"ok"})
    # Before it opens each task may be called, at most once; afterwards only probes are.
    assert len([call for call in bench.client.asked if call.at < end]) <= 30 + 6
    assert len(tasks_of(bench.run, bench.catalogue)) == 30


async def test_the_control_item_of_a_healthy_platform_is_not_written_for_the_breaker() -> None:
    bench = bench_of()
    await batch(bench, 5)
    assert bench.control().revision == 1  # the reservation
    assert bench.control() == Control(
        "openai",
        revision=1,
        written_by="rig/0",
        clock=bench.control().clock,
        step=bench.control().step,
        day=bench.control().day,
        day_calls=5,
    )


async def test_an_answer_among_suspicious_failures_is_written_down_too() -> None:
    bench = bench_of()
    bench.client.reply = in_turn(DOWN, answer())
    await batch(bench, 1)
    assert bench.control().tried == 1
    await batch(bench, 2, first=1)
    assert (bench.control().tried, bench.control().tried_failed) in {(3, 1), (0, 0)}
