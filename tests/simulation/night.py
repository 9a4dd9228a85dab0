"""What do tests of a model that vanishes at night share? Three platforms, one of which forgets a model, and a person who looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from brandvane.catalogue import Catalogue
from brandvane.control import Control
from brandvane.task import State
from builders import Asked, Reply
from engine_rig import MemoryBench
from unit.test_engine_whole_run import Whole

PLATFORMS = ("openai", "kimi", "qwen")
VANISHED = "kimi"


class Night(Whole):
    """A whole run; ``seen`` and ``control`` are what the person found: each platform's tasks by state, the vanished one's item."""

    def __init__(self, given: Catalogue, reply_of: Callable[[str, MemoryBench], Callable[[int, Asked], Reply]]) -> None:
        super().__init__(1)
        self.bench = MemoryBench.new(given, plan=False)
        for name, client in self.clients.items():
            client.clock, client.reply = self.bench.clock, reply_of(name, self.bench)
        self.workers = {name: self._worker(name) for name in PLATFORMS}
        self.seen: dict[str, Counter[State]] = {}
        self.control: Control | None = None

    async def person(self, looks_at: float, resumes_at: float) -> None:
        """Look at the tasks and at the control item, and lift the pause when the model is back."""
        await self.bench.clock.sleep(looks_at - self.bench.clock.now())
        for name in PLATFORMS:
            records = [task for task in self.bench.world.tasks.records.values() if task.platform == name]
            self.seen[name] = Counter(task.state for task in records)
        self.control = self.bench.world.control.items[VANISHED]
        await self.bench.clock.sleep(resumes_at - self.bench.clock.now())
        await self.bench.limiter.resume(VANISHED)
