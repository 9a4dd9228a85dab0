"""What happens to one call: is it let in, which fault does it meet, what is answered and when, what is written down?

No sockets here: a connection opens a call when its head is read, asks for the reply when its body is there, and closes
it when the last byte is written or the connection is gone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from brandvane.simulation.standin_behaviour import Behaviour
from brandvane.simulation.standin_dialects import Dialect, dialect_of, kept_alive
from brandvane.simulation.standin_draws import Draw, digest_of, draw, latency_of, outcome_of
from brandvane.simulation.standin_errors import Wrong
from brandvane.simulation.standin_limits import InFlight, RateWindow
from brandvane.simulation.standin_log import CallLog
from brandvane.simulation.standin_reply import Asked, BadRequest, Ended, Reply, Told, malformed
from brandvane.simulation.standin_row import ANSWERS, THROTTLED, CallOutcome, CallRow
from brandvane.task import prompt_hash_of

Answerer = Callable[[str, str], str]  # (platform, prompt) -> text
Ending = Literal["keep", "close", "reset"]
_LATE: Mapping[CallOutcome, Wrong] = {  # errors that take as long as an answer
    CallOutcome.ERROR_500: Wrong.SERVER,
    CallOutcome.ERROR_503: Wrong.BUSY,
    CallOutcome.NO_CREDIT: Wrong.CREDIT,
    CallOutcome.BAD_KEY: Wrong.KEY,
    CallOutcome.MODEL_GONE: Wrong.MODEL,
}
_ENDS: Mapping[CallOutcome, Ended] = {
    CallOutcome.TRUNCATED: "truncated",
    CallOutcome.FILTERED: "filtered",
    CallOutcome.REFUSED: "refused",
}


class Platform:
    """One simulated platform: its behaviour now, and what it has let in."""

    def __init__(self, name: str, behaviour: Behaviour) -> None:
        """Starts with nothing in flight."""
        self.name = name
        self.behaviour = behaviour
        self.window = RateWindow(behaviour.rate)
        self.in_flight = InFlight(behaviour.in_flight)
        self.nameless = 0  # calls without a request id so far
        self.dialect: Dialect = dialect_of(behaviour.protocol, name)

    @property
    def asked_path(self) -> str:
        """Where it is asked."""
        return f"/{self.name}{self.dialect.base}{self.dialect.path}"

    def behave(self, behaviour: Behaviour) -> None:
        """Change limits and faults, from the next call on."""
        self.behaviour = behaviour
        self.window.set_rate(behaviour.rate)
        self.in_flight.limit = behaviour.in_flight
        self.dialect = dialect_of(behaviour.protocol, self.name)


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

    def __init__(
        self,
        platforms: Mapping[str, Behaviour],
        seed: int,
        log: CallLog,
        answerer: Answerer,
        brands: tuple[str, ...] = (),
    ) -> None:
        """``answerer`` gives the text of a good answer; ``brands`` are those that made-up answers name, for now."""
        self.platforms = {name: Platform(name, behaviour) for name, behaviour in platforms.items()}
        self.log = log
        self.brands = brands
        self.under_way: set[Call] = set()
        self._seed = seed
        self._answerer = answerer

    def asked_at(self, path: str) -> Platform | None:
        """The platform that is asked at this path."""
        name, slash, rest = path[1:].partition("/")
        platform = self.platforms.get(name)
        return platform if platform is not None and platform.dialect.fits(slash + rest) else None

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

    def reply(self, call: Call, path: str, body: bytes, *, keep_alive: bool) -> Planned:
        """What the call gets, its body being complete."""
        request, complaint = None, ""
        dialect = call.platform.dialect
        try:
            request = dialect.read(path, body)
            call.model, call.prompt = request.model, request.prompt
        except BadRequest as error:
            complaint = str(error)
        if call.outcome in THROTTLED:
            what = "requests per second" if call.outcome is CallOutcome.THROTTLED_RATE else "requests in flight"
            message = f"Rate limit reached: too many {what} on {call.platform.name}."
            return _planned(call.arrived, dialect.errors.reply(Wrong.RATE, message, call.retry_after), keep_alive)
        if request is None:
            return _planned(call.arrived, dialect.errors.reply(Wrong.REQUEST, complaint), keep_alive)
        call.outcome = outcome_of(call.platform.behaviour, call.drawn)
        return self._drawn(call, request, keep_alive)

    def _drawn(self, call: Call, request: Asked, keep_alive: bool) -> Planned:
        behaviour, dialect = call.platform.behaviour, call.platform.dialect
        if call.outcome is CallOutcome.HANG:
            return Planned(None, b"", "close", None)
        if call.outcome is CallOutcome.INJECTED_429:
            reply = dialect.errors.reply(Wrong.RATE, wait=behaviour.retry_after)
            return _planned(call.arrived, reply, keep_alive)
        at = call.arrived + latency_of(behaviour, call.drawn)
        reply = self._worded(call, request)
        if call.outcome is CallOutcome.CUT:
            whole = reply.encoded(keep_alive=keep_alive)
            return Planned(at, whole[: len(whole) - (len(reply.body) + 1) // 2], "reset", reply.status)
        return _planned(at, reply, keep_alive)

    def _worded(self, call: Call, request: Asked) -> Reply:
        """Answer or error, in the platform's own words."""
        outcome, dialect, form = call.outcome, call.platform.dialect, call.drawn.form
        if outcome in _LATE:
            return dialect.errors.reply(_LATE[outcome])
        if outcome is CallOutcome.INSIDE_200:
            return dialect.errors.inside_success()
        if outcome is CallOutcome.FILTERED and Wrong.FILTER in dialect.errors.rows:
            return dialect.errors.reply(Wrong.FILTER)
        answer_id = f"chatcmpl-{digest_of(self._seed, call.platform.name, call.request_id, request.prompt):048x}"[:33]
        if outcome is CallOutcome.EMPTY:
            return dialect.empty(Told(answer_id, int(call.arrived), request, ""), form)
        text = self._answerer(call.platform.name, request.prompt)
        if outcome is CallOutcome.TRUNCATED:
            text = text[: len(text) // 2 + 1]
        answer = dialect.answer(Told(answer_id, int(call.arrived), request, text, _ENDS.get(outcome, "whole")))
        if outcome is CallOutcome.MALFORMED:
            return malformed(answer.body, form)
        return kept_alive(answer) if outcome is CallOutcome.KEEP_ALIVE else answer

    def close(self, call: Call, finished: float, *, written: bool) -> None:
        """The last byte of ``call.status`` is written, or the connection is gone before it was.

        Raises:
            OSError: the log file refuses the row.
        """
        complete = written and call.outcome in ANSWERS and call.status == 200
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


def _planned(at: float, reply: Reply, keep_alive: bool) -> Planned:
    return Planned(at, reply.encoded(keep_alive=keep_alive), "keep" if keep_alive else "close", reply.status)
