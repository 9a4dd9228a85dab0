"""``brandvane redrive``: is it said what becomes of each dead letter, and does it?"""

from __future__ import annotations

import asyncio

import pytest

from brandvane.cli.redrive_command import redrive
from brandvane.messages import CallMessage, Carried, PlanMessage, WriteBackMessage
from brandvane.ports import Envelope
from brandvane.task import Outcome, State, Task
from builders import NOW, catalogue, platform, task
from operator_desk import Office, office

GIVEN = catalogue(platforms=(platform("openai"), platform("hunyuan")))
CALLS = "calls-openai-dead"


def _office(*letters: tuple[str, str], records: tuple[Task, ...] = (), interactive: bool = False) -> Office:
    here = office(GIVEN, interactive=interactive)

    async def put() -> None:
        await here.world.tasks.create(records)
        for queue, body in letters:
            await here.world.queue.send(queue, [Envelope("1", body)])

    asyncio.run(put())
    return here


def _call(record: Task) -> str:
    return CallMessage(record.task_id, record.run_id, record.dispatch_no, NOW).encode()


def _depth(here: Office, queue: str) -> int:
    return asyncio.run(here.world.queue.depth(queue))


WAITING = task(State.DISPATCHED, act_at=NOW + 100)
WRITE_BACK = WriteBackMessage("t9", "r1", "a", 0, Carried(Outcome.OK, None, b"very secret answer", None)).encode()
PLAN = PlanMessage("day", 3).encode()


def test_the_list_says_of_each_letter_what_would_become_of_it() -> None:
    here = _office(
        (CALLS, _call(WAITING)),
        ("calls-hunyuan-dead", "not\x1b[31mours"),
        ("writeback-dead", WRITE_BACK),
        ("plan-dead", PLAN),
        records=(WAITING,),
    )

    shown = here.say(redrive, "--list").stdout

    assert "calls-openai-dead message-1: its task waits for it: planned anew" in shown
    assert f"task {WAITING.task_id} of run r1 (DISPATCHED)" in shown
    assert "calls-hunyuan-dead message-2: names no task: stays until it is discarded" in shown
    assert "body: not\\x1b[31mours" in shown
    assert "writeback-dead message-3: back to the write-back queue" in shown
    assert "task t9 of run r1 (no record any more), carries an answer" in shown
    assert "plan of run day, chunk 3" in shown
    assert here.world.tasks.records[WAITING.task_id] == WAITING


def test_the_list_as_json_has_every_letter_and_no_answer() -> None:
    here = _office((CALLS, _call(WAITING)), (CALLS, "x"), ("writeback-dead", WRITE_BACK), records=(WAITING,))

    told = here.json(redrive, "--list")

    assert [(each["id"], each["action"], each["state"]) for each in told] == [
        ("message-1", "to_pending", "DISPATCHED"),
        ("message-2", "keep", None),
        ("message-3", "to_writeback", None),
    ]
    assert [each["body"] for each in told] == [None, "x", None]
    assert told[2]["carries_answer"] is True


def test_redriving_deals_with_every_letter_that_names_a_task() -> None:
    here = _office((CALLS, _call(WAITING)), (CALLS, "not ours"), ("writeback-dead", WRITE_BACK), records=(WAITING,))

    result = here.say(redrive, "--yes")

    assert result.exit_code == 0
    assert here.world.tasks.records[WAITING.task_id].state is State.PENDING
    assert [_depth(here, queue) for queue in (CALLS, "writeback-dead", "writeback")] == [1, 0, 1]
    assert "1 letter: its task waits for it: planned anew" in result.stdout
    assert "names no task: stays until it is discarded" in result.stdout


def test_one_queue_may_be_named_in_any_of_its_forms() -> None:
    for name in ("openai", "calls-openai", "calls-openai-dead"):
        here = _office((CALLS, _call(WAITING)), ("writeback-dead", WRITE_BACK), records=(WAITING,))

        told = here.json(redrive, name, "--yes")

        assert [each["queue"] for each in told["redriven"]] == [CALLS]
        assert _depth(here, "writeback-dead") == 1


def test_redriving_asks_first() -> None:
    here = _office((CALLS, _call(WAITING)), records=(WAITING,), interactive=True)

    refused = here.say(redrive, stdin="n\n")
    done = here.say(redrive, stdin="y\n")

    assert refused.exit_code == 1
    assert "Deal with 1 letter? 1: its task waits for it: planned anew" in refused.stderr
    assert done.exit_code == 0
    assert _depth(here, CALLS) == 0


def test_where_nobody_can_be_asked_it_needs_yes() -> None:
    here = _office((CALLS, _call(WAITING)), records=(WAITING,))

    assert here.say(redrive).exit_code == 2
    assert _depth(here, CALLS) == 1


def test_nothing_to_do_needs_no_yes() -> None:
    result = _office().say(redrive)

    assert (result.exit_code, result.stdout) == (0, "there are no dead letters\n")


def test_a_letter_is_discarded_by_its_id() -> None:
    here = _office((CALLS, "not ours"), (CALLS, "not ours either"))

    result = here.say(redrive, "--discard", "message-2", "--yes")

    assert result.stdout == "letter message-2 is deleted\n"
    assert [each["id"] for each in here.json(redrive, "--list")] == ["message-1"]


def test_discarding_a_letter_with_an_answer_says_that_it_is_kept() -> None:
    here = _office(("writeback-dead", WRITE_BACK))

    result = here.say(redrive, "writeback", "--discard", "message-1", "--yes")

    assert "its answer is kept under late/" in result.stdout
    assert list(here.world.blobs.objects.values()) == [b"very secret answer"]


def test_discarding_asks_first() -> None:
    here = _office((CALLS, "not ours"))

    assert here.say(redrive, "--discard", "message-1").exit_code == 2
    assert _depth(here, CALLS) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("openia", "--list"), "there is no queue 'openia'; did you mean openai?"),
        (("--discard", "message-9", "--yes"), "there is no letter 'message-9'"),
        (("--discard", "message-9", "--list"), "exclude each other"),
    ],
)
def test_wrong_input_ends_with_2(words: tuple[str, ...], says: str) -> None:
    result = _office().say(redrive, *words)

    assert result.exit_code == 2
    assert says in result.stderr
