"""Are the promises kept, all the time? The one place that everything in a simulation is reported to.

Moves, calls, limits, messages that are acknowledged, the limiter's clock: each is checked when it happens; ``audit_end`` looks
at what is left. A broken promise is kept with the task's whole history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from brandvane.answer import late_key
from brandvane.control import Control
from brandvane.messages import PLAN_QUEUE, WRITEBACK_QUEUE, CallMessage, PlanMessage, WriteBackMessage
from brandvane.result import ResultRow, result_pk
from brandvane.run import Run
from brandvane.simulation.audit_calls import CallAudit, Use
from brandvane.simulation.audit_clock import faults_of as clock_faults_of
from brandvane.simulation.audit_errors import is_expected
from brandvane.simulation.audit_limits import LimitAudit
from brandvane.simulation.audit_moves import SLOT_MISSED, faults_of
from brandvane.simulation.audit_retry_after import RetryAfterAudit
from brandvane.simulation.audit_runs import RunAudit
from brandvane.simulation.history import History
from brandvane.simulation.host import Host
from brandvane.task import ANSWERED, FINISHED, Change, State, Task, Verdict, bucket_of

if TYPE_CHECKING:
    from brandvane.simulation.cloud import Cloud

CALLS = "calls-"
TOLD = frozenset({"answer_not_safe", "answer_by_message", "late_answer", "row_superseded", "authority_lost"})


class Auditor:
    """Watches one simulation. ``on_violation`` is called for each broken promise."""

    def __init__(self, now: Callable[[], float], epoch: float, on_violation: Callable[[], None]) -> None:
        self._now = now
        self._epoch = epoch
        self._on_violation = on_violation
        self.history = History()
        self.calls = CallAudit(now, epoch)
        self.limits: dict[str, LimitAudit] = {}
        self.waits: dict[str, RetryAfterAudit] = {}
        self._rates: dict[str, float] = {}
        self.events: Counter[str] = Counter()
        self.unfinished = 0  # records that are neither DONE nor FAILED
        self._confirmed: dict[str, int] = {}  # task -> dispatch_no of the last message that its queue confirmed
        self._finished: set[tuple[str, int]] = set()
        self._runs = RunAudit()
        self._cloud: Cloud | None = None

    def watch(self, cloud: Cloud) -> None:
        """The cloud whose tables hold the truth."""
        self._cloud = cloud

    @property
    def cloud(self) -> Cloud:
        """That cloud."""
        if self._cloud is None:
            raise RuntimeError("the auditor watches nothing yet")
        return self._cloud

    def violated(self, kind: str, text: str, task_id: str | None = None) -> None:
        """A promise is broken."""
        self.history.violated(kind, text, self._now(), task_id)
        self._on_violation()

    def _all(self, kind: str, texts: Iterable[str], task_id: str | None = None) -> None:
        for text in texts:
            self.violated(kind, text, task_id)

    def created(self, host: Host, task: Task) -> None:
        """A record came to be."""
        self.unfinished += 1
        self.history.note(task.task_id, (self._now(), host.name, "planned", f"for {task.planned_time:.3f}"))

    def moved(self, host: Host, change: Change, old: Task, new: Task) -> None:
        """The table carried a change out."""
        task_id = old.task_id
        self.history.note(
            task_id, (self._now(), host.name, change.name, new.state, new.dispatch_no, new.attempt_id[:6])
        )
        self.unfinished += (old.state in FINISHED) - (new.state in FINISHED)
        for text in faults_of(change, old, new):
            self.violated("moves", text, task_id)
        if change.name == "dispatch" and self._confirmed.get(task_id) != old.dispatch_no:
            self.violated("moves", "dispatched without a confirmed message", task_id)
        elif change.name == "retry" and new.error_kind == SLOT_MISSED and self.calls.was_made(old.attempt_id):
            self.violated("moves", "a call is taken back that was made", task_id)
        elif change.name == "rescue":
            self.calls.taken(old.attempt_id)
        elif change.name == "answer":
            self.calls.safe(old.attempt_id, by_message=False)
        elif change.name == "finish":
            self._finish(old, new)

    def _finish(self, old: Task, new: Task) -> None:
        self.calls.ended(old.attempt_id)
        row = self.cloud.results.rows.get(_row_key(old))
        if row is None or row.round != old.round or row.outcome != new.outcome:
            self.violated("rows", f"finished as {new.outcome} without that row", old.task_id)
        if (old.task_id, old.round) in self._finished:
            self.violated("rows", f"finished twice in round {old.round}", old.task_id)
        self._finished.add((old.task_id, old.round))

    def refused(self, host: Host, task_id: str, change: Change, verdict: Verdict) -> None:
        """The condition of a change did not hold."""
        self.history.note(task_id, (self._now(), host.name, change.name, f"refused: {verdict}"))

    def row_put(self, host: Host, row: ResultRow, before: ResultRow | None, written: bool) -> None:
        """A result row was put, or had to give way."""
        self.history.note(row.task_id, (self._now(), host.name, "row", row.outcome, "" if written else "gave way"))
        if written and before is not None and before.round == row.round and before.outcome != row.outcome:
            self.violated("rows", f"a second result: {row.outcome} over {before.outcome}", row.task_id)
        if written and before is not None and before.round > row.round:
            self.violated("rows", "an earlier round's row over a later one's", row.task_id)

    def run_changed(self, host: Host, run: Run) -> None:
        """A run was put or changed."""
        self.history.note(run.run_id, (self._now(), host.name, run.state, run.counted, len(run.chunks_done)))
        records = self.cloud.tasks.records.values()
        self._all("finished", self._runs.changed(run, self.cloud.results.counts[run.run_id], records), run.run_id)

    def sent(self, host: Host, queue: str, body: str) -> None:
        """A message is on its queue."""
        if queue == WRITEBACK_QUEUE:
            told = WriteBackMessage.decode(body)
            self.history.note(told.task_id, (self._now(), host.name, "write-back message", told.tries))

    def confirmed(self, queue: str, body: str) -> None:
        """The queue's reply named a message."""
        if queue.startswith(CALLS):
            told = CallMessage.decode(body)
            self._confirmed[told.task_id] = max(told.dispatch_no, self._confirmed.get(told.task_id, 0))
        elif queue == WRITEBACK_QUEUE:
            answer = WriteBackMessage.decode(body)
            if answer.carried is not None:
                self.calls.safe(answer.attempt_id, by_message=True)

    def acknowledged(self, queue: str, body: str) -> None:
        """A message was deleted because its function said that it is done with."""
        if queue.startswith(CALLS):
            self._call_done(CallMessage.decode(body))
        elif queue == PLAN_QUEUE:
            told = PlanMessage.decode(body)
            run = self.cloud.runs.runs.get(told.run_id)
            if run is not None and told.chunk not in run.chunks_done:
                self.violated("messages", f"chunk {told.chunk} acknowledged and not planned")
        elif queue == WRITEBACK_QUEUE:
            self._write_back_done(WriteBackMessage.decode(body))

    def _call_done(self, told: CallMessage) -> None:
        task = self.cloud.tasks.records.get(told.task_id)
        if task is None:
            return
        if task.state in (State.PENDING, State.DISPATCHED) and task.dispatch_no == told.dispatch_no:
            self.violated("messages", "a message was acknowledged whose task still waits for it", told.task_id)

    def _write_back_done(self, told: WriteBackMessage) -> None:
        task = self.cloud.tasks.records.get(told.task_id)
        if task is None or told.carried is None or told.carried.outcome not in ANSWERED:
            return
        held = task.state in (State.WRITEBACK, *FINISHED) and task.attempt_id == told.attempt_id
        late = late_key(told.run_id, told.task_id, told.attempt_id) in self.cloud.blobs.objects
        keyed = told.carried.answer is None  # it is in the bucket already
        if not ((held and task.outcome == told.carried.outcome) or late or keyed):
            self.violated("answers", "an answer's message was acknowledged and the answer is nowhere", told.task_id)

    def control_changed(self, host: Host, old: Control, new: Control) -> None:
        """A control item was replaced."""
        rate = self._rates.get(new.platform, 1.0)
        self._all("limiter", clock_faults_of(old, new, rate, host.now()))
        if new.platform in self.waits:
            self._all("retry_after", self.waits[new.platform].changed(old, new, self._now()))

    def platform(
        self, name: str, rate: float, in_flight: int, skew_s: float, planned: int, timeout: float = 60.0
    ) -> None:
        """A platform, its limits, how many tasks are planned for it, and how long a call of it may take."""
        self.calls.use[name] = Use(planned, in_flight, timeout)
        self.limits[name] = LimitAudit(rate, in_flight, skew_s)
        self.waits[name] = RetryAfterAudit(self._epoch, skew_s, self._unreachable)
        self._rates[name] = rate

    def _unreachable(self, since: float, until: float) -> bool:
        began, troubles = self.cloud.started, self.cloud.troubles("dynamodb")
        return any(each.start <= until - began and each.end >= since - began for each in troubles)

    def call_started(self, host: Host, platform: str, request_id: str) -> None:
        """A call leaves its worker."""
        task_id, _, number = request_id.rpartition("/")
        task = self.cloud.tasks.records.get(task_id)
        run = None if task is None else self.cloud.runs.runs.get(task.run_id)
        self.history.note(task_id, (self._now(), host.name, "call", number))
        self._all("limits", self.limits[platform].started(self._now()), task_id)
        self._all("calls", self.calls.started(host, task, run, task_id, int(number)), task_id)
        slot_epoch = None if task is None else task.slot_epoch
        self._all("retry_after", self.waits[platform].started(request_id, slot_epoch, self._now()), task_id)

    def replied(self, host: Host, request_id: str, kind: str) -> None:
        """What a call came to, as its caller knows it."""
        task_id, _, number = request_id.rpartition("/")
        self.history.note(task_id, (self._now(), host.name, "reply", kind))
        self._all("calls", self.calls.replied(task_id, int(number), kind), task_id)
        for waits in self.waits.values():
            waits.replied(host, request_id, kind, self._now())

    def answered(self, attempt_id: str) -> None:
        """A complete answer has reached a living worker."""
        self._all("calls", self.calls.answered(attempt_id), self.calls.task_of(attempt_id))

    def told(self, host: Host, name: str, fields: Mapping[str, Any]) -> None:
        """The engine wrote a line into its log."""
        self.events[name] += 1
        error = fields.get("error")
        if error is not None and not is_expected(name, str(error)):
            self.violated("crash", f"{name}: {error}")
        task_id = fields.get("task_id")
        if name == "call":
            self.calls.delivered(fields["attempt_id"])
        if name in TOLD and task_id is not None:
            self.history.note(task_id, (self._now(), host.name, name))
            if name == "answer_not_safe":
                self.calls.not_safe(task_id, host)


def _row_key(task: Task) -> tuple[str, str]:
    sort = f"{task.target}#{task.prompt_hash}#{task.locale}#{task.sample}"
    return result_pk(task.run_id, bucket_of(task.prompt_hash)), sort
