"""How long before its slot must a call's preparations begin? Learned from how long they took lately.

A slot that was reserved too late, or a move to RUNNING that was begun too late, is a slot missed: the call would start after its
instant, too near to the next one's.
"""

from __future__ import annotations

FIRST_GUESS_S = 0.06
LEAST_S = 0.05  # of a hundred writes one takes 25 ms and more; a slot that is missed is lost
MOST_S = 1.5
MARGIN = 1.5
KEEP_LATE = 0.97  # a late start is remembered for some dozens of calls
WIRE_S = 0.005
MOST_JITTER_S = 0.25
FORGET = 0.8  # a slow one is forgotten by a fifth with every faster one


class Lead:
    """One worker environment's experience: what reserving and beginning take."""

    def __init__(self, first_late_s: float = 0.0) -> None:
        """``first_late_s``: how late calls are taken to start until that is known better."""
        self._reserve = FIRST_GUESS_S
        self._begin = FIRST_GUESS_S
        self._late = first_late_s

    def reserved(self, seconds: float) -> None:
        """A reservation took this long."""
        self._reserve = _learned(self._reserve, seconds)

    def began(self, seconds: float) -> None:
        """A move to RUNNING took this long."""
        self._begin = _learned(self._begin, seconds)

    def started(self, late: float) -> None:
        """A call was sent this late after its slot (its timer, the processor, other calls of the same moment)."""
        self._late = max(late, KEEP_LATE * self._late)

    @property
    def jitter_s(self) -> float:
        """How late further calls may be expected to start, with what comes between here and the platform."""
        return min(2 * self._late + WIRE_S, MOST_JITTER_S)

    @property
    def begin_s(self) -> float:
        """Begin the move to RUNNING this long before the slot."""
        return _lead(self._begin)

    @property
    def notice_s(self) -> float:
        """Ask for no slot nearer than this."""
        return min(_lead(self._reserve) + _lead(self._begin), MOST_S)


def _learned(known: float, seconds: float) -> float:
    return max(seconds, FORGET * known + (1 - FORGET) * seconds)


def _lead(seconds: float) -> float:
    return min(max(MARGIN * seconds, LEAST_S), MOST_S)
