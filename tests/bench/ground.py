"""What do all measurements stand on? One deployed stack without faults, catalogues of any size, and looks at processes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brandvane.aws.client import Clients
from brandvane.aws.control_store import DynamoControlStore
from brandvane.aws.deployment import SsmDeployment
from brandvane.aws.keys import function_name, tables_of
from brandvane.aws.system import SystemClock
from brandvane.catalogue import Catalogue
from brandvane.cli.demo_catalogue import Pace, checked, write_monitor
from brandvane.cli.local_deploy import ROOT
from brandvane.cli.local_product import brandvane
from brandvane.cli.local_reading import Reading
from brandvane.cli.local_stack import Wanted, clients_of, environment_for, local_stack
from brandvane.cli.local_standins import LIMITS, Wish
from brandvane.cli.local_state import LocalState
from brandvane.cli.local_warm import warm
from brandvane.engine.limiter import Limiter

HOME = ROOT / "build" / "bench"
RATE = 10.0
SLOTS = 60


@dataclass(frozen=True, slots=True)
class Ground:
    """The stack and its clients."""

    state: LocalState
    clients: Clients

    @property
    def reading(self) -> Reading:
        """Runs and rows."""
        return Reading(self.state, self.clients)

    def push(self, questions: int, pace: Pace) -> Catalogue:
        """Push a catalogue that asks so many questions of each platform."""
        folder = HOME / "catalogue"
        folder.mkdir(parents=True, exist_ok=True)
        brands = [{"id": "acme", "name": "Acme", "aliases": ["Acme Inc."]}, {"id": "zeta", "name": "Zeta"}]
        rows = [
            {"id": f"q-{n}", "text": f"Which kettle of price class {n} would you buy, and why?", "brands": "all"}
            for n in range(1, questions + 1)
        ]
        (folder / "brands.yaml").write_text(json.dumps({"brands": brands}), encoding="utf-8")
        (folder / "questions.yaml").write_text(json.dumps({"questions": rows}), encoding="utf-8")
        write_monitor(folder, self.state.platforms, self.state.base_urls, pace, 1, datetime.now(UTC))
        brandvane(environment_for(self.state), "catalogue", "push", str(folder), "--yes")
        return checked(folder)

    def start(self, label: str) -> None:
        """Start a run of its own."""
        brandvane(environment_for(self.state), "run", "start", "--label", label, "--yes")

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """Invoke a function and wait for its answer."""
        name = function_name(self.state.stack, function)
        reply = self.clients.functions.invoke(FunctionName=name, Payload=json.dumps(event).encode())
        return json.loads(reply["Payload"].read())

    def set_rates(self, rate: float | None, hold_s: float | None = None) -> None:
        """State another rate for every platform, as ``brandvane platform rate`` does.

        ``hold_s``: what the next plan takes for the time that a batch needs, instead of what the last run has shown.
        """

        async def change() -> None:
            controls = DynamoControlStore(clients=self.clients, tables=tables_of(self.state.stack))
            limiter = Limiter(controls=controls, clock=SystemClock(), telemetry=_Silent(), writer="bench")
            for name in self.state.platforms:
                await limiter.set_rate(name, rate)
                if hold_s is not None:
                    await limiter.remember_hold(name, hold_s)

        asyncio.run(change())

    def allow(self, rate: float) -> None:
        """Let the simulated platforms enforce another rate from now on."""
        body = json.dumps({name: {"rate": rate} for name in self.state.platforms}).encode()
        request = urllib.request.Request(f"{self.state.standins_url}/_standin/platforms", body, method="POST")
        with urllib.request.urlopen(request, timeout=10):
            return

    def warm_up(self) -> None:
        """Start the workers; with a catalogue, so that they fetch their keys and open connections."""
        self.push(1, Pace())
        deployed = asyncio.run(SsmDeployment(clients=self.clients, stack=self.state.stack).platforms())
        warm(self.state, deployed)


class _Silent:
    """Telemetry of a measurement."""

    def count(self, name: str, number: float = 1, *, platform: str | None = None, unit: str = "Count") -> None:
        """Nothing."""

    def event(self, name: str, **fields: Any) -> None:
        """Nothing."""


@contextmanager
def ground() -> Iterator[Ground]:
    """A stack whose platforms keep their limits and never fail."""
    wanted = Wanted(
        home=HOME, state=HOME / "state.json", stack="brandvane-bench", auth=False, standins=Wish(behaviour=LIMITS)
    )
    with local_stack(wanted, print) as state:
        clients = clients_of(state)
        yield Ground(state, clients)
        clients.close()


def wait_for(condition: Callable[[], bool], what: str, timeout_s: float, every_s: float = 0.5) -> float:
    """Seconds until something holds.

    Raises:
        TimeoutError: it does not, in time.
    """
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > timeout_s:
            raise TimeoutError(f"{what}: not within {timeout_s:g} s")
        time.sleep(every_s)
    return time.monotonic() - begin


@dataclass(frozen=True, slots=True)
class Process:
    """A living process: processor seconds so far and megabytes held (the most so far, where the system tells)."""

    pid: int
    group: int
    cpu_s: float
    megabytes: float
    command: str


def processes() -> list[Process]:
    """All living processes."""
    told = ["ps", "-ww", "-eo", "pid=,pgid=,time=,rss=,command="]
    shown = subprocess.run(told, capture_output=True, text=True, check=True).stdout
    rows = (line.split(None, 4) for line in shown.splitlines())
    return [
        Process(int(row[0]), int(row[1]), _seconds(row[2]), _megabytes(int(row[0]), int(row[3])), row[4])
        for row in rows
        if len(row) == 5
    ]


def _seconds(text: str) -> float:
    """``[[days-]hours:]minutes:seconds``."""
    days, _, clock = text.rpartition("-")
    total = 0.0
    for part in clock.split(":"):
        total = total * 60 + float(part)
    return total + 86_400 * int(days or 0)


def _megabytes(pid: int, held_kb: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return held_kb / 1024
    peaks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(peaks[0]) / 1024 if peaks else held_kb / 1024


def cpu_used(state: LocalState) -> dict[str, float]:
    """Processor seconds so far: the emulator itself, the functions' processes, the simulated platforms."""
    found = {"emulator": 0.0, "functions": 0.0, "platforms": 0.0}
    for process in processes():
        if process.pid == state.emulator:
            found["emulator"] += process.cpu_s
        elif process.group == state.emulator:
            found["functions"] += process.cpu_s
        elif process.group == state.standins:
            found["platforms"] += process.cpu_s
    return found


def machine() -> dict[str, Any]:
    """What was measured on."""
    uname = os.uname()
    return {
        "cores": os.cpu_count(),
        "system": uname.sysname,
        "processor": uname.machine,
        "load_before": round(os.getloadavg()[0], 2),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
