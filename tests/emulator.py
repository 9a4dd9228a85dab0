"""Which emulator do the tests speak to, and which tables, queues and bucket do they use there?

With ``AWS_ENDPOINT_URL`` (and, if wanted, ``AWS_ENDPOINT_URL_DYNAMODB``) in the environment it is that one; otherwise one is
started for the session and stopped at its end. Names are unique to the session, so that one emulator serves many.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3

from brandvane.aws.client import Clients
from brandvane.aws.keys import (
    BY_RUN_INDEX,
    OPEN_INDEX,
    RECENT_INDEX,
    WATCH_INCLUDES,
    WATCH_INDEX,
    Tables,
    queue_name,
    tables_of,
)
from brandvane.cli import emulator


@contextmanager
def running_emulator(home: Path) -> Iterator[str]:
    """The endpoint of the emulator the environment names, or of one started here (log and temporary files in ``home``)."""
    named = os.environ.get("AWS_ENDPOINT_URL")
    if named:
        yield named
        return
    started = emulator.start(home=home)
    try:
        yield started.endpoint
    finally:
        emulator.stop(started.pid)
        emulator.clean(started)


def clients_for(endpoint: str) -> Clients:
    """Clients of the emulator; where the environment names endpoints, the environment decides for each service."""
    told = emulator.environment_of(endpoint)
    session = boto3.session.Session(
        aws_access_key_id=told["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=told["AWS_SECRET_ACCESS_KEY"],
        region_name=told["AWS_DEFAULT_REGION"],
    )
    named = os.environ.get("AWS_ENDPOINT_URL") == endpoint
    return Clients(endpoint_url=None if named else endpoint, session=session)


def unique_stack() -> str:
    """A stack name that no other session uses."""
    return f"test-{uuid.uuid4().hex[:10]}"


def create_tables(clients: Clients, stack: str) -> Tables:
    """The five tables of a stack, with the keys and indexes of the template."""
    tables = tables_of(stack)
    watch = _index(WATCH_INDEX, "watch", "act_at", WATCH_INCLUDES)
    recent, unfinished = _index(RECENT_INDEX, "kind", "created_at"), _index(OPEN_INDEX, "open", "created_at")
    _create_table(clients, tables.tasks, ("task_id",), {"act_at"}, [watch])
    _create_table(clients, tables.results, ("pk", "sk"), set(), [_index(BY_RUN_INDEX, "run", None, ())])
    _create_table(clients, tables.runs, ("run_id",), {"created_at"}, [recent, unfinished])
    _create_table(clients, tables.control, ("id",), set(), [])
    _create_table(clients, tables.stats, ("platform", "at"), set(), [])
    return tables


def _index(name: str, hash_key: str, range_key: str | None, includes: tuple[str, ...] | None = None) -> dict[str, Any]:
    """An index; ``includes`` None: all attributes, none: keys only."""
    if includes is None:
        projection: dict[str, Any] = {"ProjectionType": "ALL"}
    elif includes:
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(includes)}
    else:
        projection = {"ProjectionType": "KEYS_ONLY"}
    keys = (hash_key,) if range_key is None else (hash_key, range_key)
    return {"IndexName": name, "KeySchema": _key_schema(keys), "Projection": projection}


def _key_schema(keys: tuple[str, ...]) -> list[dict[str, str]]:
    return [{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)]


def _create_table(
    clients: Clients, name: str, keys: tuple[str, ...], numbers: set[str], indexes: list[dict[str, Any]]
) -> None:
    attributes = {*keys, *(key["AttributeName"] for index in indexes for key in index["KeySchema"])}
    wanted: dict[str, Any] = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _key_schema(keys),
        "AttributeDefinitions": [
            {"AttributeName": each, "AttributeType": "N" if each in numbers else "S"} for each in sorted(attributes)
        ],
    }
    if indexes:
        wanted["GlobalSecondaryIndexes"] = indexes
    clients.dynamodb.create_table(**wanted)
    clients.dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30})


def create_queue(clients: Clients, stack: str, queue: str, *, visibility_s: int, max_receives: int) -> None:
    """A queue and its dead-letter queue by their logical name."""
    dead = clients.sqs.create_queue(QueueName=queue_name(stack, f"{queue}-dead"))["QueueUrl"]
    arn = clients.sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    clients.sqs.create_queue(
        QueueName=queue_name(stack, queue),
        Attributes={
            "VisibilityTimeout": str(visibility_s),
            "RedrivePolicy": f'{{"deadLetterTargetArn": "{arn}", "maxReceiveCount": {max_receives}}}',
        },
    )


def create_bucket(clients: Clients, stack: str) -> str:
    """The data bucket of a stack."""
    name = f"{stack}-data"
    clients.s3.create_bucket(Bucket=name)
    return name
