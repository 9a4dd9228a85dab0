"""What does somebody who runs the demo see? A bar that moves on a terminal, a line a stage anywhere else, and a table at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from brandvane.run import Run, RunState
from brandvane.simulation.run_audit import Summary

STAGES = {
    RunState.OPEN: "asking",
    RunState.FINISHED: "all answered",
    RunState.SCORING: "scoring",
    RunState.REPORTING: "writing the report",
    RunState.REPORTED: "reported",
    RunState.CANCELLED: "cancelled",
}


def stage_of(run: Run) -> str:
    """In a word or two, what a run is at."""
    return STAGES[run.state] if run.plan_complete or run.state is not RunState.OPEN else "planning"


@contextmanager
def progress(console: Console) -> Iterator[Callable[[Run, int], None]]:
    """A function that shows how far a run is."""
    if not console.is_terminal:
        yield _lines(console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        shown = bar.add_task("planning", total=None)

        def show(run: Run, rows: int) -> None:
            bar.update(shown, description=f"{stage_of(run):<18}", total=run.total, completed=rows)

        yield show


def _lines(console: Console) -> Callable[[Run, int], None]:
    told: list[str] = []

    def show(run: Run, rows: int) -> None:
        stage = stage_of(run)
        if told[-1:] != [stage]:
            told.append(stage)
            console.print(f"{run.run_id}: {stage} ({rows} of {run.total} results)", highlight=False, soft_wrap=True)

    return show


def print_summary(console: Console, summary: Summary) -> None:
    """The account, in a table."""
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_column(justify="left")
    table.add_column(justify="left")
    for name, value in summary_lines(summary):
        table.add_row(name, value)
    console.print(table)
    for complaint in summary.complaints:
        console.print(f"[red]{complaint}[/red]", highlight=False)


def summary_lines(summary: Summary) -> list[tuple[str, str]]:
    """What the table says."""
    delay = summary.start_delay_s
    used = ", ".join(f"{name} {share:.0%}" for name, share in summary.rate_used.items() if share is not None)
    lines = [
        ("planned", f"{summary.planned:,}"),
        (
            "results",
            f"{summary.results:,} ({summary.done:,} answered, {summary.failed:,} failed, {summary.lost:,} lost)",
        ),
        ("calls", f"{summary.calls:,} ({summary.injected:,} refused on purpose, {summary.throttled:,} too fast)"),
        ("asked again", f"{summary.repeated_calls:,} after an answer"),
        ("retries", ", ".join(f"{number}: {count:,}" for number, count in summary.retries.items())),
        ("rate used", used or "-"),
    ]
    if delay.mean is not None:
        late = f"mean {delay.mean:.3f} s, half below {delay.p50:.3f} s, 99 % below {delay.p99:.3f} s"
        lines.insert(5, ("start delay", late))
    if summary.run_s is not None:
        lines.append(("run", f"{summary.run_s:.0f} s from its start to its report"))
    return lines
