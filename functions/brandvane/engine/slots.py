"""When does each record of one batch start its call? One desk a batch asks the limiter for several records at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from brandvane.control import Control, Pause
from brandvane.engine.lead import Lead
from brandvane.engine.limiter import Limiter
from brandvane.pacing import Grant, Limits, Want
from brandvane.ports import Chance, Clock

LEAD_S = 0.3  # slots are reserved this long before a record is due ...
GATHER_S = 0.3  # ... for every record of the batch that is due up to this much later
REREAD_AFTER_S = 1.0
SETTLE_S = 0.02  # records of one batch are claimed within a few milliseconds of each other


@dataclass(frozen=True, slots=True)
class Slot:
    """Call at ``start``, granted in ``epoch``, asked for at ``asked_at``; ``probe`` is the breaker's token if this call is its probe."""

    start: float
    epoch: int
    asked_at: float
    probe: str = ""


@dataclass(frozen=True, slots=True)
class Back:
    """No slot now: plan the task for ``at``. ``paused`` says that a pause holds, ``spent`` that the day's budget is used up."""

    at: float
    paused: Pause | None = None
    spent: bool = False


@dataclass(slots=True)
class _Waiting:
    want: Want
    target: str
    ready: asyncio.Future[Slot | Back] = field(repr=False)


class SlotDesk:
    """Gathers the wants of a batch's records and reserves for all that are due, with one update of the control item."""

    def __init__(
        self, *, platform: str, limits: Limits, limiter: Limiter, lead: Lead, clock: Clock, chance: Chance
    ) -> None:
        self._platform = platform
        self._limits = limits
        self._limiter = limiter
        self._lead = lead
        self._clock = clock
        self._chance = chance
        self._known: tuple[float, Control] | None = None  # the control item, and when it was asked for
        self._waiting: list[_Waiting] = []
        self._server: asyncio.Task[None] | None = None

    async def slot(self, due: float, deadline: float, target: str) -> Slot | Back:
        """Wait until ``due`` is near and return the slot, or when to come back.

        Raises:
            Unavailable: the control table refuses.
        """
        waiting = _Waiting(Want(due, deadline), target, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._server is None or self._server.done():
            self._server = asyncio.create_task(self._serve())
        return await waiting.ready

    async def _serve(self) -> None:
        while self._waiting:
            await self._clock.sleep(SETTLE_S)
            first = min(w.want.due for w in self._waiting)
            ahead = max(LEAD_S, self._lead.notice_s + 2 * SETTLE_S)
            pause = first - ahead - self._clock.now()
            if pause > 0:
                # Sleep in short steps: a record that is due earlier may still join.
                await self._clock.sleep(min(pause, LEAD_S))
                continue
            horizon = self._clock.now() + ahead + GATHER_S
            ripe = sorted((w for w in self._waiting if w.want.due <= horizon), key=lambda w: w.want.due)
            target = ripe[0].target
            ripe = [w for w in ripe if w.target == target]
            self._waiting = [w for w in self._waiting if w not in ripe]
            await self._reserve(ripe, target)

    async def _reserve(self, ripe: list[_Waiting], target: str) -> None:
        try:
            wants = [w.want for w in ripe]
            began = self._clock.now()
            granted = await self._limiter.reserve(
                self._platform,
                self._limits,
                wants,
                target,
                self._chance.token(),
                self._lead.notice_s,
            )
            self._lead.reserved(self._clock.now() - began)
        except Exception as error:  # handed to each waiting record, whose own flow decides
            for waiting in ripe:
                waiting.ready.set_exception(error)
            return
        for waiting, reply in zip(ripe, self._replies(granted, len(ripe), began), strict=True):
            if not waiting.ready.done():
                waiting.ready.set_result(reply)

    def _replies(self, granted: Grant | Pause, count: int, asked_at: float) -> list[Slot | Back]:
        if isinstance(granted, Pause):
            return [Back(granted.until or self._clock.now(), granted)] * count
        slots: list[Slot | Back] = [Slot(start, granted.epoch, asked_at, granted.probe) for start in granted.starts]
        return slots + [Back(at, None, granted.budget_spent) for at in granted.resume_at]

    async def still_good(self, slot: Slot, target: str) -> bool:
        """Has neither a pause nor a new epoch voided the slot?

        What was asked for less than a second before the slot is known well enough: a new epoch's first call may be a second after
        the epoch began. Until then every slot that somebody has got but not looked at anew must be over, so that the time of
        asking counts, not that of the reply. One look serves all slots of the batch in the second after it.
        """
        now = self._clock.now()
        if max(slot.start, now) - slot.asked_at <= REREAD_AFTER_S:
            return True
        if self._known is None or max(slot.start, now) - self._known[0] > REREAD_AFTER_S:
            self._known = now, await self._limiter.read(self._platform)
        item = self._known[1]
        return item.epoch == slot.epoch and item.pause_of(target, self._clock.now()) is None

    async def close(self) -> None:
        """Stop serving (the batch is over)."""
        if self._server is not None and not self._server.done():
            self._server.cancel()
            await asyncio.gather(self._server, return_exceptions=True)
