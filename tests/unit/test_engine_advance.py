"""When a run is finished and who does the next step; each step conditional, asked for again when nobody did it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane.ports import Unavailable
from brandvane.run import Run, RunState
from brandvane.stat import Stat
from brandvane.task import BUCKETS, Outcome, State
from builders import NOW, catalogue, placed, tasks_of, together
from engine_rig import MemoryBench


async def stepped(bench: MemoryBench, in_hand: int | None = 0) -> Run:
    """One step; the run as it is then in the store."""
    await bench.advance.step(bench.world.runs.runs[bench.run.run_id], in_hand)
    run: Run = bench.world.runs.runs[bench.run.run_id]
    return run


async def with_rows(number: int, tasks: int = 4, **run: Any) -> MemoryBench:
    """A run of which so many tasks have their rows."""
    bench = MemoryBench.new(catalogue(tasks), **run)
    for task in tasks_of(bench.run, bench.catalogue)[:number]:
        written = placed(task, State.WRITEBACK, outcome=Outcome.OK, answer=b"packed")
        bench.put(written)
        await bench.write_back.settle(written)
    return bench


async def test_a_run_is_finished_when_as_many_rows_count_as_were_planned() -> None:
    bench = await with_rows(4)
    run = await stepped(bench)
    assert (run.state, run.counted, run.finished_at) == (RunState.SCORING, 4, NOW)
    assert bench.functions.take() == [("scorer", {"run_id": run.run_id, "pass_no": 1, "buckets": list(range(BUCKETS))})]


async def test_a_run_that_lacks_a_row_is_not_finished() -> None:
    run = await stepped(await with_rows(3))
    assert (run.state, run.counted, run.counted_at) == (RunState.OPEN, 3, NOW)


async def test_a_run_whose_plan_is_not_complete_is_not_even_counted() -> None:
    run = await stepped(await with_rows(4, plan_complete=False))
    assert (run.state, run.counted_at) == (RunState.OPEN, 0.0)


@pytest.mark.parametrize(("in_hand", "wait"), [(5, 60.0), (None, 60.0), (0, 20.0)])
async def test_a_run_is_counted_at_most_once_a_minute_or_thrice_when_nothing_is_in_hand(
    in_hand: int | None, wait: float
) -> None:
    bench = await with_rows(3)
    await stepped(bench, in_hand)
    await bench.clock.advance(wait - 0.1)
    assert (await stepped(bench, in_hand)).counted_at == NOW
    await bench.clock.advance(0.1)
    assert (await stepped(bench, in_hand)).counted_at == NOW + wait


async def test_a_reopened_run_is_not_counted_for_a_minute() -> None:
    bench = await with_rows(4, not_counted_before=NOW + 60)
    assert (await stepped(bench)).state is RunState.OPEN
    await bench.clock.advance(60)
    assert (await stepped(bench)).state is RunState.SCORING


async def test_more_rows_than_planned_finish_the_run_and_are_told() -> None:
    bench = await with_rows(4, planned={"openai": 3})
    assert (await stepped(bench)).state is RunState.SCORING
    assert len(bench.telemetry.named("more_results_than_planned")) == 1


async def test_two_scanners_finish_a_run_once() -> None:
    bench = await with_rows(4)
    run = bench.world.runs.runs[bench.run.run_id]
    await bench.clock.run(together(bench.advance.step(run, 0), bench.advance.step(run, 0)))
    assert len(bench.functions.take()) == 1


async def test_a_large_runs_buckets_are_shared_out() -> None:
    bench = MemoryBench.new(state=RunState.FINISHED, planned={"openai": 20_000})
    await stepped(bench)
    events = [event for name, event in bench.functions.take() if name == "scorer"]
    assert len(events) > 1
    assert sorted(bucket for event in events for bucket in event["buckets"]) == list(range(BUCKETS))


async def test_scorers_that_were_never_called_are_asked_for_again_after_their_lease() -> None:
    bench = MemoryBench.new(state=RunState.FINISHED)
    faulty = bench.without(functions={"invoke": [Unavailable("no")]})
    with pytest.raises(Unavailable):
        await faulty.advance.step(bench.run)
    assert (await stepped(bench)).state is RunState.SCORING
    assert bench.functions.take() == []
    await bench.clock.advance(330)
    await stepped(bench)
    assert len(bench.functions.take()) == 1


async def test_only_the_buckets_that_are_missing_are_asked_for_again() -> None:
    done = frozenset(range(16)) - {3, 9}
    bench = MemoryBench.new(state=RunState.SCORING, scored=done, step_until=NOW)
    run = await stepped(bench)
    assert bench.functions.take() == [("scorer", {"run_id": run.run_id, "pass_no": 1, "buckets": [3, 9]})]
    assert run.step_until == NOW + 330


async def test_when_every_bucket_is_scored_the_reporter_is_called() -> None:
    bench = MemoryBench.new(state=RunState.SCORING, scored=frozenset(range(16)), pass_no=2)
    run = await stepped(bench)
    assert (run.state, run.step_until) == (RunState.REPORTING, NOW + 330)
    assert bench.functions.take() == [("reporter", {"run_id": run.run_id, "pass_no": 2})]


async def test_a_reporter_that_says_nothing_is_called_again_after_its_lease() -> None:
    bench = MemoryBench.new(state=RunState.REPORTING, step_until=NOW + 330)
    await bench.clock.advance(329)
    await stepped(bench)
    assert bench.functions.take() == []
    await bench.clock.advance(1)
    await stepped(bench)
    assert len(bench.functions.take()) == 1


@pytest.mark.parametrize("state", [RunState.SCORING, RunState.REPORTING])
async def test_a_step_of_a_pass_that_is_over_is_not_taken(state: RunState) -> None:
    bench = MemoryBench.new(state=state, scored=frozenset(range(16)), step_until=NOW)
    stale = bench.run
    bench.set_run(state=RunState.OPEN, pass_no=2, scored=frozenset())
    await bench.advance.step(stale, 0)
    run = bench.world.runs.runs[bench.run.run_id]
    assert (run.state, run.pass_no, bench.functions.take()) == (RunState.OPEN, 2, [])


@pytest.mark.parametrize("state", [RunState.REPORTED, RunState.CANCELLED])
async def test_a_run_at_its_end_takes_no_step(state: RunState) -> None:
    bench = await with_rows(4, state=state, cancelled_at=NOW)
    assert (await stepped(bench)).state is state
    assert bench.functions.take() == []


def batch(number: int, hold_s: float, calls: int = 1) -> Stat:
    """What one invocation did."""
    return Stat(platform="openai", minute=int(NOW // 60), invocation=f"i{number}", calls=calls, hold_s=hold_s)


async def test_the_hold_time_of_nine_in_ten_batches_is_remembered_for_the_next_plan() -> None:
    bench = await with_rows(4)
    for number in range(20):
        await bench.stats.put(batch(number, float(number)))
    await bench.stats.put(batch(99, 500.0, calls=0))  # called nobody: says nothing of calls
    await stepped(bench)
    assert bench.control().hold_s == 17.0


async def test_a_few_batches_say_nothing_of_the_next_plan() -> None:
    bench = await with_rows(4)
    for number in range(9):
        await bench.stats.put(batch(number, float(number)))
    await stepped(bench)
    assert bench.control().hold_s is None


async def test_a_sweep_takes_a_run_from_its_last_row_to_its_report() -> None:
    bench = await with_rows(4)
    states = []
    for _ in range(3):
        await bench.clock.run(bench.sweep())
        run = bench.world.runs.runs[bench.run.run_id]
        states.append(run.state)
        bench.world.runs.runs[run.run_id] = replace(run, scored=frozenset(range(16)))
        await bench.clock.advance(30)
    assert states == [RunState.SCORING, RunState.REPORTING, RunState.REPORTING]
    assert [name for name, _ in bench.functions.take()] == ["scorer", "reporter"]


async def test_all_rows_are_written_only_when_none_is_missing() -> None:
    bench = await with_rows(3)
    assert not await bench.advance.all_written(bench.run)
    assert await bench.advance.all_written(replace(bench.run, planned={"openai": 3}))


async def test_a_run_that_ends_before_its_window_asks_for_no_minutes_to_come() -> None:
    bench = await with_rows(4, window_start=NOW + 90)
    asked: list[tuple[float, float]] = []
    since = bench.world.stats.since

    async def remembering(platform: str, start: float, end: float) -> list[Stat]:
        asked.append((start, end))
        return await since(platform, start, end)

    bench.world.stats.since = remembering  # type: ignore[method-assign]
    await stepped(bench)
    assert asked == [(NOW, NOW)]
