"""How long before its slot must a call's preparations begin? Learned from how long they took lately.

A slot that was reserved too late, or a move to RUNNING that was begun too late, is a slot missed: the call would start after its
instant, too near to the next one's.
"""

from __future__ import annotations

FIRST_RESERVE_S = 0.06
FIRST_BEGIN_S = 0.2  # a connection has to be opened
LEAST_RESERVE_S = 0.05
LEAST_BEGIN_S = 0.15  # of a hundred writes one takes 25 ms and more, and a slot that is missed is lost
MOST_S = 0.75  # what has been read anew must not be older than a second when the call starts
MARGIN = 1.5
FORGET = 0.9  # a slow one is forgotten by a tenth with every faster one: to be early costs little


class Lead:
    """One worker environment's experience: what reserving and beginning take."""

    def __init__(self) -> None:
        self._reserve = FIRST_RESERVE_S
        self._begin = FIRST_BEGIN_S

    def reserved(self, seconds: float) -> None:
        """A reservation took this long."""
        self._reserve = _learned(self._reserve, seconds)

    def began(self, seconds: float) -> None:
        """It took this long until a call was ready: to see that its slot holds, the move to RUNNING, a connection."""
        self._begin = _learned(self._begin, seconds)

    @property
    def begin_s(self) -> float:
        """Begin to prepare the call this long before the slot."""
        return _lead(self._begin, LEAST_BEGIN_S)

    @property
    def notice_s(self) -> float:
        """Ask for no slot nearer than this."""
        return _lead(self._reserve, LEAST_RESERVE_S) + self.begin_s


def _learned(known: float, seconds: float) -> float:
    return max(seconds, FORGET * known + (1 - FORGET) * seconds)


def _lead(seconds: float, least: float) -> float:
    return min(max(MARGIN * seconds, least), MOST_S)
