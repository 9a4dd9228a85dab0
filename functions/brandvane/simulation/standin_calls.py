"""What happens to one call: is it let in, which fault does it meet, what is answered and when, what is written down?

No sockets here: a connection opens a call when its head is read, asks for the reply when its body is there, and closes
it when the last byte is written or the connection is gone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from brandvane.simulation import standin_chat as chat
from brandvane.simulation.standin_behaviour import Behaviour
from brandvane.simulation.standin_draws import Draw, digest_of, draw, latency_of, outcome_of
from brandvane.simulation.standin_limits import InFlight, RateWindow
from brandvane.simulation.standin_log import CallLog
from brandvane.simulation.standin_row import THROTTLED, CallOutcome, CallRow
from brandvane.task import prompt_hash_of

Answerer = Callable[[str, str], str]  # (platform, prompt) -> text
Ending = Literal["keep", "close", "reset"]


class Platform:
    """One simulated platform: its behaviour now, and what it has let in."""

    def __init__(self, name: str, behaviour: Behaviour) -> None:
        """Starts with nothing in flight."""
        self.name = name
        self.behaviour = behaviour
        self.window = RateWindow(behaviour.rate)
        self.in_flight = InFlight(behaviour.in_flight)
        self.nameless = 0  # calls without a request id so far

    def behave(self, behaviour: Behaviour) -> None:
        """Change limits and faults, from the next call on."""
        self.behaviour = behaviour
        self.window.set_rate(behaviour.rate)
        self.in_flight.limit = behaviour.in_flight


@dataclass(slots=True, eq=False)
class Call:
    """A call under way. ``ticket``: its place among the calls in flight, None when it was refused.

    ``port``: of the caller's end of the connection. ``waiting``: who wants to know at once that the call has ended.
    """

    platform: Platform
    request_id: str
    arrived: float
    in_flight: int
    drawn: Draw
    outcome: CallOutcome
    ticket: int | None = None
    retry_after: int = 0
    model: str = ""
    prompt: str = ""
    status: int | None = None
    port: int = 0
    waiting: list[Callable[[bool], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Planned:
    """What to send at ``at`` (POSIX seconds; None: never), and how to leave the connection."""

    at: float | None
    payload: bytes
    ending: Ending
    status: int | None


class Desk:
    """All platforms of one stand-in process."""

    def __init__(self, platforms: Mapping[str, Behaviour], seed: int, log: CallLog, answerer: Answerer) -> None:
        """``answerer`` gives the text of a good answer."""
        self.platforms = {name: Platform(name, behaviour) for name, behaviour in platforms.items()}
        self.log = log
        self.under_way: set[Call] = set()
        self._seed = seed
        self._answerer = answerer

    def open(self, platform: Platform, request_id: str, arrived: float, port: int = 0) -> Call:
        """Let a call in or refuse it; its body is still to come. ``request_id`` is "" where the caller sent none."""
        if not request_id:
            platform.nameless += 1
        drawn = draw(self._seed, platform.name, request_id or f"-/{platform.nameless}")
        peak = platform.in_flight.peak_since(arrived)
        free_at = platform.window.free_at(arrived)
        call = Call(platform, request_id, arrived, peak + 1, drawn, CallOutcome.THROTTLED_RATE, port=port)
        self.under_way.add(call)
        if free_at > arrived:
            call.retry_after = max(math.ceil(free_at - arrived), 1)
        elif peak >= platform.in_flight.limit:
            call.outcome = CallOutcome.THROTTLED_IN_FLIGHT
            call.retry_after = 1
        else:
            call.outcome = CallOutcome.BAD_REQUEST  # until the body is read
            platform.window.take(arrived)
            call.ticket = platform.in_flight.enter(arrived)
        return call

    def reply(self, call: Call, body: bytes, *, keep_alive: bool) -> Planned:
        """What the call gets, its body being complete."""
        request, complaint = None, ""
        try:
            request = chat.read_chat(body)
            call.model, call.prompt = request.model, request.prompt
        except chat.BadChat as error:
            complaint = str(error)
        if call.outcome in THROTTLED:
            what = "requests per second" if call.outcome is CallOutcome.THROTTLED_RATE else "requests in flight"
            reply = chat.throttled(f"Rate limit reached: too many {what} on {call.platform.name}.", call.retry_after)
            return _planned(call.arrived, reply, keep_alive)
        if request is None:
            return _planned(call.arrived, chat.refused(400, complaint), keep_alive)
        call.outcome = outcome_of(call.platform.behaviour, call.drawn)
        return self._drawn(call, request, keep_alive)

    def _drawn(self, call: Call, request: chat.ChatRequest, keep_alive: bool) -> Planned:
        behaviour = call.platform.behaviour
        if call.outcome is CallOutcome.HANG:
            return Planned(None, b"", "close", None)
        if call.outcome is CallOutcome.INJECTED_429:
            reply = chat.throttled("The platform is busy; slow down.", behaviour.retry_after)
            return _planned(call.arrived, reply, keep_alive)
        at = call.arrived + latency_of(behaviour, call.drawn)
        if call.outcome is CallOutcome.ERROR_500:
            return _planned(at, chat.failed(500), keep_alive)
        if call.outcome is CallOutcome.ERROR_503:
            return _planned(at, chat.failed(503), keep_alive)
        answer_id = f"chatcmpl-{digest_of(self._seed, call.platform.name, call.request_id, request.prompt):048x}"[:33]
        created = int(call.arrived)
        if call.outcome is CallOutcome.EMPTY:
            return _planned(at, chat.empty(answer_id, created, request, call.drawn.form), keep_alive)
        answer = chat.good(answer_id, created, request, self._answerer(call.platform.name, request.prompt))
        if call.outcome is CallOutcome.MALFORMED:
            return _planned(at, chat.malformed(answer, call.drawn.form), keep_alive)
        if call.outcome is CallOutcome.CUT:
            whole = answer.encoded(keep_alive=keep_alive)
            return Planned(at, whole[: len(whole) - (len(answer.body) + 1) // 2], "reset", answer.status)
        return _planned(at, answer, keep_alive)

    def close(self, call: Call, finished: float, *, written: bool) -> None:
        """The last byte of ``call.status`` is written, or the connection is gone before it was.

        Raises:
            OSError: the log file refuses the row.
        """
        complete = written and call.outcome is CallOutcome.OK
        for told in call.waiting:  # before anything else: they race against what the caller does with its answer
            told(complete)
        self.under_way.discard(call)
        if call.ticket is not None:
            call.platform.in_flight.leave(call.ticket, finished)
        self.log.add(
            CallRow(
                platform=call.platform.name,
                request_id=call.request_id,
                model=call.model,
                prompt_hash=prompt_hash_of(call.prompt),
                prompt=call.prompt,
                arrived=call.arrived,
                finished=finished,
                status=call.status,
                outcome=call.outcome,
                complete=complete,
                in_flight=call.in_flight,
                lost=not written,
                port=call.port,
            )
        )


def _planned(at: float, reply: chat.Reply, keep_alive: bool) -> Planned:
    return Planned(at, reply.encoded(keep_alive=keep_alive), "keep" if keep_alive else "close", reply.status)
