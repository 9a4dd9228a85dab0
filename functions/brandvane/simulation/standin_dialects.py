"""Which protocol does a stand-in platform speak: at which path, how is a call read, how are answer and error worded?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from brandvane.simulation import standin_chat as chat
from brandvane.simulation import standin_errors as errors
from brandvane.simulation import standin_messages as messages
from brandvane.simulation.standin_errors import ErrorDialect
from brandvane.simulation.standin_http import as_json
from brandvane.simulation.standin_reply import Asked, Reply, Told, document_of

USUAL = "openai_chat"
KEEP_ALIVE = b"\n\n: keep-alive\n\n"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One protocol. ``base``: what a base URL has after the platform's name; ``path``: what the protocol appends to it."""

    base: str
    path: str
    reads: Callable[[str, dict[str, Any]], Asked]
    words: Callable[[Told], dict[str, Any]]
    errors: ErrorDialect

    def fits(self, path: str) -> bool:
        """Is this, below the platform's name, where it is asked? A path that begins with ``…`` stands for its end."""
        if self.path.startswith("…"):
            return path.startswith(f"{self.base}/") and path.endswith(self.path[1:])
        return path == self.base + self.path

    def read(self, path: str, body: bytes) -> Asked:
        """Read a request.

        Raises:
            BadRequest: it is none of this protocol.
        """
        return self.reads(path, document_of(body))

    def answer(self, told: Told) -> Reply:
        """A good answer."""
        return Reply(200, as_json(self.words(told)), headers={"x-request-id": told.answer_id})

    def empty(self, told: Told, form: int) -> Reply:
        """HTTP 200 with nothing in it: an answer without text, or no body at all. ``told`` has no text."""
        return Reply(200, b"") if form % 2 else self.answer(told)


def kept_alive(reply: Reply) -> Reply:
    """The same after the blank lines and comments with which DeepSeek keeps a connection open."""
    return Reply(reply.status, KEEP_ALIVE + reply.body, reply.content_type, reply.headers)


_GENERATION = "/services/aigc/text-generation/generation"
DIALECTS: Mapping[str, Dialect] = {
    "openai_chat": Dialect("/v1", "/chat/completions", chat.read_chat, chat.completion, errors.OPENAI),
    "openai_responses": Dialect("/v1", "/responses", chat.read_responses, chat.response, errors.RESPONSES),
    "anthropic_messages": Dialect("", "/v1/messages", messages.read_messages, messages.message, errors.ANTHROPIC),
    "gemini": Dialect("/v1beta", f"…{messages.GENERATE}", messages.read_gemini, messages.generated, errors.GEMINI),
    "perplexity_agent": Dialect("/v1", "/agent", chat.read_responses, chat.agent, errors.PERPLEXITY),
    "dashscope": Dialect("/api/v1", _GENERATION, messages.read_dashscope, messages.generation, errors.DASHSCOPE),
    "tencent_tc3": Dialect("", "/", messages.read_tencent, messages.chat_completions, errors.TENCENT),
}


def dialect_of(protocol: str, platform: str) -> Dialect:
    """The dialect of one platform: with the OpenAI chat protocol, its errors follow from its name.

    Raises:
        KeyError: no such protocol.
    """
    known = DIALECTS[protocol]
    if protocol != USUAL:
        return known
    return Dialect(known.base, known.path, known.reads, known.words, errors.chat_errors(platform))
