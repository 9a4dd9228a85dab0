"""What does chaos consist of? Each fault that AWS, platforms and people can produce, alone or mixed, drawn from a seed.

A third of the seeds has one fault alone, hard; the others mix several. Windows of trouble begin while tasks are asked.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from brandvane.simulation.faults import Faults, Service, Trouble
from brandvane.task import MOVES, TOUCHES


@dataclass(frozen=True, slots=True)
class Source:
    """Chance, how hard a fault strikes (0 to 1), and how long tasks are asked (seconds from the window's start)."""

    rng: random.Random
    hard: float
    span_s: float

    def start(self) -> float:
        """When a window of trouble begins."""
        return self.rng.uniform(-20.0, self.span_s)

    def windows(self, shortest: float, longest: float) -> list[tuple[float, float]]:
        """One to four of them, each with its end."""
        starts = [self.start() for _ in range(1 + int(self.hard * 3.99))]
        return [(start, start + self.rng.uniform(shortest, longest)) for start in starts]


Draw = Callable[[Source], dict[str, Any]]  # fields of Faults


def _trouble(what: Service, *hows: str, shortest: float = 5.0, longest: float = 180.0) -> Draw:
    return lambda by: {
        "troubles": tuple(
            Trouble(what, start, end, by.rng.uniform(0.2, 1.0), by.rng.choice(hows))
            for start, end in by.windows(shortest, longest)
        )
    }


def _dead(function: Service) -> Draw:
    def drawn(by: Source) -> dict[str, Any]:
        start = by.start()
        return {"troubles": (Trouble(function, start, start + 600.0),)}

    return drawn


def _platform(how: str, shortest: float, longest: float, share: float = 0.7, retry_after: float | None = None) -> Draw:
    def drawn(by: Source) -> dict[str, Any]:
        start = by.start()
        end = start + by.rng.uniform(shortest, longest)
        return {"troubles": (Trouble("platform", start, end, by.rng.uniform(share, 1.0), how, "", retry_after),)}

    return drawn


def _flapping(by: Source) -> dict[str, Any]:
    start = by.start()
    windows = []
    for _ in range(3 + int(by.hard * 5)):
        end = start + by.rng.uniform(20, 120)
        windows.append(Trouble("platform", start, end, 1.0, by.rng.choice(("server_error", "hangs"))))
        start = end + by.rng.uniform(20, 180)
    return {"troubles": tuple(windows)}


def _shares(**most: float) -> Draw:
    return lambda by: {name: value * (0.2 + 0.8 * by.hard) * by.rng.uniform(0.3, 1.0) for name, value in most.items()}


def _fixed(**values: Any) -> Draw:
    return lambda by: dict(values)


def _stalls(by: Source) -> dict[str, Any]:
    share = by.rng.uniform(0.1, 0.2 + 0.4 * by.hard)
    field = by.rng.choice(("stall", "stall_at_reply"))
    return {field: share, "stall_s": (by.rng.uniform(1, 80), by.rng.uniform(80, 140))}


# What must happen for a move to be made at all.
_LEADS_TO: Mapping[str, Mapping[str, Any]] = {
    "fail": {"final_fails": 0.5},
    "retry": {"first_fails": 0.5, "later_fails": 0.3},
    "retry_failed": {"final_fails": 0.5, "retry_every_s": 20.0},
    "rescue": {"stall_at_reply": 0.3, "stall_s": (80.0, 140.0)},
    "extend": {"stall_at_reply": 0.3, "stall_s": (80.0, 140.0)},
}


_STALLED_REDRIVE = {"stall_before": "redrive", "stall_before_until": 1e6, "stall_before_s": (30.0, 120.0)}


def _stalled_before(by: Source) -> dict[str, Any]:
    longest = by.rng.choice((5.0, 30.0, 100.0, 140.0, 140.0))
    move = by.rng.choice([*MOVES, *TOUCHES])
    return {
        "stall_before": move,
        "stall_before_share": by.rng.uniform(0.2, 1.0),
        "stall_before_until": 1e6 if move in ("retry_failed", "redrive") else 900.0,
        "stall_before_s": (longest / 2, longest),
        **_LEADS_TO.get(move, {}),
    }


CHAOS: Mapping[str, Draw] = {
    "killed": _shares(kill=0.6),
    "killed_at_reply": _shares(kill_at_reply=0.6),
    "stalled": _stalls,
    "stalled_before_a_move": _stalled_before,
    "stalled_before_another": _stalled_before,
    "stalled_at_failures": lambda by: {**_stalls(by), "final_fails": 0.3, "first_fails": 0.4},
    "lambda_throttled": _shares(throttled=0.5),
    "async": _shares(async_lost=0.4, async_doubled=0.5, async_late_s=90.0),
    "deploy": lambda by: {"deploy_at": by.start()},
    "ticks": _shares(tick_missed=0.5, tick_doubled=0.5, tick_late_s=60.0),
    "burst_of_ticks": _fixed(ticks_at_once=60),
    "no_day_tick": _fixed(day_tick_missed=True),
    "doubled": _shares(message_doubled=0.5),
    "late": _shares(message_late=0.3),
    "out_of_order": _shares(message_jitter_s=20.0),
    "entries": _shares(entry_failed=0.4),
    "deletes": _shares(delete_lost=0.3),
    "replies": _shares(reply_lost=0.15),
    "index": _shares(index_lag_s=20.0),
    "index_stands": lambda by: {
        "troubles": tuple(Trouble("index", *each, by.rng.uniform(5, 60)) for each in by.windows(20, 200))
    },
    "clocks": _fixed(clock_skew_s=2.0),
    "clocks_a_little": _fixed(clock_skew_s=0.05),
    "dynamodb": _trouble("dynamodb", "refused", "hangs", "lost"),
    "sqs": _trouble("sqs", "refused", "hangs", "lost"),
    "s3": _trouble("s3", "refused", "hangs", "lost"),
    "starts": _trouble("lambda", "refused", "hangs"),
    "planner_dead": _dead("planner"),
    "dispatcher_dead": _dead("dispatcher"),
    "scanner_dead": _dead("scanner"),
    "calls_fail": _shares(first_fails=0.4, later_fails=0.5),
    "bodies": _shares(unusable=0.4, final_fails=0.1, filtered=0.2),
    "throttles": lambda by: {"throttles": 0.3 * by.hard, "retry_after_s": by.rng.choice((0.5, 5.0, 60.0))},
    "poison": _shares(poison=0.6),
    "hangs": _platform("hangs", 60, 600),
    "down": _platform("server_error", 300, 3600),
    "flapping": _flapping,
    "busy_long": _platform("busy", 1, 5, retry_after=900.0),
    "busy_burst": _platform("busy", 10, 60, retry_after=2.0),
    "busy_unspoken": _platform("busy", 10, 120),
    "quota": _platform("busy", 1, 10, retry_after=7200.0),
    "wrong_key": _platform("auth_error", 60, 900),
    "no_credit": _platform("quota_exhausted", 60, 900),
    "model_gone": _platform("model_gone", 60, 600, share=0.3),
    "cancelled": lambda by: {"cancel_at": by.start()},
    "cancelled_slowly": lambda by: {
        "cancel_at": by.start() / 2,
        "message_jitter_s": 30.0,
        "stall_before": "end_final",
        "stall_before_until": 900.0,
        "stall_before_s": (1.0, 50.0),
    },
    "asked_again": lambda by: {"retry_failed": True, "final_fails": 0.1 + 0.4 * by.hard},
    "asked_again_twice": lambda by: {
        "retry_failed": True,
        "retry_twice": True,
        "final_fails": 0.2 + 0.4 * by.hard,
        "slow_people": by.hard,
    },
    "asked_again_often": lambda by: {
        "retry_every_s": by.rng.choice((20.0, 60.0)),
        "final_fails": 0.2 + 0.5 * by.hard,
        "slow_people": by.hard / 2,
    },
    "finished_late": lambda by: {
        "retry_every_s": 20.0,
        "final_fails": 0.7,
        "stall_before": "finish",
        "stall_before_until": 900.0,
        "stall_before_s": (60.0, 145.0),
    },
    "ended_late": lambda by: {
        "stall_before": "end",
        "stall_before_share": 0.8,
        "stall_before_until": 900.0,
        "stall_before_s": (10.0, 50.0),
        "stall_at_reply": 0.5,
        "stall_s": (80.0, 140.0),
        "first_fails": 0.6,
        "later_fails": 0.6,
        "throttles": 0.3,
        "retry_after_s": 0.5,
    },
    "deferred_late": lambda by: {
        "stall_before": "defer",
        "stall_before_until": 900.0,  # the scanner defers too: it would never get beyond its first few records
        "stall_before_s": (20.0, 60.0),
        "troubles": tuple(
            Trouble("dynamodb", start, end, by.rng.uniform(0.3, 0.6)) for start, end in by.windows(60, 300)
        ),
    },
    # Only calls of more than a minute send any: those of scenarios with long calls.
    "beats_late": lambda by: {
        "stall_before": "heartbeat",
        "stall_before_until": 1e6,
        "stall_before_s": (60.0, 220.0),
        "troubles": (Trouble("platform", -20.0, by.span_s, by.rng.uniform(0.3, 0.7), "hangs"),),
    },
    "redriven": lambda by: {
        "redrive_every_s": by.rng.choice((20.0, 60.0)),
        "most_receives": by.rng.choice((1, 2, 3)),
        "throttled": 0.3 + 0.5 * by.hard,
        "message_doubled": 0.3,
        **({"message_late": 0.3, "message_late_s": 120.0} if by.rng.random() < 0.5 else {}),
        "first_fails": 0.5,
        "slow_people": by.hard,
        **(_STALLED_REDRIVE if by.rng.random() < 0.5 else {}),
    },
}


def chaos(seed: int, span_s: float = 300.0) -> Faults:
    """The faults of a seed; ``span_s``: how long tasks are asked."""
    rng = random.Random(f"{seed}/chaos")
    names = list(CHAOS)
    if rng.random() < 1 / 3:
        chosen, hard = [names[seed % len(names)]], 1.0
    else:
        chosen, hard = rng.sample(names, rng.randint(2, 10)), rng.random()
    source = Source(rng, hard, span_s)
    faults = Faults(name=f"chaos: {', '.join(chosen)}", resume_after_s=rng.choice((60.0, 300.0, 300.0, None)))
    for name in chosen:
        drawn = CHAOS[name](source)
        troubles = (*faults.troubles, *drawn.pop("troubles", ()))
        faults = replace(faults, troubles=troubles, **drawn)
    return faults
