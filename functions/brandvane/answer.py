"""What came back from a platform: an answer (usable or not) or a failure. The shapes every protocol module produces.

The stored form of an answer is one JSON document, zlib-compressed (``pack``); above 8 KB packed it lives in S3 and record
and row carry the key instead. Money is whole micro-dollars.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from brandvane.policy import ErrorKind
from brandvane.task import Outcome

INLINE_MAX_BYTES = 8 * 1024  # one threshold everywhere (DESIGN §3)
RAW_MAX_BYTES = 5 * 1024 * 1024
ANSWER_VERSION = 2  # 2: a citation's position, searches

AnswerStatus = Literal["ok", "truncated", "refused", "filtered"]
Scope = Literal["task", "target", "platform"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the platform counted them (0 where it does not say)."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0  # part of the output's
    searches: int = 0  # that the platform bills apart

    def cost_microusd(self, price: tuple[float, float], price_search: float = 0.0) -> int:
        """Cost in micro-dollars at ``price``: dollars a million tokens, input and output (so tokens × price), and dollars a search."""
        return round(self.input_tokens * price[0] + self.output_tokens * price[1] + self.searches * price_search * 1e6)


@dataclass(frozen=True, slots=True)
class Citation:
    """A source the answer names (``cited``) or only looked at (``retrieved``)."""

    url: str
    title: str = ""
    kind: Literal["cited", "retrieved"] = "cited"
    position: int | None = None  # cited: where in the text, in code points; retrieved: its rank, from 1


@dataclass(frozen=True, slots=True)
class Answer:
    """A platform's answer, as text and as it came."""

    status: AnswerStatus
    text: str
    served_model: str = ""
    finish_reason: str = ""
    provider_request_id: str = ""
    usage: Usage = field(default_factory=Usage)
    citations: tuple[Citation, ...] = ()
    search_queries: tuple[str, ...] = ()
    cost_microusd: int = 0  # as the platform tells it, else by the price row
    request: Mapping[str, Any] = field(default_factory=dict)  # parameters as sent, never the key
    raw: str = ""
    latency_s: float = 0.0
    v: int = ANSWER_VERSION

    @property
    def outcome(self) -> Outcome:
        """The task's outcome that this answer means."""
        return Outcome(self.status)


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that gave no usable answer. ``message`` is safe to log: no key, no answer text."""

    kind: ErrorKind
    message: str
    scope: Scope = "task"
    retry_after: float | None = None
    http_status: int | None = None
    raw: str = ""
    latency_s: float = 0.0


def pack(answer: Answer) -> bytes:
    """The stored form: deterministic JSON, compressed."""
    document = json.dumps(asdict(answer), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    # A platform's JSON may hold half a surrogate pair, which no UTF-8 can; it becomes "?" rather than stopping the answer.
    return zlib.compress(document.encode("utf-8", "replace"), level=6)


def unpack(packed: bytes) -> Answer:
    """Read the stored form back.

    Raises:
        ValueError: the bytes are not an answer of this or an older version.
    """
    try:
        document = json.loads(zlib.decompress(packed))
        usage = Usage(**_known(Usage, document.pop("usage")))
        citations = tuple(Citation(**_known(Citation, row)) for row in document.pop("citations"))
        queries = tuple(document.pop("search_queries"))
        rest = _known(Answer, document)
        return Answer(**rest, usage=usage, citations=citations, search_queries=queries)
    except (zlib.error, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"stored answer cannot be read: {error}") from error


def _known(shape: type, row: Mapping[str, Any]) -> dict[str, Any]:
    """What this release knows of a row: a newer one's further fields must not cost the answer."""
    names = {f.name for f in fields(shape)}
    return {name: value for name, value in row.items() if name in names}


def answer_key(run_id: str, task_id: str, attempt_id: str) -> str:
    """S3 key of an answer too large to live in a record."""
    return f"answers/{run_id}/{task_id}/{attempt_id}"


def late_key(run_id: str, task_id: str, attempt_id: str) -> str:
    """S3 key of an answer that came after authority over its task had gone."""
    return f"late/{run_id}/{task_id}/{attempt_id}"
