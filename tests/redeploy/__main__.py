"""``make redeploy-demo``: a run is under way, the stack is updated with changed code and settings; is anything lost?

On a local stack (emulator, real template, simulated platforms that fail now and then). When a third of the rows are written every
function gets new code and a new environment through ``sam deploy``, as in production, while calls are in flight. Then the account is
taken from first sources, the stack is deleted, and its data must be there still. Writes build/redeploy/summary.json; exit code 1 when a
task was lost, a call was repeated for another reason than the update, no update fell into the run, or data went with the stack.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.ground import machine
from brandvane.aws.keys import function_name
from brandvane.cli.emulator import environment_of
from brandvane.cli.errors import CliError
from brandvane.cli.local_deploy import ROOT, deploy, overrides, this_machine
from brandvane.cli.local_reading import Reading, account_of, call_rows
from brandvane.cli.local_stack import LOCAL_CALL_TIMEOUT_S, Wanted, clients_of, local_stack
from brandvane.cli.local_standins import Wish
from brandvane.ports import Unavailable
from brandvane.run import Run, RunState
from e2e.deployed import ENFORCED_RATE, FAULTS, DeployedStack
from redeploy.deletion import delete_stack, kept_all
from redeploy.repeats import unexplained

HOME = ROOT / "build" / "redeploy"
STACK = "brandvane-redeploy"
RUN_ID = "redeployed"
QUESTIONS = 300
# The emulator ends the workers that an update replaces (AWS lets them finish): their messages are seen again after 15 minutes, or sent
# again by the scanner after 10.
TIMEOUT_S = 1500.0
# Calls take long enough that some are always under way.
WISH = Wish(behaviour={"rate": ENFORCED_RATE, "in_flight": 60.0, "median": 2.5, "sigma": 0.4, "cap": 6.0, **FAULTS})
CHANGED = {"LogLevel": "DEBUG", "TaskKeepDays": "31"}


@dataclass
class Update:
    """The deployment: once, when the run has come far enough."""

    stack: DeployedStack
    template: Path
    told: dict[str, Any] = field(default_factory=dict)
    began: float = 0.0
    ended: float = 0.0

    def look(self, run: Run, rows: int) -> None:
        """Called once a second while the run is watched."""
        if self.told or not run.total or rows * 3 < run.total:
            return
        before, began = self._code(), time.time()
        changed = change_code(self.template)
        aws, here = environment_of(self.stack.state.endpoint), this_machine()
        given = overrides(here, {"CallTimeoutOverride": str(LOCAL_CALL_TIMEOUT_S), **CHANGED})
        deploy(HOME, here, given, self.template, STACK, aws)
        self.began, self.ended = began, time.time()
        self.told = {
            "rows_when_it_began": rows,
            "update_s": round(self.ended - began, 1),
            "copies_changed": changed,
            "code_changed": self._code() != before,
        }

    def calls(self) -> dict[str, int]:
        """What the platforms saw of it."""
        rows = call_rows(self.stack.state.call_log)
        return {
            "calls_in_flight_when_it_began": sum(1 for row in rows if row.arrived < self.began < row.finished),
            "calls_begun_during_it": sum(1 for row in rows if self.began <= row.arrived < self.ended),
            "calls_begun_after_it": sum(1 for row in rows if row.arrived >= self.ended),
        }

    def _code(self) -> str:
        """The worker's code as the emulator holds it."""
        name = function_name(STACK, "worker-openai")
        return str(self.stack.clients.functions.get_function_configuration(FunctionName=name)["CodeSha256"])


def change_code(template: Path) -> int:
    """Let every built function differ from what is deployed, as after an edit; how many files were changed."""
    entries = sorted(template.parent.glob("*/brandvane/__init__.py"))
    for entry in entries:
        entry.write_text(entry.read_text(encoding="utf-8") + f"\n# deployed again at {time.time()}\n", encoding="utf-8")
    return len(entries)


async def watched(reading: Reading, update: Update) -> Run:
    """Watch the run to its report; an emulator that is too busy to answer is asked again."""
    end = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return await reading.watch(RUN_ID, update.look, end - time.monotonic())
        except Unavailable:
            if time.monotonic() >= end:
                raise


def main() -> int:
    """Returns the exit code."""
    wanted = Wanted(home=HOME, state=HOME / "state.json", stack=STACK, standins=WISH)
    with local_stack(wanted, print) as state:
        stack = DeployedStack(state, clients_of(state), HOME / "catalogue")
        catalogue = stack.push(QUESTIONS, samples=1)
        reading = Reading(state, stack.clients)
        print(f"A run of {QUESTIONS * len(state.platforms)} tasks begins; at a third of its rows the stack is updated")
        stack.brandvane("run", "start", "--label", RUN_ID, "--yes")
        update = Update(stack, HOME / "sam" / "template.yaml")
        run = asyncio.run(watched(reading, update))
        rates = dict.fromkeys(state.platforms, ENFORCED_RATE)
        account = asyncio.run(account_of(reading, run, catalogue, state.call_log, rates))
        deletion = delete_stack(state)
        rows_left = asyncio.run(reading.count(RUN_ID))
        stack.clients.close()
    told = {
        **machine(),
        **update.told,
        **update.calls(),
        "run": str(run.state),
        "tasks": account.planned,
        "results": account.results,
        "lost": account.lost,
        "calls": account.calls,
        "repeated_calls": account.repeated_calls,
        "repeated_unexplained": unexplained(call_rows(state.call_log), update.began, update.ended),
        "complaints": list(account.complaints),
        "after_deletion": {**deletion, "results": rows_left},
        "run_s": round((run.reported_at or 0.0) - run.created_at, 1),
    }
    (HOME / "summary.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(told, indent=2))
    safe = run.state is RunState.REPORTED and not account.lost and account.results == account.planned
    fell_into_it = bool(told.get("code_changed")) and told["calls_in_flight_when_it_began"] > 0
    kept = kept_all(deletion) and rows_left == account.results
    return 0 if safe and not told["repeated_unexplained"] and fell_into_it and kept else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CliError as error:
        print(f"redeploy: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("redeploy: interrupted; everything is put away", file=sys.stderr)
        sys.exit(130)
