"""How do the results of ``make alarms`` look as a table of a document?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

HEAD = "| cause | alarm | metric, dimensions | fires at | value | fired after | clear after |\n|---|---|---|---|---|---|---|\n"


def markdown(causes: Iterable[Mapping[str, Any]]) -> str:
    """One row an alarm. Seconds are counted from when the cause was there, and from when it was undone."""
    return HEAD + "".join(_row(cause["cause"], alarm) for cause in causes for alarm in cause["alarms"])


def _row(cause: str, alarm: Mapping[str, Any]) -> str:
    dimensions = "stack" + (f", {alarm['dimensions']['Platform']}" if "Platform" in alarm["dimensions"] else "")
    value = "none" if alarm["value"] is None else f"{alarm['value']:.4g} {_unit(alarm['unit'])}".strip()
    cells = (
        cause,
        f"`{alarm['alarm']}`",
        f"{alarm['metric']} ({dimensions})",
        alarm["threshold"],
        value,
        _seconds(alarm["fired_after_s"]),
        _seconds(alarm["cleared_after_s"]),
    )
    return f"| {' | '.join(cells)} |\n"


def _unit(unit: str) -> str:
    return {"Percent": "%", "Seconds": "s"}.get(unit, "")


def _seconds(value: float | None) -> str:
    return "**never**" if value is None else f"{value:g} s"
