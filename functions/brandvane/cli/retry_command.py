"""``brandvane run retry-failed``, formerly ``brandvane retry``: ask a run's failed tasks again."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import click

from brandvane.cli.asking_again import again_document, asked_again, judged, looked_up, tell
from brandvane.cli.consent import Consent, consent_options
from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.lookup import run_named
from brandvane.cli.view import say_json
from brandvane.cli.when import FORMS
from brandvane.engine.rehearse import near
from brandvane.engine.reopen_failed import Wanted
from brandvane.run import Run
from brandvane.task import ANSWERED, Outcome

FAILURES = [str(outcome) for outcome in Outcome if outcome not in ANSWERED]


@click.command("retry-failed", help=f"Ask a run's failed tasks again, all or some. --deadline takes {FORMS}.")
@click.argument("run_id", metavar="RUN")
@click.option("--task", "tasks", multiple=True, metavar="ID", help="Only this task (repeatable).")
@click.option("--outcome", "outcomes", multiple=True, type=click.Choice(FAILURES), help="Only these (repeatable).")
@click.option("--platform", "platforms", multiple=True, metavar="NAME", help="Only this platform (repeatable).")
@click.option("--deadline", metavar="WHEN", help="The run's deadline [default: its own, at least 2 h from now].")
@consent_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@desk_options
def retry_failed(
    run_id: str,
    tasks: tuple[str, ...],
    outcomes: tuple[str, ...],
    platforms: tuple[str, ...],
    deadline: str | None,
    consent: Consent,
    as_json: bool,
    desk: Desk,
) -> None:
    """Ask a run's failed tasks again."""
    _check_platforms(platforms, desk.run(run_named(desk, run_id)))
    wanted = Wanted(tasks, frozenset(Outcome(name) for name in outcomes), frozenset(platforms))
    again = looked_up(desk, run_id, wanted, deadline)
    (done,) = asked_again(desk, [again], consent, quiet=as_json)
    if as_json:
        say_json(again_document(again, done, consent))
    else:
        tell(again, done)
    judged([again], [done], tasks, consent)


def _check_platforms(platforms: Sequence[str], run: Run) -> None:
    for name in platforms:
        if name not in run.planned:
            raise CliError(
                f"--platform: run {run.run_id} asks no platform '{name}'; {near(name, list(run.planned))}", 2
            )


retry = copy(retry_failed)
retry.name, retry.hidden = "retry", True
