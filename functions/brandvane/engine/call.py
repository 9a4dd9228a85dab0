"""How does a claimed task become one call at its instant? The move to RUNNING just before the slot, the call, its delivery."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from brandvane.answer import Answer, Failure
from brandvane.breaker import OUTAGE
from brandvane.catalogue import PlatformSettings
from brandvane.engine.deliver import Delivery
from brandvane.engine.lead import Lead
from brandvane.engine.limiter import Limiter
from brandvane.engine.pinned import RunReader
from brandvane.engine.slots import Back, Slot, SlotDesk
from brandvane.engine.tally import Tally
from brandvane.moves import RUNNING_MARGIN_S, begin, heartbeat
from brandvane.pacing import MISSED_SLOT_S
from brandvane.ports import Clock, PlatformClient, TaskStore, Telemetry, Unavailable
from brandvane.run import Run
from brandvane.task import Task

REREAD_AFTER_S = 1.0
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

    async def still_granted(self, task: Task, desk: SlotDesk, slot: Slot) -> bool:
        """Wait until shortly before the slot; ask whether one that is more than a second from its asking still holds.

        From its asking, not from its reply: a new epoch's first call may be a second after the epoch began, and until then every
        slot that somebody has got but not read anew must be over.
        """
        await self._clock.sleep(slot.start - self._lead.begin_s - self._clock.now())
        if max(slot.start, self._clock.now()) - slot.asked_at <= REREAD_AFTER_S:
            return True
        return await desk.still_good(slot, task.target) and not await self._runs.is_final(task.run_id)

    async def call(self, task: Task, slot: Slot, errand: Errand) -> None:
        """Begin a PULLED task, call at its slot and deliver what comes back."""
        now = self._clock.now()
        lease = max(slot.start - now, 0.0) + errand.timeout + RUNNING_MARGIN_S
        moved = await self._tasks.move(task.task_id, begin(task, lease, slot.epoch, now))
        self._lead.began(self._clock.now() - now)
        if not moved.ours or moved.task is None:
            self._telemetry.event("authority_lost", move="begin", task_id=task.task_id, run_id=task.run_id)
            return
        reached = await self._at_slot(moved.task, slot, errand)
        if isinstance(reached, Back):
            await self._delivery.give_up_slot(moved.task, reached.at)
            return
        begun = self._clock.now()
        reply = await self._ask(moved.task, errand)
        self._lead.started(max(begun - reached.start, 0.0) + reply.sent_after_s)
        report = await self._delivery.take(moved.task, reached.epoch, reply)
        errand.tally.add(report, reply)
        if reached.probe:
            answered = isinstance(reply, Answer) or reply.kind not in OUTAGE
            await self._limiter.probed(self._platform, reached.probe, answered=answered)

    async def _at_slot(self, task: Task, slot: Slot, errand: Errand) -> Slot | Back:
        """Wait for the slot; one that was missed is reserved anew, as long as the call cannot outlast the lease it began with."""
        latest = min(errand.latest, slot.start + NEW_SLOT_WAIT_S)
        for _ in range(NEW_SLOT_TRIES):
            before = self._clock.now()
            await self._clock.sleep(slot.start - before)
            now = self._clock.now()
            used = slot.probe or now - slot.start <= MISSED_SLOT_S
            # A slot that a slow move has missed is not used: only timers that wake late tell of calls that start late.
            self._lead.started(now - (slot.start if used else max(slot.start, before)))
            if used:
                return slot  # nobody else calls while the breaker's probe is on: it may come late
            again = await errand.desk.slot(now, latest, task.target)
            if isinstance(again, Back):
                return again
            slot = again
            if not await self.still_granted(task, errand.desk, slot):
                break
        return Back(self._clock.now())

    async def _ask(self, task: Task, errand: Errand) -> Answer | Failure:
        request_id = f"{task.task_id}/{task.paid_calls}"
        asked = self._client.ask(errand.settings, task.model, errand.text, task.locale, request_id, errand.timeout)
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
