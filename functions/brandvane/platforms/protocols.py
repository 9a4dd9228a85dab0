"""Which protocols can this release speak? Names only, so that checking a catalogue loads no client."""

from __future__ import annotations

from collections.abc import Mapping

# Loaded when first used, so that a worker imports the one protocol that its platform speaks.
MODULES: Mapping[str, str] = {
    "openai_chat": "brandvane.platforms.openai_chat",
    "openai_responses": "brandvane.platforms.openai_responses",
    "anthropic_messages": "brandvane.platforms.anthropic_messages",
    "gemini": "brandvane.platforms.gemini",
    "perplexity_agent": "brandvane.platforms.perplexity_agent",
    "dashscope": "brandvane.platforms.dashscope",
    "tencent_tc3": "brandvane.platforms.tencent_tc3",
}
PROTOCOL_NAMES = frozenset(MODULES)
# Fields that each protocol sets by itself; a catalogue must not.
OWN_FIELDS = frozenset(
    {
        "model",
        "messages",
        "stream",
        "input",
        "instructions",
        "contents",
        "systemInstruction",
        "Model",
        "Messages",
        "Stream",
    }
)
# Where a web search is no more than a switch; with openai_chat it needs the row's ``search_body``.
SEARCHES = PROTOCOL_NAMES - {"openai_chat"}
