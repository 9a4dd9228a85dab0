"""A small run from its start to its report, watched and accounted for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from brandvane.catalogue import Catalogue
from brandvane.cli.local_reading import Reading, account_of
from brandvane.run import Run
from brandvane.simulation.run_audit import Summary
from e2e.deployed import ENFORCED_RATE, DeployedStack

RUN_ID = "e2e-asked"
QUESTIONS = 20
TIMEOUT_S = 180.0


@dataclass(frozen=True, slots=True)
class Asked:
    """The run's catalogue, and the stack it runs on."""

    deployed: DeployedStack
    catalogue: Catalogue

    async def reported(self) -> tuple[Run, Summary]:
        """Wait for the report, then read what happened."""
        reading = Reading(self.deployed.state, self.deployed.clients)
        run = await reading.watch(RUN_ID, lambda run, rows: None, TIMEOUT_S)
        state = self.deployed.state
        return run, await account_of(
            reading, run, self.catalogue, state.call_log, dict.fromkeys(state.platforms, ENFORCED_RATE)
        )

    def object(self, key: str) -> bytes | None:
        """An object of the stack's bucket."""
        return asyncio.run(Reading(self.deployed.state, self.deployed.clients).object(key))


def begin(deployed: DeployedStack) -> Asked:
    """Push the catalogue and start the run, as people do."""
    catalogue = deployed.push(QUESTIONS, samples=1)
    started = deployed.brandvane("run", "start", "--label", RUN_ID, "--yes")
    assert started["run_id"] == RUN_ID, started
    return Asked(deployed, catalogue)
