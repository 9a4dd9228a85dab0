"""``brandvane dead-letters``: what lies in the dead-letter queues, where does it belong, and who sends it there?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from brandvane.cli.asking_cost import cost_of_tasks
from brandvane.cli.consent import Consent, consent_options
from brandvane.cli.dead_letters_view import (
    MEANING,
    about,
    carries,
    consequences,
    counted,
    letter_document,
    letter_lines,
    letters_lines,
)
from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.run_plan_view import estimate_document
from brandvane.cli.view import number, say, say_json
from brandvane.engine.redrive import DEAD, SHARED, Action, Letter, dead_letter_queues
from brandvane.engine.rehearse import near
from brandvane.messages import calls_queue

MOVING = frozenset({Action.TO_PENDING, Action.DELETE, Action.TO_WRITEBACK})
LIST = "'brandvane dead-letters list' shows those there are"

_JSON = click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")


@click.group("dead-letters")
def dead_letters() -> None:
    """Look at dead letters, send them where they belong, or delete them.

    QUEUE is a platform's name, writeback, plan, sweep or schedules.
    """


@dead_letters.command("list")
@click.argument("queue", metavar="[QUEUE]", required=False)
@_JSON
@desk_options
def list_letters(queue: str | None, as_json: bool, desk: Desk) -> None:
    """Show the letters of all queues, or of one, and what redriving each would do."""
    show_letters(letters_in(desk, [] if queue is None else [queue]), as_json=as_json)


@dead_letters.command()
@click.argument("message_id", metavar="ID")
@_JSON
@desk_options
def show(message_id: str, as_json: bool, desk: Desk) -> None:
    """Show one letter."""
    (letter,) = _named(letters_in(desk), [message_id])
    if as_json:
        say_json(letter_document(letter))
        return
    say(*letter_lines(letter))
    if letter.task_id is not None:
        say(f"brandvane task show {letter.task_id} --run {letter.run_id}")


@dead_letters.command()
@click.argument("names", metavar="[QUEUE|ID]...", nargs=-1)
@consent_options
@_JSON
@desk_options
def redrive(names: tuple[str, ...], consent: Consent, as_json: bool, desk: Desk) -> None:
    """Send dead letters where they belong: all, those of queues, or single ones.

    A letter that names a task puts it back to PENDING if it waits for that message, and is only deleted otherwise: the record
    decides. A write-back letter carries an answer and goes back to its queue. All others stay until they are discarded. Letters
    that come in while you are asked are left for the next time.
    """
    queues = [name for name in names if _queue(desk, name) is not None]
    ids = [name for name in names if name not in queues]
    letters = letters_in(desk, [] if ids else queues)  # a letter may lie in any of them
    named = _named(letters, ids, "queue and no letter")
    whole = {_queue(desk, name) for name in queues}
    chosen = [each for each in letters if not names or each.queue in whole or each in named]
    redrive_letters(desk, chosen, consent, as_json=as_json)
    if any(letter.action not in MOVING for letter in named):
        raise CliError(
            "not every letter that was named can be redriven: 'brandvane dead-letters discard ID' deletes one"
        )


@dead_letters.command()
@click.argument("message_ids", metavar="ID...", nargs=-1, required=True)
@consent_options
@_JSON
@desk_options
def discard(message_ids: tuple[str, ...], consent: Consent, as_json: bool, desk: Desk) -> None:
    """Delete letters. An answer that one carries is kept under late/; the task that it names is not touched."""
    letters = _named(letters_in(desk), message_ids)
    gone = discard_letters(desk, letters, consent, quiet=as_json)
    if as_json:
        say_json({"discarded": [letter_document(each) for each in gone], "dry_run": consent.dry_run})


def _queue(desk: Desk, given: str) -> str | None:
    """The dead-letter queue that a name means, in any of its forms."""
    every = dead_letter_queues([worker.platform for worker in desk.run(desk.deployment.platforms())])
    base = given.removesuffix(DEAD)
    return next((name for name in (f"{base}{DEAD}", f"{calls_queue(base)}{DEAD}") if name in every), None)


def letters_in(desk: Desk, queues: Sequence[str] = ()) -> list[Letter]:
    """The letters of these queues, or of all.

    Raises:
        CliError: there is no such queue (2).
    """
    names = [worker.platform for worker in desk.run(desk.deployment.platforms())]
    chosen = [] if queues else list(dead_letter_queues(names))
    for given in queues:
        found = _queue(desk, given)
        if found is None:
            raise CliError(f"there is no queue '{given}'; {near(given.removesuffix(DEAD), [*names, *SHARED])}", 2)
        chosen.append(found)
    return [letter for name in dict.fromkeys(chosen) for letter in desk.run(desk.dead_letters.look(name))]


def _named(letters: Sequence[Letter], ids: Sequence[str], what: str = "letter") -> list[Letter]:
    there = {letter.message.message_id: letter for letter in letters}
    for each in ids:
        if each not in there:
            raise CliError(f"there is no {what} '{each}': {LIST}", 2)
    return [there[each] for each in dict.fromkeys(ids)]


def show_letters(letters: Sequence[Letter], *, as_json: bool) -> None:
    """Print them."""
    if as_json:
        say_json([letter_document(letter) for letter in letters])
    else:
        say(*letters_lines(letters))


def redrive_letters(desk: Desk, letters: Sequence[Letter], consent: Consent, *, as_json: bool) -> None:
    """Tell what would be done with these letters, ask, and do it with exactly these.

    Raises:
        CliError: nobody agreed, or some could not be dealt with.
    """
    moving = [letter for letter in letters if letter.action in MOVING]
    waiting = [each.task for each in moving if each.action is Action.TO_PENDING and each.task is not None]
    cost = desk.run(cost_of_tasks(desk, {task.task_id: task for task in waiting}.values()))
    details = f"{counted(moving)}; {consequences(moving, cost)}."
    order = f"deal with {number(len(moving), 'letter')}"
    handled: list[Letter] = []
    if moving and consent.given(order, details, interactive=desk.interactive, quiet=as_json):
        for name in dict.fromkeys(letter.queue for letter in moving):
            ids = {letter.message.message_id for letter in moving if letter.queue == name}
            handled += desk.run(desk.dead_letters.redrive(name, ids))
    done = {letter.message.message_id for letter in handled}
    left = [letter for letter in letters if letter.message.message_id not in done]
    if as_json:
        told = {"redriven": handled, "left": left}
        document = {name: [letter_document(each) for each in which] for name, which in told.items()}
        say_json({**document, "estimate": estimate_document(cost), "dry_run": consent.dry_run})
    else:
        for action, count in Counter(letter.action for letter in handled).items():
            say(f"{number(count, 'letter')}: {MEANING[action]}")
        if left or not handled:
            say(*letters_lines(left))
    if not consent.dry_run and any(letter.action in MOVING for letter in left):
        raise CliError("not every letter could be dealt with: the same command again goes on")


def discard_letters(desk: Desk, letters: Sequence[Letter], consent: Consent, *, quiet: bool) -> list[Letter]:
    """Tell what would be deleted, ask, and delete it; those that are gone.

    Raises:
        CliError: nobody agreed, a newer release wrote one, or some were not there any more.
    """
    for letter in letters:
        if letter.action is Action.NEWER:
            raise CliError(f"letter {letter.message.message_id} was written by a newer release and is left to it")
    which = "; ".join(f"{each.message.message_id} of {each.queue} ({about(each)})" for each in letters)
    tasks = len({letter.task_id for letter in letters if letter.task_id is not None})
    details = f"{which}. {number(tasks, 'task')} behind them, left as they are; nothing is asked again."
    order = f"discard {number(len(letters), 'letter')}"
    if not consent.given(order, details, interactive=desk.interactive, quiet=quiet):
        return []
    gone: list[Letter] = []
    for name in dict.fromkeys(letter.queue for letter in letters):
        ids = {letter.message.message_id for letter in letters if letter.queue == name}
        gone += desk.run(desk.dead_letters.discard(name, ids))
    for letter in () if quiet else gone:
        kept = "; its answer is kept under late/" * carries(letter)
        say(f"letter {letter.message.message_id} is deleted{kept}")
    missed = {each.message.message_id for each in letters} - {each.message.message_id for each in gone}
    if missed:
        raise CliError(f"not in their queues any more: {', '.join(sorted(missed))}")
    return gone
