"""How is a question asked of Gemini, and how is the answer read?

Shape: ``POST {base_url}/models/{model}:generateContent`` with ``contents, systemInstruction, generationConfig, tools``; the text is that
of ``candidates[0].content.parts`` without thoughts; sources are ``groundingMetadata.groundingChunks`` (their addresses lead through
Google's redirect; ``title`` is the site), ``groundingSupports`` says which the text uses (Gemini API reference, *generateContent*;
*Grounding with Google Search*; python-genai types). A blocked prompt has no candidates, and a filtered candidate may have no content.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from brandvane.answer import Answer, AnswerStatus, Citation, Failure, Usage
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.reading import Received, count, listed, mapping, reader, retrieved, spoken, word
from brandvane.platforms.request import named, wishes
from brandvane.policy import ErrorKind

_FILTERED = [
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "LANGUAGE",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "MODEL_ARMOR",
]
_FINISH: Mapping[str, AnswerStatus] = {"MAX_TOKENS": "truncated", **dict.fromkeys(_FILTERED, "filtered")}
# What Gemini calls differently from everybody else, inside ``generationConfig``.
_CONFIG = {"max_tokens": "maxOutputTokens", "max_output_tokens": "maxOutputTokens", "top_p": "topP", "top_k": "topK"}
_TOP = frozenset({"tools", "toolConfig", "safetySettings", "cachedContent", "labels"})


def path(settings: PlatformSettings, model: str) -> str:
    """Below the base URL, which carries the version."""
    return f"/models/{quote(model.removeprefix('models/'), safe='')}:generateContent"


def headers(settings: PlatformSettings, key: str, content: bytes, now: float) -> dict[str, str]:
    """The key."""
    return named(settings, key, "x-goog-api-key")


def request_body(settings: PlatformSettings, model: str, prompt: str) -> dict[str, Any]:
    """The JSON to send; parameters go into ``generationConfig``, except those that Gemini wants beside it."""
    wish = wishes(settings)
    body: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
    if wish.system:
        body["systemInstruction"] = {"parts": [{"text": wish.system}]}
    if wish.search:
        body |= {"tools": [{"google_search": {}}], **settings.search_body}
    config = dict(mapping(wish.plain.pop("generationConfig", None)))
    for name, value in wish.plain.items():
        (body if name in _TOP else config)[_CONFIG.get(name, name)] = value
    if config:
        body["generationConfig"] = config
    return body


def _answer(got: Received, document: dict[str, Any]) -> Answer | Failure:
    if document.get("error"):
        return got.told_error(document["error"])
    candidates = listed(document.get("candidates"))
    blocked = word(mapping(document.get("promptFeedback")).get("blockReason"))
    if not candidates and not blocked:
        if "usageMetadata" in document or "modelVersion" in document:
            return got.failed(ErrorKind.EMPTY, "the body has no candidates")
        return got.malformed("the body has no candidates")
    candidate = mapping(candidates[0]) if candidates else {}
    finish = blocked or word(candidate.get("finishReason"))
    parts = [part for part in listed(mapping(candidate.get("content")).get("parts")) if isinstance(part, dict)]
    text = spoken("".join(word(part.get("text")) for part in parts if not part.get("thought")))
    grounding = mapping(candidate.get("groundingMetadata"))
    queries = listed(grounding.get("webSearchQueries"))
    return got.answered(
        "filtered" if blocked else _FINISH.get(finish, "ok"),
        text,
        model=document.get("modelVersion"),
        finish=finish,
        request_id=document.get("responseId"),
        usage=_usage(mapping(document.get("usageMetadata")), searches=1 if queries else 0),
        citations=_citations(grounding),
        queries=queries,
    )


read = reader(_answer)


def _citations(grounding: dict[str, Any]) -> list[Citation]:
    """Chunks are what was looked at; those that a support points at are cited, where it ends."""
    webs = [mapping(mapping(chunk).get("web")) for chunk in listed(grounding.get("groundingChunks"))]
    used: list[Citation] = []
    for support in listed(grounding.get("groundingSupports")):
        at = mapping(mapping(support).get("segment")).get("startIndex")
        start = at if isinstance(at, int) and not isinstance(at, bool) and at >= 0 else None
        for index in listed(mapping(support).get("groundingChunkIndices")):
            if isinstance(index, int) and 0 <= index < len(webs):
                used += [Citation(c.url, c.title, "cited", start) for c in retrieved([webs[index]], url="uri")]
    return [*used, *retrieved(webs, url="uri")]


def _usage(usage: dict[str, Any], *, searches: int) -> Usage:
    thoughts = count(usage.get("thoughtsTokenCount"))
    given = count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount"))
    return Usage(given, count(usage.get("candidatesTokenCount")) + thoughts, thoughts, searches)
