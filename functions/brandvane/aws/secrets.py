"""Where do secrets come from? SSM SecureStrings; platforms' keys are cached. A key reaches its own worker and no log."""

from __future__ import annotations

from brandvane.aws.client import Clients, Refused
from brandvane.aws.keys import key_parameter


class SsmSecrets:
    """``/{stack}/keys/{platform}``."""

    def __init__(self, *, clients: Clients, stack: str) -> None:
        self._clients = clients
        self._stack = stack
        self._keys: dict[str, str] = {}

    async def key(self, platform: str, *, fresh: bool = False) -> str | None:
        """The platform's key; None when none was put. ``fresh`` reads it anew (after a platform refused the key)."""
        if fresh or platform not in self._keys:
            self._keys.pop(platform, None)
            value = await self._read(platform)
            if value is None:
                return None
            self._keys[platform] = value
        return self._keys[platform]

    async def _read(self, platform: str) -> str | None:
        return await SsmParameters(clients=self._clients).read(key_parameter(self._stack, platform))


class SsmParameters:
    """Single parameters by their full names, decrypted, read anew each time."""

    def __init__(self, *, clients: Clients) -> None:
        self._clients = clients

    async def read(self, name: str) -> str | None:
        """A parameter's value; None when there is none."""
        try:
            reply = await self._clients.call(self._clients.ssm.get_parameter, Name=name, WithDecryption=True)
        except Refused as refusal:
            if refusal.code == "ParameterNotFound":
                return None
            raise
        return reply["Parameter"].get("Value")
