"""What lies in the dead-letter queues, and where can it go?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from brandvane.answer import late_key
from brandvane.engine.redrive import SHARED, Action, DeadLetters, Letter, dead_letter_queues
from brandvane.engine.refusal import Refusal
from brandvane.messages import CallMessage, Carried, PlanMessage, WriteBackMessage
from brandvane.ports import Delivered, Envelope, Unavailable
from brandvane.simulation.memory_world import ManualClock, MemoryWorld
from brandvane.task import RECORD_VERSION, Outcome, State, Task
from builders import NOW, Faulty, task

CALLS = "calls-openai-dead"
WRITEBACK = "writeback-dead"
ANSWER = Carried(Outcome.OK, None, b"packed", None)


async def _world(*records: Task) -> MemoryWorld:
    world = MemoryWorld(clock=ManualClock(NOW))
    await world.tasks.create(records)
    return world


async def _send(world: MemoryWorld, queue: str, *bodies: str) -> None:
    await world.queue.send(queue, [Envelope(str(n), body) for n, body in enumerate(bodies)])


def _letters(world: MemoryWorld, **ports: object) -> DeadLetters:
    return DeadLetters(
        **{
            "queue": world.queue,
            "tasks": world.tasks,
            "blobs": world.blobs,
            "functions": world.functions,
            "clock": world.clock,
            "telemetry": world.telemetry,
            **ports,
        }  # type: ignore[arg-type]
    )


def _call(record: Task, dispatch_no: int | None = None) -> str:
    return CallMessage(record.task_id, record.run_id, dispatch_no or record.dispatch_no, NOW - 900).encode()


def _actions(letters: list[Letter]) -> list[Action]:
    return [letter.action for letter in letters]


async def test_every_platform_and_every_shared_queue_has_dead_letters() -> None:
    assert dead_letter_queues(["openai"]) == (
        "calls-openai-dead",
        "writeback-dead",
        "plan-dead",
        "sweep-dead",
        "schedules-dead",
    )


async def test_the_shared_dead_letter_queues_are_those_of_the_template() -> None:
    template = (Path(__file__).parents[2] / "template.yaml").read_text()

    named = re.findall(r"QueueName: !Sub '\$\{AWS::StackName\}-(\w+)-dead'", template)
    assert sorted(named) == sorted(SHARED)


async def test_a_letter_that_its_dispatched_task_waits_for_puts_it_back_to_pending() -> None:
    record = task(State.DISPATCHED, dispatch_no=3, act_at=NOW + 300)
    world = await _world(record)
    await _send(world, CALLS, _call(record))

    handled = await _letters(world).redrive(CALLS)

    again = world.tasks.records[record.task_id]
    assert _actions(handled) == [Action.TO_PENDING]
    assert (again.state, again.dispatch_no, again.act_at, again.next_execute_time) == (State.PENDING, 3, NOW, NOW)
    assert await world.queue.depth(CALLS) == 0
    assert world.functions.take() == [("dispatcher", {"new_tasks": True})]


@pytest.mark.parametrize("state", [state for state in State if state is not State.DISPATCHED], ids=str)
async def test_a_letter_of_a_task_in_any_other_state_is_only_deleted(state: State) -> None:
    record = task(state)
    world = await _world(record)
    await _send(world, CALLS, _call(record))

    handled = await _letters(world).redrive(CALLS)

    assert _actions(handled) == [Action.DELETE]
    assert world.tasks.records[record.task_id] == record
    assert await world.queue.depth(CALLS) == 0
    assert world.functions.take() == []


async def test_a_letter_of_an_earlier_wait_is_only_deleted() -> None:
    record = task(State.DISPATCHED, dispatch_no=3)
    world = await _world(record)
    await _send(world, CALLS, _call(record, dispatch_no=2))

    assert _actions(await _letters(world).redrive(CALLS)) == [Action.DELETE]
    assert world.tasks.records[record.task_id] == record


async def test_a_letter_whose_record_is_gone_is_only_deleted() -> None:
    world = await _world()
    await _send(world, CALLS, _call(task()))

    assert _actions(await _letters(world).redrive(CALLS)) == [Action.DELETE]


async def test_a_task_that_a_worker_claims_at_this_moment_stays_the_workers() -> None:
    record = task(State.DISPATCHED)
    claimed = task(State.PULLED, attempt_id="other")
    world = await _world(record)
    await _send(world, CALLS, _call(record))

    class Claiming(Faulty):
        async def move(self, task_id: str, change: Any) -> Any:
            world.tasks.records[task_id] = claimed
            return await world.tasks.move(task_id, change)

    await _letters(world, tasks=Claiming(world.tasks, {})).redrive(CALLS)

    assert world.tasks.records[record.task_id] == claimed
    assert await world.queue.depth(CALLS) == 0


async def test_looking_changes_nothing_and_hides_nothing() -> None:
    record = task(State.DISPATCHED)
    world = await _world(record)
    await _send(world, CALLS, _call(record), "no message of ours")

    first = await _letters(world).look(CALLS)
    second = await _letters(world).look(CALLS)

    assert _actions(first) == _actions(second) == [Action.TO_PENDING, Action.KEEP]
    assert first[0].task == record
    assert world.tasks.records[record.task_id] == record
    assert len(await world.queue.receive(CALLS, 10)) == 2


async def test_a_letter_that_names_no_task_stays_and_is_visible_again() -> None:
    world = await _world()
    await _send(world, CALLS, "no message of ours")

    assert await _letters(world).redrive(CALLS) == []
    assert len(await world.queue.receive(CALLS, 10)) == 1


async def test_a_plan_letter_is_understood_and_stays() -> None:
    world = await _world()
    await _send(world, "plan-dead", PlanMessage("day", 4).encode())

    (letter,) = await _letters(world).look("plan-dead")

    assert (letter.action, letter.run_id, letter.plan) == (Action.KEEP, "day", PlanMessage("day", 4))


async def test_a_write_back_letter_goes_back_to_its_queue_as_it_is() -> None:
    record = task(State.WRITEBACK)
    world = await _world(record)
    body = WriteBackMessage(record.task_id, "r1", "attempt-1", 2, ANSWER).encode()
    await _send(world, WRITEBACK, body)

    handled = await _letters(world).redrive(WRITEBACK)

    assert _actions(handled) == [Action.TO_WRITEBACK]
    assert await world.queue.depth(WRITEBACK) == 0
    assert [message.body for message in await world.queue.receive("writeback", 10)] == [body]


async def test_a_write_back_letter_that_the_queue_does_not_confirm_stays() -> None:
    world = await _world()
    await _send(world, WRITEBACK, WriteBackMessage("t", "r1", "attempt-1", 0, ANSWER).encode())

    class Refusing(Faulty):
        async def send(self, queue: str, envelopes: Any) -> frozenset[str]:
            return frozenset()

    handled = await _letters(world, queue=Refusing(world.queue, {})).redrive(WRITEBACK)

    assert handled == []
    assert len(await world.queue.receive(WRITEBACK, 10)) == 1


async def test_a_letter_of_a_newer_release_is_neither_redriven_nor_discarded() -> None:
    world = await _world()
    await _send(world, CALLS, json.dumps({"v": 2, "task_id": "t"}))
    letters = _letters(world)
    (letter,) = await letters.look(CALLS)

    assert letter.action is Action.NEWER
    assert await letters.redrive(CALLS) == []
    with pytest.raises(Refusal, match="newer release"):
        await letters.discard(CALLS, {letter.message.message_id})
    assert len(await world.queue.receive(CALLS, 10)) == 1


async def test_a_letter_of_a_record_of_a_newer_release_stays() -> None:
    record = task(State.DISPATCHED, v=RECORD_VERSION + 1)
    world = await _world(record)
    await _send(world, CALLS, _call(record))

    assert _actions(await _letters(world).look(CALLS)) == [Action.NEWER]


async def test_only_the_letters_that_are_named_are_redriven_and_those_that_came_meanwhile_stay() -> None:
    record = task(State.DISPATCHED)
    world = await _world(record)
    await _send(world, CALLS, _call(record))
    (seen,) = await _letters(world).look(CALLS)
    await _send(world, CALLS, _call(record))

    handled = await _letters(world).redrive(CALLS, {seen.message.message_id})

    assert [letter.message.message_id for letter in handled] == [seen.message.message_id]
    assert len(await world.queue.receive(CALLS, 10)) == 1


async def test_several_letters_are_discarded_at_once() -> None:
    world = await _world()
    await _send(world, CALLS, "one", "two", "three")
    letters = _letters(world)
    first, _, third = await letters.look(CALLS)

    gone = await letters.discard(CALLS, {first.message.message_id, third.message.message_id})

    assert [letter.message.body for letter in gone] == ["one", "three"]
    assert [message.body for message in await world.queue.receive(CALLS, 10)] == ["two"]


async def test_discarding_deletes_one_letter_and_shows_the_others_again() -> None:
    world = await _world()
    await _send(world, CALLS, "one", "two")
    letters = _letters(world)
    first, second = await letters.look(CALLS)

    gone = await letters.discard(CALLS, {first.message.message_id})

    assert [letter.message.body for letter in gone] == ["one"]
    assert [message.message_id for message in await world.queue.receive(CALLS, 10)] == [second.message.message_id]


async def test_discarding_what_is_not_there_changes_nothing() -> None:
    world = await _world()
    await _send(world, CALLS, "one")

    assert await _letters(world).discard(CALLS, {"message-99"}) == []
    assert len(await world.queue.receive(CALLS, 10)) == 1


async def test_an_answer_in_a_discarded_letter_is_kept() -> None:
    world = await _world()
    await _send(world, WRITEBACK, WriteBackMessage("t", "r1", "attempt-1", 0, ANSWER).encode())
    letters = _letters(world)
    (letter,) = await letters.look(WRITEBACK)

    await letters.discard(WRITEBACK, {letter.message.message_id})

    assert world.blobs.objects == {late_key("r1", "t", "attempt-1"): b"packed"}
    assert await world.queue.depth(WRITEBACK) == 0


async def test_a_table_that_refuses_leaves_the_letter_and_makes_it_visible() -> None:
    record = task(State.DISPATCHED)
    world = await _world(record)
    await _send(world, CALLS, _call(record))
    tasks = Faulty(world.tasks, {"move": [Unavailable("no")]})

    with pytest.raises(Unavailable):
        await _letters(world, tasks=tasks).redrive(CALLS)
    assert len(await world.queue.receive(CALLS, 10)) == 1


async def test_an_empty_reply_does_not_mean_an_empty_queue() -> None:
    world = await _world()
    await _send(world, CALLS, "one", "two")

    class Sampling(Faulty):
        """As SQS does it: every second reply is empty."""

        asked = 0

        async def receive(self, queue: str, limit: int) -> list[Delivered]:
            self.asked += 1
            return [] if self.asked % 2 else await world.queue.receive(queue, 1)

    letters = await _letters(world, queue=Sampling(world.queue, {})).look(CALLS)

    assert [letter.message.body for letter in letters] == ["one", "two"]
