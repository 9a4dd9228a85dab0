"""``brandvane simulate``: options, output, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from brandvane.cli.simulate_command import _options, simulate
from brandvane.simulation.history import Violation
from brandvane.simulation.simulate import Outcome, Simulation

TINY = ("--brands", "2", "--questions", "3", "--platforms", "1", "--hours", "0.05", "--latency", "2")


def said(*words: str) -> Result:
    return CliRunner().invoke(simulate, list(words))


def test_a_simulation_is_shown_as_a_table_and_ends_0() -> None:
    result = said(*TINY)
    assert result.exit_code == 0
    assert "planned" in result.output
    assert "Lambda GB-seconds a task" in result.output


def test_json_goes_to_the_output_alone_when_no_file_is_named() -> None:
    result = said(*TINY, "--json")
    document = json.loads(result.stdout)
    assert (document["planned"], document["results"], document["engine"]) == (6, 6, "brandvane")
    assert document["latencies"]["sqs_to_lambda"]["p50_ms"] == 16.2


def test_both_engines_stand_side_by_side(tmp_path: Path) -> None:
    result = said(*TINY, "--engine", "both", "--json", str(tmp_path / "out.json"))
    document = json.loads((tmp_path / "out.json").read_text())
    assert [each["engine"] for each in document["simulations"]] == ["brandvane", "article"]
    assert result.exit_code == 0


def test_timing_is_kept_apart_from_figures(tmp_path: Path) -> None:
    said(*TINY, "--json", str(tmp_path / "out.json"), "--timing", str(tmp_path / "t.json"))
    assert set(json.loads((tmp_path / "t.json").read_text())) >= {"wall_s", "cpu_s", "ms_a_task", "most_memory_mb"}
    assert "wall_s" not in (tmp_path / "out.json").read_text()


def test_many_seeds_are_summed_up() -> None:
    result = said(*TINY, "--seeds", "3", "--jobs", "1", "--json")
    document = json.loads(result.stdout)
    assert (document["seeds"], document["planned"], document["broken_seeds"]) == (3, 18, [])
    assert [each["seed"] for each in document["simulations"]] == [1, 2, 3]


def test_a_file_of_faults_is_used(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"final_fails": 1.0}')
    document = json.loads(said(*TINY, "--faults", str(tmp_path / "mine.json"), "--json").stdout)
    assert document["outcomes"] == {"client_error": 6}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--faults", "often"), "often: No such file or directory: name a file, or none, article or chaos"),
        (("--faults", "chaos", "--engine", "article"), "compare on none, article or a file"),
        (("--json", "/nowhere/out.json"), "/nowhere/out.json cannot be written"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(words: tuple[str, ...], told: str) -> None:
    result = said(*TINY, *words)
    assert (result.exit_code, told in result.output) == (2, True)


def test_a_broken_promise_ends_1_and_says_how_to_see_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Simulation.run

    def broken(self: Simulation) -> Outcome:
        outcome = whole(self)
        outcome.auditor.history.violations.append(Violation("lost", "no result row", 1.0, "t1", ("0.000 s  planned",)))
        return outcome

    monkeypatch.setattr(Simulation, "run", broken)
    result = said(*TINY, "--seed", "7")
    assert result.exit_code == 1
    for line in (
        "lost: no result row (at 1.000 s, task t1)",
        "0.000 s  planned",
        "replay: brandvane simulate --brands 2 --questions 3 --platforms 1 --latency 2 --hours 0.05 --faults none --seed 7",
        "promises were broken in 1 of 1 simulations",
    ):
        assert line in result.output


@pytest.mark.parametrize("option", ["--rate", "--latency", "--hours", "--deadline", "--port-latency"])
@pytest.mark.parametrize("value", ["nan", "inf", "1e300", "0", "-1"])
def test_a_number_that_no_simulation_can_have_is_wrong_usage(option: str, value: str) -> None:
    result = said(option, value)
    assert (result.exit_code, isinstance(result.exception, SystemExit)) == (2, True)


def test_a_trouble_of_a_platform_that_is_not_there_is_wrong_input(tmp_path: Path) -> None:
    row = {"what": "platform", "start": 0, "end": 60, "name": "platform-2"}
    (tmp_path / "mine.json").write_text(json.dumps({"troubles": [row]}))
    result = said(*TINY, "--faults", str(tmp_path / "mine.json"))
    assert result.exit_code == 2
    assert "has the name 'platform-2'; there are platform-1" in result.output


def test_the_command_of_a_replay_rounds_nothing() -> None:
    assert _options({"rate": 1.23456789, "latency": 2.0}, "none") == "--rate 1.23456789 --latency 2 --faults none"
