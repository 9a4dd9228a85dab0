"""May each function do exactly what it does? Every permission is taken away: over the recorded run of all, and on the emulator of three.

The run is the one that the other tests watch: role policies are enforced, every kind of AWS call of every function is written down.
"""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path

import pytest
import yaml

from e2e.asked import Asked
from permissions import Call, Grant, Permission, grants, needed, recorded, refused
from template.conftest import ROOT, _Loader, process

UNUSED = ROOT / "tests" / "template" / "unused_permissions.toml"
FUNCTIONS = {"worker", "scanner", "dispatcher", "writeback", "planner", "scorer", "reporter"}


@pytest.fixture(scope="module")
def held() -> list[Grant]:
    """Every function's permissions, as on AWS; the notifier hears nothing in this run."""
    source = yaml.load((ROOT / "template.yaml").read_text(encoding="utf-8"), _Loader)
    return [grant for grant in grants(process(source, {})) if grant.permission.function in FUNCTIONS]


@pytest.fixture(scope="module")
def calls(asked: Asked, calls_file: Path) -> set[Call]:
    """What the run has asked IAM for, once it is reported."""
    asyncio.run(asked.reported())
    return recorded(calls_file, asked.deployed.state.stack)


@pytest.fixture(scope="module")
def reasons() -> dict[Permission, str]:
    """Permissions that the run need not use, each with its reason."""
    rows = tomllib.loads(UNUSED.read_text(encoding="utf-8"))["permission"]
    return {
        Permission(function, row["sid"], action): row["reason"]
        for row in rows
        for function in row["functions"]
        for action in row["actions"]
    }


def test_every_function_was_recorded_and_was_allowed_all_that_it_did(calls: set[Call], held: list[Grant]) -> None:
    assert {call.function for call in calls} >= FUNCTIONS
    assert refused(calls, held) == set()


def test_without_any_one_permission_a_call_of_the_run_is_refused_or_the_table_says_why_not(
    calls: set[Call], held: list[Grant], reasons: dict[Permission, str], capsys: pytest.CaptureFixture[str]
) -> None:
    every = {grant.permission for grant in held}
    used = needed(calls, held)
    with capsys.disabled():
        print(
            f"\n{len(every)} permissions, {len(used)} needed by {len(calls)} kinds of calls, {len(reasons)} with a reason"
        )
    assert sorted(map(str, every - used - set(reasons))) == []
    assert sorted(map(str, set(reasons) - every)) == []
    assert all(len(reason) > 20 for reason in reasons.values())
