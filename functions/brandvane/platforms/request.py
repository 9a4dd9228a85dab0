"""What does a request carry besides its body? The key, in the header of the protocol or of the platform's row."""

from __future__ import annotations

from brandvane.catalogue import PlatformSettings

KEY_HEADER = "Authorization"


def bearer(settings: PlatformSettings, key: str, content: bytes, now: float) -> dict[str, str]:
    """``Authorization: Bearer``, or the bare key in the header that the row names (Azure: ``api-key``)."""
    return named(settings, key, KEY_HEADER)


def named(settings: PlatformSettings, key: str, usual: str) -> dict[str, str]:
    """The key in the row's header, else in the protocol's usual one."""
    header = settings.key_header or usual
    return {header: f"Bearer {key}" if header.lower() == KEY_HEADER.lower() else key}
