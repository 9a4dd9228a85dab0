"""``brandvane task``: what has happened to one task, and ask it again."""

from __future__ import annotations

import click

from brandvane.cli.asking_again import again_document, asked_again, judged, looked_up, tell
from brandvane.cli.consent import Consent, consent_options
from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.lookup import run_named
from brandvane.cli.task_view import life_document, life_lines
from brandvane.cli.view import say, say_json
from brandvane.cli.when import FORMS
from brandvane.engine.reopen_failed import Wanted
from brandvane.engine.task_life import life_of, no_record

_RUN = click.option("--run", "run_id", metavar="RUN", help="Its run; needed when its record has been removed.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")


@click.group()
def task() -> None:
    """See the whole life of a task, or ask it again."""


@task.command()
@click.argument("task_id", metavar="ID")
@_RUN
@_JSON
@desk_options
def show(task_id: str, run_id: str | None, as_json: bool, desk: Desk) -> None:
    """Show everything that is known of a task.

    Its record, the result row of every round, answers that came too late to count, and the command that shows its log lines.
    """
    if run_id is not None:
        desk.run(run_named(desk, run_id))
    life = desk.run(life_of(task_id, run_id, tasks=desk.tasks, rows=desk.rows, blobs=desk.blobs))
    run = desk.run(desk.runs.get(life.run_id))
    if as_json:
        say_json(life_document(life, run, desk.bucket))
        return
    say(*desk.run(life_lines(desk, life, run)))


@task.command(help=f"Ask failed tasks again, of whichever run. --deadline takes {FORMS}.")
@click.argument("task_ids", metavar="ID...", nargs=-1, required=True)
@_RUN
@click.option("--deadline", metavar="WHEN", help="Their run's deadline [default: its own, at least 2 h from now].")
@consent_options
@_JSON
@desk_options
def retry(
    task_ids: tuple[str, ...], run_id: str | None, deadline: str | None, consent: Consent, as_json: bool, desk: Desk
) -> None:
    """Ask failed tasks again."""
    by_run: dict[str, list[str]] = {}
    for task_id in dict.fromkeys(task_ids):
        by_run.setdefault(run_id or _run_of(desk, task_id), []).append(task_id)
    every = [looked_up(desk, name, Wanted(tuple(ids)), deadline) for name, ids in by_run.items()]
    done = asked_again(desk, every, consent, quiet=as_json)
    pairs = list(zip(every, done, strict=True))
    if as_json:
        say_json([again_document(again, ended, consent) for again, ended in pairs])
    else:
        for again, ended in pairs:
            tell(again, ended)
    judged(every, done, task_ids, consent)


def _run_of(desk: Desk, task_id: str) -> str:
    found = desk.run(desk.tasks.get(task_id))
    if found is None:
        raise CliError(no_record(task_id, None), 2)
    return found.run_id
