"""Whoever acts on whatever old knowledge, in any order, with requests repeated late: are the moves table's promises kept?

Every rule is one actor of the design making one conditional change, on a record as it is or as it once was. Clocks are off by up
to 2 s. Any request may arrive once more, at any later time. Whatever has happened, every task can still come to its end.
"""

from __future__ import annotations

import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from brandvane import moves
from brandvane.moves import MAX_GIVE_BACKS
from brandvane.policy import Again, Counts, ErrorKind, after_lost_lease, decide
from brandvane.result import ResultRow, row_of
from brandvane.simulation.memory_stores import MemoryResultStore, MemoryRunStore
from brandvane.simulation.memory_tasks import MemoryTaskStore
from brandvane.task import ANSWERED, FINISHED, Change, Moved, Outcome, State, Task, Verdict
from builders import NOW, PLATFORM, catalogue, run_of, tasks_of
from property.moves_knowledge import Hold, Message, chosen, needs, needs_seen
from property.moves_promises import Promises

KEEP_S = 86_400.0
FAILURES = sorted(set(ErrorKind) - {ErrorKind.CONTENT_FILTERED, ErrorKind.REFUSED})  # those two are answers
Skew = st.sampled_from([0.0, -2.0, -1.0, 1.0, 2.0])
Age = st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 5, 8, 13, 21])  # which of the things known, 0 the newest


class MovesMachine(RuleBasedStateMachine):
    """One task, and everybody who may touch it."""

    def __init__(self) -> None:
        super().__init__()
        given = catalogue(1)
        run = run_of(given)
        self.runs, self.results = MemoryRunStore(), MemoryResultStore()
        self.runs.create_at_once(run)
        self.tasks = MemoryTaskStore(runs=self.runs, results=self.results)
        self.promises = Promises(self.tasks, self.results)
        (self.planned,), self.deadline = tasks_of(run, given), run.deadline
        self.time, self.acts, self.sound = NOW, 0, True
        self.messages: list[Message] = []
        self.holds: list[Hold] = []
        self.rows: list[tuple[Task, ResultRow]] = []
        self.requests: list[tuple[Task | Message, Change]] = []
        self.seen: dict[State, list[Task]] = {state: [] for state in State}
        self.history: list[Task] = []

    def now(self, skew: float = 0.0) -> float:
        """The time by somebody's clock; no two readings are the same, as on real machines."""
        self.acts += 1
        return self.time + skew + self.acts / 1024

    def carry(self, knew: Task | Message, change: Change) -> Moved:
        """One change meets the table, made by whoever knew that. Its request may come again."""
        self.sound = False
        old = self.tasks.records[knew.task_id]
        moved = self.tasks.move_at_once(knew.task_id, change)
        self.judged(change, knew, old, moved.verdict)
        self.requests.append((knew, change))
        return moved

    def judged(self, change: Change, knew: Task | Message, old: Task, verdict: Verdict) -> None:
        """The promises look at it; what the move has left may be what others know."""
        new = self.tasks.records[old.task_id]
        self.promises.judge(change, knew, old, new, verdict)
        if verdict is Verdict.MOVED:
            self.is_seen(new)
        self.sound = True

    def is_seen(self, task: Task) -> None:
        """From now on somebody may act on having read this."""
        self.seen[task.state].append(task)
        self.history.append(task)

    @initialize(steps=st.integers(0, 4))
    def the_task_is_planned_twice_and_under_way(self, steps: int) -> None:
        assert [self.tasks.create_at_once(self.planned) for _ in range(2)] == [True, False]
        self.is_seen(self.planned)
        if steps > 0:
            self.dispatcher_sends(0, steps > 1, 0.0)
        if steps > 2:
            self.worker_claims(0, 0.0, reply_lost=False, begins=steps > 3)

    @rule(seconds=st.sampled_from([0.5, 5.0, 20.0, 63.0, 310.0, 4000.0]))
    def time_passes(self, seconds: float) -> None:
        self.time += seconds

    @rule(age=Age, marked=st.booleans(), skew=Skew)
    def dispatcher_sends(self, age: int, marked: bool, skew: float) -> None:
        task = chosen(self.seen[State.PENDING], age)
        self.messages.append(Message(task.task_id, task.dispatch_no, task.next_execute_time))
        if marked:
            self.sender_marks(0, skew)

    @needs("messages")
    @rule(age=Age, skew=Skew)
    def sender_marks(self, age: int, skew: float) -> None:
        message = chosen(self.messages, age)
        self.carry(message, moves.dispatched(PLATFORM, message.dispatch_no, message.due, self.now(skew)))

    @rule(age=Age, skew=Skew)
    def dispatcher_and_worker_do_their_work(self, age: int, skew: float) -> None:
        """The usual way: sent, marked, claimed and begun."""
        self.dispatcher_sends(age, True, skew)
        self.worker_claims(0, skew, reply_lost=False, begins=True)

    @needs("messages")
    @rule(age=Age, skew=Skew, reply_lost=st.booleans(), begins=st.booleans())
    def worker_claims(self, age: int, skew: float, reply_lost: bool, begins: bool) -> None:
        message, now = chosen(self.messages, age), self.now(skew)
        change = moves.claim(PLATFORM, message.dispatch_no, f"attempt-{self.acts}", now)
        moved = self.carry(message, change)
        if reply_lost and moved.verdict is Verdict.MOVED:
            moved = self.carry(message, change)
            assert moved.verdict is Verdict.ALREADY
        if moved.ours and moved.task is not None:
            self.holds.append(Hold(moved.task))
            if begins:
                self.worker_begins(0, 75.0, skew)

    @needs("holds")
    @rule(age=Age, lease=st.sampled_from([75.0, 20.0, 600.0]), skew=Skew)
    def worker_begins(self, age: int, lease: float, skew: float) -> None:
        hold = chosen(self.holds, age)
        moved = self.carry(hold.task, moves.begin(hold.task, lease, 0, self.now(skew)))
        if moved.ours and moved.task is not None:
            hold.task = moved.task

    @needs("holds")
    @rule(age=Age, skew=Skew)
    def worker_beats(self, age: int, skew: float) -> None:
        task = chosen(self.holds, age).task
        self.carry(task, moves.heartbeat(task, 75.0, self.now(skew)))

    @needs("holds")
    @rule(age=Age, wait=st.sampled_from([0.0, 1.0, 60.0]), skew=Skew)
    def worker_releases(self, age: int, wait: float, skew: float) -> None:
        task, now = chosen(self.holds, age).task, self.now(skew)
        self.carry(task, moves.release(task, now + wait, now))

    @needs("holds")
    @rule(age=Age, outcome=st.sampled_from(sorted(ANSWERED)), in_s3=st.booleans(), by_message=st.booleans(), skew=Skew)
    def worker_answers(self, age: int, outcome: Outcome, in_s3: bool, by_message: bool, skew: float) -> None:
        task = chosen(self.holds, age).task
        body, key = (None, "answers/k") if in_s3 else (b"words", None)
        change = moves.answered(task, outcome, self.now(skew), answer=body, answer_key=key)
        if task.state is State.RUNNING and by_message:
            self.requests.append((task, change))  # taken in whenever it likes
        elif task.state is State.RUNNING:
            self.carry(task, change)

    @needs("holds")
    @rule(age=Age, kind=st.sampled_from(FAILURES), skew=Skew)
    def worker_fails(self, age: int, kind: ErrorKind, skew: float) -> None:
        task, now = chosen(self.holds, age).task, self.now(skew)
        if task.state is not State.RUNNING:
            return
        counts = Counts(task.retry_count, task.throttle_count, task.max_retry)
        decision = decide(kind, counts, retry_after=None, deadline=self.deadline, now=now, rng=random.Random(1))
        if isinstance(decision, Again):
            self.carry(task, moves.retry(task, decision.at, now, decision.counter, kind))
        else:
            self.carry(task, moves.failed(task, decision.outcome, now, error_kind=kind))

    @rule(
        age=Age,
        late=st.sampled_from([True, True, False]),
        answers_wait=st.sampled_from([False, False, True]),
        skew=Skew,
    )
    def scanner_acts(self, age: int, late: bool, answers_wait: bool, skew: float) -> None:
        task = chosen(self.history, age)
        if task.state is State.PENDING or task.act_at is None:
            return
        if late:
            self.time = max(self.time, task.act_at + 3)
        self.carry(task, self.rescuing(task, self.now(skew), answers_wait))

    def rescuing(self, task: Task, now: float, answers_wait: bool = False) -> Change:
        """What the scanner makes of a record that it believes to be overdue."""
        if task.state is State.DISPATCHED:
            return moves.resend(task, now, now)
        if task.state is State.WRITEBACK:
            return moves.deferred(task, now + 20, now, failed_write=False)
        if task.state is State.PULLED and task.give_backs + 1 >= MAX_GIVE_BACKS:
            return moves.ended(task, Outcome.POISON, now, error_kind="poison")
        if task.state is State.PULLED:
            return moves.give_back(task, now, now)
        if answers_wait:
            return moves.extended(task, now + 60, now)
        counts = Counts(task.retry_count, task.throttle_count, task.max_retry)
        decision = after_lost_lease(counts, deadline=self.deadline, now=now, rng=random.Random(1))
        if isinstance(decision, Again):
            return moves.rescue(task, decision.at, now)
        return moves.ended(task, decision.outcome, now, error_kind="timeout")

    @rule(age=Age, outcome=st.sampled_from([Outcome.CANCELLED, Outcome.EXPIRED]), skew=Skew)
    def final_run_is_walked(self, age: int, outcome: Outcome, skew: float) -> None:
        task = chosen(self.history, age)
        if task.act_at is not None and task.state is not State.WRITEBACK:
            self.carry(task, moves.ended(task, outcome, self.now(skew), error_kind=None, run_is_final=True))

    @needs_seen(State.WRITEBACK)
    @rule(age=Age, skew=Skew, finishes=st.booleans())
    def write_back_puts_row(self, age: int, skew: float, finishes: bool) -> None:
        task = chosen(self.seen[State.WRITEBACK], age)
        row = row_of(task, self.now(skew))
        self.results.put_at_once(row)
        self.rows.append((task, row))
        if finishes:
            self.write_back_finishes(0, skew)

    @needs("rows")
    @rule(age=Age)
    def row_is_put_again(self, age: int) -> None:
        self.results.put_at_once(chosen(self.rows, age)[1])

    @needs("rows")
    @rule(age=Age, skew=Skew)
    def write_back_finishes(self, age: int, skew: float) -> None:
        task = chosen(self.rows, age)[0]
        self.carry(task, moves.finished(task, self.now(skew), KEEP_S))

    @needs_seen(State.WRITEBACK)
    @rule(age=Age, wait=st.sampled_from([0, 1, 8]), faulty=st.booleans(), skew=Skew)
    def write_back_defers(self, age: int, wait: int, faulty: bool, skew: float) -> None:
        task, now = chosen(self.seen[State.WRITEBACK], age), self.now(skew)
        self.carry(task, moves.deferred(task, now + wait + 20, now, failed_write=faulty))

    @needs_seen(State.DISPATCHED)
    @rule(age=Age, skew=Skew)
    def operator_redrives(self, age: int, skew: float) -> None:
        task, now = chosen(self.seen[State.DISPATCHED], age), self.now(skew)
        self.carry(task, moves.redrive(task, now, now))

    @needs_seen(State.FAILED)
    @rule(age=Age, skew=Skew)
    def operator_retries(self, age: int, skew: float) -> None:
        """One transaction over record, row and run."""
        self.sound = False
        task, now = chosen(self.seen[State.FAILED], age), self.now(skew)
        change, row = moves.retried(task, now, f"planned-{self.acts}", now), row_of(task, now)
        self.deadline = max(self.deadline, now + 7200)
        old = self.tasks.records[task.task_id]
        done = self.tasks.reopen_at_once(task, change, row.pk, row.sk, task.run_id, self.deadline, now)
        self.judged(change, task, old, Verdict.MOVED if done else Verdict.LOST)

    @needs("requests")
    @rule(age=Age)
    def a_request_arrives_again(self, age: int) -> None:
        self.carry(*chosen(self.requests, age))

    @invariant()
    def all_is_in_order(self) -> None:
        self.sound = False
        self.promises.look()
        self.sound = True

    def teardown(self) -> None:
        """From wherever it stands, every task comes to its end once nothing goes wrong any more."""
        if not self.sound:  # a rule has failed already, and says more
            return
        for _ in range(12):
            for task in list(self.tasks.records.values()):
                if task.state not in FINISHED:
                    self.goes_on(task)
        assert all(task.state in FINISHED for task in self.tasks.records.values()), "a task that never ends"
        self.promises.look()
        assert sum(self.results.counts.values()) == len(self.tasks.records)

    def goes_on(self, task: Task) -> None:
        """Whoever's turn it is acts, in time."""
        assert task.act_at is not None
        now = self.now()
        if task.state is State.WRITEBACK:
            self.results.put_at_once(row_of(task, now))
            self.carry(task, moves.finished(task, now, KEEP_S))
        elif task.state is State.PENDING:
            self.carry(task, moves.claim(PLATFORM, task.dispatch_no, f"attempt-{self.acts}", now))
            held = self.tasks.records[task.task_id]
            moved = self.carry(held, moves.begin(held, 75.0, 0, now))
            assert moved.task is not None
            self.carry(moved.task, moves.answered(moved.task, Outcome.OK, now, answer=b"a", answer_key=None))
        else:
            self.time = max(self.time, task.act_at + 3)
            assert self.carry(task, self.rescuing(task, self.now())).ours


TestMoves = MovesMachine.TestCase
TestMoves.settings = settings(max_examples=5 * settings().max_examples, stateful_step_count=50)
