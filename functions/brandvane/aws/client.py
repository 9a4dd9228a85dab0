"""How does the code speak to AWS? Lazy boto3 clients, a bounded thread pool, and every failure as one of two exceptions.

boto3 is imported when the first client is made, never before: importing this module is cheap and does nothing.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from brandvane.ports import Unavailable

if TYPE_CHECKING:
    from boto3.session import Session
    from botocore.config import Config
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_ssm import SSMClient

CONNECT_TIMEOUT_S = 2
READ_TIMEOUT_S = 5
MAX_ATTEMPTS = 3  # in all, the first one included
POOL_CONNECTIONS = 32
THREADS = 16

CONDITION_FAILED = "ConditionalCheckFailedException"
TRANSACTION_CANCELLED = "TransactionCanceledException"

# Refusals that say "not now" (AWS's common errors and those of the services used); 429 and 5xx count whatever their code.
_NOT_NOW = frozenset(
    {
        "InternalError",
        "InternalFailure",
        "InternalServerError",
        "OverLimit",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)

P = ParamSpec("P")
Reply = TypeVar("Reply")


class Refused(Exception):
    """A service understood and said no; trying the same again is of no use.

    ``code`` is AWS's error code, ``detail`` the whole error response (old item, cancellation reasons), ``repeated`` whether the
    SDK had sent the request more than once, so that the refusal may be the echo of its own earlier success.
    """

    def __init__(self, code: str, message: str, detail: Mapping[str, Any], *, repeated: bool = False) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.detail = detail
        self.repeated = repeated


class Clients:
    """One client a service, made when first used and shared by all threads; a pool of threads for all calls, and one for SQS.

    A request that hangs keeps its thread for all its attempts, also when its caller has given up. An answer that the table does
    not take goes to a queue: that way must not wait for threads which the table holds (DESIGN §2).
    """

    def __init__(
        self, *, threads: int = THREADS, endpoint_url: str | None = None, session: Session | None = None
    ) -> None:
        """``endpoint_url`` and ``session`` (region, credentials) stand in for what the environment says."""
        self._endpoint_url = endpoint_url
        self._given_session = session
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="aws")
        self._queue_pool = ThreadPoolExecutor(threads, thread_name_prefix="sqs")
        self._making = Lock()

    async def call(self, method: Callable[P, Reply], *args: P.args, **kwargs: P.kwargs) -> Reply:
        """Run one client method in its pool.

        Raises:
            Unavailable: throttled, failing, or no answer in time; a write may or may not have happened.
            Refused: any other error response, and faults found before sending (no credentials, wrong parameters).
        """
        run = partial(_translated, method, *args, **kwargs)
        queues = getattr(method, "__self__", None) is self.__dict__.get("sqs", self)
        pool = self._queue_pool if queues else self._pool
        return await asyncio.get_running_loop().run_in_executor(pool, run)

    def close(self) -> None:
        """Let the threads end; calls under way are finished first."""
        self._pool.shutdown()
        self._queue_pool.shutdown()

    @cached_property
    def dynamodb(self) -> DynamoDBClient:
        """Amazon DynamoDB."""
        client: DynamoDBClient = self._client("dynamodb")
        return client

    @cached_property
    def sqs(self) -> SQSClient:
        """Amazon SQS."""
        client: SQSClient = self._client("sqs")
        return client

    @cached_property
    def s3(self) -> S3Client:
        """Amazon S3."""
        client: S3Client = self._client("s3")
        return client

    @cached_property
    def functions(self) -> LambdaClient:
        """AWS Lambda."""
        client: LambdaClient = self._client("lambda")
        return client

    @cached_property
    def ssm(self) -> SSMClient:
        """AWS Systems Manager, for parameters."""
        client: SSMClient = self._client("ssm")
        return client

    @cached_property
    def cloudwatch(self) -> CloudWatchClient:
        """Amazon CloudWatch."""
        client: CloudWatchClient = self._client("cloudwatch")
        return client

    def _client(self, service: str) -> Any:
        with self._making:
            config = client_config(emulated=self._emulated)
            return self._session.client(service, config=config, endpoint_url=self._endpoint_url)

    @property
    def _emulated(self) -> bool:
        return self._endpoint_url is not None or not {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"}.isdisjoint(os.environ)

    @cached_property
    def _session(self) -> Any:
        if self._given_session is not None:
            return self._given_session
        import boto3

        return boto3.session.Session()


def client_config(*, emulated: bool) -> Config:
    """Short timeouts, three attempts in all, connections for every thread, and path-style buckets on an emulator."""
    from botocore.config import Config

    return Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        retries={"mode": "standard", "total_max_attempts": MAX_ATTEMPTS},
        max_pool_connections=POOL_CONNECTIONS,
        s3={"addressing_style": "path" if emulated else "auto"},
    )


def _translated(method: Callable[P, Reply], *args: P.args, **kwargs: P.kwargs) -> Reply:
    from botocore import exceptions as faults
    from botocore.parsers import ResponseParserError

    try:
        return method(*args, **kwargs)
    except faults.ClientError as error:
        raise _of_response(error.response) from error
    except (
        faults.HTTPClientError,
        faults.ConnectionError,
        faults.IncompleteReadError,
        ResponseParserError,
    ) as error:
        raise Unavailable(str(error)) from error
    except faults.BotoCoreError as error:
        raise Refused(type(error).__name__, str(error), {}) from error


def not_now(response: Mapping[str, Any]) -> bool:
    """May an error response be another one when the same is asked again?"""
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return _code(response) in _NOT_NOW or status == 429 or status >= 500


def _code(response: Mapping[str, Any]) -> str:
    # SQS in its older protocol writes codes like AWS.SimpleQueueService.NonExistentQueue.
    return str(response.get("Error", {}).get("Code", "Unknown")).rpartition(".")[2]


def _of_response(response: Mapping[str, Any]) -> Unavailable | Refused:
    code, message = _code(response), str(response.get("Error", {}).get("Message", ""))
    meta = response.get("ResponseMetadata", {})
    if not_now(response):
        return Unavailable(f"{code}: {message}")
    return Refused(code, message, response, repeated=int(meta.get("RetryAttempts", 0)) > 0)
