"""A worker stalls, its task is given to another, then it wakes up with its old answer: which answer counts?"""

from __future__ import annotations

import asyncio

from questions import PLATFORM, task

from brandvane.moves import answered, begin, claim, rescue
from brandvane.ports import TaskStore
from brandvane.simulation.memory_world import MemoryWorld
from brandvane.task import Change, Outcome, State, Task

LEASE_S = 75.0  # call timeout and margin
STALLED_S = 200.0


async def naive() -> str:
    """State is checked, ownership is not: whoever finds the task RUNNING may write its answer."""
    record = {"state": "PENDING", "answer": ""}

    def take() -> None:
        record["state"] = "RUNNING"

    def write(answer: str) -> None:
        if record["state"] == "RUNNING":  # true again, but of somebody else's call
            record.update(state="DONE", answer=answer)

    take()  # the first worker, which stalls
    record["state"] = "PENDING"  # the scanner
    take()  # the second worker: its call is under way and paid for
    write("answer of the stalled worker")
    write("answer of the worker that has the task")
    return record["answer"]


async def ours() -> tuple[str, str]:
    """Every claim has an ``attempt_id`` of its own, and every move names it: the stalled worker's is refused."""
    world = MemoryWorld()
    one = task(1, world.clock.now())
    await world.tasks.create([one])
    stalled = await _begun(world.tasks, one, "attempt-1", world.clock.now())
    await world.clock.advance(STALLED_S)
    now = world.clock.now()
    given_back = (await world.tasks.move(one.task_id, rescue(stalled, now, now))).task or one
    second = await _begun(world.tasks, given_back, "attempt-2", now)
    late = await world.tasks.move(one.task_id, _answer(stalled, b"answer of the stalled worker", now))
    await world.tasks.move(one.task_id, _answer(second, b"answer of the worker that has the task", now))
    kept = world.tasks.records[one.task_id]
    return late.verdict.value, (kept.answer or b"").decode()


async def _begun(tasks: TaskStore, record: Task, attempt_id: str, now: float) -> Task:
    await tasks.move(record.task_id, claim(PLATFORM, record.dispatch_no, attempt_id, now))
    pulled = await tasks.get(record.task_id) or record
    running = (await tasks.move(record.task_id, begin(pulled, LEASE_S, 0, now))).task
    if running is None or running.state is not State.RUNNING:
        raise RuntimeError(f"{attempt_id} could not begin")
    return running


def _answer(record: Task, text: bytes, now: float) -> Change:
    return answered(record, Outcome.OK, now, answer=text, answer_key=None)


async def main() -> None:
    """Both shapes, the same stall."""
    print(f"state alone: kept is the {await naive()}")
    verdict, answer = await ours()
    print(f"with a fence: the late write is {verdict}; kept is the {answer}")


if __name__ == "__main__":
    asyncio.run(main())
