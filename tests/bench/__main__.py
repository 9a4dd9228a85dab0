"""``python -m tests.bench [NAME …]`` measures, prints and writes build/bench/NAME.json; without a name, everything of the two tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from brandvane.cli.errors import CliError

from .ground import HOME, Ground, ground, machine
from .mentions import mentions
from .planning import planning
from .rates import backlog, backlog_at_20, start_delay, without_limiter
from .size import size

MEASUREMENTS: dict[str, Callable[[Ground], dict[str, Any]]] = {
    "size": size,
    "delay": start_delay,
    "backlog": backlog,
    "control": without_limiter,
    "fast": backlog_at_20,
    "planning": planning,
}
# What needs no stack.
ALONE: dict[str, Callable[[], dict[str, Any]]] = {"mentions": mentions}


def main(names: list[str]) -> int:
    """Measure what is named, or everything; 1 when a measurement could not be made, 2 for an unknown name."""
    unknown = [name for name in names if name not in MEASUREMENTS and name not in ALONE]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join((*MEASUREMENTS, *ALONE))}", file=sys.stderr)
        return 2
    wanted = names or [*MEASUREMENTS, *ALONE]
    failed = 0
    for name in wanted:
        if name in ALONE:
            _tell(name, machine(), ALONE[name]())
    if not any(name in MEASUREMENTS for name in wanted):
        return failed
    with ground() as stack:
        stack.warm_up()
        for name in wanted:
            if name in ALONE:
                continue
            about = machine()
            try:
                told = MEASUREMENTS[name](stack)
            except (CliError, TimeoutError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = 1
                continue
            _tell(name, about, told)
    return failed


def _tell(name: str, about: dict[str, Any], told: dict[str, Any]) -> None:
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME / f"{name}.json").write_text(json.dumps({**about, **told}, indent=2) + "\n", encoding="utf-8")
    print(f"{name}:")
    for key, value in told.items():
        print(f"  {key:<18} {value}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
