"""Which faults does a simulation have? One flat description: presets, files, and what chaos draws from a seed.

A file is JSON (or YAML where PyYAML is installed) with the fields below, all of them optional; ``base`` names a preset whose
values the others replace. Shares are between 0 and 1; times are seconds, those of ``troubles`` counted from the window's start.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from brandvane.policy import ErrorKind
from brandvane.task import MOVES, TOUCHES

Service = Literal["dynamodb", "sqs", "s3", "lambda", "index", "planner", "dispatcher", "scanner", "platform"]
SERVICES: tuple[str, ...] = get_args(Service)
SERVICE_HOWS = ("refused", "hangs", "lost")
PLATFORM_HOWS = ("hangs", "busy", *(kind.value for kind in ErrorKind))


class FaultsError(ValueError):
    """A description that cannot be read: says which field, and what to do."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A window of trouble: ``share`` of a service's requests fail (``how``), an index lags by ``share`` seconds, a function is dead.

    ``how`` for services: ``refused``, ``hangs`` or ``lost`` (carried out, but the reply is lost); for platforms: an error kind,
    ``hangs``, ``busy`` (429 with ``retry_after``), and ``name`` says which one (empty: all).
    """

    what: Service
    start: float
    end: float
    share: float = 1.0
    how: str = "refused"
    name: str = ""
    retry_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """All of it. The defaults are a healthy cloud and platforms that answer everything."""

    name: str = "none"
    # functions
    kill: float = 0.0  # share of invocations whose environment dies at one of its awaits
    stall: float = 0.0  # share of invocations whose environment stands still at one of its awaits
    kill_at_reply: float = 0.0  # share of a platform's replies whose worker dies at one of the next awaits
    stall_at_reply: float = 0.0
    stall_before: str = ""  # name of a move before which environments stand still ...
    stall_before_share: float = 0.5  # ... this often ...
    stall_before_until: float = 900.0  # ... in the first seconds after the window's start ...
    stall_before_s: tuple[float, float] = (70.0, 120.0)  # ... for so long
    stall_s: tuple[float, float] = (70.0, 120.0)
    deaths_a_day: float = 0.0  # how often all of a platform's worker environments die at once
    throttled: float = 0.0  # share of starts from a queue that Lambda refuses
    async_lost: float = 0.0
    async_doubled: float = 0.0
    async_late_s: float = 0.0  # asynchronous invocations are up to this much late
    deploy_at: float | None = None  # from then on new environments run the next release, for 5 min beside the old ones
    # schedules
    tick_missed: float = 0.0
    tick_doubled: float = 0.0
    tick_late_s: float = 0.0
    ticks_at_once: int = 0  # as many ticks of one minute, once in the run
    day_tick_missed: bool = False  # the schedule that starts the run never comes
    # queues
    message_doubled: float = 0.0
    message_late: float = 0.0
    message_late_s: float = 900.0
    message_jitter_s: float = 0.0  # order among messages is lost within this
    entry_failed: float = (
        0.0  # share of entries that a batch send does not confirm (half of them were sent all the same)
    )
    delete_lost: float = 0.0
    most_receives: int = 20  # a message that was received so often becomes a dead letter (write-back queue: 100)
    # tables, bucket
    reply_lost: float = 0.0  # share of writes that are carried out and whose reply is lost
    index_lag_s: float = 0.0  # the indexes lag by up to this much more
    clock_skew_s: float = 0.001  # environments' clocks are off by up to this much, either way
    troubles: tuple[Trouble, ...] = ()
    # platforms
    first_fails: float = 0.0  # share of first calls that fail and may be tried again
    later_fails: float = 0.0  # the same of a task's later calls
    unusable: float = 0.0  # share of calls answered by a body that is no answer
    final_fails: float = 0.0  # share of calls refused for good (4xx)
    filtered: float = 0.0
    throttles: float = 0.0  # share of calls answered by 429
    retry_after_s: float = 2.0
    poison: float = 0.0  # share of answers that are hard to keep: huge, or with broken text
    # operators
    resume_after_s: float | None = 300.0  # a person lifts a pause that waits for one; None: nobody does
    cancel_at: float | None = None
    retry_failed: bool = False  # failed tasks are opened again once, after the run's end
    retry_twice: bool = False  # two people do so at the same time
    retry_every_s: float = 0.0  # and already while the run is under way, some times
    redrive_every_s: float = 0.0  # dead letters are redriven, by two people
    slow_people: float = 0.0  # share of commands that stand still at one of their awaits


def calmed(faults: Faults) -> Faults:
    """What is left when the storm is over: the platforms' usual failures, what people do, clocks and releases as they are."""
    return replace(faults, **{name: getattr(NONE, name) for name in _STORM})


NONE = Faults()
_STORM = (
    "kill",
    "stall",
    "kill_at_reply",
    "stall_at_reply",
    "stall_before",
    "deaths_a_day",
    "throttled",
    "async_lost",
    "async_doubled",
    "async_late_s",
    "tick_missed",
    "tick_doubled",
    "tick_late_s",
    "message_doubled",
    "message_late",
    "message_jitter_s",
    "entry_failed",
    "delete_lost",
    "reply_lost",
    "slow_people",
)
# How the rates follow from the published figures: docs/simulation.md.
ARTICLE = Faults(
    name="article",
    first_fails=0.05,
    later_fails=0.20,
    unusable=0.0076,
    deaths_a_day=1.0,
    message_doubled=0.001,
    reply_lost=0.0001,
    async_lost=0.001,
    tick_missed=0.001,
    index_lag_s=0.5,
)
PRESETS: Mapping[str, Faults] = {"none": NONE, "article": ARTICLE}
_FIELDS = {each.name: each for each in fields(Faults)}


def read_faults(path: Path) -> Faults:
    """The faults that a file describes.

    Raises:
        FaultsError: no such file, not JSON, an unknown field, a wrong value.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FaultsError(f"{path}: {error.strerror or error}: name a file, or none, article or chaos") from error
    except ValueError as error:
        raise FaultsError(f"{path}: not JSON ({error}): see 'brandvane simulate --help' for the fields") from error
    except RecursionError as error:
        raise FaultsError(f"{path}: nested too deep: see 'brandvane simulate --help' for the fields") from error
    if not isinstance(document, dict):
        raise FaultsError(f"{path}: must be a JSON object of fault fields")
    return faults_of(document, str(path))


def faults_of(document: Mapping[str, Any], where: str) -> Faults:
    """The same from a JSON object."""
    given = dict(document)
    base_name = given.pop("base", "none")
    if not isinstance(base_name, str) or base_name not in PRESETS:
        raise FaultsError(f"{where}: base is {base_name!r}; it must be one of {', '.join(PRESETS)}")
    values: dict[str, Any] = {"name": Path(where).stem}
    for name, value in given.items():
        if name not in _FIELDS:
            raise FaultsError(f"{where}: unknown field {name!r}; known are: base, {', '.join(_FIELDS)}")
        values[name] = _value(name, value, where)
    return replace(PRESETS[base_name], **values)


def _value(name: str, value: Any, where: str) -> Any:
    default = getattr(NONE, name)
    if name == "troubles":
        if not isinstance(value, list):
            raise FaultsError(f"{where}: troubles must be a list of objects")
        return tuple(_trouble(row, f"{where}: troubles[{place}]") for place, row in enumerate(value))
    if isinstance(default, str):
        return _word(name, value, where)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise FaultsError(f"{where}: {name} is {value!r}; it must be true or false")
        return value
    if isinstance(default, tuple):
        if not (isinstance(value, list) and len(value) == 2):
            raise FaultsError(f"{where}: {name} is {value!r}; it must be two numbers, [from, to]")
        return tuple(_number(name, each, where) for each in value)
    if value is None and name in {"deploy_at", "cancel_at", "resume_after_s"}:
        return None
    number = _number(name, value, where)
    if not isinstance(default, int):
        return number
    least = 1 if name == "most_receives" else 0
    if number != int(number) or number < least:
        raise FaultsError(f"{where}: {name} is {value!r}; it must be a whole number of at least {least}")
    return int(number)


def _word(name: str, value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise FaultsError(f"{where}: {name} is {value!r}; it must be a text")
    if name == "stall_before" and value and value not in (moves := (*MOVES, *TOUCHES)):
        raise FaultsError(f"{where}: stall_before is {value!r}; it must be one of {', '.join(moves)}")
    return value


def _number(name: str, value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise FaultsError(f"{where}: {name} is {value!r}; it must be a number of at least 0")
    # Fields without a unit in their name are shares.
    if (
        not name.endswith(("_s", "_at", "_until", "_receives", "_day", "_once", "start", "end", "retry_after"))
        and value > 1
    ):
        raise FaultsError(f"{where}: {name} is {value!r}; it is a share and must not exceed 1")
    return float(value)


def _trouble(row: Any, where: str) -> Trouble:
    known = {each.name for each in fields(Trouble)}
    if not isinstance(row, dict) or not {"what", "start", "end"} <= row.keys() <= known:
        raise FaultsError(f"{where}: must be an object of what, start, end and, if need be, {', '.join(sorted(known))}")
    if not isinstance(row["what"], str) or row["what"] not in SERVICES:
        raise FaultsError(f"{where}: what is {row['what']!r}; it must be one of {', '.join(SERVICES)}")
    numbers = {name: _number(name, row[name], where) for name in ("start", "end") if name in row}
    if "share" in row:
        numbers["share"] = _number("share_s" if row["what"] == "index" else "share", row["share"], where)
    if row.get("retry_after") is not None:
        numbers["retry_after"] = _number("retry_after", row["retry_after"], where)
    if numbers["end"] < numbers["start"]:
        raise FaultsError(f"{where}: end is {row['end']!r}; it must not be before start, {row['start']!r}")
    texts = {name: _word(name, row[name], where) for name in ("how", "name") if name in row}
    hows = PLATFORM_HOWS if row["what"] == "platform" else SERVICE_HOWS
    if texts.get("how", hows[0]) not in hows:
        raise FaultsError(f"{where}: how is {row['how']!r}; it must be one of {', '.join(hows)}")
    return Trouble(row["what"], **numbers, **texts)  # type: ignore[arg-type]
