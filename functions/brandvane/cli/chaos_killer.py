"""How is a worker process killed at a chosen moment, and what did it leave behind? One kill, from the choice to the evidence."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence

from brandvane.cli.chaos_explain import Left
from brandvane.cli.chaos_kills import Aim, Kill, Victim, choose, task_of
from brandvane.cli.chaos_process import holders, kill, worker_pids
from brandvane.cli.chaos_records import Records
from brandvane.cli.chaos_standins import Standins
from brandvane.cli.local_state import LocalState
from brandvane.ports import Watched
from brandvane.task import State

YOUNG_CALL_S = 0.5  # a call whose answer's moment can still be waited for
LOOK_AGAIN_S = 35.0  # longer than any living worker keeps a task PULLED, or RUNNING at a call timeout of 8 s


class Killer:
    """Kills workers of one stack and keeps the record of it."""

    def __init__(
        self, state: LocalState, standins: Standins, records: Records, rng: random.Random, tell: Callable[[Kill], None]
    ) -> None:
        """``tell`` hears of each kill once it is known what it hit."""
        self._tell = tell
        self._state = state
        self._standins = standins
        self._records = records
        self._rng = rng
        self._looks: list[asyncio.Task[None]] = []
        self.kills: list[Kill] = []
        self.left: list[Left] = []

    async def strike(self, aim: Aim) -> None:
        """One kill, if there is somebody to kill at this moment."""
        victim, at = await asyncio.to_thread(self._struck, aim)
        if victim is not None:
            await self._note(aim, victim, at)

    async def looked_again(self) -> None:
        """Wait until every kill's traces have been read."""
        await asyncio.gather(*self._looks)

    def _struck(self, aim: Aim) -> tuple[Victim | None, float]:
        """Blocks, and does nothing between the news of an answer and the signal."""
        pids = worker_pids(self._state.emulator, self._state.stack)
        calls = self._standins.calls()
        victim = choose(
            aim, calls, holders(pids, self._standins.port), self._rng, now=time.time(), young_s=YOUNG_CALL_S
        )
        if victim is None or (aim is Aim.AFTER_ANSWER and not self._standins.answered(victim.chosen)):
            return None, 0.0
        at = kill(victim.pid)
        return (None, 0.0) if at is None else (victim, at)

    async def _note(self, aim: Aim, victim: Victim, at: float) -> None:
        """Read what the dead process left: its records stay as they are until the scanner takes them."""
        own = {task_of(call) for call in (*victim.calls, victim.chosen)}
        running = await self._records.held(victim.platform, State.RUNNING)
        pulled = await self._records.held(victim.platform, State.PULLED)
        ids = sorted(own | {entry.task_id for entry in running})
        records = await asyncio.gather(*(self._records.task(task_id) for task_id in ids))
        still = frozenset(
            f"{task.task_id}/{task.paid_calls}" for task in records if task is not None and task.state is State.RUNNING
        )
        struck = Kill(at=at, aim=aim, victim=victim, running=still)
        self.kills.append(struck)
        self._tell(struck)
        self.left += [Left(task_id, at) for task_id in sorted(struck.left())]
        others = [entry for entry in (*running, *pulled) if entry.task_id not in struck.left()]
        self._looks.append(asyncio.create_task(self._look_again(others, at)))

    async def _look_again(self, entries: Sequence[Watched], at: float) -> None:
        """Records whose owner was not known, and which nobody has touched for longer than a living worker would."""
        await asyncio.sleep(LOOK_AGAIN_S)
        for entry in entries:
            task = await self._records.task(entry.task_id)
            same = task is not None and (task.attempt_id, task.act_at) == (entry.attempt_id, entry.act_at)
            if same and all(left.task_id != entry.task_id for left in self.left):
                self.left.append(Left(entry.task_id, at))
