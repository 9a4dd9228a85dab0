"""What does the data bucket do, kept in memory? The ``BlobStore`` port, right but faultless."""

from __future__ import annotations

import asyncio


class MemoryBlobs:
    """Objects and their content types by key."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.content_types: dict[str, str] = {}

    async def put(self, key: str, body: bytes, content_type: str) -> None:
        """Write an object."""
        await asyncio.sleep(0)
        self.put_at_once(key, body, content_type)

    def put_at_once(self, key: str, body: bytes, content_type: str) -> None:
        """One write."""
        self.objects[key] = bytes(body)
        self.content_types[key] = content_type

    async def get(self, key: str) -> bytes | None:
        """Read an object; None when there is none."""
        await asyncio.sleep(0)
        return self.objects.get(key)

    async def keys(self, prefix: str) -> list[str]:
        """Keys below a prefix, sorted."""
        await asyncio.sleep(0)
        return self.keys_at_once(prefix)

    def keys_at_once(self, prefix: str) -> list[str]:
        """One listing."""
        return sorted(key for key in self.objects if key.startswith(prefix))
