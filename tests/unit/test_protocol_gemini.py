"""Gemini. Bodies of our own writing after the API reference (*generateContent*; *Grounding with Google Search*)."""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.answer import Citation, Usage
from brandvane.policy import ErrorKind
from unit.protocol_reading import Speaker

K = ErrorKind
SPEAKER = Speaker("gemini", base_url="https://generativelanguage.googleapis.com/v1beta")
REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"


def body(*parts: Any, finish: str = "STOP", grounding: Any = None, **more: Any) -> dict[str, Any]:
    """A response with one candidate."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}
    if grounding is not None:
        candidate["groundingMetadata"] = grounding
    usage = {"promptTokenCount": 8, "candidatesTokenCount": 20, "thoughtsTokenCount": 5, "toolUsePromptTokenCount": 2}
    document = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-9-001", "responseId": "r-1"}
    return {**document, **more}


def test_a_question_is_a_content_and_parameters_go_into_the_generation_config() -> None:
    assert SPEAKER.asks(system="Be brief.", max_tokens=9, temperature=0, thinkingConfig={"thinkingLevel": "low"}) == {
        "contents": [{"role": "user", "parts": [{"text": "Who leads?"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {"maxOutputTokens": 9, "temperature": 0, "thinkingConfig": {"thinkingLevel": "low"}},
    }


def test_model_and_key_have_their_places() -> None:
    assert SPEAKER.module.path(SPEAKER.settings, "gemini-9") == "/models/gemini-9:generateContent"
    assert SPEAKER.module.headers(SPEAKER.settings, "k-1", b"", 0.0) == {"x-goog-api-key": "k-1"}


def test_the_search_switch_adds_the_tool() -> None:
    assert SPEAKER.asks(search=True)["tools"] == [{"google_search": {}}]


def test_an_answer_is_read_with_its_grounding_and_without_its_thoughts() -> None:
    grounding = {
        "webSearchQueries": ["best makers", "makers 2026"],
        "groundingChunks": [
            {"web": {"uri": REDIRECT + "a", "title": "acme.example"}},
            {"web": {"uri": REDIRECT + "b", "title": "zeta.example"}},
        ],
        "groundingSupports": [{"segment": {"startIndex": 4, "endIndex": 9}, "groundingChunkIndices": [1, 7]}],
    }
    reply = SPEAKER.answer(
        body({"text": "Omega?", "thought": True}, {"text": "Acme "}, {"text": "leads."}, grounding=grounding)
    )
    assert (reply.status, reply.text, reply.served_model, reply.provider_request_id) == (
        "ok",
        "Acme leads.",
        "gemini-9-001",
        "r-1",
    )
    assert reply.citations == (
        Citation(REDIRECT + "b", "zeta.example", "cited", 4),
        Citation(REDIRECT + "a", "acme.example", "retrieved", 1),
        Citation(REDIRECT + "b", "zeta.example", "retrieved", 2),
    )
    assert reply.search_queries == ("best makers", "makers 2026")
    assert reply.usage == Usage(10, 25, 5, 1)


@pytest.mark.parametrize(
    ("finish", "status"),
    [
        ("STOP", "ok"),
        ("MAX_TOKENS", "truncated"),
        ("SAFETY", "filtered"),
        ("RECITATION", "filtered"),
        ("BLOCKLIST", "filtered"),
    ],
)
def test_the_finish_reason_says_how_the_answer_ended(finish: str, status: str) -> None:
    assert SPEAKER.answer(body({"text": "Acme."}, finish=finish)).status == status


def test_a_filtered_candidate_may_have_no_content() -> None:
    assert SPEAKER.answer({"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}).status == "filtered"


def test_a_blocked_prompt_has_no_candidates() -> None:
    reply = SPEAKER.answer({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 8}})
    assert (reply.status, reply.finish_reason, reply.usage.input_tokens) == ("filtered", "SAFETY", 8)


@pytest.mark.parametrize(
    ("document", "status", "kind"),
    [
        (body(), 200, K.EMPTY),
        ({"usageMetadata": {}, "modelVersion": "x"}, 200, K.EMPTY),
        ({"candidates": "odd"}, 200, K.MALFORMED),
        ({}, 200, K.MALFORMED),
        (b"not json", 200, K.MALFORMED),
        ({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow"}}, 429, K.RATE_LIMITED),
        ([{"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}], 503, K.SERVER_ERROR),
        ({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid."}}, 400, K.AUTH_ERROR),
        ({"error": {"code": 404, "status": "NOT_FOUND", "message": "models/x is not found"}}, 404, K.MODEL_GONE),
    ],
)
def test_what_is_no_answer_is_a_failure_of_its_kind(document: Any, status: int, kind: ErrorKind) -> None:
    assert SPEAKER.kind(document, status) is kind
