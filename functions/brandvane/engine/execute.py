"""What does a worker do with a batch of messages? Claim, wait for the slot, call, deliver; each record on its own.

Nothing here retries a call: one call a claim, and the policy decides the rest. ``handle`` returns the messages that must come
again; every other message is done with (DESIGN §2, §4).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from brandvane.breaker import PROBE_MARGIN_S
from brandvane.catalogue import Monitor, PlatformSettings
from brandvane.control import Pause
from brandvane.engine.call import NEW_SLOT_WAIT_S, Caller, Errand
from brandvane.engine.canary import Canary, CanaryErrand, serial_lease
from brandvane.engine.deliver import Delivery
from brandvane.engine.lead import Lead
from brandvane.engine.limiter import Limiter
from brandvane.engine.pinned import PromptReader, RunReader
from brandvane.engine.send import Sender
from brandvane.engine.slots import Back, SlotDesk
from brandvane.engine.tally import Tally
from brandvane.messages import CallMessage, CanaryMessage, NewerMessage, UnreadableMessage, calls_queue
from brandvane.moves import RUNNING_MARGIN_S, claim, release
from brandvane.pacing import MAX_WAIT_S, Limits
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
from brandvane.schedule import budget_day
from brandvane.task import RECORD_VERSION, Task

HOLD_MAX_S = 5.0  # an earlier message is released instead of held
WRITE_BACK_RESERVE_S = 15.0
PAUSED_LOOK_S = 60.0
SERIAL_LOOK_S = 1.0
SERIAL_AWAY_S = 2.0  # a busy serial platform's further tasks go back for at least this long, not to bounce
AGAIN_S = 10  # visibility of a record that is reported as failed
UNREADABLE_AGAIN_S = 1
NEWER_AGAIN_S = 30
PUT_BACK_S = 60.0  # what could not be begun because AWS refused something is due again after this long


@dataclass(slots=True)
class _Batch:
    """What the records of one invocation share."""

    desk: SlotDesk
    limits: Limits
    settings: PlatformSettings
    day_ends: float


_BatchOf = Callable[[str], Awaitable[_Batch]]  # by the catalogue's version


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
        lead: Lead | None = None,
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
        self._client = client
        self._clock = clock
        self._chance = chance
        self._telemetry = telemetry
        self._lead = lead or Lead()
        self._caller = Caller(
            platform=platform,
            tasks=tasks,
            runs=runs,
            limiter=limiter,
            delivery=delivery,
            client=client,
            lead=self._lead,
            clock=clock,
            telemetry=telemetry,
        )
        self._canary = Canary(
            platform=platform,
            client=client,
            controls=controls,
            limiter=limiter,
            delivery=delivery,
            clock=clock,
            chance=chance,
            telemetry=telemetry,
        )

    async def warm(self) -> None:
        """Do what a first batch would have to do: catalogue, key, connections. For an environment started ahead of its work."""
        catalogue = await self._prompts.current()
        if catalogue is not None and self._platform in catalogue.monitor.platform_names:
            with suppress(Unavailable):  # the first batch will see
                await self._client.prepare(catalogue.monitor.platform(self._platform))
        await self._limiter.read(self._platform)
        await self._queue.depth(calls_queue(self._platform))

    async def handle(self, records: Sequence[Delivered], *, stop_at: float, invocation: str) -> frozenset[str]:
        """Work on a batch until ``stop_at`` (POSIX seconds) at the latest; returns ids of messages that must come again."""
        started = self._clock.now()
        tally = Tally()
        desks: dict[str, _Batch] = {}
        lock = asyncio.Lock()

        async def batch_of(version: str) -> _Batch:
            async with lock:
                if version not in desks:
                    desks[version] = await self._batch(version)
                return desks[version]

        async def one(record: Delivered) -> str | None:
            return await self._record(record, batch_of, stop_at, tally)

        again = await asyncio.gather(*(one(record) for record in records))
        for batch in desks.values():
            await batch.desk.close()
        await self._report(tally, list(desks.values()), started, invocation)
        return frozenset(message_id for message_id in again if message_id is not None)

    async def _batch(self, version: str) -> _Batch:
        catalogue = await self._prompts.catalogue(version)
        settings = (await self._budgeted(catalogue.monitor)).platform(self._platform)
        await self._client.prepare(settings)
        budget = settings.day_budget_usd
        day = budget_day(self._clock.now(), catalogue.monitor.time_zone)
        limits = Limits(
            settings.rate,
            day.date,
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
        return _Batch(desk, limits, settings, day.end)

    async def _budgeted(self, pinned: Monitor) -> Monitor:
        """A run's settings with the day's budgets as they were pushed last."""
        try:
            current = await self._prompts.current()
        except Exception as error:  # then by those of the run
            self._telemetry.event("budgets_not_read", platform=self._platform, error=repr(error))
            return pinned
        return pinned if current is None else pinned.budgeted_by(current.monitor)

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
            canary = CanaryMessage.decode(record.body)
            if canary is not None:
                await self._canary.take(canary, self._ahead(canary, batch_of, stop_at))
                return None
            message = CallMessage.decode(record.body)
            done = await self._message(message, record, batch_of, stop_at, tally)
        except UnreadableMessage as error:
            return await self._come_again(record, UNREADABLE_AGAIN_S, "unreadable_message", error)
        except NewerMessage as error:
            return await self._come_again(record, NEWER_AGAIN_S, "newer_message", error)
        except Exception as error:  # one record's fault must not end the other calls of the batch
            return await self._come_again(record, AGAIN_S, "record_not_handled", error)
        return None if done else await self._come_again(record, NEWER_AGAIN_S, "newer_record", None)

    async def _come_again(self, record: Delivered, seconds: int, why: str, error: Exception | None) -> str:
        told = None if error is None else repr(error)
        self._telemetry.event(why, platform=self._platform, message_id=record.message_id, error=told)
        try:
            await self._queue.postpone(calls_queue(self._platform), record.receipt, seconds)
        except Exception:  # then it sleeps its whole visibility timeout; the batch's other records go on
            self._telemetry.event("not_postponed", platform=self._platform, message_id=record.message_id)
        return record.message_id

    async def _message(
        self, message: CallMessage, record: Delivered, batch_of: _BatchOf, stop_at: float, tally: Tally
    ) -> bool:
        now = self._clock.now()
        change = claim(self._platform, message.dispatch_no, self._chance.token(), now)
        moved = await self._tasks.move(message.task_id, change)
        if not moved.ours or moved.task is None:
            if moved.task is not None and moved.task.v > RECORD_VERSION:
                return False  # left for newer code
            self._telemetry.event("not_claimed", task_id=message.task_id, run_id=message.run_id)
            return True
        if record.receive_count <= 1:
            # How long the queue kept it: a task that was overdue when it was sent has not waited for a worker.
            tally.waited(now - max(message.due, record.sent_at))
        try:
            await self._claimed(moved.task, batch_of, stop_at, tally)
        except Unavailable as error:
            if not await self._put_back(moved.task, error):
                raise
        return True

    async def _put_back(self, task: Task, why: Unavailable) -> bool:
        """AWS refused something before the call had begun: that is not the task's fault, and nobody need find it. False: it has begun,
        or this cannot be written either; then the scanner takes it.
        """
        now = self._clock.now()
        try:
            moved = await self._tasks.move(task.task_id, release(task, now + PUT_BACK_S, now))
        except Unavailable:
            return False
        if moved.ours:
            self._telemetry.event("put_back", task_id=task.task_id, run_id=task.run_id, error=repr(why))
        return moved.ours

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
        batch = await batch_of(run.catalogue_version)
        timeout = min(batch.settings.call_timeout_s, self._call_timeout_s)
        text = await self._prompts.text(run.catalogue_version, task.prompt_hash)
        latest = min(run.deadline, stop_at - timeout - WRITE_BACK_RESERVE_S)
        errand = Errand(batch.desk, batch.settings, run, batch.day_ends, text, timeout, latest, tally)
        if batch.settings.in_flight == 1:
            await self._serially(task, errand)
        else:
            await self._paced(task, errand)

    async def _ahead(self, canary: CanaryMessage, batch_of: _BatchOf, stop_at: float) -> CanaryErrand:
        batch = await batch_of(canary.version)
        timeout = min(batch.settings.call_timeout_s, self._call_timeout_s)
        return CanaryErrand(batch.desk, batch.settings, timeout, stop_at - timeout - WRITE_BACK_RESERVE_S)

    async def _serially(self, task: Task, errand: Errand) -> None:
        """A platform that allows one call at a time: two workers are the fewest that Lambda polls with, so a lease decides."""
        lease, owner = serial_lease(self._platform), task.attempt_id
        longest = HOLD_MAX_S + MAX_WAIT_S + NEW_SLOT_WAIT_S + errand.timeout + RUNNING_MARGIN_S
        give_up = self._clock.now() + MAX_WAIT_S
        while not await self._controls.acquire(lease, owner, self._clock.now(), longest):
            if self._clock.now() >= give_up:
                away = max(SERIAL_AWAY_S, errand.timeout / 4) * self._chance.rng.uniform(1, 2)
                await self._release(task, self._clock.now() + away, send=True)
                return
            await self._clock.sleep(SERIAL_LOOK_S)
        try:
            await self._paced(task, errand)
        finally:
            await self._controls.release(lease, owner)

    async def _paced(self, task: Task, errand: Errand) -> None:
        slot = await errand.desk.slot(task.next_execute_time, errand.latest, task.target)
        if isinstance(slot, Back):
            await self._no_slot(task, slot, errand)
        elif not await self._caller.call(task, slot, errand):
            await self._release(task, self._clock.now(), send=not await self._runs.is_final(task.run_id))

    async def _no_slot(self, task: Task, back: Back, errand: Errand) -> None:
        now = self._clock.now()
        if back.spent:
            # The day's budget is used up: nobody calls until the budget's day ends (DESIGN §8).
            await self._limiter.pause(self._platform, Pause("budget", "worker", now, errand.day_ends))
        if back.spent or back.paused is not None or back.at >= errand.run.deadline:
            until = errand.day_ends if back.spent else back.paused.until if back.paused is not None else None
            await self._release(task, min(until or now + PAUSED_LOOK_S, now + PAUSED_LOOK_S), send=False)
        else:
            await self._release(task, back.at, send=True)

    async def _release(self, task: Task, at: float, *, send: bool) -> None:
        moved = await self._tasks.move(task.task_id, release(task, at, self._clock.now()))
        if not moved.ours or moved.task is None:
            self._telemetry.event("authority_lost", move="release", task_id=task.task_id, run_id=task.run_id)
        elif send:
            await self._sender.send_one(moved.task)
