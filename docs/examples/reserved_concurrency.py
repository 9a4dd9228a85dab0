"""A function that is allowed two executions: do messages reach it, or do they end in the dead-letter queue without ever running?

Lambda's pollers do not know the function's reserved concurrency. What they receive and cannot hand over counts as received.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from brandvane.ports import Envelope
from brandvane.simulation.memory_clock import ManualClock
from brandvane.simulation.memory_queue import MemoryQueue

QUEUE = "calls-hunyuan"
MESSAGES, CALL_S, LOOK_S, AGAIN_S = 60, 25.0, 1.0, 30


@dataclass(frozen=True, slots=True)
class Shape:
    """Pollers that take messages at once, executions that the function has, receives until a message counts as dead."""

    pollers: int
    reserved: int
    max_receives: int


NAIVE = Shape(pollers=5, reserved=2, max_receives=5)  # reserved concurrency alone: Lambda polls with five
OURS = Shape(pollers=2, reserved=4, max_receives=20)  # template.yaml: Invocations (MaximumConcurrency) below Reserved


async def outcome(shape: Shape) -> tuple[int, int]:
    """How many messages were worked on, and how many ended as dead letters without having been."""
    clock = ManualClock()
    queue = MemoryQueue(clock=clock, visibility_s=900.0, default_max_receives=shape.max_receives)
    await queue.send(QUEUE, [Envelope(str(n), f"task {n}") for n in range(MESSAGES)])
    busy_until: list[float] = []
    worked = 0
    while await queue.depth(QUEUE):
        busy_until = [end for end in busy_until if end > clock.now()]
        for message in await queue.receive(QUEUE, shape.pollers - len(busy_until)):
            if len(busy_until) < shape.reserved:
                busy_until.append(clock.now() + CALL_S)
                await queue.delete(QUEUE, message.receipt)
                worked += 1
            else:  # throttled: back on the queue, one receive the poorer
                await queue.postpone(QUEUE, message.receipt, AGAIN_S)
        await clock.advance(LOOK_S)
    return worked, await queue.depth(f"{QUEUE}-dead")


async def main() -> None:
    """Both shapes, the same messages."""
    for name, shape in (("reserved concurrency alone", NAIVE), ("MaximumConcurrency below it", OURS)):
        worked, dead = await outcome(shape)
        print(f"{name}: {worked} of {MESSAGES} messages worked on, {dead} dead letters that never ran")


if __name__ == "__main__":
    asyncio.run(main())
