"""Where do stand-in platforms live? One asyncio server on loopback that holds them all, its start and its clean end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from brandvane.simulation import standin_pages
from brandvane.simulation.standin_answers import generated_answer
from brandvane.simulation.standin_calls import Desk
from brandvane.simulation.standin_config import StandinConfig
from brandvane.simulation.standin_connection import Connection
from brandvane.simulation.standin_http import Head
from brandvane.simulation.standin_log import CallLog
from brandvane.simulation.standin_replay import Recorded, read_recorded, stand_for

HOST = "127.0.0.1"
_BACKLOG = 1024  # a run that begins at once opens hundreds of connections in one moment


def steady_clock() -> Callable[[], float]:
    """A clock of POSIX seconds that never goes back: a step of the machine's clock would tear sliding seconds apart."""
    offset = time.time() - time.monotonic()
    return lambda: time.monotonic() + offset


class StandinServer:
    """The server; also what its connections know of it."""

    def __init__(self, config: StandinConfig, clock: Callable[[], float] | None = None) -> None:
        """Reads the recorded answers and opens the log.

        Raises:
            StandinFault: one of the files is wrong.
        """
        recorded = Recorded({}) if config.answers is None else read_recorded(config.answers)
        self.models = stand_for(tuple(config.platforms), recorded, config.models)
        seed, models = config.seed, self.models

        def answer(platform: str, prompt: str) -> str:
            told = recorded.answer(seed, platform, models[platform], prompt)
            return generated_answer(seed, platform, prompt, self.desk.brands) if told is None else told

        self.desk = Desk(config.platforms, seed, CallLog(config.log), answer, config.brands)
        self.connections: set[Connection] = set()
        self.ended: asyncio.Event = asyncio.Event()
        self.failure: OSError | None = None
        self.port = 0
        self._clock = clock or steady_clock()
        self._server: asyncio.Server | None = None

    async def start(self, port: int = 0) -> None:
        """Listen on loopback; 0 takes a free port.

        Raises:
            OSError: the port is taken or not allowed.
        """
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), HOST, port, backlog=_BACKLOG)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self.port}"

    def description(self) -> dict[str, Any]:
        """What a caller needs to know, JSON-ready: address, and for each platform its base URL, behaviour and model."""
        platforms = {
            name: {
                "base_url": f"{self.url}/{name}{platform.dialect.base}",
                "stands_for": self.models[name],
                **platform.behaviour.document(),
            }
            for name, platform in self.desk.platforms.items()
        }
        return {"url": self.url, "platforms": platforms}

    async def stop(self) -> None:
        """Listen no more, drop every connection, write down the calls that were under way, close the log."""
        if self._server is not None:
            self._server.close()
        while self.connections:  # also those that were accepted just now and are made in the loop's next turn
            for connection in list(self.connections):
                connection.abort()
            await asyncio.sleep(0)
        self.desk.log.close()

    def clock(self) -> float:
        """POSIX seconds, never going back."""
        return self._clock()

    def page(self, head: Head, body: bytes) -> standin_pages.Page:
        """Everything that is no call."""
        return standin_pages.page(self.desk, head, body)

    def broken(self, error: OSError) -> None:
        """A log that cannot be written makes every later count worthless: end."""
        self.failure = error
        self.ended.set()


@asynccontextmanager
async def serving(
    config: StandinConfig, port: int = 0, clock: Callable[[], float] | None = None
) -> AsyncIterator[StandinServer]:
    """A server that listens for the length of a ``with`` block.

    Raises:
        StandinFault: a file of the configuration is wrong.
        OSError: the port is taken or not allowed.
    """
    server = StandinServer(config, clock)
    try:
        await server.start(port)
        yield server
    finally:
        await server.stop()
