"""What do catalogues and the deployment look like from an execution environment? Fetched from S3 and SSM, cached as on AWS.

Each environment fetches for itself, as ``brandvane.aws.catalogue_store`` and ``brandvane.aws.deployment`` do: a version once, the
pointer each time, the platforms once a minute.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from brandvane.catalogue import Catalogue
from brandvane.engine.pinned import PromptReader
from brandvane.ports import CatalogueStore, Deployed, Unavailable
from brandvane.simulation.cloud import Cloud
from brandvane.simulation.host import Host

KEEP = 4  # versions, as in S3CatalogueStore
CACHE_S = 60.0  # as in SsmDeployment
PAGE = 10  # parameters in a reply of GetParametersByPath

Texts = dict[str, dict[str, str]]  # by version and hash


class CloudCatalogues:
    """The ``CatalogueStore`` port, for one environment."""

    def __init__(self, host: Host, cloud: Cloud) -> None:
        self._host = host
        self._cloud = cloud
        self._store = cloud.catalogues
        self._loaded: OrderedDict[str, Catalogue] = OrderedDict()
        self._lock = asyncio.Lock()

    async def load(self, version: str) -> Catalogue:
        """A pushed version; the last few are kept.

        Raises:
            LookupError: there is no such version.
            Unavailable: S3 refuses or does not answer.
        """
        async with self._lock:  # as on AWS: those who wait for a fetch that fails try one after another
            if version not in self._loaded:
                self._loaded[version] = await self._fetched(version)
                while len(self._loaded) > KEEP:
                    self._loaded.popitem(last=False)
            self._loaded.move_to_end(version)
            return self._loaded[version]

    async def _fetched(self, version: str) -> Catalogue:
        def effect() -> Catalogue | None:
            self._cloud.meter.asked("s3", "get")
            return self._store.versions.get(version)

        catalogue = await self._cloud.s3.call(self._host, effect, write=False)
        if catalogue is None:
            raise LookupError(f"there is no catalogue version {version}")
        return catalogue

    async def current(self) -> str | None:
        """What the pointer says now; it is never cached.

        Raises:
            Unavailable: S3 refuses or does not answer.
        """

        def effect() -> str | None:
            self._cloud.meter.asked("s3", "get")
            return self._store.current_version

        return await self._cloud.s3.call(self._host, effect, write=False)


class CloudPrompts(PromptReader):
    """As the engine reads them; but environments share the texts of a version, which are the same and may be a million."""

    def __init__(self, *, catalogues: CatalogueStore, texts: Texts) -> None:
        super().__init__(catalogues=catalogues)
        self._texts = texts

    async def text(self, version: str, prompt_hash: str) -> str:
        """The prompt to send, of a catalogue that this environment has fetched."""
        await self.catalogue(version)
        return await super().text(version, prompt_hash)


class CloudDeployment:
    """The ``Deployment`` port, for one environment."""

    def __init__(self, host: Host, cloud: Cloud, deployed: tuple[Deployed, ...]) -> None:
        self._host = host
        self._cloud = cloud
        named = tuple(sorted(deployed, key=lambda each: each.platform))
        self._pages = [named[start : start + PAGE] for start in range(0, max(len(named), 1), PAGE)]
        self._read_at: float | None = None
        self._platforms: tuple[Deployed, ...] = ()

    async def platforms(self) -> tuple[Deployed, ...]:
        """Every platform that has a worker, by name; read at most once a minute, and what is known holds while that fails.

        Raises:
            Unavailable: SSM refuses or does not answer, and nothing is known yet.
        """
        loop = self._cloud.loop
        if self._read_at is None or loop.time() - self._read_at >= CACHE_S:
            try:
                found = [await self._page(page) for page in self._pages]
            except Unavailable:
                if self._read_at is None:
                    raise
            else:
                self._platforms = tuple(each for page in found for each in page)
                self._read_at = loop.time()
        return self._platforms

    async def _page(self, page: tuple[Deployed, ...]) -> tuple[Deployed, ...]:
        def effect() -> tuple[Deployed, ...]:
            self._cloud.meter.asked("ssm", "get")
            return page

        return await self._cloud.ssm.call(self._host, effect, write=False)
