"""A cloud for tests of its ports: what is asked of it, in virtual time, with the faults that a test wants."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from brandvane.simulation.auditor import Auditor
from brandvane.simulation.cloud import Cloud
from brandvane.simulation.faults import Faults, Trouble
from brandvane.simulation.host import Host
from brandvane.simulation.virtual_loop import VirtualLoop, run_virtual
from builders import NOW

Result = TypeVar("Result")


@dataclass(slots=True)
class Bench:
    """The cloud and one environment in it."""

    loop: VirtualLoop
    cloud: Cloud
    host: Host


def on_cloud(faults: Faults, work: Callable[[Bench], Awaitable[Result]]) -> Result:
    """Carry ``work`` out on a fresh cloud, whose time begins at ``NOW``."""

    async def main(loop: VirtualLoop) -> Result:
        auditor = Auditor(loop.time, NOW, lambda: None)
        cloud = Cloud(loop=loop, epoch=NOW, seed=1, faults=faults, auditor=auditor)
        auditor.watch(cloud)
        return await work(Bench(loop, cloud, Host(loop, "test", NOW)))

    return run_virtual(main)


def always(what: str, how: str) -> Faults:
    """A service that is in trouble all the time (``started`` is a minute after the beginning)."""
    return Faults(troubles=(Trouble(what, -1e6, 1e6, 1.0, how),))  # type: ignore[arg-type]
