"""``brandvane redrive``: what lies in the dead-letter queues, and where it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import click

from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.view import ask, number, say, say_json, shown
from brandvane.cli.when import iso
from brandvane.engine.redrive import DEAD, SHARED, Action, Letter, dead_letter_queues
from brandvane.engine.rehearse import near
from brandvane.messages import calls_queue

LISTED_MAX = 50
MEANING: Mapping[Action, str] = {
    Action.TO_PENDING: "its task waits for it: planned anew",
    Action.DELETE: "its task does not need it: deleted",
    Action.TO_WRITEBACK: "back to the write-back queue",
    Action.KEEP: "names no task: stays until it is discarded",
    Action.NEWER: "written by a newer release: left to it",
}
MOVING = frozenset({Action.TO_PENDING, Action.DELETE, Action.TO_WRITEBACK})


@click.command()
@click.argument("queue", metavar="[QUEUE]", required=False)
@click.option("--list", "only_list", is_flag=True, help="Only show the letters and what would become of each.")
@click.option("--discard", metavar="ID", help="Delete this letter (an answer that it carries is kept).")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@desk_options
def redrive(queue: str | None, only_list: bool, discard: str | None, yes: bool, as_json: bool, desk: Desk) -> None:
    """Send dead letters where they belong, of all queues or of one (a platform's name, writeback, plan, sweep, schedules).

    A letter that names a task puts it back to PENDING if it waits for that message, and is only deleted otherwise: the record
    decides. A write-back letter carries an answer and goes back to its queue. All others stay until they are discarded.
    """
    if only_list and discard is not None:
        raise CliError("--list and --discard exclude each other", 2)
    queues = desk.run(_queues(desk, queue))
    letters = [letter for name in queues for letter in desk.run(desk.dead_letters.look(name))]
    if discard is not None:
        _discard(desk, letters, discard, yes=yes, as_json=as_json)
    elif only_list:
        _show(letters, as_json=as_json)
    else:
        _redrive(desk, letters, yes=yes, as_json=as_json)


async def _queues(desk: Desk, given: str | None) -> tuple[str, ...]:
    names = [worker.platform for worker in await desk.deployment.platforms()]
    every = dead_letter_queues(names)
    if given is None:
        return every
    base = given.removesuffix(DEAD)
    for name in (f"{base}{DEAD}", f"{calls_queue(base)}{DEAD}"):
        if name in every:
            return (name,)
    raise CliError(f"there is no queue '{given}'; {near(base, [*names, *SHARED])}", 2)


def _show(letters: Sequence[Letter], *, as_json: bool) -> None:
    if as_json:
        say_json([_document(letter) for letter in letters])
        return
    say(*_lines(letters))


def _lines(letters: Sequence[Letter]) -> list[str]:
    if not letters:
        return ["there are no dead letters"]
    lines = []
    for letter in letters[:LISTED_MAX]:
        message = letter.message
        lines.append(f"{letter.queue} {message.message_id}: {MEANING[letter.action]}")
        lines.append(
            f"    sent {iso(message.sent_at)}, received {number(message.receive_count, 'time')}; {_about(letter)}"
        )
    if len(letters) > LISTED_MAX:
        lines.append(f"and {len(letters) - LISTED_MAX:,} more (--json shows all)")
    return lines


def _about(letter: Letter) -> str:
    if letter.plan is not None:
        return f"plan of run {letter.plan.run_id}, chunk {letter.plan.chunk}: the dispatcher restarts a plan that stands still"
    if letter.task_id is None:
        return f"body: {shown(letter.message.body)}"
    state = letter.task.state if letter.task is not None else "no record any more"
    return f"task {letter.task_id} of run {letter.run_id} ({state}){', carries an answer' * _carries(letter)}"


def _carries(letter: Letter) -> bool:
    return letter.write_back is not None and letter.write_back.carried is not None


def _redrive(desk: Desk, letters: Sequence[Letter], *, yes: bool, as_json: bool) -> None:
    moving = [letter for letter in letters if letter.action in MOVING]
    handled: list[Letter] = []
    if moving:
        ask(_question(moving), yes=yes, interactive=desk.interactive)
        for name in dict.fromkeys(letter.queue for letter in moving):
            handled += desk.run(desk.dead_letters.redrive(name))
    done = {letter.message.message_id for letter in handled}
    left = [letter for letter in letters if letter.message.message_id not in done]
    if as_json:
        say_json({"redriven": [_document(each) for each in handled], "left": [_document(each) for each in left]})
    else:
        for action, count in Counter(letter.action for letter in handled).items():
            say(f"{number(count, 'letter')}: {MEANING[action]}")
        if left or not handled:
            say(*_lines(left))
    if any(letter.action in MOVING for letter in left):
        raise CliError("not every letter could be dealt with: the same command again goes on")


def _question(moving: Sequence[Letter]) -> str:
    kinds = Counter(letter.action for letter in moving)
    return f"Deal with {number(len(moving), 'letter')}? " + "; ".join(
        f"{count:,}: {MEANING[action]}" for action, count in kinds.items()
    )


def _discard(desk: Desk, letters: Sequence[Letter], message_id: str, *, yes: bool, as_json: bool) -> None:
    letter = next((each for each in letters if each.message.message_id == message_id), None)
    if letter is None:
        raise CliError(
            f"--discard: there is no letter '{message_id}': 'brandvane redrive --list' shows those there are", 2
        )
    ask(f"Discard letter {message_id} of {letter.queue} ({_about(letter)})?", yes=yes, interactive=desk.interactive)
    gone = desk.run(desk.dead_letters.discard(letter.queue, message_id))
    if gone is None:
        raise CliError(f"letter {message_id} is not in {letter.queue} any more")
    if as_json:
        say_json({"discarded": _document(gone)})
    else:
        say(f"letter {message_id} is deleted{'; its answer is kept under late/' * _carries(gone)}")


def _document(letter: Letter) -> dict[str, Any]:
    """A letter as JSON; the answer that it may carry is left out, and the body where it is understood."""
    message = letter.message
    return {
        "id": message.message_id,
        "queue": letter.queue,
        "sent_at": iso(message.sent_at),
        "receive_count": message.receive_count,
        "action": letter.action,
        "task_id": letter.task_id,
        "run_id": letter.run_id,
        "chunk": None if letter.plan is None else letter.plan.chunk,
        "state": None if letter.task is None else letter.task.state,
        "carries_answer": _carries(letter),
        "body": message.body if letter.run_id is None else None,
    }
