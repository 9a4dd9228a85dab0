"""Which run, catalogue or platform does a command's argument name? Found, or one sentence that says what there is instead."""

from __future__ import annotations

from dataclasses import dataclass

from brandvane.catalogue import Catalogue, PlatformSettings
from brandvane.cli.desk import Desk
from brandvane.cli.errors import CliError
from brandvane.cli.when import instant_of
from brandvane.engine.refusal import NoSuchRun
from brandvane.engine.rehearse import near
from brandvane.ports import Deployed
from brandvane.run import Run


@dataclass(frozen=True, slots=True)
class KnownPlatform:
    """A platform by name: as the current catalogue has it, and as it is deployed (one of them may be missing)."""

    name: str
    settings: PlatformSettings | None
    deployed: Deployed | None


async def run_named(desk: Desk, run_id: str) -> Run:
    """A run by its id.

    Raises:
        NoSuchRun: there is none.
    """
    run = await desk.runs.get(run_id)
    if run is None:
        raise NoSuchRun(run_id)
    return run


async def current_catalogue(desk: Desk) -> Catalogue | None:
    """The catalogue that the next run will ask from; None before the first push."""
    version = await desk.catalogues.current()
    return None if version is None else await desk.catalogues.load(version)


async def time_zone_of(desk: Desk) -> str:
    """The current monitor's time zone; UTC before the first push."""
    catalogue = await current_catalogue(desk)
    return "UTC" if catalogue is None else catalogue.monitor.time_zone


async def platforms_known(desk: Desk) -> dict[str, KnownPlatform]:
    """Every platform of the current monitor, in its order, then those that are only deployed."""
    catalogue = await current_catalogue(desk)
    settings = {} if catalogue is None else {p.name: p for p in catalogue.monitor.platforms}
    deployed = {worker.platform: worker for worker in await desk.deployment.platforms()}
    names = dict.fromkeys((*settings, *sorted(deployed)))
    return {name: KnownPlatform(name, settings.get(name), deployed.get(name)) for name in names}


async def platform_named(desk: Desk, name: str) -> KnownPlatform:
    """One platform.

    Raises:
        CliError: neither monitor nor stack has it (2).
    """
    known = await platforms_known(desk)
    if name not in known:
        raise CliError(f"there is no platform '{name}'; {near(name, list(known))}", 2)
    return known[name]


def instant_given(text: str, option: str, now: float, time_zone: str) -> float:
    """The instant that an option's value means.

    Raises:
        CliError: it is none, or it is past (2).
    """
    try:
        at = instant_of(text, now, time_zone)
    except ValueError as error:
        raise CliError(f"{option}: {error}", 2) from None
    if at <= now:
        raise CliError(f"{option}: '{text}' is past", 2)
    return at
