"""Who may call a platform now? Changes the control item by compare-and-set, so that a whole fleet agrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

from brandvane import breaker, pacing
from brandvane import control as controls_of
from brandvane.control import Act, Control, Pause
from brandvane.pacing import Grant, Limits, Want
from brandvane.ports import Clock, ControlStore, Telemetry, Unavailable

MAX_TRIES = 50  # each lost race means that somebody else got ahead; this many in a row means something is broken


class Limiter:
    """The speed limit of every platform, kept in the control table."""

    def __init__(self, *, controls: ControlStore, clock: Clock, telemetry: Telemetry, writer: str) -> None:
        """``writer``: a name that no other limiter has."""
        self._controls = controls
        self._clock = clock
        self._telemetry = telemetry
        self._known: dict[str, Control] = {}
        self._writes = (f"{writer}/{number}" for number in count())

    async def read(self, platform: str) -> Control:
        """The control item as it is now."""
        self._known[platform] = await self._controls.read(platform)
        return self._known[platform]

    async def change(self, platform: str, compute: Callable[[Control], Control]) -> Control:
        """Replace the item by ``compute(item)``; computes anew whenever somebody else was faster.

        Raises:
            Unavailable: the table refuses, or the item never held still.
        """
        old = self._known.get(platform) or await self.read(platform)
        for _ in range(MAX_TRIES):
            new = compute(old)
            if new == old:
                # Nothing to write, but only if what we computed from is the truth.
                fresh = await self.read(platform)
                if fresh.revision == old.revision:
                    return fresh
                old = fresh
                continue
            # A client that sends its request twice knows its own work by this, and by nothing else.
            new = replace(new, written_by=next(self._writes))
            other = await self._controls.replace(old, new)
            if other is None:
                return await self._stored(platform, old, new)
            self._known[platform] = old = other
        raise Unavailable(f"control item of {platform} changed {MAX_TRIES} times under us")

    async def _stored(self, platform: str, old: Control, new: Control) -> Control:
        self._known[platform] = stored = controls_of.next_revision(old, new)
        return stored

    async def reserve(
        self,
        platform: str,
        limits: Limits,
        wants: Sequence[Want],
        target: str,
        token: str = "",
        notice: float = 0.0,
    ) -> Grant | Pause:
        """Slots for the first wants (sorted by due time), or the pause that holds. One conditional update in the quiet case.

        While the breaker is open and a probe is due, the first want becomes the probe, known by ``token``.
        """
        outcome: list[Grant | Pause] = []

        def take(item: Control) -> Control:
            changed, reply = _take(item, limits, wants, target, token, self._clock.now(), notice)
            outcome[:] = [reply]
            return changed

        await self.change(platform, take)
        return outcome[0]

    async def note(self, platform: str, attempts: int, failed: int) -> None:
        """Tell the breaker how a batch went; costs nothing while all is well."""
        known = self._known.get(platform)
        if failed == 0 and (known is None or not breaker.suspicious(known)):
            return
        now = self._clock.now()
        item = await self.change(platform, lambda item: breaker.noted(item, attempts, failed, now))
        if breaker.is_open(item) and not (known is not None and breaker.is_open(known)):
            self._telemetry.event("breaker_open", platform=platform, until=item.breaker_at)

    async def probed(self, platform: str, token: str, *, answered: bool) -> None:
        """Tell the breaker what its probe found."""
        now = self._clock.now()
        await self.change(platform, lambda item: breaker.probed(item, token, answered=answered, now=now))
        self._telemetry.event("breaker_probed", platform=platform, answered=answered)

    async def push(self, platform: str, until: float, epoch: int) -> None:
        """A 429 that came for a call granted in ``epoch``: nobody calls before ``until``."""
        await self.change(platform, lambda item: pacing.pushed(item, until, epoch))
        self._telemetry.event("limiter_pushed", platform=platform, until=until, epoch=epoch)

    async def pause(self, platform: str, pause: Pause, target: str | None = None) -> None:
        """Pause a platform, or one target of it. Told once: calls that were under way all come to the same pause."""
        made = [False]

        def compute(item: Control) -> Control:
            new = controls_of.target_paused(item, target, pause) if target else controls_of.paused(item, pause)
            made[0] = new != item
            return new

        await self.change(platform, compute)
        if made[0]:
            told = {"why": pause.why, "who": pause.who, "until": pause.until}
            self._telemetry.event("paused", platform=platform, target=target, **told)

    async def resume(self, platform: str, act: Act | None = None) -> None:
        """Lift every pause of a platform and close its breaker; a new epoch begins. ``act`` says who did it and why."""
        # The time is taken for each try: slots that others got while this one came too late count from now.
        await self.change(platform, lambda item: controls_of.resumed(item, self._clock.now(), act))

    async def set_rate(self, platform: str, rate: float | None, act: Act | None = None) -> None:
        """State another rate (calls a second; None: the configured one); a new epoch begins. ``act`` says who did it and why."""
        await self.change(platform, lambda item: controls_of.rate_changed(item, rate, self._clock.now(), act))

    async def restore(self, platform: str, minutes: float) -> None:
        """Give a lowered rate back, 5 % of the stated one a minute."""
        await self.change(platform, lambda item: pacing.restored(item, minutes))

    async def charge(self, platform: str, day: str, microusd: int) -> None:
        """Book what answers cost."""
        await self.change(platform, lambda item: pacing.charged(item, day, microusd))

    async def remember_hold(self, platform: str, hold_s: float) -> None:
        """Keep the measured hold time of a batch for the next plan."""
        await self.change(platform, lambda item: controls_of.with_hold(item, hold_s))


def _take(
    item: Control,
    limits: Limits,
    wants: Sequence[Want],
    target: str,
    token: str,
    now: float,
    notice: float,
) -> tuple[Control, Grant | Pause]:
    """What becomes of one reservation, as a pure function of the item."""
    pause = item.pause_of(target, now) or breaker.pause(item, now)
    if pause is not None:
        return item, pause
    if not breaker.is_open(item):
        return pacing.grant(item, limits, wants, now, notice)
    begun = breaker.probing(item, token, limits.probe_lease_s, now)
    if begun.probe_owner != token or not token:
        return begun, Pause(breaker.WHY, breaker.WHY, now, breaker.held_until(begun))
    changed, granted = pacing.grant(begun, limits, wants[:1], now, notice)
    if not granted.starts:
        return item, Grant((), granted.epoch, granted.resume_at * len(wants), granted.budget_spent)
    changed = replace(changed, probe_until=granted.starts[0] + limits.probe_lease_s)
    others = tuple(breaker.held_until(begun) for _ in wants[1:])
    return changed, Grant(granted.starts, granted.epoch, others, granted.budget_spent, token)
