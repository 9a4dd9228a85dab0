"""Error bodies that users of many platforms reported, and what they mean; skipped where the corpus is absent."""

from __future__ import annotations

import json

import pytest

from brandvane.cli.errors_commands import verdict_of
from recorded import corpus_file


def test_every_reported_error_is_read_rightly() -> None:
    lines = corpus_file("error_cases.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 53
    wrong = []
    for case in map(json.loads, lines):
        found = verdict_of(case)
        kinds = [case["right_class"], *case.get("also_acceptable", [])]
        wait = case["wait_s"] is None or found["wait_s"] == pytest.approx(case["wait_s"])
        if found["kind"] not in kinds or found["retryable"] != case["retryable"] or not wait:
            wrong.append((case["id"], found))
    assert wrong == []
