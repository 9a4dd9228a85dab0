"""Does a push itself begin a run?"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from brandvane.catalogue import Catalogue
from brandvane.cli.push_windows import asks_real_platforms, begin_at_once, window_line
from unit.catalogue_samples import read


def _catalogue() -> Catalogue:
    found = read({}).catalogue
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("clock", "there", "begun"),
    [
        ("01:59", (), []),
        ("02:00", (), ["daily"]),
        ("05:59", (), ["daily"]),  # late, but before the deadline
        ("06:00", (), []),
        ("03:00", ("daily-2025-10-09",), []),  # has begun already
    ],
)
async def test_a_run_begins_from_its_window_until_its_deadline_where_there_is_none_yet(
    clock: str, there: tuple[str, ...], begun: list[str]
) -> None:
    now = datetime.fromisoformat(f"2025-10-09T{clock}+02:00").astimezone(UTC).timestamp()

    async def get(name: str) -> str | None:
        return name if name in there else None

    assert [schedule.id for schedule in await begin_at_once(_catalogue(), now, get)] == begun


def test_what_begins_is_told_with_its_calls() -> None:
    found = _catalogue()
    assert window_line(found, found.monitor.schedules[0]) == (
        "The window of schedule daily is open (02:00-04:00 Europe/Berlin, deadline 06:00): its run begins now, 6 calls."
    )
    assert asks_real_platforms(found)
