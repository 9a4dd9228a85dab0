"""How do dead letters look? Each with what redriving it would do, for people and as JSON; never the answer that one carries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from brandvane.cli.asking_cost import price_text
from brandvane.cli.estimate import Estimate
from brandvane.cli.view import number, shown
from brandvane.cli.when import iso
from brandvane.engine.redrive import Action, Letter

LISTED_MAX = 50
MEANING: Mapping[Action, str] = {
    Action.TO_PENDING: "its task waits for it: planned anew",
    Action.DELETE: "its task does not need it: deleted",
    Action.TO_WRITEBACK: "back to the write-back queue",
    Action.KEEP: "names no task: stays until it is discarded",
    Action.NEWER: "written by a newer release: left to it",
}


def letters_lines(letters: Sequence[Letter]) -> list[str]:
    """Two lines a letter; beyond the first few, how many there are."""
    if not letters:
        return ["there are no dead letters"]
    lines = [line for letter in letters[:LISTED_MAX] for line in letter_lines(letter)]
    if len(letters) > LISTED_MAX:
        lines.append(f"and {len(letters) - LISTED_MAX:,} more (--json shows all)")
    return lines


def letter_lines(letter: Letter) -> list[str]:
    """What it is, what redriving it would do, when it was sent, and whom it is about."""
    message = letter.message
    return [
        f"{letter.queue} {message.message_id}: {MEANING[letter.action]}",
        f"    sent {iso(message.sent_at)}, received {number(message.receive_count, 'time')}; {about(letter)}",
    ]


def about(letter: Letter) -> str:
    """The task, the plan, or the body that names neither."""
    if letter.plan is not None:
        return f"plan of run {letter.plan.run_id}, chunk {letter.plan.chunk}: the dispatcher restarts a plan that stands still"
    if letter.task_id is None:
        return f"body: {shown(letter.message.body)}"
    state = letter.task.state if letter.task is not None else "no record any more"
    return f"task {letter.task_id} of run {letter.run_id} ({state}){', carries an answer' * carries(letter)}"


def carries(letter: Letter) -> bool:
    """Is there an answer in it?"""
    return letter.write_back is not None and letter.write_back.carried is not None


def counted(letters: Sequence[Letter]) -> str:
    """How many of each kind, and what becomes of them."""
    kinds = Counter(letter.action for letter in letters)
    return "; ".join(f"{count:,}: {MEANING[action]}" for action, count in kinds.items())


def consequences(letters: Sequence[Letter], cost: Estimate) -> str:
    """The tasks behind letters, and what asking those again may cost that wait for theirs."""
    tasks = {letter.task_id for letter in letters if letter.task_id is not None}
    again = {letter.task_id for letter in letters if letter.action is Action.TO_PENDING}
    if not again:
        return f"{number(len(tasks), 'task')} behind them, none is asked again"
    return f"{number(len(tasks), 'task')} behind them, {len(again):,} asked again, which may cost {price_text(cost)}"


def letter_document(letter: Letter) -> dict[str, Any]:
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
        "carries_answer": carries(letter),
        "body": message.body if letter.run_id is None else None,
    }
