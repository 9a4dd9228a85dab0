"""What do people do in a simulation? Lift pauses that wait for them, move the deadline, cancel, ask again what failed, redrive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from brandvane.engine.cancel import cancel
from brandvane.engine.deadline import move_deadline
from brandvane.engine.redrive import DeadLetters, dead_letter_queues
from brandvane.engine.refusal import NoSuchRun, Refusal
from brandvane.engine.reopen_failed import FailedTasks, Wanted
from brandvane.ports import Unavailable
from brandvane.run import RunState
from brandvane.simulation.environment import Environment
from brandvane.simulation.fleet import Fleet
from brandvane.simulation.host import Doom

LOOK_S = 10.0
REOPEN_TIMES = 8
AGAIN_S = 7200.0


class Operators:
    """The people of a simulation, as its faults describe them."""

    def __init__(self, fleet: Fleet, run_id: str, deadline: float) -> None:
        self._fleet = fleet
        self._cloud = fleet.cloud
        self._run_id = run_id
        self._deadline = deadline
        self._rng = self._cloud.chances.of("people")
        self._reopened = False
        self._ended = False
        self.more_time = 0.0  # seconds by which the run may end later, because people did something

    def begin(self) -> None:
        """From now on."""
        faults = self._cloud.faults
        self._go(self._keep_deadline)
        if faults.resume_after_s is not None:
            self._go(self._resume_paused)
        if faults.cancel_at is not None:
            self._go(self._cancel)
        if faults.redrive_every_s:
            self._go(self._redrive)
            self._go(self._redrive)
        if faults.retry_every_s:
            self._go(self._reopen_often)

    def end(self) -> None:
        """They go home."""
        self._ended = True

    def _go(self, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            await work()

        self._cloud.loop.create_task(run())

    def _at_desk(self) -> Environment:
        return self._fleet.environment("operator")

    def _befall(self, desk: Environment) -> None:
        """A command that stands still between looking and acting acts on what was."""
        faults = self._cloud.faults
        if faults.slow_people and self._rng.random() < faults.slow_people:
            desk.host.doom = Doom(self._rng.randint(1, 60), self._rng.choice((5.0, 60.0, 300.0)) * self._rng.random())

    async def _keep_deadline(self) -> None:
        """The deadline that the scenario wants, which a schedule's times of day cannot always say."""
        desk = self._at_desk()
        while not self._ended:
            await self._cloud.loop.sleeper(1.0)
            run = self._cloud.runs.runs.get(self._run_id)
            if run is None:
                continue
            if run.deadline == self._deadline or run.state is not RunState.OPEN:
                return
            try:
                await move_deadline(
                    self._run_id, self._deadline, runs=desk.runs, clock=desk.host, telemetry=desk.telemetry
                )
            except (Unavailable, Refusal, NoSuchRun):
                continue

    async def _resume_paused(self) -> None:
        """A pause that waits for a person has waited long enough."""
        desk = self._at_desk()
        patience = self._cloud.faults.resume_after_s or 0.0
        while not self._ended:
            await self._cloud.loop.sleeper(LOOK_S)
            for name, control in sorted(self._cloud.controls.items.items()):
                pauses = [*control.targets.values(), *([control.paused] if control.paused else [])]
                now = desk.host.now()
                if any(pause.until is None and now - pause.since > patience for pause in pauses):
                    try:
                        await desk.limiter.resume(name)
                    except Unavailable:
                        continue

    async def _cancel(self) -> None:
        desk = self._at_desk()
        await self._cloud.loop.sleeper(
            max(self._cloud.started + (self._cloud.faults.cancel_at or 0.0) - self._cloud.loop.time(), 0.0)
        )
        for _ in range(20):
            try:
                await cancel(self._run_id, runs=desk.runs, clock=desk.host, telemetry=desk.telemetry)
            except (Unavailable, NoSuchRun):
                await self._cloud.loop.sleeper(LOOK_S)
            except Refusal:
                return
            else:
                return

    async def _redrive(self) -> None:
        desk = self._at_desk()
        letters = DeadLetters(
            queue=desk.queue,
            tasks=desk.tasks,
            blobs=desk.blobs,
            functions=desk.functions,
            clock=desk.host,
            telemetry=desk.telemetry,
        )
        while not self._ended:
            await self._cloud.loop.sleeper(self._cloud.faults.redrive_every_s)
            for queue in dead_letter_queues([each.platform for each in self._fleet.deployed]):
                self._befall(desk)
                try:
                    await letters.redrive(queue)
                except Unavailable:
                    continue

    async def reopen_once(self) -> None:
        """Ask again what failed, once (or two people at the same time)."""
        if not self._cloud.faults.retry_failed or self._reopened:
            return
        people = 2 if self._cloud.faults.retry_twice else 1
        opened = await asyncio.gather(*(self._reopen() for _ in range(people)))
        self._reopened = any(number is not None for number in opened)
        self.more_time = AGAIN_S + self._cloud.loop.time()

    async def _reopen_often(self) -> None:
        for _ in range(REOPEN_TIMES):
            await self._cloud.loop.sleeper(self._cloud.faults.retry_every_s)
            if self._ended:
                return
            if await self._reopen():
                self.more_time = AGAIN_S + self._cloud.loop.time()

    async def _reopen(self) -> int | None:
        """How many tasks one person opened; None when the tables refused."""
        desk = self._at_desk()
        self._befall(desk)
        failed = FailedTasks(
            tasks=desk.tasks,
            results=desk.results,
            runs=desk.runs,
            functions=desk.functions,
            clock=desk.host,
            chance=desk.chance,
            telemetry=desk.telemetry,
        )
        try:
            done = await failed.reopen(await failed.find(self._run_id, Wanted()))
        except (Unavailable, Refusal, NoSuchRun):
            return None
        return done.count
