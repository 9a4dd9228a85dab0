"""A stand-in for a boto3 client that answers by what is asked, with paginators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brandvane.cli.aws_context import AwsContext


class PagedClient:
    """Each operation is a function of its parameters, or a reply; a paginator gives one page, or each of a list of them."""

    def __init__(self, **operations: Any) -> None:
        self.operations = operations
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        if name == "exceptions":
            return self.operations[name]

        def operation(**kwargs: Any) -> Any:
            self.asked.append((name, kwargs))
            reply = self.operations[name]
            found = reply(**kwargs) if callable(reply) else reply
            if isinstance(found, BaseException):
                raise found
            return found

        return operation

    def get_paginator(self, name: str) -> _Paginator:
        """Of an operation."""
        return _Paginator(getattr(self, name))


class _Paginator:
    def __init__(self, operation: Callable[..., Any]) -> None:
        self._operation = operation

    def paginate(self, **kwargs: Any) -> Iterator[Any]:
        """Its pages."""
        found = self._operation(**kwargs)
        yield from found if isinstance(found, list) else [found]


def context_with(
    clients: Mapping[str, Any], stack: str = "shop", outputs: Mapping[str, str] | None = None
) -> AwsContext:
    """A context whose clients are these, by service."""
    return AwsContext(stack=stack, _clients=dict(clients), _outputs=outputs)
