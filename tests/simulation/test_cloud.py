"""The simulated AWS is as unkind as the real one."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from brandvane import moves
from brandvane.control import Control
from brandvane.ports import Envelope, Unavailable
from brandvane.result import row_of
from brandvane.simulation.cloud import TooLarge
from brandvane.simulation.cloud_queue import CloudQueue, as_read
from brandvane.simulation.cloud_stores import CloudControls, CloudResults, CloudRuns
from brandvane.simulation.cloud_tasks import CloudTasks
from brandvane.simulation.faults import NONE, Faults, Trouble
from brandvane.simulation.host import Host
from brandvane.task import RECORD_VERSION, Outcome, State, Verdict
from builders import NOW, catalogue, run_of, task
from simulation.cloud_bench import Bench, always, on_cloud

MESSAGE = '{"v":1,"task_id":"t","run_id":"r","dispatch_no":1,"due":0}'


def test_a_request_takes_the_time_that_its_service_takes() -> None:
    async def work(bench: Bench) -> float:
        await CloudTasks(bench.host, bench.cloud).get("nobody")
        return bench.loop.time()

    assert 0.0015 <= on_cloud(NONE, work) <= 0.1


def test_a_refusing_table_changes_nothing() -> None:
    async def work(bench: Bench) -> bool:
        with pytest.raises(Unavailable):
            await CloudTasks(bench.host, bench.cloud).create([task()])
        return bool(bench.cloud.tasks.records)

    assert on_cloud(always("dynamodb", "refused"), work) is False


def test_a_lost_reply_leaves_the_work_done_and_says_so_or_nothing() -> None:
    async def work(bench: Bench) -> list[str]:
        store, told = CloudTasks(bench.host, bench.cloud), []
        for number in range(40):
            planned = replace(task(), task_id=f"{number:032x}")
            bench.cloud.tasks.create_at_once(planned)
            try:
                moved = await store.move(planned.task_id, moves.claim("openai", 1, "fresh", bench.host.now()))
                told.append(str(moved.verdict))
            except Unavailable:
                told.append("unavailable")
            assert bench.cloud.tasks.records[planned.task_id].state is State.PULLED
        return sorted(set(told))

    assert on_cloud(always("dynamodb", "lost"), work) == [Verdict.ALREADY, "unavailable"]


def test_a_control_item_that_was_swapped_twice_by_the_client_is_known_as_swapped() -> None:
    async def work(bench: Bench) -> list[object]:
        controls = CloudControls(bench.host, bench.cloud)
        told: list[object] = []
        for number in range(20):
            fresh = Control(f"p{number}")
            try:
                told.append(await controls.replace(fresh, replace(fresh, epoch=1)))
            except Unavailable:
                told.append(None)
        return told

    assert set(on_cloud(always("dynamodb", "lost"), work)) == {None}


def test_a_request_whose_caller_gives_up_takes_effect_all_the_same() -> None:
    async def work(bench: Bench) -> State:
        bench.cloud.tasks.create_at_once(task())
        claim = moves.claim("openai", 1, "fresh", bench.host.now())
        asked = asyncio.create_task(CloudTasks(bench.host, bench.cloud).move(task().task_id, claim))
        await bench.loop.sleeper(0.0001)
        asked.cancel()
        await bench.loop.sleeper(1.0)
        return bench.cloud.tasks.records[task().task_id].state

    assert on_cloud(NONE, work) is State.PULLED


def test_what_hangs_is_carried_out_at_once_later_or_never() -> None:
    async def work(bench: Bench) -> set[str]:
        store, records, seen = CloudTasks(bench.host, bench.cloud), bench.cloud.tasks.records, set()
        for number in range(40):
            planned = replace(task(), task_id=f"{number:032x}")
            asked = asyncio.create_task(store.create([planned]))
            await bench.loop.sleeper(0.2)
            soon = planned.task_id in records
            with pytest.raises(Unavailable):
                await asked
            seen.add("at once" if soon else "later" if planned.task_id in records else "never")
        return seen

    assert on_cloud(always("dynamodb", "hangs"), work) == {"at once", "later", "never"}


def test_the_index_hears_of_a_write_later_than_the_table() -> None:
    async def work(bench: Bench) -> list[int]:
        store = CloudTasks(bench.host, bench.cloud)
        await store.create([task()])
        watch = task().watch or ""
        seen = [await store.count_due(watch, NOW + 1e6, 10)]
        await bench.loop.sleeper(40)
        return [*seen, await store.count_due(watch, NOW + 1e6, 10)]

    lagging = Faults(troubles=(Trouble("index", -1e6, 1e6, 30.0),))
    assert on_cloud(lagging, work) == [0, 1]


def test_an_index_entry_says_what_the_record_was_and_not_what_it_is() -> None:
    async def work(bench: Bench) -> tuple[str, int]:
        store = CloudTasks(bench.host, bench.cloud)
        await store.create([task()])
        await bench.loop.sleeper(60)
        await store.move(task().task_id, moves.claim("openai", 1, "fresh", bench.host.now()))
        (entry,) = await store.due(task().watch or "", NOW + 1e6, 10)
        return entry.attempt_id, len(await store.due("openai#PULLED", NOW + 1e6, 10))

    lagging = Faults(troubles=(Trouble("index", -1e6, 1e6, 30.0),))
    assert on_cloud(lagging, work) == ("attempt-1", 0)


def test_rows_are_counted_late_and_never_early() -> None:
    async def work(bench: Bench) -> list[int]:
        results = CloudResults(bench.host, bench.cloud)
        row = row_of(task(State.WRITEBACK), NOW)
        counts = [await results.count(row.run_id)]
        await results.put(row)
        counts.append(await results.count(row.run_id))
        await bench.loop.sleeper(60)
        return [*counts, await results.count(row.run_id)]

    lagging = Faults(troubles=(Trouble("index", -1e6, 1e6, 30.0),))
    assert on_cloud(lagging, work) == [0, 0, 1]


def test_a_run_that_the_client_puts_twice_is_its_own() -> None:
    async def work(bench: Bench) -> list[bool]:
        runs, made = CloudRuns(bench.host, bench.cloud), []
        for number in range(20):
            try:
                made.append(await runs.create(run_of(catalogue(), f"run-{number}")))
            except Unavailable:
                continue
        return made

    assert set(on_cloud(always("dynamodb", "lost"), work)) == {True}


def test_a_record_of_the_next_release_is_left_alone_by_this_one_and_served_by_its_own() -> None:
    async def work(bench: Bench) -> list[object]:
        newer = Host(bench.loop, "newer", NOW, version=2)
        mine, theirs = CloudTasks(bench.host, bench.cloud), CloudTasks(newer, bench.cloud)
        await theirs.create([task()])
        await bench.loop.sleeper(5)
        task_id, watch = task().task_id, task().watch or ""
        refused = await mine.move(task_id, moves.claim("openai", 1, "mine", NOW))
        seen = len(await mine.due(watch, NOW + 1e6, 10)), len(await theirs.due(watch, NOW + 1e6, 10))
        moved = await theirs.move(task_id, moves.claim("openai", 1, "theirs", NOW))
        stored = bench.cloud.tasks.records[task_id].v
        return [refused.verdict, seen, moved.verdict, moved.task and moved.task.v, stored]

    assert on_cloud(NONE, work) == [Verdict.LOST, (0, 1), Verdict.MOVED, RECORD_VERSION, 2]


def test_a_message_of_the_next_release_is_newer_for_this_one_only() -> None:
    async def work(bench: Bench) -> list[str]:
        newer = Host(bench.loop, "newer", NOW, version=2)
        await CloudQueue(newer, bench.cloud).send("calls-p", [Envelope("t", MESSAGE)])
        (message,) = bench.cloud.queue.receive_at_once("calls-p", 1)
        return [as_read(bench.host, message).body[:7], as_read(newer, message).body[:7]]

    assert on_cloud(NONE, work) == ['{"v":2,', '{"v":1,']


def test_a_batch_send_can_confirm_a_part_of_what_it_sent() -> None:
    async def work(bench: Bench) -> tuple[int, int]:
        envelopes = [Envelope(str(number), MESSAGE) for number in range(100)]
        confirmed = await CloudQueue(bench.host, bench.cloud).send("calls-p", envelopes)
        return len(confirmed), bench.cloud.queue.depth_at_once("calls-p")

    confirmed, sent = on_cloud(Faults(entry_failed=0.5), work)
    assert confirmed < sent < 100


def test_a_send_whose_reply_was_lost_puts_the_message_on_the_queue_twice() -> None:
    async def work(bench: Bench) -> int:
        queue = CloudQueue(bench.host, bench.cloud)
        for _ in range(10):
            try:
                await queue.send("calls-p", [Envelope("t", MESSAGE)])
            except Unavailable:
                continue
        return bench.cloud.queue.depth_at_once("calls-p")

    assert 10 < on_cloud(always("sqs", "lost"), work) <= 20


def test_what_is_too_large_is_refused_for_good() -> None:
    async def work(bench: Bench) -> None:
        running = task(State.RUNNING)
        change = moves.answered(running, Outcome.OK, NOW, answer=bytes(420_000), answer_key=None)
        with pytest.raises(TooLarge):
            await CloudTasks(bench.host, bench.cloud).move(running.task_id, change)
        with pytest.raises(TooLarge):
            await CloudQueue(bench.host, bench.cloud).send("writeback", [Envelope("t", "x" * 1_100_000)])

    on_cloud(NONE, work)


def test_a_delay_that_sqs_does_not_take_is_refused() -> None:
    async def work(bench: Bench) -> None:
        with pytest.raises(ValueError, match="DelaySeconds 901"):
            await CloudQueue(bench.host, bench.cloud).send("calls-p", [Envelope("t", MESSAGE, 901)])

    on_cloud(NONE, work)


def test_a_killed_environment_neither_goes_on_nor_cleans_up() -> None:
    async def work(bench: Bench) -> list[str]:
        said: list[str] = []
        store = CloudTasks(bench.host, bench.cloud)

        async def code() -> None:
            try:
                await bench.host.sleep(10)
                said.append("went on")
            finally:
                await store.create([task()])

        running = asyncio.ensure_future(code())

        def died() -> None:
            running.cancel()

        bench.host.on_death = died
        await bench.loop.sleeper(5)
        bench.host.kill()
        await asyncio.gather(running, return_exceptions=True)
        return said + list(bench.cloud.tasks.records)

    assert on_cloud(NONE, work) == []


def test_a_stalled_environment_goes_on_later_as_if_nothing_had_been() -> None:
    async def work(bench: Bench) -> float:
        bench.host.stall(100)
        await CloudTasks(bench.host, bench.cloud).create([task()])
        return bench.loop.time()

    assert on_cloud(NONE, work) == pytest.approx(100, abs=1)


def test_a_whole_happy_life_costs_the_write_units_that_dynamodb_charges() -> None:
    async def work(bench: Bench) -> list[float]:
        store, results, meter = (
            CloudTasks(bench.host, bench.cloud),
            CloudResults(bench.host, bench.cloud),
            bench.cloud.meter,
        )
        spent: list[float] = []

        def more() -> float:
            total = sum(number for name, number in meter.counts.items() if name.startswith("write_"))
            spent.append(total - sum(spent))
            return total

        await store.create([task()])
        more()
        now = bench.host.now()
        await store.move(task().task_id, moves.dispatched("openai", 1, now + 10, now))
        more()
        claimed = (await store.move(task().task_id, moves.claim("openai", 1, "fresh", now))).task
        more()
        assert claimed is not None
        running = (await store.move(task().task_id, moves.begin(claimed, 75, 0, now))).task
        more()
        assert running is not None
        safe = moves.answered(running, Outcome.OK, now, answer=bytes(200), answer_key=None)
        answered = (await store.move(task().task_id, safe)).task
        more()
        assert answered is not None
        await results.put(row_of(answered, now))
        more()
        await store.move(task().task_id, moves.finished(answered, now, 86_400))
        more()
        return spent

    # planned, dispatched, claimed, begun, answer safe, row, finished: 18, as measured on DynamoDB (tests/contract)
    assert on_cloud(NONE, work) == [2, 3, 3, 3, 3, 2, 2]
