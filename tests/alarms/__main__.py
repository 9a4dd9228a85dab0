"""Each alarm's real cause on the emulator: does exactly that alarm fire, by its own metric, and clear again?

python -m alarms [WORD …]        only causes whose name contains a word

Writes build/alarms/summary.json and build/alarms/table.md.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from alarms.case import Case
from alarms.causes import Causes
from alarms.ground import Ground
from alarms.performance import Performance
from alarms.recorded import Watchtower
from alarms.table import markdown
from brandvane.alarms import ALARMS
from brandvane.cli.errors import CliError
from brandvane.cli.local_deploy import ROOT
from brandvane.cli.local_stack import Wanted, clients_of, local_stack
from brandvane.cli.local_standins import Wish
from e2e.deployed import DeployedStack

HOME = ROOT / "build" / "alarms"
STACK = "brandvane-alarms"
BEHAVIOUR = {"rate": 20.0, "in_flight": 60.0, "median": 0.8, "sigma": 0.5, "cap": 6.0}


def main(words: list[str]) -> int:
    """Returns the exit code: 1 if anything was not as it must be, 2 if no cause has such a name."""
    HOME.mkdir(parents=True, exist_ok=True)
    wanted = Wanted(home=HOME, state=HOME / "state.json", stack=STACK, standins=Wish(behaviour=BEHAVIOUR))
    began = time.time()
    with local_stack(wanted, lambda text: print(text, flush=True)) as state:
        clients = clients_of(state)
        ground = Ground(DeployedStack(state, clients, HOME / "catalogue"))
        acts = [_chosen(act, words) for act in Causes(ground).acts()]
        if not any(acts):
            print(f"no cause has a name with {' or '.join(map(repr, words))}", file=sys.stderr)
            return 2
        ground.push(20, 1)
        performance = Performance(Watchtower(clients, state.stack), lambda text: print(text, flush=True))
        performance.begin()
        for act in acts:
            performance.carry_out(act)
        told = performance.end()
        clients.close()
    told |= {"took_s": round(time.time() - began)}
    if not words:
        told["wrong"] += _not_shown(told["causes"])
    (HOME / "summary.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    (HOME / "table.md").write_text(markdown(told["causes"]), encoding="utf-8")
    for fault in told["wrong"]:
        print(f"WRONG: {fault}")
    fired = sum(len(cause["alarms"]) for cause in told["causes"])
    print(
        f"{len(told['causes'])} causes, {fired} alarms, {len(told['wrong'])} faults, {told['took_s']} s: {_short(HOME)}"
    )
    return int(bool(told["wrong"]))


def _chosen(act: list[Case], words: list[str]) -> list[Case]:
    return [case for case in act if not words or any(word in case.name for word in words)]


def _not_shown(causes: list[dict[str, object]]) -> list[str]:
    """Rows of the alarms' table that no cause has fired."""
    shown = {str(row["alarm"]) for cause in causes for row in cause["alarms"]}  # type: ignore[attr-defined]
    return [f"{alarm} has not been shown" for alarm in ALARMS if not any(name.endswith(alarm) for name in shown)]


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CliError as error:
        print(f"alarms: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("alarms: interrupted; everything is put away", file=sys.stderr)
        sys.exit(130)
