"""What do all requests have alike? The parameters of the platform's row, and the key in the header of protocol or row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brandvane.catalogue import PlatformSettings

KEY_HEADER = "Authorization"


def bearer(settings: PlatformSettings, key: str, content: bytes, now: float) -> dict[str, str]:
    """``Authorization: Bearer``, or the bare key in the header that the row names (Azure: ``api-key``)."""
    return named(settings, key, KEY_HEADER)


def named(settings: PlatformSettings, key: str, usual: str) -> dict[str, str]:
    """The key in the row's header, else in the protocol's usual one."""
    header = settings.key_header or usual
    return {header: f"Bearer {key}" if header.lower() == KEY_HEADER.lower() else key}


@dataclass(frozen=True, slots=True)
class Wishes:
    """A row's parameters: what each protocol words in its own way, and ``plain`` ones, which go in as they are."""

    system: str | None
    search: bool
    plain: dict[str, Any]


def wishes(settings: PlatformSettings) -> Wishes:
    """Take a row's parameters apart."""
    plain = dict(settings.parameters)
    system, search = plain.pop("system", None), plain.pop("search", False)
    return Wishes(system, bool(search), plain)


def chat_messages(system: str | None, prompt: str) -> list[dict[str, str]]:
    """System prompt, if there is one, and question."""
    before = [{"role": "system", "content": system}] if system else []
    return [*before, {"role": "user", "content": prompt}]
