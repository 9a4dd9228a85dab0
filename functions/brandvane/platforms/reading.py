"""What do all protocols read alike? The document, counts, texts without thoughts, citations, and how an answer is put together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from brandvane.answer import Answer, AnswerStatus, Citation, Failure, Usage
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.errors import classify, failure, hint
from brandvane.platforms.json_body import NotJson, is_events, load
from brandvane.policy import ErrorKind

_COUNT_MAX = 10**9
_CITATIONS_MAX = 500
_URL_MAX = 4000
_TITLE_MAX = 500
_QUERIES_MAX = 100
_OPEN, _CLOSE = "<think>", "</think>"


def document_of(
    settings: PlatformSettings, status: int, headers: Mapping[str, str], body: bytes, now: float
) -> dict[str, Any] | Failure:
    """The document of a response that may be an answer; what is certainly none is a failure already."""
    if not 200 <= status < 300:
        return classify(hint(settings), status, headers, body, now)
    try:
        document = load(body)
    except NotJson:
        if not body.strip():
            return failure(ErrorKind.EMPTY, f"HTTP {status} with an empty body", status=status)
        if is_events(body):
            return classify(hint(settings), status, headers, body, now)  # an error as the only event of a stream
        return failure(ErrorKind.MALFORMED, f"HTTP {status} with a body that is not JSON", status=status, body=body)
    if not isinstance(document, dict):
        return failure(ErrorKind.MALFORMED, "the body is not a JSON object", status=status, body=body)
    return document


@dataclass(frozen=True, slots=True)
class Received:
    """A response as it came; what a protocol makes of it is made here. ``now``: POSIX seconds."""

    settings: PlatformSettings
    status: int
    headers: Mapping[str, str]
    body: bytes
    now: float

    def failed(self, kind: ErrorKind, what: str) -> Failure:
        """No usable answer."""
        return failure(kind, what, status=self.status, body=self.body)

    def malformed(self, what: str) -> Failure:
        """A body that is no answer of its protocol."""
        return self.failed(ErrorKind.MALFORMED, what)

    def told_error(self, error: Any) -> Failure:
        """An error that stands inside a success."""
        body = json.dumps({"error": error}).encode()
        told = classify(hint(self.settings), self.status, self.headers, body, self.now)
        return failure(
            told.kind,
            told.message,
            retry_after=told.retry_after,
            status=self.status,
            body=self.body,
            scope=told.scope,
        )

    def answered(
        self,
        status: AnswerStatus,
        text: str,
        *,
        model: Any = "",
        finish: str = "",
        request_id: Any = "",
        usage: Usage | None = None,
        citations: Iterable[Citation] = (),
        queries: Iterable[Any] = (),
        cost_microusd: int = 0,
    ) -> Answer | Failure:
        """The answer; one that should have text and has none is empty, which is a failure."""
        if status == "ok" and not text:
            return self.failed(ErrorKind.EMPTY, "the answer has no text")
        asked = dict.fromkeys(query for query in queries if isinstance(query, str) and query)
        return Answer(
            status=status,
            text=text,
            served_model=word(model),
            finish_reason=finish,
            provider_request_id=word(request_id),
            usage=usage or Usage(),
            citations=_once(citations),
            search_queries=tuple(asked)[:_QUERIES_MAX],
            cost_microusd=cost_microusd,
            raw=self.body.decode("utf-8", "replace"),
        )


class Reader(Protocol):
    """How every protocol reads a response."""

    def __call__(
        self, settings: PlatformSettings, status: int, headers: Mapping[str, str], body: bytes, now: float
    ) -> Answer | Failure:
        """Read a response, whatever it is."""
        ...


def reader(answer_of: Callable[[Received, dict[str, Any]], Answer | Failure]) -> Reader:
    """A protocol's reader: ``answer_of`` gets the documents that may be answers."""

    def read(
        settings: PlatformSettings, status: int, headers: Mapping[str, str], body: bytes, now: float
    ) -> Answer | Failure:
        document = document_of(settings, status, headers, body, now)
        if isinstance(document, Failure):
            return document
        return answer_of(Received(settings, status, headers, body, now), document)

    return read


def first(rows: Any) -> dict[str, Any]:
    """The first row of a list, where it is a mapping; else an empty one."""
    return mapping(next(iter(listed(rows)), None))


def _once(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    kept: dict[tuple[str, str], Citation] = {}
    for citation in citations:
        kept.setdefault((citation.kind, citation.url), citation)
        if len(kept) >= _CITATIONS_MAX:
            break
    return tuple(kept.values())


def cited(row: Any, url: str = "url", title: str = "title", at: str = "start_index") -> list[Citation]:
    """The source that a row names in the text; none where it names none."""
    return _citation(row, url, title, "cited", row.get(at) if isinstance(row, dict) else None)


def retrieved(rows: Any, url: str = "url", title: str = "title", first: int = 1) -> list[Citation]:
    """Sources that were looked at, in their order."""
    found: list[Citation] = []
    for rank, row in enumerate(listed(rows), first):
        found.extend(_citation(row, url, title, "retrieved", rank))
    return found


def _citation(row: Any, url: str, title: str, kind: Any, position: Any) -> list[Citation]:
    where = row.get(url) if isinstance(row, dict) else None
    if not isinstance(where, str) or not where or len(where) > _URL_MAX:
        return []
    at = position if isinstance(position, int) and not isinstance(position, bool) and position >= 0 else None
    return [Citation(where, word(row.get(title))[:_TITLE_MAX], kind, at)]


def mapping(value: Any) -> dict[str, Any]:
    """The value when it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def word(value: Any) -> str:
    """The value when it is a text, else none."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int:
    """A count of tokens; 0 for what is none."""
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _COUNT_MAX
    return value if good else 0


def spoken(text: str) -> str:
    """An answer's text without the thoughts that some models put into it: closed, never closed, or opened by the template."""
    if _CLOSE in text and _OPEN not in text.partition(_CLOSE)[0]:
        text = text.partition(_CLOSE)[2]
    if _OPEN in text:
        first, *others = text.split(_OPEN)
        kept = [first]
        for other in others:
            _, closed, after = other.partition(_CLOSE)
            kept.append(after.lstrip() if closed else "")
        text = "".join(kept)
    return text.strip()
