"""How does a claimed task become one call at its instant? The move to RUNNING just before the slot, the call, its delivery."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from brandvane.answer import Answer, Failure
from brandvane.breaker import OUTAGE
from brandvane.catalogue import PlatformSettings
from brandvane.engine.deliver import CallReport, Delivery
from brandvane.engine.lead import Lead
from brandvane.engine.limiter import Limiter
from brandvane.engine.pinned import RunReader
from brandvane.engine.slots import Back, Slot, SlotDesk
from brandvane.engine.tally import Tally
from brandvane.moves import RUNNING_MARGIN_S, begin, heartbeat
from brandvane.pacing import MISSED_SLOT_S
from brandvane.ports import Clock, MaySend, PlatformClient, TaskStore, Telemetry, Unavailable
from brandvane.run import Run
from brandvane.task import State, Task

NEW_SLOT_WAIT_S = 5.0  # a RUNNING task waits no longer than this, in all, for further slots
NEW_SLOT_TRIES = 5
HEARTBEAT_S = 30.0
LONG_CALL_S = 60.0


@dataclass(frozen=True, slots=True)
class Errand:
    """What one claimed record is to ask: ``text`` within ``timeout`` seconds, starting at ``latest`` at the latest."""

    desk: SlotDesk
    settings: PlatformSettings
    run: Run
    day_ends: float  # when the budget's day is over
    text: str
    timeout: float
    latest: float
    tally: Tally


class Caller:
    """Makes calls."""

    def __init__(
        self,
        *,
        platform: str,
        tasks: TaskStore,
        runs: RunReader,
        limiter: Limiter,
        delivery: Delivery,
        client: PlatformClient,
        lead: Lead,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._platform = platform
        self._tasks = tasks
        self._runs = runs
        self._limiter = limiter
        self._delivery = delivery
        self._client = client
        self._lead = lead
        self._clock = clock
        self._telemetry = telemetry

    async def _still_granted(self, task: Task, desk: SlotDesk, slot: Slot) -> bool:
        """Wait until shortly before the slot; does it still hold, and the run go on?"""
        await self._clock.sleep(slot.start - self._lead.begin_s - self._clock.now())
        return await desk.still_good(slot, task.target) and not await self._runs.is_final(task.run_id)

    async def call(self, task: Task, slot: Slot, errand: Errand) -> bool:
        """Begin a PULLED task, call at its slot and deliver what comes back; False when its slot is void: it is still PULLED."""
        woken = max(self._clock.now(), slot.start - self._lead.begin_s)
        if not await self._still_granted(task, errand.desk, slot):
            return False
        now = self._clock.now()
        lease = max(slot.start - now, 0.0) + errand.timeout + RUNNING_MARGIN_S
        try:
            moved = await self._tasks.move(task.task_id, begin(task, lease, slot.epoch, now))
        except Unavailable:
            return await self._perhaps_begun(task)
        if not moved.ours or moved.task is None:
            self._telemetry.event("authority_lost", move="begin", task_id=task.task_id, run_id=task.run_id)
            return True
        reached = await self._at_slot(moved.task, slot, errand, woken)
        if isinstance(reached, Back):
            await self._delivery.give_up_slot(moved.task, reached.at)
            return True
        slot, reply = reached
        report = await self._delivery.take(moved.task, slot.epoch, reply)
        errand.tally.add(report, reply)
        self._tell(moved.task, report, reply)
        if slot.probe:
            answered = isinstance(reply, Answer) or reply.kind not in OUTAGE
            await self._limiter.probed(self._platform, slot.probe, answered=answered)
        return True

    async def _perhaps_begun(self, task: Task) -> bool:
        """The table did not say whether the task has begun. Nobody calls: a record left RUNNING would look like a worker that died.

        Raises:
            Unavailable: nor does it now; then the scanner takes the record when its lease is over.
        """
        there = await self._tasks.get(task.task_id)
        if there is None or there.attempt_id != task.attempt_id or there.state is not State.RUNNING:
            return False
        self._telemetry.event("begun_unheard", task_id=task.task_id, run_id=task.run_id)
        await self._delivery.give_up_slot(there, self._clock.now())
        return True

    def _tell(self, task: Task, report: CallReport, reply: Answer | Failure) -> None:
        """One line a call and its latency; never a word of prompt or answer. The brand is a field here, and no dimension anywhere."""
        latency = round(reply.latency_s, 3)
        self._telemetry.count("CallSeconds", latency, platform=task.platform, unit="Seconds")
        self._telemetry.event(
            "call",
            run_id=task.run_id,
            task_id=task.task_id,
            attempt_id=task.attempt_id,
            platform=task.platform,
            model=task.model,
            brand_group=task.brand_group or None,
            question_ids=task.question_ids,
            locale=task.locale or None,
            kind=report.kind,
            answered=int(report.answered),  # so that a query can sum it
            retry=task.retry_count,
            latency_s=latency,
            cost_microusd=report.cost_microusd,
        )

    async def _at_slot(
        self, task: Task, slot: Slot, errand: Errand, woken: float
    ) -> tuple[Slot, Answer | Failure] | Back:
        """Call at the slot; one that was missed is reserved anew, as long as the call cannot outlast the lease it began with."""
        latest = min(errand.latest, slot.start + NEW_SLOT_WAIT_S)
        for _ in range(NEW_SLOT_TRIES):
            reply = await self._ask(task, errand, self._gate(slot, woken))
            if reply is not None:
                return slot, reply
            woken = self._clock.now()
            again = await errand.desk.slot(woken, latest, task.target)
            if isinstance(again, Back):
                return again
            slot = again
            if not await self._still_granted(task, errand.desk, slot):
                break
            woken = max(woken, slot.start - self._lead.begin_s)
        return Back(self._clock.now())

    def _gate(self, slot: Slot, woken: float) -> MaySend:
        """What the client awaits when the call is ready: its slot. Too late, and the call would be too near to the next one."""

        async def may_send() -> bool:
            ready = self._clock.now()
            self._lead.began(ready - woken)
            await self._clock.sleep(slot.start - ready)
            late = self._clock.now() - slot.start
            # Nobody else calls while the breaker's probe is on: it may come later.
            if late <= (NEW_SLOT_WAIT_S if slot.probe else MISSED_SLOT_S):
                return True
            told = {"late_s": round(late, 3), "ready_s": round(ready - slot.start, 3)}
            self._telemetry.event("slot_missed", platform=self._platform, **told)
            return False

        return may_send

    async def _ask(self, task: Task, errand: Errand, gate: MaySend) -> Answer | Failure | None:
        request_id = f"{task.task_id}/{task.paid_calls}"
        asked = self._client.ask(
            errand.settings, task.model, errand.text, task.locale, request_id, errand.timeout, gate
        )
        if errand.timeout <= LONG_CALL_S:
            return await asked
        beating = asyncio.create_task(self._beat(task, errand.timeout))
        try:
            return await asked
        finally:
            beating.cancel()

    async def _beat(self, task: Task, timeout: float) -> None:
        while True:
            await self._clock.sleep(HEARTBEAT_S)
            try:
                await self._tasks.move(task.task_id, heartbeat(task, timeout + RUNNING_MARGIN_S, self._clock.now()))
            except Unavailable:
                self._telemetry.event("heartbeat_not_written", task_id=task.task_id, run_id=task.run_id)
