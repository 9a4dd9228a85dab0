"""Which functions load the matcher and what it needs? The scorer, and nobody else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FUNCTIONS = Path(__file__).parents[2] / "functions"
OTHERS = ("planner", "dispatcher", "worker", "writeback", "scanner", "reporter")
PROGRAM = (
    "import sys, importlib\nfor name in sys.argv[1:]: importlib.import_module(name)\nprint('\\n'.join(sys.modules))"
)
MATCHER = "brandvane.mentions.matcher"


def loaded_by(*names: str) -> set[str]:
    """The modules that a new process has after importing these."""
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, *names], cwd=FUNCTIONS, capture_output=True, text=True, check=True
    )
    return set(told.stdout.split())


def test_the_scorer_alone_loads_the_matcher() -> None:
    assert MATCHER in loaded_by("scorer")
    assert MATCHER not in loaded_by(*OTHERS)


def test_only_who_reads_or_shows_answers_loads_the_public_suffix_list() -> None:
    assert "publicsuffixlist" not in loaded_by(*(name for name in OTHERS if name != "reporter"))
