"""``brandvane retry``: ask a run's failed tasks again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import click

from brandvane.catalogue import Catalogue
from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.estimate import BASIS, Call, Estimate, estimate, texts_of
from brandvane.cli.lookup import instant_given, run_named
from brandvane.cli.run_plan_view import estimate_document
from brandvane.cli.view import ask, dollars, number, say, say_json
from brandvane.cli.when import FORMS, iso, local
from brandvane.engine.rehearse import near
from brandvane.engine.reopen_failed import Candidate, Ending, Finding, Found, Reopened, Wanted
from brandvane.run import Run
from brandvane.task import ANSWERED, Outcome

LISTED_MAX = 20
FAILURES = [str(outcome) for outcome in Outcome if outcome not in ANSWERED]
REASONS: Mapping[Finding, str] = {
    Finding.GONE: "its record is gone (finished records are kept for some days only): it cannot be asked again",
    Finding.ANSWERED: "has an answer",
    Finding.UNFINISHED: "is not finished, or is being asked again already",
    Finding.UNKNOWN: "is no failed task of this run that the given filters take",
    Finding.NEWER: "was written by a newer release",
}
ENDINGS: Mapping[Ending, str] = {
    Ending.CHANGED: "was changed by somebody else in the meantime",
    Ending.UNSURE: "may or may not have been reopened, for a table did not answer: the same command again is safe",
}


@click.command(help=f"Ask a run's failed tasks again, all or some. --deadline takes {FORMS}.")
@click.argument("run_id", metavar="RUN")
@click.option("--task", "tasks", multiple=True, metavar="ID", help="Only this task (repeatable).")
@click.option("--outcome", "outcomes", multiple=True, type=click.Choice(FAILURES), help="Only these (repeatable).")
@click.option("--platform", "platforms", multiple=True, metavar="NAME", help="Only this platform (repeatable).")
@click.option("--deadline", metavar="WHEN", help="The run's deadline [default: its own, at least 2 h from now].")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@desk_options
def retry(
    run_id: str,
    tasks: tuple[str, ...],
    outcomes: tuple[str, ...],
    platforms: tuple[str, ...],
    deadline: str | None,
    yes: bool,
    as_json: bool,
    desk: Desk,
) -> None:
    """Ask a run's failed tasks again."""
    run = desk.run(run_named(desk, run_id))
    catalogue = desk.run(desk.catalogues.load(run.catalogue_version))
    zone = catalogue.monitor.time_zone
    until = None if deadline is None else instant_given(deadline, "--deadline", desk.clock.now(), zone)
    _check_platforms(platforms, run)
    wanted = Wanted(tasks, frozenset(Outcome(name) for name in outcomes), frozenset(platforms))
    found = desk.run(desk.failed_tasks.find(run_id, wanted))
    cost = _cost(found.ready, catalogue)
    done = Reopened(run)
    if found.ready:
        _tell_others(found.others)
        ask(_question(found, cost), yes=yes, interactive=desk.interactive)
        done = desk.run(desk.failed_tasks.reopen(found, until))
    if as_json:
        say_json(_document(found, done, cost))
    else:
        _tell(found, done, zone)
    named_in_vain = [each for each in found.others if each.task_id in tasks]
    if done.count < len(found.ready) or named_in_vain:
        raise CliError("not every task that was asked for could be reopened")


def _check_platforms(platforms: Sequence[str], run: Run) -> None:
    for name in platforms:
        if name not in run.planned:
            raise CliError(
                f"--platform: run {run.run_id} asks no platform '{name}'; {near(name, list(run.planned))}", 2
            )


def _cost(ready: Sequence[Candidate], catalogue: Catalogue) -> Estimate:
    texts = texts_of(catalogue)
    calls = [
        Call(each.row.platform, each.row.model, texts.get(each.row.prompt_hash, ""))
        for each in ready
        if each.row is not None and each.row.platform in catalogue.monitor.platform_names
    ]
    return estimate(calls, catalogue.monitor)


def _question(found: Found, cost: Estimate) -> str:
    kinds = Counter(str(each.row.outcome) for each in found.ready if each.row is not None)
    which = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    tasks = number(len(found.ready), "task")
    return f"Ask {tasks} of {found.run.run_id} again ({which}), about {dollars(cost.total_usd)} ({BASIS})?"


def _tell_others(others: Sequence[Candidate]) -> None:
    """One line for every task that cannot be reopened; beyond the first few, how many there are of each kind."""
    for each in others[:LISTED_MAX]:
        click.echo(f"{each.task_id}: {REASONS[each.finding]}", err=True)
    rest = Counter(each.finding for each in others[LISTED_MAX:])
    for finding, count in rest.items():
        click.echo(f"{number(count, 'more task')}: {REASONS[finding]}", err=True)


def _tell(found: Found, done: Reopened, time_zone: str) -> None:
    if not found.ready:
        _tell_others(found.others)
        say(
            f"run {found.run.run_id} has no failed task that can be asked again{' with these filters' * bool(found.others)}"
        )
        return
    for task_id, ending in done.endings.items():
        if ending in ENDINGS:
            click.echo(f"{task_id}: {ENDINGS[ending]}", err=True)
    if done.count:
        say(
            f"{number(done.count, 'task')} of {found.run.run_id} will be asked again, deadline"
            f" {local(done.run.deadline, time_zone)}; the run is {done.run.state} again and gets a new report",
            f"brandvane run watch {found.run.run_id}",
        )


def _document(found: Found, done: Reopened, cost: Estimate) -> dict[str, Any]:
    return {
        "run_id": found.run.run_id,
        "found": len(found.ready),
        "reopened": done.count,
        "tasks": dict(done.endings),
        "left_out": {each.task_id: each.finding for each in found.others},
        "deadline": iso(done.run.deadline),
        "state": done.run.state,
        "pass": done.run.pass_no,
        "estimate": estimate_document(cost),
    }
