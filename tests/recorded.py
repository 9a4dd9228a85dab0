"""Where is the corpus of recorded answers and errors? Tests that need a file of it are skipped only where no corpus was named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

NAMED = os.environ.get("BRANDVANE_CORPUS")
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"


def corpus_file(name: str) -> Path:
    """A file of the corpus. A corpus that was named and lacks it is a failure, not a reason to skip."""
    path = (Path(NAMED) if NAMED else BESIDE) / name
    if not path.is_file():
        if NAMED:
            pytest.fail(f"BRANDVANE_CORPUS is {NAMED}, where there is no {name}")
        pytest.skip("no corpus: set BRANDVANE_CORPUS to its folder")
    return path
