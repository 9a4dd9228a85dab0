"""Which run does a task belong to, and what does its pinned catalogue say? Small caches, shared within an environment."""

from __future__ import annotations

from brandvane.catalogue import Catalogue, Selection, prompts
from brandvane.ports import CatalogueStore, Clock, RunStore
from brandvane.run import Run

RUN_CACHE_S = 10.0
RUNS_KEPT = 100
TEXTS_KEPT = 3


class RunReader:
    """Run items, cached for at most 10 s; ``fresh`` before a task is ended by one (DESIGN §2)."""

    def __init__(self, *, runs: RunStore, clock: Clock) -> None:
        self._runs = runs
        self._clock = clock
        self._cache: dict[str, tuple[float, Run | None]] = {}

    async def get(self, run_id: str, *, fresh: bool = False) -> Run | None:
        """The run, or None where there is none."""
        now = self._clock.now()
        known = self._cache.get(run_id)
        if known is not None and not fresh and now - known[0] <= RUN_CACHE_S:
            return known[1]
        run = await self._runs.get(run_id)
        if len(self._cache) >= RUNS_KEPT:
            self._cache.clear()
        self._cache[run_id] = (now, run)
        return run

    async def is_final(self, run_id: str) -> bool:
        """Past its deadline or cancelled, as known at most 10 s ago: enough to leave a task alone, not to end it."""
        run = await self.get(run_id)
        return run is not None and run.is_final(self._clock.now())


class PromptReader:
    """Catalogues by version, and the texts behind prompt hashes."""

    def __init__(self, *, catalogues: CatalogueStore) -> None:
        self._catalogues = catalogues
        self._texts: dict[str, dict[str, str]] = {}

    async def catalogue(self, version: str) -> Catalogue:
        """The pinned catalogue."""
        return await self._catalogues.load(version)

    async def current(self) -> Catalogue | None:
        """The catalogue that the next run will be pinned to, if one has been pushed."""
        version = await self._catalogues.current()
        return None if version is None else await self._catalogues.load(version)

    async def text(self, version: str, prompt_hash: str) -> str:
        """The prompt to send.

        Raises:
            KeyError: the catalogue has no such prompt.
        """
        if version not in self._texts:
            catalogue = await self.catalogue(version)
            if len(self._texts) >= TEXTS_KEPT:
                self._texts.clear()
            self._texts[version] = {p.prompt_hash: p.text for p in prompts(catalogue, Selection())}
        return self._texts[version][prompt_hash]
