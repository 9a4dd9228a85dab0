"""What the auditor says of moves, rows and messages that break a promise: each of its texts, once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brandvane import moves
from brandvane.messages import PLAN_QUEUE, WRITEBACK_QUEUE, CallMessage, Carried, PlanMessage, WriteBackMessage
from brandvane.result import ResultRow, row_of
from brandvane.simulation.auditor import Auditor
from brandvane.simulation.cloud import Cloud
from brandvane.simulation.faults import NONE
from brandvane.simulation.host import Host
from brandvane.simulation.memory_tasks import applied
from brandvane.simulation.virtual_loop import VirtualLoop
from brandvane.task import Change, Outcome, State, Task
from builders import NOW, catalogue, placed, run_of, task

CALLS = "calls-openai"
RUN = replace(run_of(catalogue(2)), run_id="r1", chunks_done=frozenset({0}))
WRITTEN = task(State.WRITEBACK, answer=b"x")
ROW = row_of(WRITTEN, NOW)


class Seen:
    """An auditor of a cloud that holds the given record and row."""

    def __init__(self, record: Task | None = None, row: ResultRow | None = None) -> None:
        loop = VirtualLoop()
        self.auditor = Auditor(loop.time, NOW, lambda: None)
        self.cloud = Cloud(loop=loop, epoch=NOW, seed=1, faults=NONE, auditor=self.auditor)
        self.auditor.watch(self.cloud)
        self.host = Host(loop, "worker/1", NOW)
        self.auditor.platform("openai", 10.0, 10, 0.0, 1)
        self.cloud.runs.runs[RUN.run_id] = RUN
        if record is not None:
            self.cloud.tasks.records[record.task_id] = record
        if row is not None:
            self.cloud.results.rows[row.pk, row.sk] = row

    def moved(self, old: Task, change: Change) -> list[str]:
        self.auditor.moved(self.host, change, old, applied(old, change))
        return self.told()

    def told(self) -> list[str]:
        return [f"{each.kind}: {each.text}" for each in self.auditor.history.violations]


def test_a_task_that_is_marked_before_its_queue_confirmed_is_seen() -> None:
    old = task(State.PENDING)
    expected = ["moves: dispatched without a confirmed message"]
    assert Seen().moved(old, moves.dispatched("openai", 1, NOW, NOW)) == expected


def test_a_task_that_is_marked_after_its_queue_confirmed_is_right() -> None:
    seen = Seen()
    seen.auditor.confirmed(CALLS, CallMessage(task().task_id, "r1", 1, NOW).encode())
    assert seen.moved(task(State.PENDING), moves.dispatched("openai", 1, NOW, NOW)) == []


def test_a_call_that_was_made_is_not_taken_back() -> None:
    old = task(State.RUNNING)
    seen = Seen(old)
    seen.auditor.call_started(seen.host, "openai", f"{old.task_id}/1")
    assert seen.moved(old, moves.not_called(old, NOW + 9, NOW)) == ["moves: a call is taken back that was made"]


def test_a_call_that_was_not_made_is_taken_back_rightly() -> None:
    old = task(State.RUNNING)
    assert Seen(old).moved(old, moves.not_called(old, NOW + 9, NOW)) == []


@pytest.mark.parametrize("row", [None, replace(ROW, outcome=Outcome.REFUSED), replace(ROW, round=2)])
def test_a_task_that_is_finished_without_its_row_is_seen(row: ResultRow | None) -> None:
    assert Seen(row=row).moved(WRITTEN, moves.finished(WRITTEN, NOW, 3600)) == ["rows: finished as ok without that row"]


def test_a_task_that_is_finished_twice_in_a_round_is_seen() -> None:
    seen = Seen(row=ROW)
    assert seen.moved(WRITTEN, moves.finished(WRITTEN, NOW, 3600)) == []
    assert seen.moved(WRITTEN, moves.finished(WRITTEN, NOW, 3600)) == ["rows: finished twice in round 1"]


def test_a_second_result_over_another_is_seen() -> None:
    seen = Seen()
    seen.auditor.row_put(seen.host, replace(ROW, outcome=Outcome.TIMEOUT), ROW, written=True)
    assert seen.told() == ["rows: a second result: timeout over ok"]


def test_an_earlier_round_s_row_over_a_later_one_s_is_seen() -> None:
    seen = Seen()
    seen.auditor.row_put(seen.host, ROW, replace(ROW, round=2), written=True)
    assert seen.told() == ["rows: an earlier round's row over a later one's"]


def test_a_row_that_gives_way_is_right() -> None:
    seen = Seen()
    seen.auditor.row_put(seen.host, ROW, replace(ROW, round=2), written=False)
    assert seen.told() == []


@pytest.mark.parametrize(
    ("state", "number", "expected"),
    [
        (State.PENDING, 1, ["messages: a message was acknowledged whose task still waits for it"]),
        (State.DISPATCHED, 1, ["messages: a message was acknowledged whose task still waits for it"]),
        (State.DISPATCHED, 2, []),  # it waits for a later one
        (State.PULLED, 1, []),
    ],
)
def test_a_call_message_is_not_acknowledged_while_its_task_waits_for_it(
    state: State, number: int, expected: list[str]
) -> None:
    record = task(state, dispatch_no=number)
    seen = Seen(record)
    seen.auditor.acknowledged(CALLS, CallMessage(record.task_id, "r1", 1, NOW).encode())
    assert seen.told() == expected


@pytest.mark.parametrize(("chunk", "expected"), [(0, []), (1, ["messages: chunk 1 acknowledged and not planned"])])
def test_a_chunk_is_not_acknowledged_before_it_is_planned(chunk: int, expected: list[str]) -> None:
    seen = Seen()
    seen.auditor.acknowledged(PLAN_QUEUE, PlanMessage("r1", chunk).encode())
    assert seen.told() == expected


def carrying(attempt_id: str) -> str:
    return WriteBackMessage(WRITTEN.task_id, "r1", attempt_id, 0, Carried(Outcome.OK, None, b"x", None)).encode()


def test_an_answer_s_message_is_not_acknowledged_while_the_answer_is_nowhere() -> None:
    record = placed(WRITTEN, State.RUNNING)
    seen = Seen(record)
    seen.auditor.acknowledged(WRITEBACK_QUEUE, carrying(record.attempt_id))
    assert seen.told() == ["answers: an answer's message was acknowledged and the answer is nowhere"]


def test_an_answer_s_message_is_acknowledged_once_its_record_has_the_answer() -> None:
    seen = Seen(WRITTEN)
    seen.auditor.acknowledged(WRITEBACK_QUEUE, carrying(WRITTEN.attempt_id))
    assert seen.told() == []


def test_a_broken_promise_is_kept_with_the_history_of_its_task() -> None:
    old = task(State.PENDING)
    seen = Seen()
    seen.moved(old, moves.dispatched("openai", 1, NOW, NOW))
    (line,) = seen.auditor.history.violations[0].history
    assert line.split() == ["0.000", "s", "worker/1", "dispatch", "DISPATCHED", "1", "attemp"]
