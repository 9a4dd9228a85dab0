"""What is to be shown, at smaller sizes: the figures of a day, of a full load, of a backlog, and of the published design."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brandvane.simulation.faults import ARTICLE, NONE, Faults
from brandvane.simulation.fleet import Function
from brandvane.simulation.trials import Engine, Trial, carry_out

DAY = {"brands": 10, "questions": 100, "platforms": 3, "rate": 20.0, "hours": 0.5}
LOAD = {"brands": 4, "questions": 250, "platforms": 1, "rate": 5.0, "latency": 5.0, "hours": 1000 / 4.44 / 3600}
KEYS = {
    "planned",
    "results",
    "lost",
    "duplicate_results",
    "limit_violations",
    "repeated_calls",
    "repeated_unexplained",
    "success_rate",
    "start_delay_s",
    "retries",
    "rate_used",
    "aws_operations_per_task",
}


def figures(given: dict[str, Any], faults: Faults, engine: Engine = "brandvane") -> dict[str, Any]:
    verdict = carry_out(Trial(1, given, faults, engine))
    assert verdict.held, "\n".join(verdict.broken)
    return verdict.figures


@pytest.fixture
def deaths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Environments that were at work, for each time that all of a function's die at once."""
    found: list[int] = []
    die = Function.die

    def counted(function: Function) -> None:
        found.append(len(function._running))
        die(function)

    monkeypatch.setattr(Function, "die", counted)
    return found


@pytest.mark.parametrize("slowness", [1.0, 2.0])
def test_a_day_with_the_article_s_faults_keeps_every_promise(slowness: float, deaths: list[int]) -> None:
    # The day is half an hour long: so that workers die in it, they do it twice as often as once in that time.
    told = figures({**DAY, "slowness": slowness}, replace(ARTICLE, deaths_a_day=2 * 24 / DAY["hours"]))
    assert sum(at_work > 0 for at_work in deaths) >= 3
    assert told.keys() >= KEYS
    assert (told["planned"], told["results"], told["lost"], told["duplicate_results"]) == (3000, 3000, 0, 0)
    assert (told["limit_violations"], told["repeated_unexplained"]) == (0, 0)
    assert told["success_rate"] >= 0.995
    assert told["start_delay_s"]["mean"] < 0.5
    assert told["start_delay_s"]["p99"] < 2


def test_the_published_design_shows_the_published_figures() -> None:
    told = figures({**DAY, "questions": 1000, "hours": 5.0}, ARTICLE, "article")
    percent = told["retries"]["percent"]
    assert [percent[number] for number in "0123"] == pytest.approx([95, 4, 0.8, 0.2], abs=0.5)
    assert told["success_rate"] == pytest.approx(0.992, abs=0.002)
    assert told["start_delay_s"]["mean"] < 2
    assert told["lost"] > 0


def test_a_full_load_breaks_no_limit() -> None:
    told = figures(LOAD, ARTICLE)
    assert (told["results"], told["limit_violations"]) == (1000, 0)


@pytest.mark.parametrize("faults", [NONE, ARTICLE], ids=["none", "article"])
def test_a_backlog_uses_95_per_cent_of_the_rate_until_it_is_gone(faults: Faults) -> None:
    told = figures({**LOAD, "questions": 1000, "backlog": True}, faults)
    assert (told["results"], told["limit_violations"]) == (4000, 0)
    assert told["rate_used"]["platform-1"] >= 0.95


def test_a_quiet_day_costs_eighteen_write_units_a_task_and_what_pacing_costs() -> None:
    told = figures({**DAY, "questions": 10}, NONE)["aws_operations_per_task"]
    written = {name: round(300 * units) for name, units in told["detail"].items() if name.startswith("write_")}
    assert written == {
        # Six writes of the record, ten of its index entry, the row and its entry.
        "write_tasks": 6 * 300,
        "write_tasks_index": 10 * 300,
        "write_results": 300,
        "write_results_index": 300,
        # One a batch: a platform's tasks are 18 s apart, so that each has its own.
        "write_stats": 300,
        # Slots of tasks and canaries, the leases of dispatcher and scanner, the measured hold times.
        "write_control": 746,
        "write_runs": 49,
        "write_runs_index": 98,
    }
    assert told["write_units"] == pytest.approx(sum(written.values()) / 300, abs=0.0005)
