"""Is a platform down, and may somebody try it? A breaker kept in the control item, so that the whole fleet agrees.

CLOSED until a run of failures opens it; then nobody calls for 60 s (doubling to 10 min), after which one task probes under a
lease. Any response but a timeout, a lost connection or a 5xx closes it. Pure values (DESIGN §4.6).
"""

from __future__ import annotations

from dataclasses import replace

from brandvane.control import Control, Pause
from brandvane.policy import ErrorKind

MIN_ATTEMPTS = 20
FAILED_SHARE = 0.8
WINDOW_S = 300.0  # a run of failures that is spread over more than this is not one
FIRST_WAIT_S = 60.0
LONGEST_WAIT_S = 600.0
PROBE_MARGIN_S = 15.0
OUTAGE = frozenset({ErrorKind.TIMEOUT, ErrorKind.SERVER_ERROR})
WHY = "breaker"


def is_open(control: Control) -> bool:
    """Open or probing: failures that come in now are the platform's, not the task's."""
    return control.breaker_wait_s > 0


def suspicious(control: Control) -> bool:
    """Has the present window seen failures? Then successes are worth writing down too."""
    return control.tried > 0


def noted(control: Control, attempts: int, failed: int, now: float) -> Control:
    """A batch came back: ``failed`` of its ``attempts`` timed out, lost their connection or met a 5xx."""
    if is_open(control) or attempts == 0:
        return control
    fresh = now - control.tried_since > WINDOW_S or control.tried == 0
    tried = attempts + (0 if fresh else control.tried)
    bad = failed + (0 if fresh else control.tried_failed)
    since = now if fresh else control.tried_since
    if tried >= MIN_ATTEMPTS:
        if bad > FAILED_SHARE * tried:
            return _opened(control, FIRST_WAIT_S, now)
        return replace(control, tried=0, tried_failed=0, tried_since=now)
    if bad == 0:
        return replace(control, tried=0, tried_failed=0) if control.tried else control
    return replace(control, tried=tried, tried_failed=bad, tried_since=since)


def _opened(control: Control, wait: float, now: float) -> Control:
    return replace(
        control,
        breaker_wait_s=wait,
        breaker_at=now + wait,
        probe_owner="",
        probe_until=0.0,
        tried=0,
        tried_failed=0,
        epoch=control.epoch + 1,  # slots granted before are read anew, and found void
    )


def closed(control: Control) -> Control:
    """The platform answers again (or a person says so)."""
    if not is_open(control):
        return control
    return replace(
        control, breaker_wait_s=0.0, breaker_at=0.0, probe_owner="", probe_until=0.0, tried=0, tried_failed=0
    )


def held_until(control: Control) -> float:
    """The instant before which nobody may call; 0 while closed."""
    return max(control.breaker_at, control.probe_until) if is_open(control) else 0.0


def pause(control: Control, now: float) -> Pause | None:
    """The breaker's own pause, as others see it; None when a call may start (closed, or a probe is due)."""
    until = held_until(control)
    return Pause(WHY, WHY, now, until) if now < until else None


def probing(control: Control, owner: str, lease_s: float, now: float) -> Control:
    """``owner`` begins the one probe. A probe that lapsed without a word had failed: the wait doubles first.

    Returns the item to store; the probe is on only if ``probe_owner`` is ``owner`` there.
    """
    if control.probe_owner:
        return _longer(control, now)
    return replace(control, probe_owner=owner, probe_until=now + lease_s)


def probed(control: Control, owner: str, *, answered: bool, now: float) -> Control:
    """What the probe found; a word from anybody but its owner changes nothing."""
    if not is_open(control) or control.probe_owner != owner:
        return control
    return closed(control) if answered else _longer(control, now)


def _longer(control: Control, now: float) -> Control:
    return _opened(control, min(control.breaker_wait_s * 2, LONGEST_WAIT_S), now)
