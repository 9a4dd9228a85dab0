"""Error bodies that users of many platforms reported, and what they mean; skipped where the corpus is absent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from brandvane.cli.errors_commands import verdict_of

_HERE = Path(__file__).resolve().parents[2]
CASES = Path(os.environ.get("BRANDVANE_CORPUS", _HERE / ".." / "shared" / "corpus")) / "error_cases.jsonl"


def _cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()] if CASES.is_file() else []


@pytest.mark.skipif(not CASES.is_file(), reason="no corpus: set BRANDVANE_CORPUS to its folder")
def test_every_reported_error_is_read_rightly() -> None:
    wrong = []
    for case in _cases():
        found = verdict_of(case)
        kinds = [case["right_class"], *case.get("also_acceptable", [])]
        wait = case["wait_s"] is None or found["wait_s"] == pytest.approx(case["wait_s"])
        if found["kind"] not in kinds or found["retryable"] != case["retryable"] or not wait:
            wrong.append((case["id"], found))
    assert wrong == []
