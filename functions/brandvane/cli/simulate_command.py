"""``brandvane simulate``: the real engine on a simulated, faulty cloud, in virtual time."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from brandvane.cli.errors import CliError
from brandvane.cli.simulate_view import (
    broken_lines,
    figures_table,
    progress_of_many,
    progress_of_one,
    seeds_table,
)
from brandvane.simulation.faults import PRESETS, Faults, FaultsError, read_faults
from brandvane.simulation.scenario import Scenario
from brandvane.simulation.trials import Engine, Trial, Verdict, carry_out, carry_out_all, summed

CHAOS = "chaos"


class Finite(click.FloatRange):
    """A range that "nan" is not in, which compares with nothing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number, or wrong usage."""
        number: float = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value} is not a number", param, ctx)
        return number


SIZES = (
    "brands",
    "questions",
    "platforms",
    "rate",
    "latency",
    "hours",
    "deadline",
    "backlog",
    "slowness",
    "serial",
    "call_timeout",
)


@click.command("simulate")
@click.option("--brands", type=click.IntRange(1), help="Brands; each question is asked about each.  [default: 8]")
@click.option("--questions", type=click.IntRange(1), help="Questions.  [default: 50]")
@click.option("--platforms", type=click.IntRange(1, 50), help="Platforms, each asked everything.  [default: 3]")
@click.option("--rate", type=Finite(0.001, 10_000), help="Calls a second that each platform allows.  [default: 10]")
@click.option("--latency", type=Finite(0.001, 3_600), help="Mean seconds to an answer.  [default: 25]")
@click.option("--hours", type=Finite(1 / 60, 24), help="Length of the run's window.  [default: 1]")
@click.option("--deadline", type=Finite(0.001, 240), help="Hours from the window's end to the deadline.  [default: 1]")
@click.option("--backlog", is_flag=True, default=None, help="Everything is due at once.")
@click.option("--serial", is_flag=True, default=None, help="The last platform takes one call at a time.")
@click.option(
    "--port-latency", "slowness", type=Finite(0.001, 1_000), help="A factor on all latencies of AWS.  [default: 1]"
)
@click.option(
    "--faults", "faults_name", default="none", show_default=True, metavar="none|article|chaos|FILE",
    help="A preset, or a JSON file (fields: brandvane.simulation.faults).",
)  # fmt: skip
@click.option("--seed", type=int, default=1, show_default=True, help="Decides everything that chance decides.")
@click.option("--seeds", type=click.IntRange(1), help="Simulate that many seeds, from --seed on.")
@click.option(
    "--jobs", type=click.IntRange(1), help="Processes at a time for --seeds.  [default: one a processor, 2 at most]"
)
@click.option("--engine", type=click.Choice(["brandvane", "article", "both"]), default="brandvane", show_default=True)
@click.option(
    "--json", "json_file", is_flag=False, flag_value="-", metavar="[FILE]", help="Figures as JSON, to a file or out."
)
@click.option("--timing", "timing_file", type=Path, metavar="FILE", help="What it took on this machine, as JSON.")
def simulate(
    faults_name: str,
    seed: int,
    seeds: int | None,
    jobs: int | None,
    engine: str,
    json_file: str | None,
    timing_file: Path | None,
    **sizes: Any,
) -> None:
    """Run days in minutes: the engine as it is, on tables, queues and platforms that are slow, lie, fail and forget.

    Checks all the time that nothing is lost, nothing is paid twice without a cause, and no limit is broken. Exit code 1 when a
    promise is broken; the seed, the task's whole history and the command that shows it again are printed. With --faults chaos
    what is not given (sizes, load, the faults themselves) is drawn from the seed.
    """
    given = {name: value for name, value in sizes.items() if value is not None}
    faults = _faults(faults_name)
    if faults is None and engine != "brandvane":
        raise CliError(
            "--faults chaos breaks the moves that only this engine has: compare on none, article or a file", 2
        )
    if faults is not None:
        _check_names(faults, Scenario(**given).names)
    options = _options(given, faults_name)
    numbers = range(seed, seed + (seeds or 1))
    engines: tuple[Engine, ...] = ("brandvane", "article") if engine == "both" else (engine,)  # type: ignore[assignment]
    trials = [
        Trial(number, given, faults, each, f"brandvane simulate {options} --seed {number}".replace("  ", " "))
        for number in numbers
        for each in engines
    ]
    console = Console(stderr=json_file == "-")
    verdicts = _one_or_two(console, trials) if seeds is None else _many(console, trials, jobs)
    _write(console, verdicts, json_file, timing_file, many=seeds is not None)
    broken = [line for verdict in verdicts for line in verdict.broken]
    if broken:
        for line in broken_lines(broken):
            click.echo(line, err=True)
        number = sum(not verdict.held for verdict in verdicts)
        raise CliError(f"promises were broken in {number} of {len(verdicts)} simulations")


def _faults(name: str) -> Faults | None:
    if name == CHAOS:
        return None
    if name in PRESETS:
        return PRESETS[name]
    try:
        return read_faults(Path(name))
    except FaultsError as error:
        raise CliError(str(error), 2) from error


def _check_names(faults: Faults, platforms: tuple[str, ...]) -> None:
    for trouble in faults.troubles:
        names = {"platform": platforms, "s3": ("s3", "ssm")}.get(trouble.what, ())
        if trouble.name and trouble.name not in names:
            known = f"there are {', '.join(names)}" if names else "only platforms and s3 have one"
            raise CliError(f"--faults: a trouble of {trouble.what} has the name {trouble.name!r}; {known}", 2)


def _options(given: dict[str, Any], faults_name: str) -> str:
    """The options that make the same simulation again."""
    words = []
    for name in SIZES:
        value = given.get(name)
        option = "--port-latency" if name == "slowness" else f"--{name}"
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, _written(value) if isinstance(value, float) else str(value)]
    return shlex.join([*words, "--faults", faults_name])


def _written(value: float) -> str:
    """All its digits: a replay of a rounded number is another simulation."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _one_or_two(console: Console, trials: list[Trial]) -> list[Verdict]:
    verdicts = []
    for trial in trials:
        with progress_of_one(console, trial.scenario().total) as progress:
            verdicts.append(carry_out(trial, progress))
    return verdicts


def _many(console: Console, trials: list[Trial], jobs: int | None) -> list[Verdict]:
    verdicts: list[Verdict] = []
    with progress_of_many(console, len(trials)) as bar:

        def done(verdict: Verdict) -> None:
            verdicts.append(verdict)
            if bar is not None:
                bar.advance(bar.task_ids[0])

        carry_out_all(trials, jobs or min(os.cpu_count() or 1, 2), done)
    return verdicts


def _write(
    console: Console, verdicts: list[Verdict], json_file: str | None, timing_file: Path | None, *, many: bool
) -> None:
    if timing_file is not None:
        timing: Any = [{"seed": v.seed, "engine": v.figures["engine"], **v.timing} for v in verdicts]
        _put(timing_file, timing if len(timing) > 1 else timing[0])
    documents = [{**v.figures, "broken": list(v.broken)} for v in verdicts]
    if json_file is not None:
        document: Any = documents[0] if len(documents) == 1 else {"simulations": documents}
        if many:
            document = {**summed(verdicts), "simulations": documents}
        if json_file == "-":
            click.echo(json.dumps(document, indent=2, sort_keys=True))
            return
        _put(Path(json_file), document)
    console.print(seeds_table(summed(verdicts)) if many else figures_table([v.figures for v in verdicts]))


def _put(path: Path, document: Any) -> None:
    try:
        path.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    except OSError as error:
        raise CliError(f"{path} cannot be written: {error.strerror or error}", 2) from error
