"""SQS answers 200 and names three of ten entries as failed: are those three tasks ever asked?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from questions import PLATFORM, task

from brandvane.engine.send import Due, Sender
from brandvane.messages import CallMessage, calls_queue
from brandvane.ports import Envelope
from brandvane.simulation.memory_queue import MemoryQueue
from brandvane.simulation.memory_world import MemoryWorld
from brandvane.task import State

QUEUE = calls_queue(PLATFORM)
TASKS, FAILING = 10, 3


class PartlyFailing(MemoryQueue):
    """A queue that takes all but the last three entries of its first batch. No exception tells: the confirmed ids do."""

    failing = FAILING

    async def send(self, queue: str, envelopes: Sequence[Envelope]) -> frozenset[str]:
        """The ids that were confirmed."""
        taken, self.failing = list(envelopes)[: len(envelopes) - self.failing], 0
        return await super().send(queue, taken)


async def naive() -> int:
    """Send the batch; no exception came, so all of it is dispatched. How many tasks have no message and nobody to miss it?"""
    world = MemoryWorld()
    queue = PartlyFailing(clock=world.clock)
    tasks = [task(n, world.clock.now()) for n in range(TASKS)]
    state = {each.task_id: "PENDING" for each in tasks}
    await queue.send(QUEUE, [Envelope(each.task_id, each.task_id) for each in tasks])
    for each in tasks:
        state[each.task_id] = "DISPATCHED"
    waiting = set(queue.bodies(QUEUE))
    return sum(told == "DISPATCHED" and task_id not in waiting for task_id, told in state.items())


async def ours() -> tuple[int, int]:
    """What the dispatcher does: only what SQS named is marked. Tasks left PENDING after one tick, and without message after two."""
    world = MemoryWorld()
    queue = PartlyFailing(clock=world.clock)
    sender = Sender(tasks=world.tasks, queue=queue, clock=world.clock, telemetry=world.telemetry)
    await world.tasks.create([task(n, world.clock.now()) for n in range(TASKS)])
    left = []
    for _ in range(2):
        pending = [each for each in world.tasks.records.values() if each.state is State.PENDING]
        dues = [Due(each.task_id, each.run_id, each.dispatch_no, each.next_execute_time) for each in pending]
        await sender.send(PLATFORM, dues)
        left.append(sum(each.state is State.PENDING for each in world.tasks.records.values()))
    waiting = {CallMessage.decode(body).task_id for body in queue.bodies(QUEUE)}
    return left[0], len(world.tasks.records.keys() - waiting)


async def main() -> None:
    """Both shapes, the same failing batch."""
    print(f"all marked when the call returns: {await naive()} of {TASKS} tasks wait for ever for a message never sent")
    pending, lost = await ours()
    print(f"marked when SQS names them: {pending} stay PENDING, the next tick sends them, {lost} without message")


if __name__ == "__main__":
    asyncio.run(main())
