"""Which platforms have a worker? The ``Deployment`` port on SSM parameters that the template makes, one a platform."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from brandvane.aws.client import Clients
from brandvane.aws.keys import platforms_path
from brandvane.ports import Deployed, Unavailable

CACHE_S = 60.0


class SsmDeployment:
    """What stands below ``/{stack}/platforms``, read at most once a minute."""

    def __init__(
        self, *, clients: Clients, stack: str, cache_s: float = CACHE_S, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._clients = clients
        self._path = platforms_path(stack)
        self._cache_s = cache_s
        self._now = now
        self._read_at: float | None = None
        self._platforms: tuple[Deployed, ...] = ()

    async def platforms(self) -> tuple[Deployed, ...]:
        """Every platform that has a worker, by name. While that cannot be read anew, what is known holds.

        Raises:
            Unavailable: it cannot be read, and nothing is known yet.
            ValueError: a parameter does not say what the template writes there.
        """
        if self._read_at is None or self._now() - self._read_at >= self._cache_s:
            try:
                self._platforms = await self._read()
            except Unavailable:
                if self._read_at is None:
                    raise
            else:
                self._read_at = self._now()
        return self._platforms

    async def _read(self) -> tuple[Deployed, ...]:
        found: list[Deployed] = []
        start: dict[str, Any] = {}
        while True:
            reply = await self._clients.call(self._clients.ssm.get_parameters_by_path, Path=self._path, **start)
            found += [_deployed(parameter) for parameter in reply["Parameters"]]
            if not reply.get("NextToken"):
                return tuple(sorted(found, key=lambda each: each.platform))
            start = {"NextToken": reply["NextToken"]}


def _deployed(parameter: Mapping[str, Any]) -> Deployed:
    try:
        told = json.loads(parameter["Value"])
        return Deployed(
            platform=str(told["platform"]),
            invocations=int(told["invocations"]),
            batch_size=int(told["batch_size"]),
            call_timeout=int(told["call_timeout"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"parameter {parameter['Name']} does not describe a platform: {parameter['Value']!r}"
            " (expected a JSON object with platform, invocations, batch_size and call_timeout; deploy the stack again)"
        ) from error
