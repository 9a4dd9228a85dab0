"""How are objects kept in S3? The ``BlobStore`` port."""

from __future__ import annotations

from typing import Any

from brandvane.aws.client import Clients, Refused

_ABSENT = frozenset({"NoSuchKey", "404", "NotFound"})


class S3Blobs:
    """The data bucket."""

    def __init__(self, *, clients: Clients, bucket: str) -> None:
        self._clients = clients
        self._bucket = bucket

    async def put(self, key: str, body: bytes, content_type: str) -> None:
        """Write an object."""
        await self._clients.call(
            self._clients.s3.put_object, Bucket=self._bucket, Key=key, Body=body, ContentType=content_type
        )

    async def get(self, key: str) -> bytes | None:
        """Read an object; None when there is none."""
        try:
            return await self._clients.call(self._read, key)
        except Refused as refusal:
            if refusal.code in _ABSENT:
                return None
            raise

    def _read(self, key: str) -> bytes:
        # In the pool's thread to the last byte, so that a body that breaks off is told like any other failure.
        return self._clients.s3.get_object(Bucket=self._bucket, Key=key)["Body"].read()

    async def keys(self, prefix: str) -> list[str]:
        """Keys below a prefix, sorted."""
        found: list[str] = []
        start: dict[str, Any] = {}
        while True:
            reply = await self._clients.call(
                self._clients.s3.list_objects_v2, Bucket=self._bucket, Prefix=prefix, **start
            )
            found += [each["Key"] for each in reply.get("Contents", ())]
            if not reply.get("IsTruncated"):
                return sorted(found)
            start = {"ContinuationToken": reply["NextContinuationToken"]}
