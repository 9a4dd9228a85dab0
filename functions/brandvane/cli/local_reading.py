"""What became of a run on a local stack? Read from the tables, the bucket and the stand-ins' log themselves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from brandvane.aws.blobs import S3Blobs
from brandvane.aws.client import Clients
from brandvane.aws.keys import tables_of
from brandvane.aws.result_store import DynamoResultStore
from brandvane.aws.run_store import DynamoRunStore
from brandvane.catalogue import Catalogue, Selection
from brandvane.cli.errors import CliError
from brandvane.cli.local_state import LocalState
from brandvane.result import ResultRow
from brandvane.run import Run, RunState
from brandvane.simulation.run_audit import Summary, audit_run, plan_of
from brandvane.simulation.standin_row import CallRow, parse_rows
from brandvane.task import BUCKETS

LOOK_EVERY_S = 1.0
Show = Callable[[Run, int], None]


class Reading:
    """Runs and rows of one local stack."""

    def __init__(self, state: LocalState, clients: Clients) -> None:
        """``clients``: of the state's emulator."""
        tables = tables_of(state.stack)
        self._runs = DynamoRunStore(clients=clients, tables=tables)
        self._results = DynamoResultStore(clients=clients, tables=tables, keep_days=1)
        self._blobs = S3Blobs(clients=clients, bucket=state.bucket)

    async def run(self, run_id: str) -> Run | None:
        """The run item."""
        return await self._runs.get(run_id)

    async def count(self, run_id: str) -> int:
        """Counted rows so far, through the index."""
        return await self._results.count(run_id)

    async def rows(self, run_id: str) -> list[ResultRow]:
        """Every row of the run, read consistently from the table itself."""
        return [row for bucket in range(BUCKETS) async for row in self._results.bucket(run_id, bucket)]

    async def object(self, key: str) -> bytes | None:
        """An object of the data bucket."""
        return await self._blobs.get(key)

    async def watch(self, run_id: str, show: Show, timeout_s: float) -> Run:
        """Look once a second until the run is reported, or cancelled; ``show`` gets the run and its rows so far.

        Raises:
            CliError: there is no such run, or it is not reported in time.
        """
        end = time.monotonic() + timeout_s
        while True:
            run = await self.run(run_id)
            if run is None:
                raise CliError(f"there is no run {run_id}")
            count = await self.count(run_id)
            show(run, count)
            if run.state in (RunState.REPORTED, RunState.CANCELLED):
                return run
            if time.monotonic() >= end:
                raise CliError(
                    f"run {run_id} is {run.state} with {count} of {run.total} results after {timeout_s:g} s, and no report"
                )
            await asyncio.sleep(LOOK_EVERY_S)


def call_rows(log: Path) -> list[CallRow]:
    """The stand-ins' log.

    Raises:
        CliError: it is not there, or holds something else.
    """
    try:
        return parse_rows(log.read_text(encoding="utf-8").split("\n"), str(log))
    except (OSError, ValueError) as error:
        raise CliError(f"the stand-ins' log cannot be read: {error}") from None


async def account_of(
    reading: Reading, run: Run, catalogue: Catalogue, log: Path, rates: Mapping[str, float]
) -> Summary:
    """The audit of a run of the whole catalogue; the stand-ins' log at ``log`` holds this run's calls and no others.

    Raises:
        CliError: the log cannot be read.
    """
    plan = plan_of(run.run_id, catalogue, Selection())
    rows, calls = await reading.rows(run.run_id), call_rows(log)
    took = None if run.reported_at is None else run.reported_at - run.created_at
    return audit_run(run.run_id, plan, rows, calls, rates, run_s=took)
