"""Which protocols can this release speak? Names only, so that checking a catalogue loads no client."""

from __future__ import annotations

PROTOCOL_NAMES = frozenset({"openai_chat"})
