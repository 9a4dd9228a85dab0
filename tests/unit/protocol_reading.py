"""How do the tests of the protocols read? A module of a protocol, a document, what becomes of it."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

from brandvane.answer import Answer, Failure, pack, unpack
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.http_client import protocol
from brandvane.policy import ErrorKind
from builders import NOW, platform


class Speaker:
    """One protocol, with settings to speak it."""

    def __init__(self, name: str, **settings: Any) -> None:
        self.settings: PlatformSettings = platform(protocol=name, **settings)
        self.module: Any = protocol(name)
        assert isinstance(self.module, ModuleType)

    def asks(self, prompt: str = "Who leads?", model: str = "m1", **parameters: Any) -> dict[str, Any]:
        """The body of a question."""
        given = platform(**{**_fields(self.settings), "parameters": parameters})
        body: dict[str, Any] = self.module.request_body(given, model, prompt)
        return body

    def read(self, document: Any, status: int = 200, **headers: str) -> Answer | Failure:
        """What is made of a response."""
        raw = document if isinstance(document, bytes) else json.dumps(document, ensure_ascii=False).encode()
        reply: Answer | Failure = self.module.read(self.settings, status, headers, raw, NOW)
        return reply

    def answer(self, document: Any) -> Answer:
        """What must be an answer; kept and read back it is the same."""
        reply = self.read(document)
        assert isinstance(reply, Answer), reply
        assert unpack(pack(reply)) == reply
        return reply

    def kind(self, document: Any, status: int = 200) -> ErrorKind:
        """The kind of what must be a failure."""
        reply = self.read(document, status)
        assert isinstance(reply, Failure), reply
        return reply.kind


def _fields(settings: PlatformSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in ("protocol", "base_url", "models", "search_body", "key_header")}
