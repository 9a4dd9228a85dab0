"""Where do secrets come from? SSM SecureStrings; platforms' keys are cached. A key reaches its own worker and no log."""

from __future__ import annotations

from brandvane.aws.client import Clients, Refused
from brandvane.aws.keys import key_parameter


class SsmSecrets:
    """``/{stack}/keys/{platform}``, or the parameter that a platform's row names.

    A row may name a secret of Secrets Manager: SSM hands one out as the parameter ``/aws/reference/secretsmanager/NAME``.
    """

    def __init__(self, *, clients: Clients, stack: str) -> None:
        self._clients = clients
        self._stack = stack
        self._keys: dict[str, str] = {}

    async def key(self, platform: str, *, fresh: bool = False, parameter: str = "") -> str | None:
        """The platform's key; None when none was put. ``fresh`` reads it anew (after a platform refused the key)."""
        name = parameter or key_parameter(self._stack, platform)
        if fresh or name not in self._keys:
            self._keys.pop(name, None)
            value = await self._read(name)
            if value is None:
                return None
            self._keys[name] = value
        return self._keys[name]

    async def _read(self, name: str) -> str | None:
        return await SsmParameters(clients=self._clients).read(name)


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
