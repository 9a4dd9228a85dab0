"""A worker's batch: who is claimed, when calls start, what goes back, and that each record stands for itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brandvane.answer import Answer
from brandvane.control import Control, Pause
from brandvane.messages import CallMessage
from brandvane.ports import Envelope
from brandvane.result import ResultRow
from brandvane.simulation.memory_clock import ManualClock
from brandvane.task import Outcome, State
from builders import NOW, Asked, Slow, answer, catalogue, later, platform, together
from engine_rig import MemoryBench

STEP = 1 / 9.7  # 97 % of ten calls a second
FIRST = 0.41  # what is overdue starts this long after its claim: the batch gathers, and preparations take their notice
BEGIN_LEAD = 0.3


async def worked(bench: MemoryBench, number: int = 1, **fields: object) -> frozenset[str]:
    """One batch of the run's first tasks, carried out to its end."""
    records = await bench.delivered(number, **fields)
    again: frozenset[str] = await bench.clock.run(bench.work(records))
    return again


class LateClock:
    """A clock on a busy machine: the first ``times`` waits of more than ``above`` seconds end ``late`` seconds late."""

    def __init__(self, inner: ManualClock, times: int, *, above: float = 1.0, late: float = 0.5) -> None:
        self.inner = inner
        self.times = times
        self.above = above
        self.late = late

    def now(self) -> float:
        """POSIX seconds."""
        return self.inner.now()

    async def sleep(self, seconds: float) -> None:
        """Wait, perhaps too long."""
        late = seconds > self.above and self.times > 0
        self.times -= late
        await self.inner.sleep(seconds + self.late * late)


def only(bench: MemoryBench) -> ResultRow:
    """The one row there is."""
    (row,) = bench.rows()
    return row


async def test_a_message_becomes_a_call_a_row_and_a_finished_record() -> None:
    bench = MemoryBench.new()
    assert await worked(bench) == frozenset()
    row = only(bench)
    record = bench.record(row.task_id)
    assert (row.outcome, row.paid_calls, row.retry_count) == (Outcome.OK, 1, 0)
    assert (record.state, record.act_at, record.watch, record.expires_at) == (State.DONE, None, None, int(NOW) + 86_400)
    assert [call.request_id for call in bench.client.asked] == [f"{row.task_id}/1"]
    assert bench.client.asked[0].prompt.startswith("Which maker is number")


async def test_a_batch_due_now_starts_one_interval_apart() -> None:
    bench = MemoryBench.new()
    await worked(bench, 4)
    assert bench.client.starts == pytest.approx([FIRST + place * STEP for place in range(4)], abs=1e-4)
    assert len(bench.rows()) == 4


async def test_one_reservation_serves_all_that_are_due_together() -> None:
    bench = MemoryBench.new()
    await worked(bench, 10)
    assert bench.control().revision == 1
    assert bench.control().clock == pytest.approx(NOW + FIRST + 10 * STEP)


async def test_an_early_message_is_held_until_its_instant() -> None:
    bench = MemoryBench.new()
    await worked(bench, next_execute_time=NOW + 4.9)
    assert bench.client.starts == [4.9]


async def test_tasks_due_apart_are_reserved_for_apart() -> None:
    bench = MemoryBench.new()
    first, second = bench.waiting(2)
    second = replace(second, next_execute_time=NOW + 3)
    bench.put(second)
    records = [await bench.on_queue(task) for task in (second, first)]
    await bench.clock.run(bench.work(records))
    assert bench.client.starts == pytest.approx([FIRST, 3.0])
    assert bench.control().revision == 2


async def test_a_message_that_is_too_early_is_released_and_sent_again_for_its_instant() -> None:
    bench = MemoryBench.new()
    assert await worked(bench, next_execute_time=NOW + 5.5) == frozenset()
    (record,) = bench.world.tasks.records.values()
    assert (record.state, record.dispatch_no, record.retry_count) == (State.DISPATCHED, 2, 0)
    assert bench.client.asked == []
    assert bench.queue.next_visible("calls-openai") == NOW + 4


async def test_a_second_message_of_a_claimed_task_is_done_with() -> None:
    bench = MemoryBench.new()
    (task,) = bench.waiting(1)
    records = [await bench.on_queue(task), await bench.on_queue(task)]
    assert await bench.clock.run(bench.work(records)) == frozenset()
    assert len(bench.client.asked) == 1


async def test_a_message_of_an_earlier_wait_is_done_with() -> None:
    bench = MemoryBench.new()
    (task,) = bench.waiting(1, dispatch_no=3)
    record = await bench.on_queue(replace(task, dispatch_no=2))
    assert await bench.clock.run(bench.work([record])) == frozenset()
    assert (bench.client.asked, bench.record(task.task_id)) == ([], task)


async def test_a_message_without_a_record_is_done_with() -> None:
    bench = MemoryBench.new()
    await bench.queue.send("calls-openai", [Envelope("x", CallMessage("gone", "r", 1, NOW).encode())])
    assert await bench.clock.run(bench.work(await bench.queue.receive("calls-openai", 1))) == frozenset()


async def test_a_run_past_its_deadline_releases_the_task_and_calls_nothing() -> None:
    bench = MemoryBench.new(deadline=NOW)
    await worked(bench)
    (record,) = bench.world.tasks.records.values()
    assert (record.state, record.dispatch_no, bench.client.asked) == (State.PENDING, 2, [])
    assert bench.queue.next_visible("calls-openai") == NOW + 900  # only the message that was being handled


async def test_a_cancelled_run_releases_the_task_and_calls_nothing() -> None:
    bench = MemoryBench.new(cancelled_at=NOW - 1)
    await worked(bench)
    assert (bench.states(), bench.client.asked) == ([State.PENDING], [])


async def test_a_run_cancelled_while_a_task_waits_for_its_slot_is_not_asked_for_any_more() -> None:
    bench = MemoryBench.new()
    bench.world.control.items["openai"] = Control("openai", clock=NOW + 15)
    records = await bench.delivered(1)

    cancel = later(bench.clock, 3, lambda: bench.set_run(cancelled_at=NOW + 3))
    await bench.clock.run(together(bench.work(records), cancel))
    (record,) = bench.world.tasks.records.values()
    assert (record.state, record.dispatch_no, bench.client.asked) == (State.PENDING, 2, [])
    assert await bench.queue.depth("calls-openai") == 1  # the handled one; nothing was sent


async def test_when_the_platform_is_not_free_for_20_seconds_the_task_comes_back_at_its_place() -> None:
    bench = MemoryBench.new()
    bench.world.control.items["openai"] = Control("openai", clock=NOW + 60)
    await worked(bench, 2)
    times = sorted(record.next_execute_time - NOW for record in bench.world.tasks.records.values())
    assert times == pytest.approx([60, 60 + STEP])
    assert (bench.states(), bench.client.asked) == ([State.DISPATCHED] * 2, [])
    assert bench.control().clock == NOW + 60


async def test_of_a_batch_only_those_that_fit_are_called() -> None:
    bench = MemoryBench.new(catalogue(platforms=(platform(rate=1 / 10.1 / 0.97),)))  # a call in 10.1 seconds
    await worked(bench, 4)
    assert bench.client.starts == pytest.approx([FIRST, 10.1 + FIRST])
    assert sorted(bench.states()) == ["DISPATCHED", "DISPATCHED", "DONE", "DONE"]


async def test_a_call_that_could_not_end_in_this_invocation_is_not_begun() -> None:
    bench = MemoryBench.new()
    records = await bench.delivered(1)
    await bench.clock.run(bench.work(records, for_s=75))  # 60 s call and 15 s for the write-back
    assert (bench.states(), bench.client.asked) == ([State.DISPATCHED], [])


async def test_a_slot_behind_the_deadline_is_not_taken_and_nothing_is_sent() -> None:
    bench = MemoryBench.new(deadline=NOW + 10)
    bench.world.control.items["openai"] = Control("openai", clock=NOW + 15)
    await worked(bench)
    assert (bench.states(), bench.client.asked) == ([State.PENDING], [])
    assert await bench.queue.depth("calls-openai") == 1


async def test_a_paused_platform_is_not_called_and_is_looked_at_again_within_a_minute() -> None:
    bench = MemoryBench.new()
    bench.world.control.items["openai"] = Control("openai", paused=Pause("auth_error", "worker", NOW))
    await worked(bench)
    (record,) = bench.world.tasks.records.values()
    assert (record.state, bench.client.asked) == (State.PENDING, [])
    assert record.next_execute_time == pytest.approx(NOW + 60, abs=0.1)


async def test_a_pause_that_ends_sooner_is_waited_for_until_its_end() -> None:
    bench = MemoryBench.new()
    pause = Pause("quota_exhausted", "worker", NOW, NOW + 25)
    bench.world.control.items["openai"] = Control("openai", paused=pause)
    await worked(bench)
    (record,) = bench.world.tasks.records.values()
    assert record.next_execute_time == NOW + 25


async def test_a_paused_target_does_not_keep_another_target_from_its_call() -> None:
    bench = MemoryBench.new(catalogue(1, platforms=(platform(models=("m1", "m2")),)))
    pause = Pause("model_gone", "worker", NOW)
    bench.world.control.items["openai"] = Control("openai", targets={"openai/m1": pause})
    await worked(bench, 2)
    assert [call.model for call in bench.client.asked] == ["m2"]


async def test_a_days_budget_that_is_spent_lets_no_call_start() -> None:
    bench = MemoryBench.new(catalogue(platforms=(platform(day_calls=1),)))
    await worked(bench, 3)
    assert len(bench.client.asked) == 1
    assert sorted(bench.states()) == [State.DONE, State.PENDING, State.PENDING]
    assert bench.control().day_calls == 1


async def test_a_new_epoch_voids_a_slot_that_was_waited_for() -> None:
    bench = MemoryBench.new()
    bench.world.control.items["openai"] = Control("openai", clock=NOW + 15)
    records = await bench.delivered(1)
    push = later(bench.clock, 5, lambda: bench.set_control(epoch=1, clock=NOW + 45))
    await bench.clock.run(together(bench.work(records), push))
    (record,) = bench.world.tasks.records.values()
    assert (record.state, record.dispatch_no, bench.client.asked) == (State.DISPATCHED, 2, [])


async def test_a_pause_voids_a_slot_that_was_waited_for() -> None:
    bench = MemoryBench.new()
    bench.world.control.items["openai"] = Control("openai", clock=NOW + 15)
    records = await bench.delivered(1)
    pause = later(bench.clock, 5, lambda: bench.set_control(paused=Pause("budget", "worker", NOW + 5)))
    await bench.clock.run(together(bench.work(records), pause))
    assert bench.client.asked == []


async def test_a_slot_missed_by_more_than_15_ms_is_reserved_anew() -> None:
    bench = MemoryBench.new()
    bench.tasks = Slow(bench.clock, bench.tasks, begin=BEGIN_LEAD + 0.016)
    await worked(bench)
    (start,) = bench.client.starts
    assert start > FIRST + 0.016
    # The move was slow, not the timer, and the missed slot was not used: the next call keeps the usual 1/9.7 s.
    assert bench.control().clock == pytest.approx(NOW + start + 0.10309, abs=1e-5)
    assert bench.control().revision == 2


async def test_a_slot_missed_by_less_is_used() -> None:
    bench = MemoryBench.new()
    bench.tasks = Slow(bench.clock, bench.tasks, begin=BEGIN_LEAD + 0.014)
    await worked(bench)
    assert bench.client.starts == pytest.approx([FIRST + 0.014])
    assert bench.control().revision == 1


async def test_a_call_whose_connection_comes_too_late_is_not_sent_and_the_next_one_is_begun_earlier() -> None:
    bench = MemoryBench.new()
    bench.client.connects = 0.4
    await worked(bench)
    # Begun at 0.11 for the slot at 0.41, ready at 0.51. Again: 0.02 to gather, 1.5 x 0.054 to reserve, 1.5 x 0.4 to make ready.
    assert bench.client.starts == pytest.approx([0.51 + 0.02 + 0.081 + 0.6], abs=1e-4)
    assert bench.control().revision == 2


async def test_a_running_task_that_finds_no_near_slot_waits_anew_and_nothing_is_counted() -> None:
    bench = MemoryBench.new()
    bench.tasks = Slow(bench.clock, bench.tasks, begin=0.5)
    records = await bench.delivered(1)
    push = later(bench.clock, 0.1, lambda: bench.set_control(clock=NOW + 300))
    await bench.clock.run(together(bench.work(records), push))
    (record,) = bench.world.tasks.records.values()
    assert (record.state, record.retry_count, record.throttle_count) == (State.DISPATCHED, 0, 0)
    assert (record.next_execute_time, bench.client.asked) == (NOW + 300, [])


async def test_further_slots_keep_the_call_within_the_lease_it_began_with() -> None:
    bench = MemoryBench.new(catalogue(platforms=(platform(rate=1 / 3.9 / 0.97),)))  # a call in 3.9 seconds
    bench.tasks, manual = Slow(bench.clock, bench.tasks, begin=0.5), bench.clock
    records = await bench.delivered(1)
    leases: list[tuple[float, float]] = []

    def reply(_: int, asked: Asked) -> Answer:
        leases.append((asked.at + asked.timeout, bench.record(asked.task_id).act_at or 0.0))
        return answer()

    bench.client.reply = reply
    bench.clock = LateClock(manual, times=4, late=1.0)
    await manual.run(bench.work(records))
    assert all(latest_end <= lease for latest_end, lease in leases)
    assert bench.states() == [State.DISPATCHED]


async def test_a_wait_of_more_than_a_second_for_a_second_slot_reads_the_control_item_again() -> None:
    bench = MemoryBench.new()
    bench.tasks = Slow(bench.clock, bench.tasks, begin=0.5)
    records = await bench.delivered(1)
    busy = later(bench.clock, 0.1, lambda: bench.set_control(clock=NOW + 4))
    pause = later(bench.clock, 2, lambda: bench.set_control(paused=Pause("budget", "worker", NOW + 2)))
    await bench.clock.run(together(bench.work(records), busy, pause))
    assert bench.client.asked == []
    (record,) = bench.world.tasks.records.values()
    assert (record.state, record.retry_count) in [(State.PENDING, 0), (State.DISPATCHED, 0)]


async def test_a_task_that_misses_every_slot_waits_anew_and_nothing_is_counted() -> None:
    bench = MemoryBench.new()
    manual = bench.clock
    records = await bench.delivered(1)
    bench.clock = LateClock(manual, times=99, above=0.0, late=0.03)
    await manual.run(bench.work(records))
    (record,) = bench.world.tasks.records.values()
    assert (record.state, record.error_kind, record.retry_count) == (State.DISPATCHED, "slot_missed", 0)
    assert record.paid_calls == 0  # what was not called is not counted
    assert bench.client.asked == []
    assert manual.now() < NOW + 6


async def test_a_task_taken_away_before_it_could_be_released_is_left_to_its_new_owner() -> None:
    bench = MemoryBench.new()
    bench.set_control(paused=Pause("auth_error", "worker", NOW))
    bench.tasks = Slow(bench.clock, bench.tasks, claim=0.5)
    records = await bench.delivered(1)
    (task,) = bench.world.tasks.records.values()
    taken = replace(task, state=State.PULLED, attempt_id="another")
    await bench.clock.run(together(bench.work(records), later(bench.clock, 0.2, lambda: bench.put(taken))))
    assert bench.record(task.task_id) == taken
    assert [event["move"] for event in bench.telemetry.named("authority_lost")] == ["release"]


async def test_a_task_whose_run_is_not_there_comes_again() -> None:
    bench = MemoryBench.new(plan=False)
    (record,) = await bench.delivered(1)
    assert await bench.clock.run(bench.work([record])) == {record.message_id}


async def test_an_environment_is_made_ready_without_claiming_or_calling_anything() -> None:
    bench = MemoryBench.new()
    (task,) = bench.waiting(1)
    await bench.clock.run(bench.worker.warm())
    assert bench.client.prepared == ["openai"]
    assert bench.client.asked == []
    assert bench.record(task.task_id) == task


async def test_a_batch_is_prepared_for_before_its_first_call() -> None:
    bench = MemoryBench.new()
    await worked(bench)
    assert bench.client.prepared == ["openai"]
    assert len(bench.client.asked) == 1
