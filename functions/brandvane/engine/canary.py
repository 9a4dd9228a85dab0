"""Is a model still there before a day's plan begins? One short question to every target, some minutes ahead (monitor: ``canary``).

The dispatcher sends a message a target, once a run; the platform's worker, who alone has its key, asks within the platform's limits. What
no retry can mend pauses target or platform as a task's own failure would, before ten thousand tasks have met it. An answer is kept nowhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brandvane.answer import Answer, Failure
from brandvane.breaker import OUTAGE
from brandvane.catalogue import Catalogue, PlatformSettings
from brandvane.engine.slots import Back, Slot, SlotDesk
from brandvane.messages import CanaryMessage, calls_queue
from brandvane.moves import RUNNING_MARGIN_S
from brandvane.pacing import MAX_WAIT_S, MISSED_SLOT_S
from brandvane.ports import Chance, Clock, ControlStore, Deployed, Envelope, PlatformClient, TaskQueue, Telemetry
from brandvane.schedule import instants, occurrence, run_id
from brandvane.task import target_name

if TYPE_CHECKING:
    from brandvane.engine.deliver import Delivery
    from brandvane.engine.limiter import Limiter

AHEAD_S = 300.0  # a person who is told has as long; the run's first task is due 20 s after its start
TEXT = "Reply with the single word OK."
WHO = "canary"  # in the pause
LEASE = "canary#"
SLOT_TRIES = 3
BATCH = 10  # what SQS takes at once


def serial_lease(platform: str) -> str:
    """Whoever holds it makes the one call that a platform allows at a time."""
    return f"serial#{platform}"


class Canaries:
    """The dispatcher's part: when is it time, and has nobody sent them yet?"""

    def __init__(
        self, *, controls: ControlStore, queue: TaskQueue, clock: Clock, chance: Chance, telemetry: Telemetry
    ) -> None:
        self._controls = controls
        self._chance = chance
        self._queue = queue
        self._clock = clock
        self._telemetry = telemetry
        self._seen: set[str] = set()

    async def send_due(self, catalogue: Catalogue, workers: Iterable[Deployed]) -> tuple[str, ...]:
        """Send the canaries of runs that begin soon; their ids."""
        if not catalogue.monitor.canary:
            return ()
        now, sent = self._clock.now(), []
        for schedule in catalogue.monitor.schedules:
            date = occurrence(schedule, now + AHEAD_S)
            name, start = run_id(schedule, date), instants(schedule, date).start
            if name in self._seen or not start - AHEAD_S <= now < start:
                continue
            # A lease that nobody gives back: another dispatcher, or this one started anew, finds it taken until the run has begun.
            if await self._controls.acquire(f"{LEASE}{schedule.id}", self._chance.token(), now, 2 * AHEAD_S):
                await self._send(name, catalogue, workers)
                sent.append(name)
            self._seen.add(name)
        return tuple(sent)

    async def _send(self, name: str, catalogue: Catalogue, workers: Iterable[Deployed]) -> None:
        for worker in workers:
            if worker.platform not in catalogue.monitor.platform_names:
                continue
            models = catalogue.monitor.platform(worker.platform).models
            bodies = [CanaryMessage(name, catalogue.version, model).encode() for model in models]
            envelopes = [Envelope(str(place), body) for place, body in enumerate(bodies)]
            for first in range(0, len(envelopes), BATCH):
                await self._queue.send(calls_queue(worker.platform), envelopes[first : first + BATCH])
        self._telemetry.event("canaries_sent", run_id=name)


@dataclass(frozen=True, slots=True)
class CanaryErrand:
    """What a worker needs to ask: its desk of slots, the settings as the catalogue has them, and until when it may take."""

    desk: SlotDesk
    settings: PlatformSettings
    timeout: float
    latest: float


class Canary:
    """The worker's part: one call, and what follows from it."""

    def __init__(
        self,
        *,
        platform: str,
        client: PlatformClient,
        controls: ControlStore,
        limiter: Limiter,
        delivery: Delivery,
        clock: Clock,
        chance: Chance,
        telemetry: Telemetry,
    ) -> None:
        self._platform = platform
        self._client = client
        self._controls = controls
        self._limiter = limiter
        self._delivery = delivery
        self._clock = clock
        self._chance = chance
        self._telemetry = telemetry

    async def take(self, message: CanaryMessage, coming: Awaitable[CanaryErrand]) -> None:
        """Ask once. A canary has no record and does not come again, or it might end as a dead letter: the day's tasks will tell."""
        try:
            errand = await coming
            if errand.settings.in_flight > 1:
                await self.ask(message, errand)
            else:
                await self._between_calls(message, errand)
        except Exception as error:
            self._telemetry.event("canary_failed", platform=self._platform, run_id=message.run_id, error=repr(error))

    async def _between_calls(self, message: CanaryMessage, errand: CanaryErrand) -> None:
        """Where one call at a time is allowed: only if none is under way."""
        lease, owner = serial_lease(self._platform), self._chance.token()
        longest = MAX_WAIT_S + errand.timeout + RUNNING_MARGIN_S
        if await self._controls.acquire(lease, owner, self._clock.now(), longest):
            try:
                await self.ask(message, errand)
            finally:
                await self._controls.release(lease, owner)

    async def ask(self, message: CanaryMessage, errand: CanaryErrand) -> Answer | Failure | None:
        """Ask a target; None where a pause, the day's budget or a busy platform leaves no slot."""
        target = target_name(self._platform, message.model)
        if message.model not in errand.settings.models:
            return None
        for _ in range(SLOT_TRIES):
            slot = await errand.desk.slot(self._clock.now(), errand.latest, target)
            if isinstance(slot, Back):
                return None
            reply = await self._call(message, slot, errand)
            if reply is not None:
                await self._heard(target, slot, reply)
                return reply
        return None

    async def _call(self, message: CanaryMessage, slot: Slot, errand: CanaryErrand) -> Answer | Failure | None:
        async def at_its_slot() -> bool:
            await self._clock.sleep(max(slot.start - self._clock.now(), 0.0))
            return self._clock.now() - slot.start <= MISSED_SLOT_S

        plain = replace(
            errand.settings, parameters={k: v for k, v in errand.settings.parameters.items() if k != "search"}
        )
        request_id = f"{WHO}-{message.run_id}-{message.model}/1"
        return await self._client.ask(plain, message.model, TEXT, "", request_id, errand.timeout, at_its_slot)

    async def _heard(self, target: str, slot: Slot, reply: Answer | Failure) -> None:
        failed = reply if isinstance(reply, Failure) else None
        if slot.probe:
            answered = failed is None or failed.kind not in OUTAGE
            await self._limiter.probed(self._platform, slot.probe, answered=answered)
        if failed is not None:
            await self._delivery.speak_for_platform(self._platform, target, slot.epoch, failed, WHO)
        self._telemetry.event(
            WHO,
            platform=self._platform,
            target=target,
            kind="ok" if failed is None else failed.kind,
            detail="" if failed is None else failed.message,
            latency_s=reply.latency_s,
        )
