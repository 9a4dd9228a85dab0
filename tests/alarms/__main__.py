"""Each alarm's real cause on the emulator, one after another: does exactly that alarm fire, by its own metric, and clear again?

python -m alarms [WORD …]        only cases whose name contains a word
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from typing import Any

from alarms.causes import Case, Causes
from alarms.recorded import Watchtower
from brandvane.alarm_state import AlarmState, raised
from brandvane.cli.local_deploy import ROOT
from brandvane.cli.local_stack import Wanted, clients_of, local_stack
from brandvane.cli.local_standins import Wish
from brandvane.metrics import METRICS
from e2e.deployed import DeployedStack

HOME = ROOT / "build" / "alarms"
LOOK_S = 5.0
BEHAVIOUR = {"rate": 20.0, "in_flight": 60.0, "median": 0.8, "sigma": 0.5, "cap": 6.0}


def main(words: list[str]) -> int:
    """Run the cases and write build/alarms/summary.json; 1 if anything was not as it must be."""
    HOME.mkdir(parents=True, exist_ok=True)
    wanted = Wanted(home=HOME, state=HOME / "state.json", stack="brandvane-alarms", standins=Wish(behaviour=BEHAVIOUR))
    with local_stack(wanted, lambda text: print(text, flush=True)) as state:
        clients = clients_of(state)
        stack = DeployedStack(state, clients, HOME / "catalogue")
        causes = Causes(stack)
        causes.push()
        tower = Watchtower(clients, state.stack)
        cases = [case for case in causes.cases() if not words or any(word in case.name for word in words)]
        told = [_carried_out(case, tower) for case in cases]
        stray = _stray(tower, told)
    wrong = [fault for row in told for fault in row["wrong"]] + stray
    (HOME / "summary.json").write_text(json.dumps({"cases": told, "stray": stray}, indent=2) + "\n", encoding="utf-8")
    for fault in wrong:
        print(f"WRONG: {fault}", flush=True)
    print(f"{len(told)} causes, {sum(len(row['alarms']) for row in told)} alarms, {len(wrong)} faults", flush=True)
    return int(bool(wrong))


def _carried_out(case: Case, tower: Watchtower) -> dict[str, Any]:
    """One cause from before to after; what goes wrong is told, and the next cause has its turn."""
    wrong = [f"{name} is in ALARM before '{case.name}'" for name in case.must if not _is(tower, name, clear=True)]
    began = time.time()
    alarms: dict[str, Any] = {}
    try:
        case.cause()
        caused = time.time()
        missing = _until(tower, case.must, case.patience_s, clear=False)
        wrong += [f"{name} did not fire by '{case.name}'" for name in missing]
        alarms = {name: _seen(tower, name, caused, wrong) for name in case.must}
    except Exception as error:
        traceback.print_exc()
        wrong.append(f"'{case.name}' could not be carried out: {error!r}")
    try:
        case.undo()
        wrong += [f"{name} did not clear after '{case.name}'" for name in _until(tower, case.must, 240.0, clear=True)]
    except Exception as error:
        traceback.print_exc()
        wrong.append(f"'{case.name}' could not be undone: {error!r}")
    row = {"cause": case.name, "began": began, "ended": time.time(), "may": case.may, "alarms": alarms, "wrong": wrong}
    print(json.dumps(row), flush=True)
    return row


def _is(tower: Watchtower, name: str, *, clear: bool) -> bool:
    return (tower.state(name) is not AlarmState.ALARM) is clear


def _until(tower: Watchtower, names: tuple[str, ...], patience_s: float, *, clear: bool) -> list[str]:
    """Wait until every one has fired (once since it was looked at is enough) or is clear; those that have not."""
    left, since = list(names), time.time() - 60
    end = time.monotonic() + patience_s
    while left and time.monotonic() < end:
        for name in list(left):
            fired = any(at > since for at in raised(tower.changes(name)))
            if _is(tower, name, clear=True) if clear else fired or _is(tower, name, clear=False):
                left.remove(name)
        time.sleep(LOOK_S if left else 0)
    return left


def _seen(tower: Watchtower, name: str, caused: float, wrong: list[str]) -> dict[str, Any]:
    """What was published and when it fired; and that neither of its twins did."""
    alarm = tower.alarm(name)
    fired = [at for at in raised(tower.changes(name)) if at > caused - 300]
    values = [sample.value for sample in tower.samples(name) if sample.at > caused - 60]
    units = tower.unit(name)
    if units and units != {METRICS[alarm.metric].unit}:
        wrong.append(f"{name}: published in {units}")
    worst = max(values, default=0.0) if alarm.comparison.startswith("Greater") else min(values, default=0.0)
    if alarm.missing != "breaching":
        # A twin that asks for a little more than the worst value seen stays quiet ...
        step = 0.001 if alarm.comparison.startswith("Greater") else -0.001
        if raised(tower.changes(name, threshold=worst + step)):
            wrong.append(f"{name}: its twin at a threshold of {worst + step:g} fired too")
        # ... and so does one of another stack, or of nobody's platform.
        if tower.samples(name, Stack="another") or (
            "Platform" in tower.dimensions(name) and tower.samples(name, Platform="nobody")
        ):
            wrong.append(f"{name}: there are values under another dimension")
    after = None if not fired else round(fired[-1] - caused, 1)
    return {"dimensions": tower.dimensions(name), "unit": sorted(units), "worst": worst, "fired_after_s": after}


def _stray(tower: Watchtower, told: list[dict[str, Any]]) -> list[str]:
    """Alarms that fired when nothing had been done that could."""
    found = []
    for name in tower.definitions:
        for at in raised(tower.changes(name)):
            during = [row for row in told if row["began"] <= at <= row["ended"] + 60]
            if not any(name in row["alarms"] or name in row["may"] for row in during):
                causes = ", ".join(row["cause"] for row in during) or "nothing"
                found.append(f"{name} fired {at - tower.began:.0f} s after the beginning, during: {causes}")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
