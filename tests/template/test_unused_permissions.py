"""Does every row of unused_permissions.toml speak of permissions that there are, and say why a run need not use them?"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from permissions import grants

TABLE = Path(__file__).parent / "unused_permissions.toml"
ROWS: list[dict[str, Any]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))["permission"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['sid']}-{'-'.join(row['functions'])}")
def test_a_row_speaks_of_permissions_that_there_are_and_gives_a_reason(
    row: dict[str, Any], resources: dict[str, dict[str, Any]]
) -> None:
    there = {(p.function, p.sid, p.action, p.place) for p in (grant.permission for grant in grants(resources))}
    for function in row["functions"]:
        for action in row["actions"]:
            places = row.get("places") or [place for *one, place in there if one == [function, row["sid"], action]]
            assert places, (function, action)
            assert {(function, row["sid"], action, place) for place in places} <= there
    assert len(row["reason"]) > 20


def test_no_permission_stands_in_two_rows() -> None:
    named = [
        (function, row["sid"], action, place)
        for row in ROWS
        for function in row["functions"]
        for action in row["actions"]
        for place in row.get("places", [-1])
    ]
    assert len(named) == len(set(named))
