"""Stand-ins for boto3 clients: scripted replies and refusals, and a record of every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from brandvane.aws.client import Clients


def refusal(code: str, *, status: int = 400, retries: int = 0, **extra: Any) -> ClientError:
    """An error response as botocore raises it; ``retries`` is how often the SDK had tried again before."""
    response: Any = {
        "Error": {"Code": code, "Message": f"{code} was said"},
        "ResponseMetadata": {"HTTPStatusCode": status, "RetryAttempts": retries},
        **extra,
    }
    return ClientError(response, "AnOperation")


class FakeClient:
    """A client whose methods give the scripted replies in turn (an exception is raised, a callable is called)."""

    def __init__(self, **replies: list[Any]) -> None:
        self._replies = replies
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def method(**kwargs: Any) -> Any:
            self.calls.append((name, kwargs))
            reply = self._replies[name].pop(0)
            if isinstance(reply, BaseException):
                raise reply
            return reply(**kwargs) if callable(reply) else reply

        return method

    def sent(self, name: str) -> list[dict[str, Any]]:
        """Parameters of every call of one method."""
        return [kwargs for called, kwargs in self.calls if called == name]


def clients_with(**services: FakeClient) -> Clients:
    """Clients whose services (``dynamodb``, ``sqs``, ``functions``, ``ssm``) are fakes."""
    clients = Clients(threads=2)
    clients.__dict__.update(services)  # where cached properties keep what they made
    return clients
