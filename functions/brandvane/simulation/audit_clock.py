"""Does a platform's limiter keep to what it grants? Its clock may run ahead by that, or to where a 429 has pushed it."""

from __future__ import annotations

from collections.abc import Iterator

from brandvane.control import Control

# DESIGN §4.4 and §4.5, once more: the numbers that are audited are not those that are used.
LIMITER_SHARE = 0.97
MAX_WAIT_S = 20.0
FACTOR_FLOOR = 0.05
RETRY_AFTER_MAX_S = 3600.0
HORIZON_S = 3.0  # a slot is asked for at most this long before its task is due (lead and gathering)
ROUNDING_S = 1e-3


def faults_of(old: Control, new: Control, rate: float, now: float) -> Iterator[str]:
    """What is wrong with a change of a control item. ``rate``: as stated; ``now``: by the clock of who changed it."""
    if new.clock <= old.clock:
        return
    granted = new.day_calls - old.day_calls if new.day == old.day else new.day_calls
    furthest = now + RETRY_AFTER_MAX_S + HORIZON_S
    if granted > 0:
        stated = rate if new.rate_override is None else new.rate_override
        step = 1 / (stated * max(new.factor, FACTOR_FLOOR) * LIMITER_SHARE)
        furthest = min(max(old.clock, now + HORIZON_S) + granted * step, now + MAX_WAIT_S + HORIZON_S + step)
    if new.clock > furthest + ROUNDING_S:
        yield f"{new.platform}: the clock ran {new.clock - now:.3f} s ahead for {granted} calls"
