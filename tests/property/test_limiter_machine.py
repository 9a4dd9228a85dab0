"""Reservers, 429s, pauses, outages and operators in any interleaving: is a platform ever asked faster than was stated?

The limiter is the real one, each caller with one of its own, all on one control table whose requests and replies take turns that
the machine deals out. What a worker does with its slots is DESIGN §4: one that begins more than a second after it was asked for is
read anew before it is used; one that comes too late is not used.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from brandvane import breaker
from brandvane.control import Control, Pause
from brandvane.engine.limiter import Limiter
from brandvane.pacing import Grant, Limits, Want, interval
from brandvane.simulation.memory_world import RecordedTelemetry
from builders import NOW
from property.limiter_fleet import Process, SteppedControls, Watch

PLATFORM = "p"
TARGETS = ("p/m1", "p/m2")
REREAD_AFTER_S = 1.0
MISSED_S = 0.015
ROUNDING_S = 1e-6
CALLERS = 3
Caller = st.integers(0, CALLERS - 1)
# Calls wanted: so many, due so many seconds from now, with so many seconds to live.
Wanted = st.lists(
    st.tuples(st.integers(1, 10), st.sampled_from([0.0, -5.0, 0.4, 1.1, 6.0, 19.0]), st.sampled_from([60.0, 3.0])),
    min_size=1,
    max_size=3,
)


@dataclass(slots=True)
class Slot:
    """One start that was granted: who may call then, and how far the next call must keep away from it."""

    start: float
    caller: int
    target: str
    epoch: int
    asked: float
    got: float
    step: float
    lead: float  # the item is read anew so long before the start
    probe: str


class LimiterMachine(RuleBasedStateMachine):
    """One platform, three callers, an operator."""

    def __init__(self) -> None:
        super().__init__()
        self.time, self.sound = NOW, True
        self.controls = SteppedControls(self.stored)
        self.processes: list[Process] = []
        self.slots: list[Slot] = []
        self.calls: list[float] = []
        self.used: list[Slot] = []
        self.rates: list[tuple[float, float]] = []  # from when on, calls a second
        self.paused_at: dict[str, float] = {}  # whom, and since when the table says so
        self.pushed = (0.0, 0.0)  # a 429 of the present epoch: since when, and until when nobody calls
        self.granted = 0
        self.ceiling = 0.0
        self.tokens = 0
        self.distances: dict[float, float] = {}  # by the last start of a grant: how far the next call must keep away
        self.probes: dict[str, float] = {}  # that have begun and not reported yet

    @initialize(
        rate=st.sampled_from([10.0, 0.2, 1.0, 4.0, 50.0]),
        skew=st.sampled_from([0.0, 0.05]),
        hop=st.sampled_from([0.0, 0.02]),
        day_calls=st.none() | st.integers(5, 60),
    )
    def a_platform_is_there(self, rate: float, skew: float, hop: float, day_calls: int | None) -> None:
        self.limits = Limits(rate, "2025-10-09", day_calls, None, 30.0)
        self.hop = hop
        # Nothing below holds more exactly than clocks and requests do: both ends of a distance may be off.
        self.slack = 2 * skew + 3 * hop + ROUNDING_S
        self.rates.append((0.0, rate))
        skews = (-skew, 0.0, skew, skew)
        self.watches = [Watch(lambda: self.time, off) for off in skews]
        self.limiters = [
            Limiter(controls=self.controls, clock=watch, telemetry=RecordedTelemetry(), writer=f"limiter-{number}")
            for number, watch in enumerate(self.watches)
        ]

    # The table

    def stored(self, old: Control, new: Control) -> None:
        """The item has just been replaced."""
        if new.day_calls > old.day_calls:
            step = interval(self.limits, new)
            self.distances[round(new.clock - step, 3)] = step
        if new.rate_override != old.rate_override:
            self.rates.append((self.time, self.limits.rate if new.rate_override is None else new.rate_override))
        for whom, before, after in [
            (PLATFORM, old.paused, new.paused),
            *((target, old.targets.get(target), new.targets.get(target)) for target in TARGETS),
        ]:
            if after is not None and (before is None or not before.active(self.time)):
                self.paused_at[whom] = self.time
            elif after is None:
                self.paused_at.pop(whom, None)
        if breaker.is_open(new) and not breaker.is_open(old):
            self.paused_at["breaker"] = self.time
        elif not breaker.is_open(new):
            self.paused_at.pop("breaker", None)
        if new.clock < old.clock:  # an operator's new epoch forgets the 429
            self.pushed = (0.0, 0.0)

    def truth(self) -> Control:
        """The item as it is."""
        return self.controls.truth(PLATFORM)

    def begins(self, work: Coroutine[Any, Any, Any], done: Any = lambda _: None, at_once: bool = False) -> None:
        """Somebody begins to speak to the table; ``at_once``: and nobody comes between."""
        process = Process(work, done, self.time)
        if process.step(self.time):
            self.processes.append(process)
        while at_once and process in self.processes:
            self.steps(self.processes.index(process))

    def steps(self, number: int) -> None:
        """The request or reply of one of them arrives."""
        self.sound = False
        process = self.processes[number % len(self.processes)]
        if not process.step(self.time):
            self.processes.remove(process)
        self.sound = True

    # Time

    @rule(seconds=st.sampled_from([1.0, 0.01, 0.3, 3.0, 10.0, 65.0]))
    def time_passes(self, seconds: float) -> None:
        until = self.time + seconds
        while True:
            arrivals = [(process.since + self.hop, 0, number) for number, process in enumerate(self.processes)]
            reads = [
                (self.true(slot, slot.start - slot.lead), 1, number)
                for number, slot in enumerate(self.slots)
                if slot.lead > 0 and slot.start - slot.asked > REREAD_AFTER_S
            ]
            starts = [(self.true(slot, slot.start), 2, number) for number, slot in enumerate(self.slots)]
            at, what, number = min([*arrivals, *reads, *starts], default=(until, 3, 0))
            if at > until or what == 3:
                break
            self.time = max(self.time, at)
            (self.steps, self.slot_is_read_anew, self.slot_comes)[what](number)
        self.time = until

    def true(self, slot: Slot, instant: float) -> float:
        """An instant of the caller's clock, by the true time."""
        return instant - self.watches[slot.caller].skew

    def slot_is_read_anew(self, number: int) -> None:
        """A pause or a new epoch voids it."""
        slot, item = self.slots[number], self.truth()
        if item.epoch != slot.epoch or item.pause_of(slot.target, self.watches[slot.caller].now()) is not None:
            del self.slots[number]
        slot.lead = 0.0

    def slot_comes(self, number: int) -> None:
        """A call starts, unless its slot was got too late."""
        slot = self.slots.pop(number)
        if slot.got - slot.start <= MISSED_S:
            self.call(slot)

    # What must hold of every call

    def call(self, slot: Slot) -> None:
        """A call starts now."""
        self.sound = False
        for whom in (PLATFORM, slot.target, "" if slot.probe else "breaker"):
            since = self.paused_at.get(whom, self.time)
            pause = self.truth().pause_of(slot.target, self.time)
            holds = whom == "breaker" or (pause is not None and pause.active(self.time))
            assert not holds or self.time - since <= REREAD_AFTER_S + self.slack, f"a call while {whom} was paused"
        since, until = self.pushed
        assert not since + REREAD_AFTER_S + self.slack < self.time < until - self.slack, "a call before Retry-After"
        for first, start in enumerate(self.calls[-300:], max(len(self.calls) - 300, 0)):
            number, most = len(self.calls) - first, self.highest_rate(start) * (self.time - start + self.slack)
            assert number <= most + ROUNDING_S, (
                f"{number + 1} calls in {self.time - start:.3f} s, {most + 1:.3f} allowed"
            )
        for other in self.used[-3:]:
            near, far = sorted((slot, other), key=lambda s: s.start)
            # Two rates within a second: the faster one's distance is all that is promised between their slots.
            promised = min(near.step, 1 / (0.97 * self.highest_rate(self.true(near, near.start))))
            assert far.start - near.start >= promised - self.slack, "nearer than the earlier call was promised"
        if self.limits.day_calls is not None:
            assert len(self.calls) < self.limits.day_calls
        if slot.probe:
            running = [at for at in self.probes.values() if self.time < at + self.limits.probe_lease_s - self.slack]
            assert not running, "two probes at once"
            self.probes[slot.probe] = self.time
        self.calls.append(self.time)
        self.used.append(slot)
        self.sound = True

    def highest_rate(self, since: float) -> float:
        """The highest rate that was stated since then; slots of a rate are used for a second after its end."""
        first = bisect_right(self.rates, (since - REREAD_AFTER_S - self.slack, float("inf"))) - 1
        return max(rate for _, rate in self.rates[max(first, 0) :])

    @invariant()
    def the_clock_is_never_further_than_what_was_granted(self) -> None:
        if self.rates and not self.processes:
            item = self.truth()
            assert item.clock <= self.ceiling + ROUNDING_S
            assert item.day_calls == self.granted
            assert 0.05 <= item.factor <= 1.0
            assert self.limits.day_calls is None or item.day_calls <= self.limits.day_calls

    # Who does what

    @precondition(lambda self: self.processes)
    @rule(number=st.integers(0, 5))
    def a_request_or_reply_arrives(self, number: int) -> None:
        self.steps(number)

    @rule(
        caller=Caller,
        model=st.sampled_from(TARGETS),
        wanted=Wanted,
        lead=st.sampled_from([0.03, 0.1, 0.5]),
        at_once=st.booleans(),
    )
    def caller_reserves(
        self, caller: int, model: str, wanted: list[tuple[int, float, float]], lead: float, at_once: bool
    ) -> None:
        asked = self.watches[caller].now()
        wants = [Want(asked + due, asked + max(due, 0.0) + life) for number, due, life in wanted for _ in range(number)]
        wants.sort(key=lambda want: want.due)
        self.tokens += 1

        def got(reply: Grant | Pause) -> None:
            if isinstance(reply, Pause):
                return
            assert len(reply.starts) + len(reply.resume_at) == len(wants)
            self.granted += len(reply.starts)
            watch = self.watches[caller]
            for start in reply.starts:
                step = self.distances[round(reply.starts[-1], 3)]
                self.ceiling = max(self.ceiling, start + step)
                self.slots.append(Slot(start, caller, model, reply.epoch, asked, watch.now(), step, lead, reply.probe))

        limiter, token = self.limiters[caller], f"token-{self.tokens}"
        self.begins(limiter.reserve(PLATFORM, self.limits, wants, model, token, 2 * self.hop), got, at_once)

    @rule(caller=Caller, wait=st.sampled_from([0.0, 2.0, 8.0, 40.0]), back=st.integers(0, 2), at_once=st.booleans())
    def caller_is_told_429(self, caller: int, wait: float, back: int, at_once: bool) -> None:
        until = self.watches[caller].now() + wait
        self.ceiling = max(self.ceiling, until)
        self.begins(self.limiters[caller].push(PLATFORM, until, self.truth().epoch - back), at_once=at_once)
        if at_once and back == 0 and until > self.pushed[1]:
            self.pushed = (self.time, until)

    @rule(caller=Caller, model=st.none() | st.sampled_from(TARGETS), length=st.sampled_from([0.5, 5.0, 5.0, None]))
    def somebody_pauses(self, caller: int, model: str | None, length: float | None) -> None:
        now = self.watches[caller].now()
        pause = Pause("auth_error", "worker", now, None if length is None else now + length)
        self.begins(self.limiters[caller].pause(PLATFORM, pause, model))

    @rule(rate=st.sampled_from([None, 0.5, 2.0, 10.0, 40.0]), resumes=st.booleans(), at_once=st.booleans())
    def operator_begins_an_epoch(self, rate: float | None, resumes: bool, at_once: bool) -> None:
        limiter = self.limiters[CALLERS]
        work = limiter.resume(PLATFORM) if resumes else limiter.set_rate(PLATFORM, rate)
        self.ceiling = max(self.ceiling, self.time + 100.0)
        self.begins(work, at_once=at_once)

    @rule(caller=Caller, failed=st.sampled_from([0, 16, 17]), minutes=st.floats(0, 3))
    def a_batch_comes_back_and_the_scanner_restores(self, caller: int, failed: int, minutes: float) -> None:
        self.begins(self.limiters[caller].note(PLATFORM, 20, failed))
        self.begins(self.limiters[CALLERS].restore(PLATFORM, minutes))

    @precondition(lambda self: self.probes)
    @rule(caller=Caller, answered=st.booleans())
    def a_probe_reports(self, caller: int, answered: bool) -> None:
        token = next(iter(self.probes))
        del self.probes[token]
        self.begins(self.limiters[caller].probed(PLATFORM, token, answered=answered))

    def teardown(self) -> None:
        """What is granted is used."""
        if self.sound and self.rates:  # else a call has failed already, and says more
            self.time_passes(45.0)


TestLimiter = LimiterMachine.TestCase
TestLimiter.settings = settings(max_examples=3 * settings().max_examples, stateful_step_count=50)
