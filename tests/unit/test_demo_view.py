"""What is shown of a run: stages in a pipe, and an account that hides nothing."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from brandvane.cli.demo_view import print_summary, progress, stage_of
from brandvane.run import Run, RunState
from brandvane.simulation.run_audit import Plan, audit_run

RUN = Run(
    run_id="demo",
    schedule_id=None,
    catalogue_version="v",
    window_start=0.0,
    window_end=0.0,
    deadline=1.0,
    created_at=0.0,
    seed=1,
    planned={"openai": 3},
)


def test_a_pipe_gets_a_line_a_stage() -> None:
    written = io.StringIO()
    with progress(Console(file=written, force_terminal=False, width=200)) as show:
        show(RUN, 0)
        show(replace(RUN, plan_complete=True), 0)
        show(replace(RUN, plan_complete=True), 2)
        show(replace(RUN, plan_complete=True, state=RunState.REPORTED), 3)
    assert written.getvalue() == (
        "demo: planning (0 of 3 results)\ndemo: asking (0 of 3 results)\ndemo: reported (3 of 3 results)\n"
    )


def test_a_run_that_is_not_planned_to_its_end_is_still_planning() -> None:
    assert stage_of(RUN) == "planning"
    assert stage_of(replace(RUN, plan_complete=True)) == "asking"
    assert stage_of(replace(RUN, state=RunState.SCORING)) == "scoring"


def test_the_account_shows_what_is_wrong() -> None:
    written = io.StringIO()
    summary = audit_run("demo", Plan(frozenset({"a"}), {}), [], [], {"openai": 10.0})
    print_summary(Console(file=written, force_terminal=False, width=200), summary)
    assert "1 planned tasks have no result row" in written.getvalue()
    assert "0 answered, 0 failed, 1 lost" in written.getvalue()
