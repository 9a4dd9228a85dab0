"""The bridge to boto3: which failure is which, and what importing costs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from typing import Any

import boto3
import pytest
from botocore import exceptions as faults
from botocore.stub import Stubber

from brandvane.aws.client import Clients, Refused, client_config
from brandvane.ports import Unavailable
from unit.aws_fakes import refusal


def failing(error: Exception) -> Any:
    def method() -> None:
        raise error

    return method


THROTTLES = [
    "ThrottlingException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "TooManyRequestsException",
    "SlowDown",
    "TransactionConflictException",
]


@pytest.mark.parametrize("code", THROTTLES)
async def test_a_throttle_is_unavailable(code: str) -> None:
    with pytest.raises(Unavailable, match=code):
        await Clients().call(failing(refusal(code)))


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_status_that_says_not_now_is_unavailable_whatever_its_code(status: int) -> None:
    with pytest.raises(Unavailable):
        await Clients().call(failing(refusal("Whatever", status=status)))


LOST_CONNECTIONS = [
    faults.EndpointConnectionError(endpoint_url="http://127.0.0.1:1"),
    faults.ConnectTimeoutError(endpoint_url="http://127.0.0.1:1"),
    faults.ReadTimeoutError(endpoint_url="http://127.0.0.1:1"),
    faults.ConnectionClosedError(endpoint_url="http://127.0.0.1:1"),
    faults.IncompleteReadError(actual_bytes=1, expected_bytes=2),
]


@pytest.mark.parametrize("error", LOST_CONNECTIONS, ids=lambda error: type(error).__name__)
async def test_a_lost_connection_is_unavailable(error: Exception) -> None:
    with pytest.raises(Unavailable):
        await Clients().call(failing(error))


async def test_a_failed_condition_is_refused_with_its_code_and_the_old_item() -> None:
    error = refusal("ConditionalCheckFailedException", Item={"v": {"N": "1"}})
    with pytest.raises(Refused) as caught:
        await Clients().call(failing(error))
    assert (caught.value.code, caught.value.repeated) == ("ConditionalCheckFailedException", False)
    assert caught.value.detail["Item"] == {"v": {"N": "1"}}


async def test_a_refusal_tells_that_the_sdk_had_sent_the_request_before() -> None:
    with pytest.raises(Refused) as caught:
        await Clients().call(failing(refusal("ConditionalCheckFailedException", retries=1)))
    assert caught.value.repeated


async def test_codes_of_the_older_sqs_protocol_lose_their_prefix() -> None:
    with pytest.raises(Refused) as caught:
        await Clients().call(failing(refusal("AWS.SimpleQueueService.NonExistentQueue")))
    assert caught.value.code == "NonExistentQueue"


async def test_missing_credentials_are_refused_in_one_sentence() -> None:
    with pytest.raises(Refused, match="NoCredentialsError: Unable to locate credentials"):
        await Clients().call(failing(faults.NoCredentialsError()))


async def test_a_fault_of_our_own_stays_what_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        await Clients().call(failing(ZeroDivisionError()))


async def test_throttling_of_a_real_client_is_unavailable() -> None:
    session = boto3.session.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
    clients = Clients(endpoint_url="http://127.0.0.1:1", session=session)
    with Stubber(clients.dynamodb) as stubber:
        stubber.add_client_error("get_item", "ThrottlingException", http_status_code=400)
        with pytest.raises(Unavailable):
            await clients.call(clients.dynamodb.get_item, TableName="tasks", Key={"task_id": {"S": "x"}})


async def test_calls_run_in_threads_of_the_pool() -> None:
    names = [await Clients().call(lambda: threading.current_thread().name) for _ in range(2)]
    assert all(name.startswith("aws") for name in names)


def test_a_client_is_made_once() -> None:
    session = boto3.session.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
    clients = Clients(session=session)
    assert clients.sqs is clients.sqs


def test_timeouts_are_short_and_tries_are_few() -> None:
    config: Any = client_config(emulated=False)
    assert (config.connect_timeout, config.read_timeout, config.max_pool_connections) == (2, 5, 32)
    assert config.retries == {"mode": "standard", "total_max_attempts": 3}
    assert config.s3 == {"addressing_style": "auto"}


def test_an_emulator_is_asked_for_buckets_by_path() -> None:
    config: Any = client_config(emulated=True)
    assert config.s3 == {"addressing_style": "path"}


def test_importing_the_adapters_loads_no_sdk() -> None:
    modules = (
        "blobs client control_store deployment functions queues result_store run_store secrets stat_store task_store"
    )
    imports = "; ".join(f"import brandvane.aws.{name}" for name in modules.split())
    check = f"import sys; {imports}; print(sorted({{'boto3', 'botocore', 'httpx'}} & sys.modules.keys()))"
    told = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


async def test_a_queue_is_reached_while_every_thread_of_the_table_hangs() -> None:
    clients = Clients(threads=1, session=boto3.session.Session("a", "b", region_name="eu-central-1"))
    hang = threading.Event()
    stuck = asyncio.ensure_future(clients.call(hang.wait))
    with Stubber(clients.sqs) as stub:
        stub.add_response("get_queue_url", {"QueueUrl": "https://q"}, {"QueueName": "q"})
        assert (await clients.call(clients.sqs.get_queue_url, QueueName="q"))["QueueUrl"] == "https://q"
    assert not stuck.done()
    hang.set()
    assert await stuck
