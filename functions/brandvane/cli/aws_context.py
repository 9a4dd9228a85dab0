"""Which stack does a command speak to, and through which clients?"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

import click

from brandvane.cli.errors import CliError
from brandvane.platforms.registry import is_loopback
from brandvane.ports import Deployed

if TYPE_CHECKING:
    from brandvane.aws.client import Clients

DEFAULT_STACK = "brandvane"
CONNECT_TIMEOUT_S = 3
READ_TIMEOUT_S = 30
MAX_ATTEMPTS = 3
# What an emulator on this machine is content with when the machine has no credentials or region of its own.
LOCAL_REGION = "us-east-1"
LOCAL_KEY = "test"

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass
class AwsContext:
    """A stack, and how to reach it. ``endpoint_url`` None leaves it to AWS_ENDPOINT_URL and its relatives."""

    stack: str = DEFAULT_STACK
    profile: str | None = None
    region: str | None = None
    endpoint_url: str | None = None
    _session: Any = field(default=None, repr=False)
    _clients: dict[str, Any] = field(default_factory=dict, repr=False)
    _outputs: Mapping[str, str] | None = field(default=None, repr=False)

    @property
    def endpoint(self) -> str | None:
        """The address that stands in for AWS, if one does."""
        return self.endpoint_url or os.environ.get("AWS_ENDPOINT_URL") or None

    @property
    def is_local(self) -> bool:
        """Is it an emulator on this machine?"""
        return self.endpoint is not None and is_loopback(urlsplit(self.endpoint).hostname or "")

    def client(self, service: str) -> Any:
        """A boto3 client: short timeouts, at most 3 tries; one a service.

        Raises:
            CliError: boto3 is not installed.
        """
        if service not in self._clients:
            self._clients[service] = self._boto_session().client(
                service, endpoint_url=self.endpoint_url, config=_config(emulated=self.endpoint is not None)
            )
        return self._clients[service]

    def clients(self) -> Clients:
        """What the ports' adapters in ``brandvane.aws`` are made with, for this context's account and address.

        Raises:
            CliError: boto3 is not installed.
        """
        from brandvane.aws.client import Clients

        return Clients(endpoint_url=self.endpoint_url, session=self._boto_session())

    def outputs(self) -> Mapping[str, str]:
        """The stack's outputs, read once.

        Raises:
            CliError: there is no such stack, or it never came up.
        """
        if self._outputs is None:
            self._outputs = self._read_outputs()
        return self._outputs

    def output(self, name: str) -> str:
        """One output of the stack.

        Raises:
            CliError: no such stack, or one without this output.
        """
        try:
            return self.outputs()[name]
        except KeyError:
            raise CliError(
                f"stack '{self.stack}' has no output {name}: it is not a Brandvane stack, or an older one; deploy it again"
            ) from None

    def platforms(self) -> tuple[Deployed, ...]:
        """Every platform that has a deployed worker, by name (from the parameters that the template writes)."""
        pages = self.client("ssm").get_paginator("get_parameters_by_path").paginate(Path=f"/{self.stack}/platforms")
        rows = [json.loads(row["Value"]) for page in pages for row in page["Parameters"]]
        deployed = (
            Deployed(row["platform"], int(row["invocations"]), int(row["batch_size"]), int(row["call_timeout"]))
            for row in rows
        )
        return tuple(sorted(deployed, key=lambda d: d.platform))

    def _read_outputs(self) -> Mapping[str, str]:
        from botocore.exceptions import ClientError

        client = self.client("cloudformation")
        try:
            stacks = client.describe_stacks(StackName=self.stack)["Stacks"]
        except ClientError as error:
            if error.response["Error"]["Code"] == "ValidationError":  # CloudFormation's way to say: does not exist
                raise self._no_stack(client.meta.region_name) from error
            raise
        if not stacks:
            raise self._no_stack(client.meta.region_name)
        if not stacks[0].get("Outputs"):
            status = stacks[0].get("StackStatus", "unknown")
            raise CliError(f"stack '{self.stack}' has no outputs (its status is {status}): deploy it first")
        return {row["OutputKey"]: row["OutputValue"] for row in stacks[0]["Outputs"]}

    def _no_stack(self, region: str) -> CliError:
        where = f"at {self.endpoint}" if self.endpoint else f"in {region}"
        return CliError(f"there is no stack '{self.stack}' {where}: run 'sam deploy', or name another with --stack")

    def _boto_session(self) -> Any:
        if self._session is None:
            try:
                import boto3
            except ModuleNotFoundError as error:
                raise CliError("boto3 is not installed: pip install 'brandvane[cli]'") from error
            session = boto3.Session(profile_name=self.profile, region_name=self.region)
            if self.is_local and self.profile is None:
                # Region and key matter to no emulator; without any the client would not even be made.
                known = session.get_credentials() is not None
                session = boto3.Session(
                    region_name=self.region or session.region_name or LOCAL_REGION,
                    aws_access_key_id=None if known else LOCAL_KEY,
                    aws_secret_access_key=None if known else LOCAL_KEY,
                )
            self._session = session
        return self._session


def _config(*, emulated: bool) -> Any:
    from botocore.config import Config

    return Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        retries={"mode": "standard", "total_max_attempts": MAX_ATTEMPTS},
        s3={"addressing_style": "path" if emulated else "auto"},  # bucket.localhost is no host
    )


def aws_options(function: Callable[_P, _R]) -> Callable[..., _R]:
    """Adds ``--stack``, ``--profile`` and ``--region``; the command gets them as one argument, ``aws``."""

    @click.option("--stack", envvar="BRANDVANE_STACK", default=DEFAULT_STACK, show_default=True, help="Stack's name.")
    @click.option("--profile", default=None, help="AWS profile [default: AWS_PROFILE].")
    @click.option("--region", default=None, help="AWS region [default: AWS_REGION, or the profile's].")
    @wraps(function)
    def with_context(*args: Any, stack: str, profile: str | None, region: str | None, **kwargs: Any) -> _R:
        return function(*args, aws=AwsContext(stack, profile, region), **kwargs)  # type: ignore[arg-type]

    return with_context
