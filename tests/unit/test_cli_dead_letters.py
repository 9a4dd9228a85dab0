"""``brandvane dead-letters``: is it said what becomes of each letter, and is just that done?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from brandvane.cli.dead_letters_commands import dead_letters
from brandvane.messages import CallMessage, Carried, PlanMessage, WriteBackMessage
from brandvane.ports import Envelope
from brandvane.task import Outcome, State, Task
from builders import NOW, catalogue, placed, platform, run_of, tasks_of
from operator_desk import Office, lay_out, office

GIVEN = catalogue(platforms=(platform("openai", price_output=10.0), platform("hunyuan")))
RUN = run_of(GIVEN, "day")
CALLS = "calls-openai-dead"
WAITING = placed(next(t for t in tasks_of(RUN, GIVEN) if t.platform == "openai"), State.DISPATCHED, act_at=NOW + 100)
WRITE_BACK = WriteBackMessage("t9", "day", "a", 0, Carried(Outcome.OK, None, b"very secret answer", None)).encode()
PLAN = PlanMessage("day", 3).encode()


def _call(record: Task) -> str:
    return CallMessage(record.task_id, record.run_id, record.dispatch_no, NOW).encode()


def _office(*letters: tuple[str, str], interactive: bool = False) -> Office:
    """Letters get the ids message-1, message-2 and so on."""
    here = office(GIVEN, interactive=interactive)
    lay_out(here.world, RUN, [WAITING])
    for queue, body in letters:
        asyncio.run(here.world.queue.send(queue, [Envelope("1", body)]))
    return here


def _usual(interactive: bool = False) -> Office:
    return _office(
        (CALLS, _call(WAITING)), (CALLS, "not ours"), ("writeback-dead", WRITE_BACK), interactive=interactive
    )


def _left(here: Office) -> list[str]:
    return [each["id"] for each in here.json(dead_letters, "list")]


def _state(here: Office) -> State:
    return here.world.tasks.records[WAITING.task_id].state


def test_the_list_says_of_each_letter_what_would_become_of_it() -> None:
    here = _usual()

    shown = here.say(dead_letters, "list").stdout

    assert f"{CALLS} message-1: its task waits for it: planned anew" in shown
    assert f"{CALLS} message-2: names no task: stays until it is discarded" in shown
    assert "writeback-dead message-3: back to the write-back queue" in shown
    assert "very secret" not in shown


@pytest.mark.parametrize("name", ["openai", "calls-openai", "calls-openai-dead"])
def test_the_list_of_one_queue_has_only_its_letters(name: str) -> None:
    assert [each["id"] for each in _usual().json(dead_letters, "list", name)] == ["message-1", "message-2"]


def test_one_letter_is_shown_with_the_command_that_shows_its_task() -> None:
    shown = _usual().say(dead_letters, "show", "message-1").stdout

    assert shown.splitlines()[0] == f"{CALLS} message-1: its task waits for it: planned anew"
    assert shown.splitlines()[-1] == f"brandvane task show {WAITING.task_id} --run day"


def test_one_letter_as_json_has_no_answer() -> None:
    told = _usual().json(dead_letters, "show", "message-3")

    assert (told["queue"], told["carries_answer"], told["body"]) == ("writeback-dead", True, None)


def test_redriving_says_how_many_letters_and_tasks_and_what_asking_them_may_cost() -> None:
    here = _usual(interactive=True)

    result = here.say(dead_letters, "redrive", stdin="n\n")

    assert result.exit_code == 1
    assert (
        "Deal with 2 letters? 1: its task waits for it: planned anew; 1: back to the write-back queue;"
        " 2 tasks behind them, 1 asked again, which may cost about $0.0080 (estimate" in result.stderr
    )
    assert (_state(here), _left(here)) == (State.DISPATCHED, ["message-1", "message-2", "message-3"])


def test_redriving_a_queue_leaves_the_others() -> None:
    here = _usual()

    result = here.say(dead_letters, "redrive", "openai", "--yes")

    assert result.exit_code == 0
    assert (_state(here), _left(here)) == (State.PENDING, ["message-2", "message-3"])


def test_redriving_one_letter_leaves_the_others() -> None:
    here = _usual()

    told = here.json(dead_letters, "redrive", "message-3", "--yes")

    assert [each["id"] for each in told["redriven"]] == ["message-3"]
    assert (_state(here), _left(here)) == (State.DISPATCHED, ["message-1", "message-2"])


def test_queues_and_letters_may_be_named_together() -> None:
    here = _usual()

    here.say(dead_letters, "redrive", "writeback", "message-1", "--yes")

    assert _left(here) == ["message-2"]


def test_a_letter_that_came_while_the_question_was_asked_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    here = _office(("writeback-dead", WRITE_BACK))

    def comes(*_: Any, **__: Any) -> None:
        asyncio.run(here.world.queue.send("writeback-dead", [Envelope("1", WRITE_BACK)]))

    monkeypatch.setattr("brandvane.cli.consent.ask", comes)

    assert here.say(dead_letters, "redrive").exit_code == 0
    assert _left(here) == ["message-2"]


def test_a_letter_that_is_named_and_names_no_task_ends_with_1() -> None:
    result = _usual().say(dead_letters, "redrive", "message-2", "--yes")

    assert result.exit_code == 1
    assert "'brandvane dead-letters discard ID' deletes one" in result.stderr


@pytest.mark.parametrize("command", ["redrive", "discard"])
def test_a_dry_run_tells_and_changes_nothing(command: str) -> None:
    here = _usual()

    result = here.say(dead_letters, command, "message-1", "--dry-run")

    assert result.exit_code == 0
    assert result.stdout.startswith(f"would {'deal with' if command == 'redrive' else 'discard'} 1 letter: ")
    assert (_state(here), len(_left(here))) == (State.DISPATCHED, 3)


@pytest.mark.parametrize("command", ["redrive", "discard"])
def test_where_nobody_can_be_asked_it_needs_yes(command: str) -> None:
    here = _usual()

    assert here.say(dead_letters, command, "message-1").exit_code == 2
    assert len(_left(here)) == 3


def test_several_letters_are_discarded_by_their_ids_and_an_answer_is_kept() -> None:
    here = _usual()

    result = here.say(dead_letters, "discard", "message-2", "message-3", "--yes")

    assert result.stdout == (
        "letter message-2 is deleted\nletter message-3 is deleted; its answer is kept under late/\n"
    )
    assert list(here.world.blobs.objects.values()) == [b"very secret answer"]
    assert _left(here) == ["message-1"]


def test_nothing_is_discarded_when_one_of_the_ids_is_not_there() -> None:
    here = _usual()

    result = here.say(dead_letters, "discard", "message-2", "message-9", "--yes")

    assert result.exit_code == 2
    assert "there is no letter 'message-9': 'brandvane dead-letters list' shows those there are" in result.stderr
    assert len(_left(here)) == 3


def test_a_plan_letter_is_explained() -> None:
    assert "plan of run day, chunk 3" in _office(("plan-dead", PLAN)).say(dead_letters, "show", "message-1").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("list", "openia"), "there is no queue 'openia'; did you mean openai?"),
        (("show", "x"), "there is no letter 'x'"),
        (("redrive", "x", "--yes"), "there is no queue and no letter 'x'"),
    ],
)
def test_wrong_input_ends_with_2(words: tuple[str, ...], says: str) -> None:
    result = _usual().say(dead_letters, *words)

    assert result.exit_code == 2
    assert says in result.stderr
