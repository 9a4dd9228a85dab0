"""Where do pushed catalogues lie, and which one is current? Immutable objects and one pointer, in the data bucket.

``catalogue/versions/{version}.json`` is written before ``catalogue/current.json`` points to it, so that whoever reads the
pointer finds the version. A version is ``{UTC yyyymmddThhmmssZ}-{8 hex of the content's hash}``.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from brandvane.aws.client import not_now
from brandvane.catalogue import Catalogue, content_hash, from_document, to_document
from brandvane.ports import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

VERSIONS = "catalogue/versions/"
CURRENT = "catalogue/current.json"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did: the version that is current now, the one that was, and whether anything was written."""

    version: str
    previous: str | None
    changed: bool


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version in the bucket."""

    version: str
    pushed_at: str  # ISO 8601, UTC
    size: int
    current: bool


class S3CatalogueStore:
    """``ports.CatalogueStore`` on S3, and what operators need besides."""

    def __init__(self, *, s3: S3Client, bucket: str, keep: int = 4) -> None:
        self._client = s3
        self._bucket = bucket
        self._keep = keep
        self._loaded: OrderedDict[str, Catalogue] = OrderedDict()
        self._lock = asyncio.Lock()

    async def load(self, version: str) -> Catalogue:
        """A pushed version; the last few loaded are kept in memory, for they never change.

        Raises:
            LookupError: there is no such version.
            ValueError: it was written by newer code.
            Unavailable: S3 refuses or does not answer.
        """
        async with self._lock:  # a batch of tasks asks for one version at once: fetch it once
            if version not in self._loaded:
                document = await self._get(f"{VERSIONS}{version}.json")
                if document is None:
                    raise LookupError(f"there is no catalogue version {version}")
                self._loaded[version] = from_document(document)
                while len(self._loaded) > self._keep:
                    self._loaded.popitem(last=False)
            self._loaded.move_to_end(version)
            return self._loaded[version]

    async def current(self) -> str | None:
        """The version that the next run will be pinned to; None before the first push.

        Raises:
            Unavailable: S3 refuses or does not answer.
        """
        pointer = await self._get(CURRENT)
        return None if pointer is None else str(pointer["version"])

    async def push(self, catalogue: Catalogue, now: float) -> Pushed:
        """Store a catalogue and make it current. The same content as the current version's changes nothing.

        Raises:
            Unavailable: S3 refuses or does not answer; the pointer is as it was, or the push is complete.
        """
        digest = content_hash(catalogue)
        previous = await self.current()
        if previous is not None and previous.endswith(digest[:8]) and content_hash(await self.load(previous)) == digest:
            return Pushed(previous, previous, False)
        version = f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}-{digest[:8]}"
        await self._put(f"{VERSIONS}{version}.json", to_document(replace(catalogue, version=version)))
        await self._point(version)
        return Pushed(version, previous, True)

    async def rollback(self, version: str) -> Pushed:
        """Make an earlier version current again.

        Raises:
            LookupError: there is no such version.
            Unavailable: S3 refuses or does not answer.
        """
        await self.load(version)
        previous = await self.current()
        if previous == version:
            return Pushed(version, previous, False)
        await self._point(version)
        return Pushed(version, previous, True)

    async def versions(self) -> list[StoredVersion]:
        """All versions, newest first.

        Raises:
            Unavailable: S3 refuses or does not answer.
        """
        current = await self.current()

        def listed() -> list[StoredVersion]:
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=VERSIONS)
            rows = [row for page in pages for row in page.get("Contents", [])]
            names = [(row["Key"].removeprefix(VERSIONS).removesuffix(".json"), row["Size"]) for row in rows]
            return [StoredVersion(name, _instant(name), size, name == current) for name, size in names]

        return sorted(await self._call(listed), key=lambda v: v.version, reverse=True)

    async def _point(self, version: str) -> None:
        await self._put(CURRENT, {"v": 1, "version": version})

    async def _get(self, key: str) -> Any:
        def fetched() -> bytes | None:
            try:
                return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
            except self._client.exceptions.NoSuchKey:
                return None

        body = await self._call(fetched)
        return None if body is None else json.loads(body)

    async def _put(self, key: str, document: Any) -> None:
        body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
        await self._call(
            lambda: self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType="application/json")
        )

    async def _call(self, call: Callable[[], _T]) -> _T:
        """Failures that may pass become ``Unavailable``; a refusal for good (no permission, no bucket) stays what it is."""
        from botocore import exceptions as refusals  # not before it is needed
        from botocore.parsers import ResponseParserError as Unparsable

        try:
            return await asyncio.to_thread(call)
        except (refusals.ConnectionError, refusals.HTTPClientError, refusals.IncompleteReadError, Unparsable) as error:
            raise Unavailable(f"S3 bucket {self._bucket}: {error}") from error
        except refusals.ClientError as error:
            if not_now(error.response):
                raise Unavailable(f"S3 bucket {self._bucket}: {error}") from error
            raise


def _instant(version: str) -> str:
    """The time in a version's name, as ISO 8601; empty for a name that is not of ours."""
    try:
        return datetime.strptime(version.split("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).isoformat()
    except ValueError:
        return ""
