"""What is done to a stack while it works? Kills, duplicate messages, a scanner that is switched off, faults of the platforms."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from itertools import count

from brandvane.aws.client import Clients
from brandvane.cli.chaos_explain import Off
from brandvane.cli.chaos_killer import Killer
from brandvane.cli.chaos_kills import Aim, Kill, hits
from brandvane.cli.chaos_records import Records
from brandvane.cli.chaos_schedules import Schedules
from brandvane.cli.chaos_standins import Standins
from brandvane.cli.local_state import LocalState
from brandvane.messages import CallMessage
from brandvane.ports import Envelope, Watched
from brandvane.task import State

FIRST_RESULTS = 20  # trouble begins when the run is under way
LOOK_S = 0.5
KILL_EVERY_S = (3.5, 6.5)
WANTED = {Aim.IN_FLIGHT: 24, Aim.AFTER_ANSWER: 5}  # hits after which there is killing enough
DUPLICATES_EVERY_S = 3.0
DUPLICATE_DELAYS_S = (0, 0, 1, 5)
SCANNER_ON_S, SCANNER_OFF_S = 20.0, 190.0
# Longer, and each second of it would halve the rate once more: tasks would wait for minutes because of that, not of any kill.
THROTTLE_AFTER, THROTTLE_S, THROTTLE_SHARE = 0.5, 2.0, 0.4  # share of the results so far, seconds, share of the calls


class Trouble:
    """Everything that is done to one run, and the record of it."""

    def __init__(self, state: LocalState, clients: Clients, seed: int, tell: Callable[[Kill], None]) -> None:
        """``clients``: of the state's emulator; ``seed``: of every choice, though not of the moments it falls into;
        ``tell`` hears of each kill.
        """
        self._platforms = state.platforms
        self._rng = random.Random(seed)
        self._standins = Standins(state.standins_url)
        self._records = Records(state.stack, clients)
        self._schedules = Schedules(state)
        self._numbers = count(1)
        self.killer = Killer(state, self._standins, self._records, self._rng, tell)
        self.over = asyncio.Event()  # the run has ended
        self.results, self.total = 0, 0  # of the run, so far
        self.duplicates = 0
        self.off: list[Off] = []

    async def make(self) -> None:
        """Make all kinds of trouble until ``over`` is set, or until each has been enough."""
        while self.results < FIRST_RESULTS:
            if await self._pause(LOOK_S):
                return
        await asyncio.gather(self._kill_workers(), self._send_again(), self._switch_scanner_off(), self._throttle())
        await self.killer.looked_again()

    async def _pause(self, seconds: float) -> bool:
        """Wait; True when everything is over."""
        try:
            await asyncio.wait_for(self.over.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _kill_workers(self) -> None:
        aims = [Aim.IN_FLIGHT, Aim.IN_FLIGHT, Aim.AFTER_ANSWER]
        for number in count():
            wanted = [aim for aim in aims if hits(self.killer.kills, aim) < WANTED[aim]]
            if not wanted or await self._pause(self._rng.uniform(*KILL_EVERY_S)):
                return
            await self.killer.strike(wanted[number % len(wanted)])

    async def _send_again(self) -> None:
        """Messages of tasks in all states in which one may still be on its way, some of them twice."""
        while not await self._pause(DUPLICATES_EVERY_S):
            for platform in self._platforms:
                found = [
                    await self._records.held(platform, state)
                    for state in (State.DISPATCHED, State.PULLED, State.RUNNING)
                ]
                found.append(await self._records.waiting(platform, self._rng.randrange(100)))
                chosen = [self._rng.choice(entries) for entries in found if entries]
                copies = [self._copy(entry) for entry in (*chosen, *chosen[:1])]
                self.duplicates += await self._records.send(platform, copies)

    def _copy(self, entry: Watched) -> Envelope:
        body = CallMessage(entry.task_id, entry.run_id, entry.dispatch_no, entry.next_execute_time).encode()
        return Envelope(str(next(self._numbers)), body, self._rng.choice(DUPLICATE_DELAYS_S))

    async def _switch_scanner_off(self) -> None:
        if await self._pause(SCANNER_ON_S):
            return
        await asyncio.to_thread(self._schedules.switch, on=False)
        since = time.time()
        await self._pause(SCANNER_OFF_S)
        self.off.append((since, time.time()))
        await asyncio.to_thread(self._schedules.switch, on=True)

    async def _throttle(self) -> None:
        """A short burst of 429s. A limiter that heeds them halves its rate, so that it is done once."""
        while self.results < THROTTLE_AFTER * self.total:
            if await self._pause(LOOK_S):
                return
        for share, seconds in ((THROTTLE_SHARE, THROTTLE_S), (0.0, 0.0)):
            told = {name: {"injected_429": share} for name in self._platforms}
            await asyncio.to_thread(self._standins.change, told)
            await self._pause(seconds)
