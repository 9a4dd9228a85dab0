"""What does a stand-in platform write down about one call? The row of its log, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any


class CallOutcome(StrEnum):
    """What the stand-in did, or had drawn to do, with a call. The names of faults are also those of their shares."""

    OK = "ok"
    THROTTLED_RATE = "throttled_rate"
    THROTTLED_IN_FLIGHT = "throttled_in_flight"
    INJECTED_429 = "injected_429"
    ERROR_500 = "error_500"
    ERROR_503 = "error_503"
    HANG = "hang"
    CUT = "cut"
    EMPTY = "empty"
    MALFORMED = "malformed"
    INSIDE_200 = "inside_200"  # an error inside a success
    NO_CREDIT = "no_credit"
    BAD_KEY = "bad_key"
    MODEL_GONE = "model_gone"
    KEEP_ALIVE = "keep_alive"  # a good answer after blank lines
    TRUNCATED = "truncated"
    FILTERED = "filtered"
    REFUSED = "refused"
    BAD_REQUEST = (
        "bad_request"  # the caller's fault: no JSON, no model, too large, too slow, gone before the body's end
    )


# What a client may take as the answer to its question.
ANSWERS = frozenset(
    {CallOutcome.OK, CallOutcome.KEEP_ALIVE, CallOutcome.TRUNCATED, CallOutcome.FILTERED, CallOutcome.REFUSED}
)
THROTTLED = frozenset({CallOutcome.THROTTLED_RATE, CallOutcome.THROTTLED_IN_FLIGHT})


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One call. Times are POSIX seconds; the call is in flight in [arrived, finished).

    ``status``: as sent, None where nothing was (hang, lost connection). ``in_flight``: calls of the platform admitted and
    not yet finished at arrival, plus this one. ``lost``: the connection went before the last byte was written.
    ``complete``: a complete valid 200 was written, drained to the operating system, and the connection was still there.
    ``port``: the caller's end of the connection, 0 where unknown: which process made the call.
    """

    platform: str
    request_id: str
    model: str
    prompt_hash: str
    prompt: str
    arrived: float
    finished: float
    status: int | None
    outcome: CallOutcome
    complete: bool
    in_flight: int
    lost: bool = False
    port: int = 0

    @property
    def task(self) -> str:
        """Task id: the request id without its call number."""
        return self.request_id.rpartition("/")[0] or self.request_id


_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("platform", "request_id", "model", "prompt_hash", "prompt"), (str,)),
    **dict.fromkeys(("arrived", "finished"), (int, float)),
    **dict.fromkeys(("complete", "lost"), (bool,)),
    "status": (int, type(None)),
    "in_flight": (int,),
    "port": (int,),
    "outcome": (str,),
}
_REQUIRED = frozenset(field.name for field in fields(CallRow)) - {"lost", "port"}


# Line ends of Unicode that JSON leaves as they are: escaped, so that every reader of lines sees one line.
_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def row_line(row: CallRow) -> str:
    """The row as a line of the log, with its end."""
    return json.dumps(asdict(row), ensure_ascii=False, separators=(",", ":")).translate(_LINE_ENDS) + "\n"


def parse_rows(lines: Iterable[str], name: str = "log") -> list[CallRow]:
    """Rows of a log, blank lines left out.

    Raises:
        ValueError: a line is no row; the message names ``name`` and the line's number.
    """
    rows = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                rows.append(_row(json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{name}, line {number}: not a row of a call log ({error})") from error
    return rows


def _row(document: Any) -> CallRow:
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    missing = sorted(_REQUIRED - document.keys())
    if missing:
        raise ValueError(f"field {missing[0]!r} is missing")
    known = {key: value for key, value in document.items() if key in _TYPES}
    for key, value in known.items():
        if not isinstance(value, _TYPES[key]):
            raise ValueError(f"field {key!r} has the wrong type: {value!r}")
    known["outcome"] = CallOutcome(known["outcome"])
    return CallRow(**known)
