"""Where do operators keep platforms' keys? In SSM SecureStrings, ``/{stack}/keys/{platform}``; no value is ever shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from brandvane.aws.client import Clients
from brandvane.aws.keys import key_parameter
from brandvane.aws.secrets import SsmSecrets


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """What may be known of a key: its version and when it was set."""

    platform: str
    version: int
    set_at: datetime | None = None


class KeyStore(Protocol):
    """Puts keys, and tells which there are."""

    async def put(self, platform: str, value: str) -> KeyFacts:
        """Set a platform's key, in place of an earlier one."""
        ...

    async def known(self) -> dict[str, KeyFacts]:
        """Which platforms have a key."""
        ...

    def name_of(self, platform: str) -> str:
        """Where a platform's key lies."""
        ...

    async def value(self, platform: str, parameter: str = "") -> str | None:
        """The key, to ask its platform with; to nobody else. ``parameter``: where it lies, if the platform's row says so."""
        ...


class SsmKeyStore:
    """``KeyStore`` on SSM. ``known`` asks for names and dates; the encrypted values that come with them are thrown away."""

    def __init__(self, *, clients: Clients, stack: str) -> None:
        self._clients = clients
        self._stack = stack

    def name_of(self, platform: str) -> str:
        """The parameter's name."""
        return key_parameter(self._stack, platform)

    async def value(self, platform: str, parameter: str = "") -> str | None:
        """The key."""
        return await SsmSecrets(clients=self._clients, stack=self._stack).key(platform, parameter=parameter)

    async def put(self, platform: str, value: str) -> KeyFacts:
        """Set a platform's key."""
        reply = await self._clients.call(
            self._clients.ssm.put_parameter,
            Name=self.name_of(platform),
            Value=value,
            Type="SecureString",
            Overwrite=True,
        )
        return KeyFacts(platform, int(reply["Version"]))

    async def known(self) -> dict[str, KeyFacts]:
        """Which platforms have a key."""
        found: dict[str, KeyFacts] = {}
        path = self.name_of("")
        start: dict[str, Any] = {}
        while True:
            reply = await self._clients.call(
                self._clients.ssm.get_parameters_by_path, Path=path.rstrip("/"), WithDecryption=False, **start
            )
            for parameter in reply["Parameters"]:
                platform = str(parameter["Name"]).removeprefix(path)
                found[platform] = KeyFacts(
                    platform, int(parameter.get("Version", 1)), parameter.get("LastModifiedDate")
                )
            if not reply.get("NextToken"):
                return found
            start = {"NextToken": reply["NextToken"]}
