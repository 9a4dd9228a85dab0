"""How is a simulation shown? A table of its figures, progress while it runs, broken promises with the way to see them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from brandvane.simulation.simulate import Progress as Told

SHOWN_LINES = 120


def figures_table(columns: Sequence[Mapping[str, Any]]) -> Table:
    """Figures side by side, one column an engine."""
    table = Table(title="Simulation", title_justify="left")
    table.add_column("")
    for figures in columns:
        table.add_column(str(figures["engine"]), justify="right")
    rows = [_rows(figures) for figures in columns]
    for place, (name, _) in enumerate(rows[0]):
        table.add_row(name, *(column[place][1] for column in rows))
    return table


def _rows(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    delay, retries = figures.get("start_delay_s") or {}, (figures.get("retries") or {}).get("percent", {})
    used = [value for value in (figures.get("rate_used") or {}).values() if value is not None]
    operations = figures.get("aws_operations_per_task") or {}
    return [
        ("planned", f"{figures['planned']:,}"),
        ("results", f"{figures['results']:,}"),
        ("lost", f"{figures['lost']:,}"),
        ("second results", _number(figures, "duplicate_results")),
        ("calls above a limit", _number(figures, "limit_violations")),
        ("calls repeated after an answer", _number(figures, "repeated_calls")),
        ("… without a cause", _number(figures, "repeated_unexplained")),
        ("success rate", f"{figures['success_rate']:.3%}"),
        ("start delay, mean", _seconds(delay, "mean")),
        ("start delay, p99", _seconds(delay, "p99")),
        *((f"ended after {number} retries", f"{retries.get(number, 0):.2f} %") for number in ("0", "1", "2", "3")),
        ("rate used", ", ".join(f"{value:.1%}" for value in used) or "–"),
        ("write units a task", _plain(operations, "write_units")),
        ("read units a task", _plain(operations, "read_units")),
        ("SQS requests a task", _plain(operations, "sqs_requests")),
        ("Lambda GB-seconds a task", _plain(operations, "lambda_gb_s")),
    ]


def _number(figures: Mapping[str, Any], name: str) -> str:
    return f"{figures[name]:,}" if name in figures else "–"


def _seconds(delay: Mapping[str, float], name: str) -> str:
    return f"{delay[name]:.3f} s" if name in delay else "–"


def _plain(figures: Mapping[str, Any], name: str) -> str:
    return f"{figures[name]:,.2f}" if name in figures else "–"


def seeds_table(summed: Mapping[str, Any]) -> Table:
    """The sums of many seeds."""
    table = Table(title="Simulations", title_justify="left", show_header=False)
    for name, value in summed.items():
        shown = ", ".join(f"{key}: {number:,}" for key, number in value.items()) if isinstance(value, dict) else value
        text = (
            ", ".join(map(str, shown)) if isinstance(shown, list) else f"{shown:,}" if isinstance(shown, int) else shown
        )
        table.add_row(name.replace("_", " "), text or "none")
    return table


def broken_lines(broken: Sequence[str]) -> list[str]:
    """Broken promises, cut where they fill the screen."""
    if len(broken) <= SHOWN_LINES:
        return list(broken)
    return [*broken[:SHOWN_LINES], f"… and {len(broken) - SHOWN_LINES} more lines (--json FILE has all)"]


@contextmanager
def progress_of_one(console: Console, total: int) -> Iterator[Told | None]:
    """A bar of result rows and virtual time; none where nobody looks."""
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}/{task.total:,}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("simulating", total=total)

        def tell(seconds: float, results: int, _: int) -> None:
            bar.update(task, completed=results, description=f"{seconds / 3600:5.2f} h simulated")

        yield tell


@contextmanager
def progress_of_many(console: Console, total: int) -> Iterator[Progress | None]:
    """A bar of seeds."""
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total} seeds"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        bar.add_task("simulating", total=total)
        yield bar
