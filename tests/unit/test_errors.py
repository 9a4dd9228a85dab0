"""What an error answer means. Bodies are of our own writing, after the vendors' documented shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brandvane.platforms.errors import classify, failure
from brandvane.policy import ErrorKind
from builders import NOW

K = ErrorKind


def openai(code: str | None, kind: str = "invalid_request_error", message: str = "No.") -> dict[str, Any]:
    """OpenAI and those who speak like it: ``{"error": {message, type, param, code}}``."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def dashscope(code: str, message: str = "No.") -> dict[str, Any]:
    """DashScope's own shape: code and message at the top."""
    return {"code": code, "message": message, "request_id": "r-1"}


def kind_of(status: int, body: Any, platform: str = "any") -> ErrorKind:
    """How a body is read."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return classify(platform, status, {}, raw, NOW).kind


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, openai("rate_limit_exceeded", "requests"), K.RATE_LIMITED),
        (429, openai("slow_down", "server_error"), K.RATE_LIMITED),
        (429, openai("insufficient_quota", "insufficient_quota"), K.QUOTA_EXHAUSTED),
        (429, openai("organization_spend_limit_exceeded", "insufficient_quota"), K.QUOTA_EXHAUSTED),
        (401, openai("invalid_api_key"), K.AUTH_ERROR),
        (404, openai("model_not_found"), K.MODEL_GONE),
        (400, openai("context_length_exceeded"), K.CONTEXT_TOO_LONG),
        (400, openai("content_policy_violation"), K.CONTENT_FILTERED),
        (400, openai("content_filter"), K.CONTENT_FILTERED),
        (400, openai("unknown_parameter"), K.CLIENT_ERROR),
        (500, openai(None, "server_error"), K.SERVER_ERROR),
        (503, openai(None, "engine_overloaded_error"), K.SERVER_ERROR),
        (429, openai(None, "engine_overloaded_error"), K.SERVER_ERROR),
        (429, openai(None, "rate_limit_reached_error"), K.RATE_LIMITED),
        (429, openai(None, "exceeded_current_quota_error"), K.QUOTA_EXHAUSTED),
        (401, openai(None, "invalid_authentication_error"), K.AUTH_ERROR),
        (400, openai(None, "content_filter"), K.CONTENT_FILTERED),
        (402, openai(None, "unknown_error", "Insufficient Balance"), K.QUOTA_EXHAUSTED),
        (429, dashscope("Throttling.RateQuota"), K.RATE_LIMITED),
        (429, dashscope("Throttling.AllocationQuota"), K.RATE_LIMITED),
        (400, dashscope("Arrearage"), K.QUOTA_EXHAUSTED),
        (403, dashscope("AllocationQuota.FreeTierOnly"), K.QUOTA_EXHAUSTED),
        (429, dashscope("PrepaidBillOverdue"), K.QUOTA_EXHAUSTED),
        (401, dashscope("InvalidApiKey"), K.AUTH_ERROR),
        (400, dashscope("DataInspectionFailed"), K.CONTENT_FILTERED),
        (500, dashscope("InternalError.Timeout"), K.TIMEOUT),
        (404, dashscope("ModelNotFound"), K.MODEL_GONE),
        (429, openai("RateLimitExceeded.EndpointRPMExceeded", "TooManyRequests"), K.RATE_LIMITED),
        (429, openai("ModelAccountTpmRateLimitExceeded", "TooManyRequests"), K.RATE_LIMITED),
        (429, openai("ServerOverloaded", "TooManyRequests"), K.SERVER_ERROR),
        (429, openai("SetLimitExceeded", "TooManyRequests"), K.QUOTA_EXHAUSTED),
        (403, openai("AccountOverdueError", "Forbidden"), K.QUOTA_EXHAUSTED),
        (404, openai("ModelNotOpen", "NotFound"), K.MODEL_GONE),
        (404, openai("InvalidEndpointOrModel.NotFound", "NotFound"), K.MODEL_GONE),
        (400, openai("InputTextSensitiveContentDetected", "BadRequest"), K.CONTENT_FILTERED),
        (429, {"error": {"code": "429001", "message": "rate limit exceeded on dimension: rpm"}}, K.RATE_LIMITED),
        (402, {"error": {"code": "401007", "message": "service not activated"}}, K.QUOTA_EXHAUSTED),
        (403, {"error": {"code": 403004, "message": "FREE_QUOTA_EXHAUSTED"}}, K.QUOTA_EXHAUSTED),
        (451, {"error": {"code": "451001", "type": "content_filter_error"}}, K.CONTENT_FILTERED),
        (429, [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow"}}], K.RATE_LIMITED),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, K.SERVER_ERROR),
    ],
)
def test_codes_and_types_decide(status: int, body: Any, kind: ErrorKind) -> None:
    assert kind_of(status, body) is kind


def test_the_same_word_means_another_thing_on_another_platform() -> None:
    body = openai("insufficient_quota")
    assert kind_of(429, body, "openai") is K.QUOTA_EXHAUSTED
    assert kind_of(429, body, "qwen") is K.RATE_LIMITED


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Your credit balance is too low to access the API", K.QUOTA_EXHAUSTED),
        ("账户余额不足", K.QUOTA_EXHAUSTED),
        ("This model's maximum context length is 8192 tokens", K.CONTEXT_TOO_LONG),
        ("Incorrect API key provided", K.AUTH_ERROR),
        ("API key not valid. Please pass a valid API key.", K.AUTH_ERROR),
        ("The model `m-old` has been deprecated", K.MODEL_GONE),
        ("The model m9 does not exist or you do not have access to it", K.MODEL_GONE),
        ("Rate limit reached for requests", K.RATE_LIMITED),
        ("请求过于频繁，请稍后再试", K.RATE_LIMITED),
        ("rejected by our content management policy", K.CONTENT_FILTERED),
        ("输入包含敏感内容", K.CONTENT_FILTERED),
        ("That model is currently overloaded with other requests", K.SERVER_ERROR),
        ("Unrecognised argument: tempreature", K.CLIENT_ERROR),
    ],
)
def test_where_no_code_is_known_the_text_decides(text: str, kind: ErrorKind) -> None:
    assert kind_of(400, openai("something_new", "invalid_request_error", text)) is kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, K.CLIENT_ERROR),
        (401, K.AUTH_ERROR),
        (402, K.QUOTA_EXHAUSTED),
        (403, K.AUTH_ERROR),
        (404, K.MODEL_GONE),
        (408, K.TIMEOUT),
        (409, K.SERVER_ERROR),
        (413, K.CONTEXT_TOO_LONG),
        (422, K.CLIENT_ERROR),
        (429, K.RATE_LIMITED),
        (451, K.CONTENT_FILTERED),
        (500, K.SERVER_ERROR),
        (502, K.SERVER_ERROR),
        (504, K.TIMEOUT),
        (529, K.SERVER_ERROR),
        (302, K.CLIENT_ERROR),
    ],
)
@pytest.mark.parametrize(
    "body", [b"", b"<html>502 Bad Gateway</html>", b"{}", b"[]", b"null", b'"no"', b'{"error": null}']
)
def test_where_nothing_is_said_the_status_decides(status: int, kind: ErrorKind, body: bytes) -> None:
    assert kind_of(status, body) is kind


def test_a_gateways_status_inside_a_success_stands_for_the_status() -> None:
    assert kind_of(200, {"error": {"code": 502, "message": "upstream"}}) is K.SERVER_ERROR
    assert kind_of(200, {"error": {"code": 429, "message": "upstream"}}) is K.RATE_LIMITED


def test_an_unknown_error_inside_a_success_is_a_body_that_cannot_be_used() -> None:
    assert kind_of(200, {"error": {"code": "weird", "message": "?"}}) is K.MALFORMED


@pytest.mark.parametrize("body", [b"\xff\xfe\x00", b"[" * 100_000, b'{"error": {"message": {"a": 1}, "code": [1]}}'])
def test_a_broken_body_is_read_by_its_status(body: bytes) -> None:
    assert kind_of(503, body) is K.SERVER_ERROR


@pytest.mark.parametrize(
    ("kind", "scope"), [(K.AUTH_ERROR, "platform"), (K.QUOTA_EXHAUSTED, "platform"), (K.MODEL_GONE, "target")]
)
def test_what_a_person_must_mend_has_a_scope_beyond_the_task(kind: ErrorKind, scope: str) -> None:
    assert failure(kind, "x").scope == scope
    assert failure(K.TIMEOUT, "x").scope == "task"


@pytest.mark.parametrize(
    ("status", "code", "wait"),
    [
        (429, "rate_limit_exceeded", 7.0),
        (503, "server_error", 7.0),
        (429, "insufficient_quota", 7.0),
        (401, "invalid_api_key", None),
        (400, "context_length_exceeded", None),
    ],
)
def test_retry_after_is_read_where_waiting_helps(status: int, code: str, wait: float | None) -> None:
    found = classify("any", status, {"retry-after": "7"}, json.dumps(openai(code)).encode(), NOW)
    assert (found.retry_after, found.http_status) == (wait, status)


def test_a_wait_in_the_body_counts_where_the_headers_tell_none() -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "45.83s"}
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded.", "details": [info]}
    body = json.dumps([{"error": error}]).encode()
    told = classify("gemini", 429, {}, body, NOW)
    assert (told.kind, told.retry_after) == (K.RATE_LIMITED, 45.83)
    assert classify("gemini", 429, {"retry-after": "7"}, body, NOW).retry_after == 7.0
    assert classify("gemini", 429, {"retry-after": "0"}, body, NOW).retry_after == 0.0


@pytest.mark.parametrize("key", ["sk-proj-abcdef123456", "Bearer abcdefgh12345678", "key-0123456789abcdef"])
def test_a_message_shows_no_key(key: str) -> None:
    found = classify("any", 401, {}, f"wrong credentials: {key}".encode(), NOW)
    assert key not in found.message
    assert "[key]" in found.message


def test_a_message_is_one_short_line() -> None:
    found = classify("any", 500, {}, b"line\n" * 10_000, NOW)
    assert "\n" not in found.message
    assert len(found.message) <= 200
    assert len(found.raw) == 20_000
