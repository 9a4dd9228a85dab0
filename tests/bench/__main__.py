"""``python -m tests.bench [NAME …]`` measures, prints, and writes build/bench/NAME.json (delay, backlog, control, fast, planning, size)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from brandvane.cli.errors import CliError

from .ground import HOME, Ground, ground, machine
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


def main(names: list[str]) -> int:
    """Measure what is named, or everything; 1 when a measurement could not be made, 2 for an unknown name."""
    unknown = [name for name in names if name not in MEASUREMENTS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}", file=sys.stderr)
        return 2
    failed = 0
    with ground() as stack:
        stack.warm_up()
        for name in names or MEASUREMENTS:
            about = machine()
            try:
                told = MEASUREMENTS[name](stack)
            except (CliError, TimeoutError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = 1
                continue
            (HOME / f"{name}.json").write_text(json.dumps({**about, **told}, indent=2) + "\n", encoding="utf-8")
            print(f"{name}:")
            for key, value in told.items():
                print(f"  {key:<18} {value}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
