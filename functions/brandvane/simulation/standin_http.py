"""How is an HTTP/1.1 request head read and an answer written? Bytes in, bytes out; no sockets."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

HEAD_MAX_BYTES = 16 * 1024
BODY_MAX_BYTES = 1024 * 1024
JSON = "application/json"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LENGTH = re.compile(r"[0-9]{1,12}")


class HttpFault(Exception):
    """The request breaks HTTP or a size limit: answered with ``status`` and closed."""

    def __init__(self, status: int, message: str) -> None:
        """``message`` is shown to the caller."""
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Head:
    """A request's head; header names are lower case, ``path`` has no query string."""

    method: str
    path: str
    headers: Mapping[str, str]
    length: int
    keep_alive: bool


def parse_head(raw: bytes) -> Head:
    """Read a head without its final blank line.

    Raises:
        HttpFault: 400 malformed, 411 a body of unknown length, 505 another version.
    """
    lines = raw.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not parts[1].startswith("/"):
        raise HttpFault(400, "malformed request line")
    method, target, version = parts
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        status = 505 if version.startswith("HTTP/") else 400
        raise HttpFault(status, "only HTTP/1.1 and HTTP/1.0 are spoken here")
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or not _TOKEN.fullmatch(name) or "\n" in value or "\r" in value or "\0" in value:
            raise HttpFault(400, "malformed header line")
        name = name.lower()
        value = value.strip(" \t")
        if name == "content-length" and headers.get(name, value) != value:
            raise HttpFault(400, "two different Content-Length headers")
        headers[name] = value
    if version == "HTTP/1.1" and "host" not in headers:
        raise HttpFault(400, "the Host header is missing")
    keep_alive = version == "HTTP/1.1" and "close" not in headers.get("connection", "").lower()
    return Head(method, target.partition("?")[0], headers, _length(headers), keep_alive)


def _length(headers: Mapping[str, str]) -> int:
    if "transfer-encoding" in headers:
        raise HttpFault(411, "send the body with Content-Length; chunked bodies are not read here")
    value = headers.get("content-length", "0")
    if not _LENGTH.fullmatch(value):
        raise HttpFault(400, "Content-Length is not a number")
    return int(value)


def encode(
    status: int,
    body: bytes,
    *,
    keep_alive: bool = True,
    content_type: str = JSON,
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """A whole answer."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Content-Type: {content_type}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    lines.append(f"Content-Length: {len(body)}")
    if not keep_alive:
        lines.append("Connection: close")
    return "\r\n".join((*lines, "", "")).encode("latin-1") + body


def as_json(document: object) -> bytes:
    """Compact JSON, UTF-8."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def error_body(message: str, kind: str, code: str | None) -> bytes:
    """An error body in OpenAI's shape."""
    return as_json({"error": {"message": message, "type": kind, "param": None, "code": code}})
