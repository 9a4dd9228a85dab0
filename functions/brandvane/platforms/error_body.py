"""What does an error body tell, whatever its shape? Codes, most telling first, and the words of its messages.

Shapes read: OpenAI ``{"error": {…}}``, Anthropic, Google (with ``details``, in a list, or as JSON inside the message), DashScope and
SiliconFlow at the top level, Tencent Cloud ``{"Response": {"Error" | "ErrorMsg": …}}``, MiniMax ``base_resp``, Baidu ``error_code``,
FastAPI ``detail``, AWS ``__type``, OpenRouter ``metadata``, server-sent events with an error in them, plain text, HTML.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from brandvane.platforms.json_body import NotJson, events, is_events, load, nested

_TEXT_MAX = 2000
_DEPTH_MAX = 8
_ITEMS_MAX = 40
_CODES_MAX = 24
# Where an error stands inside a document, the more telling places first.
_INNER = (
    "innererror",
    "inner_error",
    "details",
    "metadata",
    "violations",
    "errors",
    "error",
    "Error",
    "ErrorMsg",
    "Response",
    "response",
    "base_resp",
    "fault",
    "header",
    "raw",
    "cause",
    "body",
    "incomplete_details",
)
_CODES = (
    "upstream_code",
    "error_code",
    "reason",
    "limit_source",
    "quotaId",
    "code",
    "Code",
    "errorCode",
    "err_code",
    "status_code",
    "__type",
    "error_type",
    "type",
    "Type",
    "status",
    "statusCode",
)
_TEXTS = (
    "message",
    "Message",
    "Msg",
    "msg",
    "error_msg",
    "errorMessage",
    "status_msg",
    "detail",
    "description",
    "title",
    "error",
    "raw",
)
_FLAGS = ("flagged_input", "reasons")  # only moderation says these
_TAG = re.compile(r"<(title|h1|h2)[^>]{0,200}>(.{0,300}?)</\1", re.IGNORECASE | re.DOTALL)
_MARKUP = re.compile(rb"\s*(<!doctype html|<html|<head|<body|<\?xml|<center)", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z0-9_.:/#-]{1,100}")
_FINE = frozenset({"", "0", "200", "ok", "success", "error", "null", "none", "invalid_request_error_"})


@dataclass(frozen=True, slots=True)
class Told:
    """What a body tells. ``codes`` in lower case; ``markup``: a page for people; ``documents``: what JSON there was."""

    codes: tuple[str, ...] = ()
    text: str = ""
    markup: bool = False
    flagged: bool = False
    zero: bool = False  # a limit of zero
    documents: tuple[Any, ...] = ()


def read_told(body: bytes, headers: Mapping[str, str]) -> Told:
    """Take a body apart."""
    header = headers.get("x-amzn-errortype", "").partition(":")[0]
    if _MARKUP.match(body):
        page = body[:20_000].decode("utf-8", "replace")
        shown = " ".join(html.unescape(" ".join(found[2].split())) for found in _TAG.finditer(page))
        return Told(text=shown[:_TEXT_MAX], markup=True)
    if is_events(body):
        frames, _ = events(body)
        documents: list[Any] = [frame for frame in frames if _has_error(frame)][:3] or frames[:1]
    else:
        try:
            documents = [load(body)]
        except NotJson:
            return Told((header.lower(),) if header else (), body[:_TEXT_MAX].decode("utf-8", "replace"))
    found = _Found()
    for document in documents:
        found.read(document, 0)
    codes = [header, *found.codes] if header else found.codes
    clean = tuple(dict.fromkeys(code for code in map(_clean, codes) if code not in _FINE))
    return Told(
        clean,
        " ".join(dict.fromkeys(found.texts))[:_TEXT_MAX],
        False,
        found.flagged,
        found.zero,
        tuple(found.documents),
    )


def _clean(code: str) -> str:
    return code.strip().lower().rpartition("#")[2]


def _has_error(frame: Any) -> bool:
    if not isinstance(frame, dict):
        return False
    inner = frame.get("Response", frame.get("response"))
    return any(frame.get(name) for name in ("error", "Error", "ErrorMsg", "base_resp")) or _has_error(inner)


class _Found:
    """Gathers from documents, the inside of each before its own fields."""

    def __init__(self) -> None:
        self.codes: list[str] = []
        self.texts: list[str] = []
        self.documents: list[Any] = []
        self.flagged = False
        self.zero = False

    def read(self, value: Any, depth: int) -> None:
        if depth > _DEPTH_MAX or len(self.codes) > _CODES_MAX:
            return
        if isinstance(value, list):
            for item in value[:_ITEMS_MAX]:
                self.read(item, depth + 1)
        elif isinstance(value, dict):
            self._mapping(value, depth)
        elif isinstance(value, str):
            self._text(value, depth)

    def _mapping(self, value: dict[str, Any], depth: int) -> None:
        self.documents.append(value)
        self.flagged = self.flagged or any(value.get(name) for name in _FLAGS)
        self.zero = self.zero or any(str(value.get(name)) == "0" for name in ("quota_limit_value", "quotaValue"))
        for name in _INNER:
            inner = value.get(name)
            if isinstance(inner, dict | list) or (name == "raw" and isinstance(inner, str)):
                self.read(inner, depth + 1)
        for name in _TEXTS:
            if isinstance(value.get(name), str):
                self._text(value[name], depth)
        self._sentences(value)
        self.codes.extend(_codes(value))

    def _sentences(self, value: dict[str, Any]) -> None:
        """A code that is a sentence (xAI) is text."""
        for name in ("code", "type"):
            said = value.get(name)
            if isinstance(said, str) and not _CODE.fullmatch(said.strip()):
                self.texts.append(said[:_TEXT_MAX])

    def _text(self, text: str, depth: int) -> None:
        inside = nested(text) if depth < _DEPTH_MAX else None
        if isinstance(inside, dict) and inside:
            self.read(inside, depth + 1)
        self.texts.append(text[:_TEXT_MAX])


def _codes(value: dict[str, Any]) -> Iterator[str]:
    for name in _CODES:
        code = value.get(name)
        if isinstance(code, bool) or not isinstance(code, str | int):
            continue
        if _CODE.fullmatch(str(code).strip()):
            yield str(code)
