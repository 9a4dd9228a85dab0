"""Is this the local stack whose platforms are simulated, and what does a catalogue that is pushed there ask?

A catalogue says nothing of stand-ins. Pushed as it is, it would make a stack for play ask the real platforms, with keys that
open nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from brandvane.catalogue import Catalogue, PlatformSettings
from brandvane.catalogue_files.faults import Fault
from brandvane.cli.aws_context import AwsContext
from brandvane.cli.chaos_standins import Standins
from brandvane.cli.demo_catalogue import CALL_TIMEOUT_S, Pace
from brandvane.cli.local_commands import STATE
from brandvane.cli.local_stack import stands
from brandvane.cli.local_state import LocalState
from brandvane.platforms.registry import MONITOR_FILE


def play_stack(aws: AwsContext, file: Path | None = None) -> LocalState | None:
    """The running local stack that a command speaks to, if its platforms are simulated; ``file`` None: where it is noted."""
    if not aws.is_local or aws.endpoint is None:
        return None
    state = stands(file or STATE)
    if state is None or not state.base_urls:
        return None
    return state if (state.stack, state.port) == (aws.stack, urlsplit(aws.endpoint).port) else None


def with_standins(catalogue: Catalogue, state: LocalState) -> tuple[Catalogue, tuple[str, ...]]:
    """The catalogue with every platform that names no ``base_url`` of its own at its stand-in, and which those are."""
    moved = tuple(
        platform.name
        for platform in catalogue.monitor.platforms
        if platform.name in state.base_urls and platform.origins.get("base_url") != MONITOR_FILE
    )
    platforms = tuple(
        _moved(platform, state) if platform.name in moved else platform for platform in catalogue.monitor.platforms
    )
    return replace(catalogue, monitor=replace(catalogue.monitor, platforms=platforms)), moved


def _moved(platform: PlatformSettings, state: LocalState) -> PlatformSettings:
    """Address and protocol are the stand-in's; so are limits, but lower ones that the monitor states stay."""
    pace, own = Pace(), {name for name, file in platform.origins.items() if file == MONITOR_FILE}
    return replace(
        platform,
        base_url=state.base_urls[platform.name],
        protocol=state.protocols.get(platform.name, platform.protocol),
        rate=min(platform.rate, pace.rate) if "rate" in own else pace.rate,
        in_flight=min(platform.in_flight, pace.in_flight) if "in_flight" in own else pace.in_flight,
        call_timeout_s=min(platform.call_timeout_s, CALL_TIMEOUT_S)
        if "call_timeout_s" in own
        else float(CALL_TIMEOUT_S),
    )


def without_standin(fault: Fault, state: LocalState) -> Fault:
    """A platform that is not deployed here has no stand-in either: what to do about it on a stack for play."""
    has = ", ".join(sorted(state.base_urls))
    return replace(
        fault,
        message=f"this local stack has no simulated platform of this name (it has {has})",
        remedy=f"Leave it out of {MONITOR_FILE} for play. To have it here: {fault.remedy[:1].lower()}{fault.remedy[1:]},"
        " with 'brandvane local down' and 'brandvane local up'",
    )


def answers_name(catalogue: Catalogue, state: LocalState) -> None:
    """Let the stand-ins' made-up answers name the catalogue's brands.

    Raises:
        CliError: they do not answer.
    """
    Standins(state.standins_url).name_brands([brand.name for brand in catalogue.brands])
