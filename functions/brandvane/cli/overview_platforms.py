"""How do the platforms look on the overview: a row each, and what holds them up?"""

from __future__ import annotations

from brandvane.cli.overview import Overview, PlatformGlance
from brandvane.cli.overview_layout import indented_table, seconds_text, share_text, wrapped
from brandvane.cli.platform_view import pause_text
from brandvane.cli.view import dollars, number
from brandvane.cli.when import span
from brandvane.task import State

# Kinds of failure that say less than they mean.
KIND_WORDS = {
    "timeout": "timeout (no connection, or no answer in time)",
    "auth_error": "auth_error (the key is refused)",
    "client_error": "client_error (the request is refused)",
}
NARROW_HEADER = ("platform", "calls/s", "running", "waiting", "due", "ok", "retry", "p95", "state")
NARROW_RIGHT = frozenset(range(1, 8))
WIDE_HEADER = (
    "platform", "calls/s", "running", "waiting", "due", "dispatched", "pulled", "writeback",
    "ok 5 min", "retry", "p50", "p95", "calls today", "spent", "state",
)  # fmt: skip
WIDE_RIGHT = frozenset(range(1, 14))


def platform_lines(found: Overview, wide: bool, width: int | None) -> list[str]:
    """The table, and below it what holds a platform up."""
    if found.platforms is None:
        return []
    if not found.platforms:
        return ["platforms: none is deployed, and no catalogue has been pushed"]
    header, right = (WIDE_HEADER, WIDE_RIGHT) if wide else (NARROW_HEADER, NARROW_RIGHT)
    rows = [_wide_row(each) if wide else _narrow_row(each) for each in found.platforms]
    notes = [note for each in found.platforms for note in _notes(each)]
    return ["platforms", *indented_table(header, rows, right), *wrapped(notes, width)]


def _narrow_row(each: PlatformGlance) -> tuple[str, ...]:
    recent = each.recent
    return (
        each.name,
        f"{recent.rate:.1f}/{_limit(each)}",
        _count(each, State.RUNNING),
        _count(each, State.PENDING),
        f"{each.backlog:,}",
        share_text(recent.success),
        share_text(recent.retries),
        seconds_text(recent.p95),
        state_word(each),
    )


def _wide_row(each: PlatformGlance) -> tuple[str, ...]:
    recent, deployed = each.recent, each.facts.known.deployed
    return (
        each.name,
        f"{recent.rate:.1f}/{_limit(each)}",
        f"{_count(each, State.RUNNING)}/{'-' if deployed is None else deployed.slots}",
        _count(each, State.PENDING),
        f"{each.backlog:,}",
        *(_count(each, state) for state in (State.DISPATCHED, State.PULLED, State.WRITEBACK)),
        share_text(recent.success),
        share_text(recent.retries),
        seconds_text(recent.p50),
        seconds_text(recent.p95),
        f"{each.facts.day_calls:,}",
        spent_text(each),
        state_word(each),
    )


def _limit(each: PlatformGlance) -> str:
    """Calls a second that are allowed now."""
    rate = limit_of(each)
    return "-" if rate is None else f"{rate:.3g}"


def limit_of(each: PlatformGlance) -> float | None:
    """The stated rate or an operator's, as far as refusals have lowered it; None: the platform is not in the monitor."""
    settings, control = each.facts.known.settings, each.facts.control
    stated = control.rate_override if control.rate_override is not None else settings.rate if settings else None
    return None if stated is None else stated * control.factor


def _count(each: PlatformGlance, state: State) -> str:
    return f"{each.states.get(state, 0):,}{'+' if each.capped and state is State.PENDING else ''}"


def spent_text(each: PlatformGlance) -> str:
    """Dollars of today, and of its day's budget where it has one."""
    settings = each.facts.known.settings
    budget = None if settings is None else settings.day_budget_usd
    return dollars(each.spent_usd) + ("" if budget is None else f" of {dollars(budget)}")


def state_word(each: PlatformGlance) -> str:
    """One word for how it stands."""
    if each.facts.pause is not None:
        return "paused"
    if each.facts.known.deployed is None:
        return "no worker"
    if each.facts.control.breaker_wait_s:
        return "breaker"
    if each.facts.targets:
        return "some paused"
    return "slowed" if each.facts.control.factor < 1 else "asked"


def unanswered_text(each: PlatformGlance) -> str:
    """What came of its calls, where none was answered."""
    worst = each.recent.worst or ""
    return (
        f"not one of {number(each.recent.calls, 'call')} of the last 5 minutes was answered,"
        f" most often: {KIND_WORDS.get(worst, worst)}; 'brandvane logs --platform {each.name} --level warning'"
    )


def _notes(each: PlatformGlance) -> list[str]:
    """What holds a platform up."""
    facts, notes = each.facts, []
    if each.recent.worst is not None:
        notes.append(f"{each.name}: {unanswered_text(each)}")
    if facts.pause is not None:
        notes.append(f"{each.name}: {pause_text(facts.pause, facts.time_zone)}")
    notes += [f"{target}: {pause_text(pause, facts.time_zone)}" for target, pause in facts.targets.items()]
    if facts.control.factor < 1:
        notes.append(f"{each.name}: lowered to {facts.control.factor:.0%} of its rate after refusals")
    if facts.control.breaker_wait_s and facts.pause is None:
        notes.append(
            f"{each.name}: too many calls failed in a row; one is tried every {span(facts.control.breaker_wait_s)}"
        )
    return notes
