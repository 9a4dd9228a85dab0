"""What a worker's batch withstands: messages that cannot be read, ports that refuse, long calls, platforms that take one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane.answer import Answer, Failure
from brandvane.catalogue import Catalogue
from brandvane.engine.execute import PUT_BACK_S
from brandvane.messages import calls_queue
from brandvane.policy import ErrorKind
from brandvane.ports import Delivered, Envelope, Unavailable
from brandvane.stat import Stat
from brandvane.task import State
from builders import NOW, Lost, Slow, answer, catalogue, failure, in_turn, later, platform, together
from engine_rig import MemoryBench

QUEUE = calls_queue("openai")


async def sent(bench: MemoryBench, body: str) -> Delivered:
    """A message with this body, received."""
    await bench.queue.send(QUEUE, [Envelope("x", body)])
    received: Delivered = (await bench.queue.receive(QUEUE, 1))[0]
    return received


async def handled(bench: MemoryBench, records: list[Delivered]) -> frozenset[str]:
    """One batch."""
    again: frozenset[str] = await bench.clock.run(bench.work(records))
    return again


def only_stat(bench: MemoryBench) -> Stat:
    """The one stat item."""
    (stat,) = bench.world.stats.stats.values()
    return stat


@pytest.mark.parametrize(("body", "seconds"), [("no json", 1), ('{"v": 1}', 1), ('{"v": 2, "task_id": "t"}', 30)])
async def test_a_message_that_cannot_be_read_comes_again_soon_and_a_newer_one_later(body: str, seconds: int) -> None:
    bench = MemoryBench.new()
    record = await sent(bench, body)
    assert await handled(bench, [record]) == {record.message_id}
    assert bench.queue.next_visible(QUEUE) == NOW + seconds


async def test_a_record_of_a_newer_version_is_left_for_newer_code() -> None:
    bench = MemoryBench.new()
    (task,) = bench.waiting(1, v=2)
    record = await bench.on_queue(task)
    assert await handled(bench, [record]) == {record.message_id}
    assert (bench.record(task.task_id), bench.client.asked) == (task, [])
    assert bench.queue.next_visible(QUEUE) == NOW + 30


async def test_one_records_fault_does_not_end_the_others() -> None:
    bench = MemoryBench.new()
    records = [await sent(bench, "no json"), *(await bench.delivered(2))]
    bench.client.reply = in_turn(RuntimeError("broken client"), answer())
    assert await handled(bench, records) == {records[0].message_id, records[1].message_id}
    assert sorted(bench.states()) == [State.DONE, State.RUNNING]
    assert bench.queue.next_visible(QUEUE) == NOW + 1


async def test_a_table_that_refuses_the_claim_brings_the_message_again_in_ten_seconds() -> None:
    bench = MemoryBench.new()
    (record,) = await bench.delivered(1)
    faulty = bench.without(tasks={"move": [Unavailable("no")] * 9})
    assert await handled(faulty, [record]) == {record.message_id}
    assert bench.client.asked == []
    assert bench.queue.next_visible(QUEUE) == pytest.approx(NOW + 10, abs=1)


@pytest.mark.parametrize(("port", "refused"), [("runs", "get"), ("controls", "read"), ("catalogues", "load")])
async def test_what_cannot_be_begun_because_aws_refuses_is_put_back_for_a_minute_and_counts_nothing(
    port: str, refused: str
) -> None:
    bench = MemoryBench.new()
    (record,) = await bench.delivered(1)
    faulty = bench.without(**{port: {refused: [Unavailable("no")] * 9}})
    assert await handled(faulty, [record]) == frozenset()
    (task,) = bench.world.tasks.records.values()
    assert (task.state, task.retry_count, task.give_backs, task.paid_calls) == (State.PENDING, 0, 0, 0)
    assert task.next_execute_time == pytest.approx(NOW + PUT_BACK_S, abs=1)
    assert bench.client.asked == []


async def test_what_cannot_be_put_back_either_is_left_to_the_scanner() -> None:
    bench = MemoryBench.new()
    (record,) = await bench.delivered(1)
    claimed = bench.without(runs={"get": [Unavailable("no")]}, tasks={"move": [None, Unavailable("no")]})
    assert await handled(claimed, [record]) == {record.message_id}
    assert bench.states() == [State.PULLED]


async def test_a_claim_whose_reply_is_lost_leaves_the_task_to_the_scanner() -> None:
    bench = MemoryBench.new()
    (record,) = await bench.delivered(1)
    assert await handled(bench.without(tasks={"move": [Lost(Unavailable("no reply"))]}), [record]) == {
        record.message_id
    }
    assert bench.states() == [State.PULLED]
    assert await handled(bench, [record]) == frozenset()
    assert (bench.states(), bench.client.asked) == ([State.PULLED], [])


async def test_a_task_whose_prompt_is_not_in_the_catalogue_is_not_called() -> None:
    bench = MemoryBench.new()
    (task,) = bench.waiting(1, prompt_hash="0" * 24)
    record = await bench.on_queue(task)
    assert await handled(bench, [record]) == {record.message_id}
    assert (bench.states(), bench.client.asked) == ([State.PULLED], [])


async def test_a_queue_that_refuses_to_postpone_does_not_end_the_batch() -> None:
    bench = MemoryBench.new()
    records = [await sent(bench, "no json"), await sent(bench, "no json"), *(await bench.delivered(1))]
    faulty = bench.without(queue={"postpone": [Unavailable("no"), RuntimeError("refused for good")]})
    assert await handled(faulty, records) == {records[0].message_id, records[1].message_id}
    assert bench.states() == [State.DONE]


async def test_a_task_taken_away_before_its_call_is_not_called() -> None:
    bench = MemoryBench.new()
    bench.tasks = Slow(bench.clock, bench.tasks, claim=0.5)
    records = await bench.delivered(1)
    (task,) = bench.world.tasks.records.values()
    given_back = later(
        bench.clock,
        0.1,
        lambda: bench.put(replace(bench.record(task.task_id), attempt_id="another", state=State.PULLED)),
    )
    await bench.clock.run(together(bench.work(records), given_back))
    assert bench.client.asked == []
    assert [event["move"] for event in bench.telemetry.named("authority_lost")] == ["begin"]


async def test_what_a_batch_did_is_written_once() -> None:
    bench = MemoryBench.new(catalogue(platforms=(platform(rate=100.0),)))
    bench.client.takes = 2.0
    replies: list[Answer | Failure] = [
        answer(latency_s=2.0),
        failure(ErrorKind.TIMEOUT, latency_s=2.0),
        failure(ErrorKind.RATE_LIMITED, retry_after=3.0, latency_s=2.0),
        failure(ErrorKind.CLIENT_ERROR, latency_s=2.0),
        failure(ErrorKind.REFUSED, latency_s=2.0),
    ]
    bench.client.reply = in_turn(*replies)
    # Overdue for longer, but sent only seven seconds ago: that is what the queue kept them.
    records = [replace(record, sent_at=NOW - 7) for record in await bench.delivered(5, next_execute_time=NOW - 60)]
    await handled(bench, records)
    stat = only_stat(bench)
    assert (stat.calls, stat.answered, stat.failed, stat.retried, stat.throttled) == (5, 2, 1, 2, 1)
    assert stat.kinds == {"ok": 1, "refused": 1, "timeout": 1, "rate_limited": 1, "client_error": 1}
    assert stat.latencies == (2.0,) * 5
    assert (stat.cost_microusd, stat.queue_wait_s, stat.platform) == (30, 7.0, "openai")
    assert stat.hold_s == pytest.approx(0.41 + 4 / 97 + 2.0, abs=1e-3)


async def test_the_cost_is_booked_where_there_is_a_budget_and_told_in_any_case() -> None:
    bench = MemoryBench.new(catalogue(platforms=(platform(day_budget_usd=1.0),)))
    await handled(bench, await bench.delivered(2))
    assert (bench.control().day, bench.control().day_microusd) == ("2025-10-09", 60)
    assert only_stat(bench).cost_microusd == 60


@pytest.mark.parametrize("fault", [Unavailable("no"), ValueError("cannot be stored")])
async def test_figures_that_cannot_be_written_do_not_bring_a_finished_batch_again(fault: Exception) -> None:
    bench = MemoryBench.new(catalogue(platforms=(platform(day_budget_usd=1.0),)))
    records = await bench.delivered(1)
    faulty = bench.without(stats={"put": [fault]}, controls={"replace": [None, fault]})
    assert await handled(faulty, records) == frozenset()
    assert bench.states() == [State.DONE]
    assert [event["what"] for event in bench.telemetry.named("not_booked")] == ["cost", "stat"]


async def test_a_long_call_beats_every_30_seconds() -> None:
    bench = MemoryBench.new(catalogue(platforms=(platform(call_timeout_s=200.0),)))
    bench.client.takes = 100.0
    leases: list[float] = []

    def look() -> None:
        (task,) = bench.world.tasks.records.values()
        leases.append((task.act_at or 0) - NOW)

    looks = [later(bench.clock, at, look) for at in (1, 31, 61, 91)]
    records = await bench.delivered(1)
    await bench.clock.run(together(bench.work(records, for_s=300), *looks))
    assert leases == pytest.approx([215.41, 245.11, 275.11, 305.11])
    (task,) = bench.world.tasks.records.values()
    assert task.state is State.DONE
    assert task.heartbeat_at == pytest.approx(NOW + 90.11)


async def test_a_heartbeat_that_is_refused_does_not_end_the_call() -> None:
    bench = MemoryBench.new(catalogue(platforms=(platform(call_timeout_s=200.0),)))
    bench.client.takes = 100.0
    records = await bench.delivered(1)
    faulty = bench.without(tasks={"move": [None, None, Unavailable("no"), Unavailable("no")]})
    assert await bench.clock.run(faulty.work(records, for_s=300)) == frozenset()
    assert (bench.states(), len(bench.telemetry.named("heartbeat_not_written"))) == ([State.DONE], 2)


async def test_a_short_call_does_not_beat() -> None:
    bench = MemoryBench.new()
    bench.client.takes = 59.0
    await handled(bench, await bench.delivered(1))
    (task,) = bench.world.tasks.records.values()
    assert task.heartbeat_at is None


def serial(**fields: Any) -> MemoryBench:
    """A platform that allows one call at a time."""
    return MemoryBench.new(catalogue(platforms=(platform(in_flight=1, **fields),)))


async def test_a_platform_that_allows_one_call_gets_one_at_a_time() -> None:
    bench = serial()
    bench.client.takes = 5.0
    first, second = await bench.delivered(2)
    await bench.clock.run(together(bench.work([first]), bench.work([second])))
    assert (len(bench.client.asked), bench.client.most_in_flight) == (2, 1)


async def test_a_task_that_waited_20_seconds_for_the_one_call_goes_back_for_a_while() -> None:
    bench = serial(call_timeout_s=60.0)
    bench.client.takes = 50.0
    first, second = await bench.delivered(2)
    await bench.clock.run(together(bench.work([first]), bench.work([second])))
    assert len(bench.client.asked) == 1
    waiting = next(task for task in bench.world.tasks.records.values() if task.state is not State.DONE)
    assert waiting.state is State.DISPATCHED
    # A quarter to a half of the call's time limit, after 20 s of looking once a second.
    assert NOW + 20 + 15 <= waiting.next_execute_time <= NOW + 21 + 30


async def test_after_its_call_the_platform_is_free_again() -> None:
    bench = serial()
    first, second = await bench.delivered(2)
    await handled(bench, [first])
    await handled(bench, [second])
    assert bench.states() == [State.DONE, State.DONE]
    assert bench.world.control.leases == {}


async def test_the_one_call_stays_the_only_one_however_long_it_had_to_wait_for_its_slot() -> None:
    bench = serial(call_timeout_s=60.0)
    bench.set_control(clock=NOW + 24.4)
    bench.client.takes = 60.0
    first, second = await bench.delivered(2, next_execute_time=NOW + 4.9)
    other = later(bench.clock, 81, lambda: None)

    async def second_batch() -> None:
        await other
        await bench.work([second])

    await bench.clock.run(together(bench.work([first], for_s=300), second_batch()))
    assert (bench.client.starts[0], bench.client.most_in_flight) == (24.4, 1)


async def test_a_spent_day_budget_pauses_the_platform_until_its_day_ends() -> None:
    bench = MemoryBench.new(catalogue(platforms=(platform(day_calls=1),)))
    await bench.clock.run(bench.work([await bench.on_queue(task) for task in bench.waiting(3)]))
    pause = bench.control().paused
    assert pause is not None
    # NOW is 2025-10-09 08:53:20 UTC; the monitor's day ends at midnight UTC.
    assert (pause.why, pause.until) == ("budget", 1_760_054_400.0)
    assert len(bench.client.asked) == 1


async def test_a_task_whose_begin_was_carried_out_unheard_waits_anew_instead_of_looking_like_a_dead_workers() -> None:
    bench = MemoryBench.new()
    (made,) = bench.waiting(1, State.DISPATCHED)
    record = await bench.on_queue(made)
    lost = bench.without(tasks={"move": [None, Lost(Unavailable("no reply"))]})
    assert await bench.clock.run(lost.work([record])) == frozenset()
    after = bench.record(made.task_id)
    assert (after.state, after.dispatch_no, after.paid_calls) == (State.DISPATCHED, made.dispatch_no + 1, 0)
    assert bench.client.asked == []


async def test_a_task_whose_begin_was_refused_is_released() -> None:
    bench = MemoryBench.new()
    (made,) = bench.waiting(1, State.DISPATCHED)
    record = await bench.on_queue(made)
    refused = bench.without(tasks={"move": [None, Unavailable("throttled")]})
    assert await bench.clock.run(refused.work([record])) == frozenset()
    after = bench.record(made.task_id)
    assert (after.state, after.dispatch_no, after.paid_calls) == (State.DISPATCHED, made.dispatch_no + 1, 0)


def _with_budget(calls: int | None, version: str) -> Catalogue:
    return replace(catalogue(platforms=(platform(day_calls=calls),)), version=version)


@pytest.mark.parametrize(("pinned", "pushed", "asked"), [(1, 3, 3), (3, 1, 1), (1, None, 3)])
async def test_a_days_budget_is_the_one_that_was_pushed_last(pinned: int, pushed: int | None, asked: int) -> None:
    bench = MemoryBench.new(_with_budget(pinned, "v1"))
    records = [await bench.on_queue(task) for task in bench.waiting(3)]
    bench.world.catalogues.push(_with_budget(pushed, "v2"))
    await bench.clock.run(bench.work(records))
    assert len(bench.client.asked) == asked


async def test_where_the_last_push_cannot_be_read_the_runs_own_budget_holds() -> None:
    bench = MemoryBench.new(_with_budget(1, "v1"))
    records = [await bench.on_queue(task) for task in bench.waiting(3)]
    faulty = bench.without(catalogues={"current": [Unavailable("no")]})
    await bench.clock.run(faulty.work(records))
    assert len(bench.client.asked) == 1
    assert bench.telemetry.named("budgets_not_read")
