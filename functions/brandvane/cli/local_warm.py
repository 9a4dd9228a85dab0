"""How are a local stack's workers started before the first task is due?

An emulator starts a process for each execution environment, thirty of them for three platforms, one after another on a small
machine. They are started by invocations without messages, so that a run does not begin by waiting for them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from brandvane.aws.keys import function_name
from brandvane.cli.local_stack import session_of
from brandvane.cli.local_state import LocalState
from brandvane.ports import Deployed

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

AT_ONCE_S = 120  # how long the slowest of them may take to start


def warm(state: LocalState, platforms: Sequence[Deployed]) -> int:
    """Start as many environments of each platform's worker as its queue will ask for at once; returns how many."""
    from botocore.config import Config

    names = [function_name(state.stack, f"worker-{each.platform}") for each in platforms]
    wanted = [name for name, each in zip(names, platforms, strict=True) for _ in range(each.invocations)]
    config = Config(read_timeout=AT_ONCE_S, retries={"total_max_attempts": 1}, max_pool_connections=max(len(wanted), 1))
    client = session_of(state).client("lambda", endpoint_url=state.endpoint, config=config)
    # All at once: an environment that is done before the next invocation arrives would be used again.
    with ThreadPoolExecutor(max(len(wanted), 1)) as pool:
        return sum(pool.map(lambda name: _start(client, name), wanted))


def _start(client: LambdaClient, name: str) -> bool:
    reply = client.invoke(FunctionName=name, Payload=json.dumps({"Records": []}).encode())
    reply["Payload"].read()
    return "FunctionError" not in reply
