"""What does the moves table promise? Everything that must hold of a task's life, whoever acts on it and in which order."""

from __future__ import annotations

from dataclasses import dataclass, field

from brandvane.result import ResultRow
from brandvane.simulation.audit_moves import RULES, faults_of
from brandvane.simulation.memory_stores import MemoryResultStore
from brandvane.simulation.memory_tasks import MemoryTaskStore
from brandvane.task import FINISHED, Change, Outcome, State, Task, Verdict, watch_of, watches

AGAIN = {"dispatch", "resend", "redrive", "heartbeat"}  # a late repetition of these changes nothing that counts
BACK = {"release", "give_back", "retry", "rescue"}
OF_THE_WORKER = {"begin", "heartbeat", "release", "retry", "answer", "fail"}
# How far ahead of its mover's clock each state's next look may be (DESIGN §2): beyond it a record would be forgotten.
LOOKS_WITHIN_S = {State.PULLED: 60.0, State.RUNNING: 300.0, State.WRITEBACK: 28.0}


@dataclass(slots=True)
class Life:
    """What has really happened to one task."""

    owner: str | None = None  # the attempt that claimed it last
    attempts: set[str] = field(default_factory=set)
    begun: set[str] = field(default_factory=set)
    outcomes: dict[int, Outcome] = field(default_factory=dict)  # by round
    finished: set[int] = field(default_factory=set)  # rounds
    waits: int = 1
    last: tuple[str, Task] | None = None  # the last move's name, and the record after it


class Promises:
    """Looks at every change and its verdict, and at the tables between two of them."""

    def __init__(self, tasks: MemoryTaskStore, results: MemoryResultStore) -> None:
        self._tasks = tasks
        self._results = results
        self._lives: dict[str, Life] = {}
        self._made: list[Change] = []

    def judge(self, change: Change, knew: object, old: Task, new: Task, verdict: Verdict) -> None:
        """One change met one record; ``knew`` is what its mover had read: a record, or a message.

        Raises:
            AssertionError: a promise is broken.
        """
        life = self._lives.setdefault(new.task_id, Life())
        if verdict is Verdict.MOVED:
            stale = [name for name in RULES[change.name].same.split() if getattr(knew, name) != getattr(old, name)]
            assert not stale, f"{change.name} on old knowledge of {stale}"
            self._moved(life, change, old, new)
            return
        assert new is old, f"{change.name} was refused and yet carried out"
        if verdict is Verdict.ALREADY:
            _already(life, change, new)
        elif change.name == "answer":
            counts = new.attempt_id == change.proof["attempt_id"] == life.owner
            waits = new.state in (State.RUNNING, State.PENDING, State.DISPATCHED)
            assert not (counts and waits), "an answer that still counts was thrown away"

    def _moved(self, life: Life, change: Change, old: Task, new: Task) -> None:
        name, attempt = change.name, new.attempt_id
        assert list(faults_of(change, old, new)) == []
        assert name in AGAIN or not any(made is change for made in self._made), f"{name} was carried out twice"
        self._made.append(change)
        if new.act_at is not None:
            assert new.act_at <= new.updated_at + LOOKS_WITHIN_S.get(new.state, 10_000.0)
        if name in BACK or name == "retry_failed":
            life.waits += 1
        if name in ("claim", "retry_failed"):
            assert attempt not in life.attempts, "an attempt's id came twice"
            life.attempts.add(attempt)
            life.owner = attempt if name == "claim" else None
        if name in OF_THE_WORKER:
            assert attempt == life.owner, f"a fenced worker's {name} landed"
        if name == "begin":
            assert attempt not in life.begun, "one claim, two calls"
            life.begun.add(attempt)
        if new.state is State.WRITEBACK and old.state is not State.WRITEBACK:
            assert new.outcome is not None
            assert new.round not in life.outcomes, "a second outcome in one round"
            life.outcomes[new.round] = new.outcome
        if name == "finish":
            assert new.round not in life.finished, "a second finish"
            assert new.outcome is life.outcomes[new.round]
            life.finished.add(new.round)
        if new.state is not old.state:
            life.last = (name, new)

    def look(self) -> None:
        """The tables as they stand."""
        for task in self._tasks.records.values():
            self._in_order(task, self._lives.setdefault(task.task_id, Life()))
            self._counted(task)
        platforms = {task.platform for task in self._tasks.records.values()}
        partitions = [watch for name in platforms for watch in watches(name)]
        watched = [entry.task_id for watch in partitions for entry in self._tasks.index.page(watch, None, 9)]
        unfinished = [task.task_id for task in self._tasks.records.values() if task.state not in FINISHED]
        assert sorted(watched) == sorted(unfinished), "every unfinished record is watched, once"

    def _in_order(self, task: Task, life: Life) -> None:
        over = task.state in FINISHED
        assert (task.act_at is None, task.watch is None, task.expires_at is not None) == (over, over, over)
        assert task.watch == watch_of(task, task.state)
        assert (task.outcome is not None) == (over or task.state is State.WRITEBACK)
        assert task.state is State.WRITEBACK or (task.answer, task.answer_key) == (None, None)
        assert task.dispatch_no == life.waits
        assert task.paid_calls == len(life.begun)
        assert task.round == 1 + len(life.finished - {task.round})
        assert (task.round in life.finished) == over

    def _counted(self, task: Task) -> None:
        """A row counts from its outcome on, and no longer than its round."""
        row = self.row_of(task)
        if task.state in FINISHED:
            assert row is not None, "a finished task without a row that counts"
        if row is not None:
            assert task.state in FINISHED or task.state is State.WRITEBACK, "an unfinished task is counted"
            assert (row.round, row.attempt_id, row.outcome) == (task.round, task.attempt_id, task.outcome)

    def row_of(self, task: Task) -> ResultRow | None:
        """The row of a task that counts, if there is one."""
        rows = [self._results.rows[key] for key in self._results.counted]
        return next((row for row in rows if row.task_id == task.task_id), None)


def _already(life: Life, change: Change, task: Task) -> None:
    """*This very move was made before* is said to those only of whose move that is true, or who may go on all the same."""
    if change.name in ("heartbeat", "defer", "extend"):
        return  # proven by the record's own act_at
    assert life.last is not None
    name, after = life.last
    assert after.state is task.state is change.put["state"]
    if change.name in ("claim", "begin", "finish", "dispatch", "retry_failed"):
        assert name == change.name
    elif change.name in BACK:  # by the worker or by the scanner: waiting anew under the same number
        assert task.dispatch_no == change.proof["dispatch_no"]
    elif task.state is State.WRITEBACK:
        put = change.put
        assert (task.outcome, task.answer, task.answer_key) == (put["outcome"], put["answer"], put["answer_key"])
    if "attempt_id" in change.proof:
        assert change.proof["attempt_id"] == task.attempt_id
