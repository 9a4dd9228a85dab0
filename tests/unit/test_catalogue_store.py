"""Where do pushed catalogues lie? (S3 by moto: nothing here is a race.)"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from brandvane.aws.catalogue_store import Pushed, S3CatalogueStore, StoredVersion
from brandvane.catalogue import Brand, content_hash
from brandvane.ports import Unavailable
from unit.catalogue_samples import catalogue

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

NOON = 1_795_953_600.0  # 2026-11-29 12:00:00 UTC
FIRST = f"20261129T120000Z-{content_hash(catalogue())[:8]}"
OTHER = catalogue(brands=(Brand("nike", "Nike"), Brand("bose", "Bose")))
SECOND = f"20261129T120001Z-{content_hash(OTHER)[:8]}"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Client]:
    """A client with an empty bucket ``data``."""
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
        client.create_bucket(Bucket="data")
        yield client


@pytest.fixture
def store(s3: S3Client) -> S3CatalogueStore:
    """A store on that bucket."""
    return S3CatalogueStore(s3=s3, bucket="data", keep=1)


async def test_before_the_first_push_there_is_no_current_version(store: S3CatalogueStore) -> None:
    assert await store.current() is None
    assert await store.versions() == []


async def test_a_pushed_catalogue_is_current_and_loads_back_with_its_version(store: S3CatalogueStore) -> None:
    assert await store.push(catalogue(), NOON) == Pushed(FIRST, None, True)
    assert await store.current() == FIRST
    assert await store.load(FIRST) == replace(catalogue(), version=FIRST)


async def test_pushing_the_same_content_again_changes_nothing(store: S3CatalogueStore) -> None:
    await store.push(catalogue(), NOON)
    assert await store.push(catalogue(), NOON + 60) == Pushed(FIRST, FIRST, False)
    assert [v.version for v in await store.versions()] == [FIRST]


async def test_other_content_is_a_new_version_and_the_old_one_stays(store: S3CatalogueStore) -> None:
    await store.push(catalogue(), NOON)
    assert await store.push(OTHER, NOON + 1) == Pushed(SECOND, FIRST, True)
    assert (await store.load(FIRST)).brands[0].aliases == ("Nike Running",)
    assert (await store.load(SECOND)).brands[0].aliases == ()


async def test_versions_are_listed_newest_first_with_the_current_one_marked(store: S3CatalogueStore) -> None:
    await store.push(catalogue(), NOON)
    await store.push(OTHER, NOON + 1)
    await store.rollback(FIRST)
    newest, oldest = await store.versions()
    assert newest == StoredVersion(SECOND, "2026-11-29T12:00:01+00:00", newest.size, False)
    assert oldest == StoredVersion(FIRST, "2026-11-29T12:00:00+00:00", oldest.size, True)


async def test_rolling_back_makes_an_earlier_version_current(store: S3CatalogueStore) -> None:
    await store.push(catalogue(), NOON)
    await store.push(OTHER, NOON + 1)
    assert await store.rollback(FIRST) == Pushed(FIRST, SECOND, True)
    assert await store.current() == FIRST
    assert await store.rollback(FIRST) == Pushed(FIRST, FIRST, False)


async def test_content_pushed_after_a_rollback_is_a_version_of_its_own(store: S3CatalogueStore) -> None:
    await store.push(catalogue(), NOON)
    await store.push(OTHER, NOON + 1)
    await store.rollback(FIRST)
    assert (await store.push(OTHER, NOON + 2)).version == f"20261129T120002Z-{content_hash(OTHER)[:8]}"


async def test_the_version_is_written_before_the_pointer(store: S3CatalogueStore, s3: S3Client) -> None:
    written: list[str] = []
    s3.meta.events.register("before-call.s3.PutObject", lambda params, **_: written.append(params["url_path"]))
    await store.push(catalogue(), NOON)
    assert [path.rpartition("catalogue/")[2] for path in written] == [f"versions/{FIRST}.json", "current.json"]


async def test_an_unknown_version_is_a_lookup_error_and_is_not_rolled_back_to(store: S3CatalogueStore) -> None:
    await store.push(catalogue(), NOON)
    with pytest.raises(LookupError, match="there is no catalogue version 20200101T000000Z-00000000"):
        await store.load("20200101T000000Z-00000000")
    with pytest.raises(LookupError):
        await store.rollback("20200101T000000Z-00000000")
    assert await store.current() == FIRST


async def test_a_loaded_version_is_kept_and_only_as_many_as_allowed(store: S3CatalogueStore, s3: S3Client) -> None:
    await store.push(catalogue(), NOON)
    await store.push(OTHER, NOON + 1)
    reads: list[Any] = []
    s3.meta.events.register("before-call.s3.GetObject", lambda **kwargs: reads.append(kwargs))
    await store.load(SECOND)
    await store.load(SECOND)
    assert len(reads) == 1
    await store.load(FIRST)  # the store keeps one: this drops the second
    await store.load(SECOND)
    assert len(reads) == 3


async def test_a_version_written_by_newer_code_is_a_value_error(store: S3CatalogueStore, s3: S3Client) -> None:
    body = json.dumps({"v": 9, "version": "x"}).encode()
    s3.put_object(Bucket="data", Key="catalogue/versions/x.json", Body=body)
    with pytest.raises(ValueError, match="catalogue x has format 9"):
        await store.load("x")


async def test_no_answer_and_a_failing_service_are_unavailable(
    store: S3CatalogueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(error: Exception) -> None:
        def get_object(**_: Any) -> None:
            raise error

        monkeypatch.setattr(store._client, "get_object", get_object)

    fail(EndpointConnectionError(endpoint_url="http://127.0.0.1:9"))
    with pytest.raises(Unavailable):
        await store.current()
    refusal = {"Error": {"Code": "SlowDown"}, "ResponseMetadata": {"HTTPStatusCode": 503}}
    fail(ClientError(refusal, "GetObject"))  # type: ignore[arg-type]
    with pytest.raises(Unavailable):
        await store.current()


async def test_a_refusal_for_good_stays_what_it_is(s3: S3Client) -> None:
    with pytest.raises(ClientError, match="NoSuchBucket"):
        await S3CatalogueStore(s3=s3, bucket="nowhere").current()
