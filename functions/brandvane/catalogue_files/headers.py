"""Which headers may a platform's row add to every call? Those that HTTP can carry, that the call does not set itself, and no key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from brandvane.catalogue_files.record import Record

NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
_KEYS_ELSEWHERE = (
    "Keys belong into the key store: run 'brandvane keys set'; key_header names the header that carries one"
)
# Set by the call or by the connection; another value breaks the request.
SET_BY_THE_CALL = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-client-request-id",
    }
)
_KEY_WORDS = frozenset(
    {"auth", "authorization", "authentication", "bearer", "cookie", "credential", "credentials", "key", "token"}
)
_KEY_PARTS = re.compile(r"secret|password|passwd|apikey|accesskey|authkey|[a-z]token$")


def carriable(value: str) -> bool:
    """Can a header carry this value: printable ASCII, no space around it?"""
    return value.isascii() and value.isprintable() and value == value.strip()


def names_a_key(name: str) -> bool:
    """Does a header's name say that it carries a key?"""
    folded = name.casefold()
    return not _KEY_WORDS.isdisjoint(folded.split("-")) or _KEY_PARTS.search(folded) is not None


def read_headers(record: Record, key_header: str) -> Mapping[str, str]:
    """The field ``headers``; entries with a fault are left out. ``key_header``: the header that the row says carries the key."""
    headers: dict[str, str] = {}
    for name, given in record.free("headers", numbers=False).items():
        value = str(given).lower() if isinstance(given, bool) else str(given)
        if key_header and name.casefold() == key_header.casefold():
            record.fault("headers", "the header that carries the key", _KEYS_ELSEWHERE, value=name)
        elif names_a_key(name):
            record.fault("headers", "keys never stand in a catalogue", _KEYS_ELSEWHERE, value=name)
        elif name.casefold() in SET_BY_THE_CALL:
            record.fault("headers", f"{name} is set by the call itself", "Remove it", value=name)
        elif not NAME.fullmatch(name) or not _single(given):
            record.fault("headers", "not a header", "Write 'Name: value', on one line", value=name)
        elif not carriable(value):
            remedy = "Write printable ASCII characters only, on one line, without spaces around them"
            record.fault("headers", "a value that no HTTP header can carry", remedy, value=name)
        else:
            headers[name] = value
    return headers


def read_key_header(record: Record) -> str:
    """The field ``key_header``; empty where there is none."""
    header = record.text("key_header", longest=64)
    if header and not NAME.fullmatch(header):
        record.fault("key_header", "not a header's name", "Write one such as api-key, or none", value=header)
        return ""
    if header.casefold() in SET_BY_THE_CALL:
        remedy = "Write the header in which the platform wants its key, such as api-key"
        record.fault("key_header", f"{header} is set by the call itself", remedy, value=header)
        return ""
    return header


def read_spoken(record: Record) -> str:
    """The field ``locale``, which is told as ``Accept-Language``."""
    locale = record.text("locale", longest=35)
    if not carriable(locale):
        record.fault("locale", "not a language tag", "Write a tag such as en, zh-CN or en-GB", value=locale)
        return ""
    return locale


def _single(value: Any) -> bool:
    return isinstance(value, str | int | float) and "\n" not in str(value)
