"""Every figure of a run as a table for spreadsheets: brand × target × topic × language, with n, interval and change."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from brandvane.catalogue import Brand
from brandvane.mentions.roles import Role
from brandvane.mentions.statistics import Interval
from brandvane.mentions.tally import Tally
from brandvane.report.export import guarded
from brandvane.report.figures import Target
from brandvane.report.parts import ANY, Part, Parts
from brandvane.report.trend import ALL, Step, Trend

COLUMNS = (
    "role",
    "brand",
    "target",
    "topic",
    "language",
    "answers",
    "mentioned",
    "visibility",
    "visibility_low",
    "visibility_high",
    "occurrences",
    "doubtful",
    "self_named",
    "share_of_voice",
    "share_of_voice_low",
    "share_of_voice_high",
    "voices",
    "average_rank",
    "ranked",
    "average_order",
    "citation_share",
    "citation_share_low",
    "citation_share_high",
    "sources",
    "own_sources",
    "competitor_sources",
    "left_out",
    "corrected",
    "compared_with",
    "change_points",
    "change_low",
    "change_high",
    "p",
    "verdict",
    "breaks",
)


def figures_csv(tally: Tally, brands: Sequence[Brand], targets: Sequence[Target], changes: Trend) -> bytes:
    """UTF-8 with a byte order mark, rows ended by CR LF, shares 0 … 1 with six decimals, changes in percentage points.

    ``target``, ``topic`` and ``language`` are ``all`` where the row is not divided by them; brands that were never seen and
    never asked about have no row. Only undivided rows have a change.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    names = [ALL, *(target.name for target in targets)]
    for role in Role:
        parts = Parts(tally, role)
        for brand in brands:
            for part in (parts.whole(brand), *parts.of(brand)):
                for name in names:
                    if not part.of(name).empty:
                        step = changes.of(role, name, brand.id) if _is_whole(part) else None
                        writer.writerow(_row(role, brand, name, part, step, changes.run_id))
    return text.getvalue().encode("utf-8-sig", "replace")


def _is_whole(part: Part) -> bool:
    return part.topic is None and part.language is None


def _row(role: Role, brand: Brand, target: str, part: Part, step: Step | None, then: str) -> list[object]:
    cell = part.of(target)
    rated = role is not Role.ALSO  # those answers are in no rate
    return [
        role.value,
        brand.id,
        guarded(target or ANY),
        guarded(ANY if part.topic is None else part.topic),
        guarded(ANY if part.language is None else part.language),
        cell.answers,
        cell.mentioned,
        *(_share(cell.rate, cell.interval) if rated else ("", "", "")),
        cell.occurrences,
        cell.doubtful,
        cell.self_named,
        *(_share(cell.voice.share, cell.voice.interval) if rated else ("", "", "")),
        cell.voice.total,
        _number(cell.average_rank),
        cell.ranked,
        _number(cell.average_order),
        *(_share(cell.sources.share, cell.sources.interval) if rated else ("", "", "")),
        cell.sources.total,
        cell.sources.hits,
        cell.rivals,
        " ".join(f"{reason}={number}" for reason, number in sorted(cell.left_out.items())),
        cell.corrected,
        *_change(step, then),
    ]


def _share(share: float | None, interval: Interval | None) -> tuple[str, str, str]:
    if share is None or interval is None:
        return "", "", ""
    return f"{share:.6f}", f"{interval.low:.6f}", f"{interval.high:.6f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _change(step: Step | None, then: str) -> tuple[object, ...]:
    if step is None:
        return ("",) * 7
    low, high = step.bounds
    return (
        then,
        f"{step.points:.2f}",
        f"{low:.2f}",
        f"{high:.2f}",
        f"{step.change.p:.6f}",
        step.verdict.value,
        " ".join(step.breaks),
    )
