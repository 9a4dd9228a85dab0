"""What does a worker do with a batch of messages? Claim, wait for the slot, call, deliver; each record on its own.

Nothing here retries a call: one call a claim, and the policy decides the rest. ``handle`` returns the messages that must come
again; every other message is done with (DESIGN §2, §4).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from brandvane.answer import Answer, Failure
from brandvane.breaker import OUTAGE, PROBE_MARGIN_S
from brandvane.catalogue import PlatformSettings
from brandvane.engine.deliver import Delivery
from brandvane.engine.lead import Lead
from brandvane.engine.limiter import Limiter
from brandvane.engine.pinned import PromptReader, RunReader
from brandvane.engine.send import Sender
from brandvane.engine.slots import Back, Slot, SlotDesk
from brandvane.engine.tally import Tally
from brandvane.messages import CallMessage, NewerMessage, UnreadableMessage, calls_queue
from brandvane.moves import RUNNING_MARGIN_S, begin, claim, heartbeat, release
from brandvane.pacing import MAX_WAIT_S, MISSED_SLOT_S, Limits
from brandvane.ports import (
    Chance,
    Clock,
    ControlStore,
    Delivered,
    PlatformClient,
    StatStore,
    TaskQueue,
    TaskStore,
    Telemetry,
    Unavailable,
)
from brandvane.run import Run
from brandvane.schedule import day_of
from brandvane.task import RECORD_VERSION, Task

HOLD_MAX_S = 5.0  # an earlier message is released instead of held
REREAD_AFTER_S = 1.0
NEW_SLOT_WAIT_S = 5.0  # a RUNNING task waits no longer than this, in all, for further slots
NEW_SLOT_TRIES = 5
WRITE_BACK_RESERVE_S = 15.0
HEARTBEAT_S = 30.0
LONG_CALL_S = 60.0
PAUSED_LOOK_S = 60.0
AGAIN_S = 10  # visibility of a record that is reported as failed
UNREADABLE_AGAIN_S = 1
NEWER_AGAIN_S = 30


@dataclass(slots=True)
class _Batch:
    """What the records of one invocation share."""

    desk: SlotDesk
    limits: Limits
    settings: PlatformSettings
    run: Run


_BatchOf = Callable[[Run], Awaitable[_Batch]]


class Worker:
    """Executes the messages of one platform."""

    def __init__(
        self,
        *,
        platform: str,
        call_timeout_s: float,
        tasks: TaskStore,
        queue: TaskQueue,
        controls: ControlStore,
        stats: StatStore,
        runs: RunReader,
        prompts: PromptReader,
        limiter: Limiter,
        sender: Sender,
        delivery: Delivery,
        client: PlatformClient,
        clock: Clock,
        chance: Chance,
        telemetry: Telemetry,
    ) -> None:
        self._platform = platform
        self._call_timeout_s = call_timeout_s
        self._tasks = tasks
        self._queue = queue
        self._controls = controls
        self._stats = stats
        self._runs = runs
        self._prompts = prompts
        self._limiter = limiter
        self._sender = sender
        self._delivery = delivery
        self._client = client
        self._clock = clock
        self._chance = chance
        self._telemetry = telemetry
        self._lead = Lead()

    async def warm(self) -> None:
        """Do what a first batch would have to do: catalogue, key, connections. For an environment started ahead of its work."""
        catalogue = await self._prompts.current()
        if catalogue is not None and self._platform in catalogue.monitor.platform_names:
            await self._client.prepare(catalogue.monitor.platform(self._platform))
        await self._limiter.read(self._platform)
        await self._queue.depth(calls_queue(self._platform))

    async def handle(self, records: Sequence[Delivered], *, stop_at: float, invocation: str) -> frozenset[str]:
        """Work on a batch until ``stop_at`` (POSIX seconds) at the latest; returns ids of messages that must come again."""
        started = self._clock.now()
        tally = Tally()
        desks: dict[str, _Batch] = {}
        lock = asyncio.Lock()

        async def batch_of(run: Run) -> _Batch:
            async with lock:
                if run.catalogue_version not in desks:
                    desks[run.catalogue_version] = await self._batch(run)
                return desks[run.catalogue_version]

        async def one(record: Delivered) -> str | None:
            return await self._record(record, batch_of, stop_at, tally)

        again = await asyncio.gather(*(one(record) for record in records))
        for batch in desks.values():
            await batch.desk.close()
        await self._report(tally, list(desks.values()), started, invocation)
        return frozenset(message_id for message_id in again if message_id is not None)

    async def _batch(self, run: Run) -> _Batch:
        catalogue = await self._prompts.catalogue(run.catalogue_version)
        settings = catalogue.monitor.platform(self._platform)
        await self._client.prepare(settings)
        budget = settings.day_budget_usd
        limits = Limits(
            settings.rate,
            day_of(self._clock.now(), catalogue.monitor.time_zone),
            settings.day_calls,
            None if budget is None else round(budget * 1e6),
            min(settings.call_timeout_s, self._call_timeout_s) + PROBE_MARGIN_S,
        )
        desk = SlotDesk(
            platform=self._platform,
            limits=limits,
            limiter=self._limiter,
            lead=self._lead,
            clock=self._clock,
            chance=self._chance,
        )
        return _Batch(desk, limits, settings, run)

    async def _report(self, tally: Tally, batches: Sequence[_Batch], started: float, invocation: str) -> None:
        stat = tally.stat(self._platform, invocation, started, self._clock.now())
        days = [batch.limits.day for batch in batches if batch.limits.day_microusd is not None]
        if tally.cost_microusd and days:
            await self._booked("cost", self._limiter.charge(self._platform, max(days), tally.cost_microusd))
        await self._booked("outages", self._limiter.note(self._platform, stat.calls, tally.outages))
        await self._booked("stat", self._stats.put(stat))

    async def _booked(self, what: str, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:  # a figure that cannot be written must not make a finished batch come again
            self._telemetry.event("not_booked", platform=self._platform, what=what, error=repr(error))

    async def _record(self, record: Delivered, batch_of: _BatchOf, stop_at: float, tally: Tally) -> str | None:
        """One message; returns its id when it must come again."""
        try:
            message = CallMessage.decode(record.body)
            done = await self._message(message, batch_of, stop_at, tally)
        except UnreadableMessage as error:
            return await self._come_again(record, UNREADABLE_AGAIN_S, "unreadable_message", error)
        except NewerMessage as error:
            return await self._come_again(record, NEWER_AGAIN_S, "newer_message", error)
        except Exception as error:  # one record's fault must not end the other calls of the batch
            return await self._come_again(record, AGAIN_S, "record_not_handled", error)
        return None if done else await self._come_again(record, NEWER_AGAIN_S, "newer_record", None)

    async def _come_again(self, record: Delivered, seconds: int, why: str, error: Exception | None) -> str:
        self._telemetry.event(why, platform=self._platform, message_id=record.message_id, error=repr(error))
        try:
            await self._queue.postpone(calls_queue(self._platform), record.receipt, seconds)
        except Exception:  # then it sleeps its whole visibility timeout; the batch's other records go on
            self._telemetry.event("not_postponed", platform=self._platform, message_id=record.message_id)
        return record.message_id

    async def _message(self, message: CallMessage, batch_of: _BatchOf, stop_at: float, tally: Tally) -> bool:
        now = self._clock.now()
        tally.waited(now - message.due)
        change = claim(self._platform, message.dispatch_no, self._chance.token(), now)
        moved = await self._tasks.move(message.task_id, change)
        if not moved.ours or moved.task is None:
            if moved.task is not None and moved.task.v > RECORD_VERSION:
                return False  # left for newer code
            self._telemetry.event("not_claimed", task_id=message.task_id, run_id=message.run_id)
            return True
        await self._claimed(moved.task, batch_of, stop_at, tally)
        return True

    async def _claimed(self, task: Task, batch_of: _BatchOf, stop_at: float, tally: Tally) -> None:
        run = await self._runs.get(task.run_id)
        if run is None:
            raise LookupError(f"run {task.run_id} of task {task.task_id} does not exist")
        if await self._runs.is_final(task.run_id):
            await self._release(task, self._clock.now(), send=False)
            return
        due = task.next_execute_time
        if due > self._clock.now() + HOLD_MAX_S:
            await self._release(task, due, send=True)
            return
        batch = await batch_of(run)
        timeout = min(batch.settings.call_timeout_s, self._call_timeout_s)
        text = await self._prompts.text(run.catalogue_version, task.prompt_hash)
        if batch.settings.in_flight == 1:
            await self._serially(task, run, batch, text, timeout, stop_at, tally)
        else:
            await self._paced(task, run, batch, text, timeout, stop_at, tally)

    async def _serially(
        self, task: Task, run: Run, batch: _Batch, text: str, timeout: float, stop_at: float, tally: Tally
    ) -> None:
        """A platform that allows one call at a time: two workers are the fewest that Lambda polls with, so a lease decides."""
        lease, owner = f"serial#{self._platform}", task.attempt_id
        longest = HOLD_MAX_S + MAX_WAIT_S + NEW_SLOT_WAIT_S + timeout + RUNNING_MARGIN_S
        if not await self._controls.acquire(lease, owner, self._clock.now(), longest):
            await self._release(task, self._clock.now() + 1.0, send=True)
            return
        try:
            await self._paced(task, run, batch, text, timeout, stop_at, tally)
        finally:
            await self._controls.release(lease, owner)

    async def _paced(
        self, task: Task, run: Run, batch: _Batch, text: str, timeout: float, stop_at: float, tally: Tally
    ) -> None:
        latest = min(run.deadline, stop_at - timeout - WRITE_BACK_RESERVE_S)
        slot = await batch.desk.slot(task.next_execute_time, latest, task.target)
        if isinstance(slot, Back):
            await self._no_slot(task, slot, run)
            return
        if not await self._still_granted(task, batch, slot):
            await self._release(task, self._clock.now(), send=not await self._runs.is_final(task.run_id))
            return
        now = self._clock.now()
        lease = max(slot.start - now, 0.0) + timeout + RUNNING_MARGIN_S
        moved = await self._tasks.move(task.task_id, begin(task, lease, slot.epoch, now))
        self._lead.began(self._clock.now() - now)
        if not moved.ours or moved.task is None:
            self._telemetry.event("authority_lost", move="begin", task_id=task.task_id, run_id=task.run_id)
            return
        await self._running(moved.task, slot, batch, text, timeout, latest, tally)

    async def _still_granted(self, task: Task, batch: _Batch, slot: Slot) -> bool:
        """Wait until shortly before the slot; after more than a second, ask whether it still holds."""
        await self._clock.sleep(slot.start - self._lead.begin_s - self._clock.now())
        if self._clock.now() - slot.granted_at <= REREAD_AFTER_S:
            return True
        return await batch.desk.still_good(slot, task.target) and not await self._runs.is_final(task.run_id)

    async def _no_slot(self, task: Task, back: Back, run: Run) -> None:
        now = self._clock.now()
        if back.paused is not None:
            at = min(back.paused.until or now + PAUSED_LOOK_S, now + PAUSED_LOOK_S)
            await self._release(task, at, send=False)
        elif back.spent or back.at >= run.deadline:
            await self._release(task, now + PAUSED_LOOK_S, send=False)
        else:
            await self._release(task, back.at, send=True)

    async def _release(self, task: Task, at: float, *, send: bool) -> None:
        moved = await self._tasks.move(task.task_id, release(task, at, self._clock.now()))
        if not moved.ours or moved.task is None:
            self._telemetry.event("authority_lost", move="release", task_id=task.task_id, run_id=task.run_id)
        elif send:
            await self._sender.send_one(moved.task)

    async def _running(
        self, task: Task, slot: Slot, batch: _Batch, text: str, timeout: float, latest: float, tally: Tally
    ) -> None:
        await self._clock.sleep(slot.start - self._clock.now())
        latest = min(latest, slot.start + NEW_SLOT_WAIT_S)  # a later call would outlast the lease it was begun with
        for _ in range(NEW_SLOT_TRIES):
            now = self._clock.now()
            if slot.probe or now - slot.start <= MISSED_SLOT_S:
                break  # nobody else calls while the breaker's probe is on: it may come late
            again = await batch.desk.slot(now, latest, task.target)
            if isinstance(again, Back):
                await self._delivery.give_up_slot(task, again.at)
                return
            slot = again
            if not await self._still_granted(task, batch, slot):
                await self._delivery.give_up_slot(task, self._clock.now())
                return
            await self._clock.sleep(slot.start - self._clock.now())
        else:
            await self._delivery.give_up_slot(task, self._clock.now())
            return
        reply = await self._call(task, batch.settings, text, timeout)
        report = await self._delivery.take(task, slot.epoch, reply)
        tally.add(report, reply)
        if slot.probe:
            answered = isinstance(reply, Answer) or reply.kind not in OUTAGE
            await self._limiter.probed(self._platform, slot.probe, answered=answered)

    async def _call(self, task: Task, settings: PlatformSettings, text: str, timeout: float) -> Answer | Failure:
        request_id = f"{task.task_id}/{task.paid_calls}"
        call = self._client.ask(settings, task.model, text, task.locale, request_id, timeout)
        if timeout <= LONG_CALL_S:
            return await call
        beating = asyncio.create_task(self._beat(task, timeout))
        try:
            return await call
        finally:
            beating.cancel()

    async def _beat(self, task: Task, timeout: float) -> None:
        while True:
            await self._clock.sleep(HEARTBEAT_S)
            try:
                await self._tasks.move(task.task_id, heartbeat(task, timeout + RUNNING_MARGIN_S, self._clock.now()))
            except Unavailable:
                self._telemetry.event("heartbeat_not_written", task_id=task.task_id, run_id=task.run_id)
