"""Which fault does a call meet and how long does its answer take? A pure function of (seed, platform, request id).

A repeat of a run draws the same for every call; a task's next call has another number in its request id and draws anew.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from statistics import NormalDist

from brandvane.simulation.standin_behaviour import SHARES, Behaviour
from brandvane.simulation.standin_row import CallOutcome

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Draw:
    """Three independent draws: two of (0, 1), and a number that picks among forms of one fault."""

    fault: float
    latency: float
    form: int


def draw(seed: int, platform: str, request_id: str) -> Draw:
    """The draws of one call."""
    number = digest_of(seed, platform, request_id)
    return Draw(_unit(number), _unit(number >> 64), number >> 128)


def digest_of(seed: int, *parts: str) -> int:
    """A uniform 192-bit number of the parts, the same on every machine and Python."""
    text = "\x1f".join((str(seed), *parts))
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=24).digest(), "big")


def _unit(number: int) -> float:
    # 52 bits and a half: the result can be neither 0 nor 1, where the normal quantile is infinite.
    return ((number & (2**52 - 1)) + 0.5) / 2**52


def outcome_of(behaviour: Behaviour, drawn: Draw) -> CallOutcome:
    """The fault of a call that was admitted, or ``ok``: shares are laid end to end in [0, 1), the rest is ``ok``."""
    edge = 0.0
    for outcome in SHARES:
        edge += behaviour.share(outcome)
        if drawn.fault < edge:
            return outcome
    return CallOutcome.OK


def latency_of(behaviour: Behaviour, drawn: Draw) -> float:
    """Seconds from arrival to answer, lognormal and capped."""
    return min(behaviour.median * math.exp(behaviour.sigma * _NORMAL.inv_cdf(drawn.latency)), behaviour.cap)
