"""What decides when an error body says two things: the code or the words, a gateway or the platform behind it, a quota or a minute?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from brandvane.platforms.error_body import read_told
from brandvane.platforms.error_texts import _compiled, kind_of_text
from brandvane.platforms.errors import read_error
from brandvane.policy import ErrorKind
from builders import NOW
from unit.test_error_dialects import ALL

K = ErrorKind


def kind_of(platform: str, status: int, body: Any) -> ErrorKind:
    """The kind that a body is read as."""
    return read_error(platform, status, {}, json.dumps(body, ensure_ascii=False).encode(), NOW).kind


def e(message: str, code: Any = None, **more: Any) -> dict[str, Any]:
    """An error in OpenAI's shape."""
    return {"error": {"message": message, "code": code, **more}}


def test_what_a_gateway_hands_on_goes_before_its_own_code() -> None:
    inside = json.dumps(e("Insufficient Balance", "invalid_request_error"))
    assert kind_of("one-api", 500, e(inside, "upstream_error")) is K.QUOTA_EXHAUSTED
    assert kind_of("one-api", 500, e("Post: context deadline exceeded", "do_request_failed")) is K.TIMEOUT
    assert kind_of("one-api", 500, e("It failed.", "bad_response_status_code")) is K.SERVER_ERROR


def test_an_unavailable_service_that_speaks_of_too_many_requests_is_a_rate_limit() -> None:
    assert kind_of("DashScope", 429, e("Too many requests reached us.", "ServiceUnavailable")) is K.RATE_LIMITED
    assert kind_of("DashScope", 503, e("It is down.", "ServiceUnavailable")) is K.SERVER_ERROR


def test_the_end_of_a_dotted_code_may_say_more_than_its_beginning() -> None:
    def native(code: str) -> dict[str, Any]:
        return {"code": code, "message": "No.", "request_id": "r"}

    assert kind_of("DashScope", 400, native("InternalError.Algo.DataInspectionFailed")) is K.CONTENT_FILTERED
    assert kind_of("DashScope", 400, native("InternalError.Algo.InvalidParameter")) is K.CLIENT_ERROR
    assert kind_of("DashScope", 500, native("InternalError.Timeout")) is K.TIMEOUT
    assert kind_of("DashScope", 500, native("InternalError.Algo")) is K.SERVER_ERROR


def test_a_minutes_allowance_is_a_rate_limit_even_where_it_is_called_a_quota() -> None:
    assert kind_of("Cerebras", 429, e("Tokens per minute used.", "token_quota_exceeded")) is K.RATE_LIMITED
    assert kind_of("Cerebras", 429, e("Tokens per day used.", "token_quota_exceeded")) is K.QUOTA_EXHAUSTED


def test_a_free_allowance_that_is_gone_is_a_quota_even_under_a_code_of_rates() -> None:
    body = {"code": "Throttling.AllocationQuota", "message": "Free allocated quota was exceeded.", "request_id": "r"}
    assert kind_of("DashScope", 429, body) is K.QUOTA_EXHAUSTED


def test_todays_allowance_is_a_quota() -> None:
    assert kind_of("ModelScope", 429, {"errors": {"message": "You used all of today's requests"}}) is K.QUOTA_EXHAUSTED


def test_an_unknown_action_of_tencent_cloud_is_the_callers_fault() -> None:
    body = {"Response": {"Error": {"Code": "InvalidAction", "Message": "No."}, "RequestId": "r"}}
    assert kind_of("Tencent Hunyuan", 200, body) is K.CLIENT_ERROR


def test_a_denial_that_speaks_of_an_allowance_or_of_calls_at_a_time_is_read_by_its_words() -> None:
    week = e("You used up your weekly usage limit.", type="access_terminated_error")
    assert kind_of("Moonshot", 403, week) is K.QUOTA_EXHAUSTED
    at_once = e("Your concurrent calls are at their limit.", type="permission_error")
    assert kind_of("Moonshot", 403, at_once) is K.RATE_LIMITED
    assert kind_of("Moonshot", 403, e("Not yours.", type="permission_error")) is K.AUTH_ERROR


@pytest.mark.parametrize(
    ("number", "kind"),
    [(1000, K.SERVER_ERROR), (1002, K.RATE_LIMITED), (1026, K.CONTENT_FILTERED), (2056, K.QUOTA_EXHAUSTED)],
)
def test_minimax_puts_its_number_behind_a_general_type(number: int, kind: ErrorKind) -> None:
    assert kind_of("MiniMax", 500, e(f"It failed ({number})", type="api_error")) is kind
    assert kind_of("another", 500, e(f"It failed ({number})", type="api_error")) is K.SERVER_ERROR


@pytest.mark.parametrize("field", ["max_tokens", "token_count", "tokenizer", "max_output_tokens"])
def test_a_parameter_with_tokens_in_its_name_is_no_key(field: str) -> None:
    assert kind_of("DeepSeek", 400, e(f"Invalid {field} value", "invalid_request_error")) is K.CLIENT_ERROR


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("已达到 5 小时的使用上限", K.QUOTA_EXHAUSTED),
        ("今日调用上限已到", K.QUOTA_EXHAUSTED),
        ("超出配额", K.QUOTA_EXHAUSTED),
        ("并发数已达上限", K.RATE_LIMITED),
        ("调用频率超过上限", K.RATE_LIMITED),
        ("Extra usage is required here.", K.QUOTA_EXHAUSTED),
        ("Your trial is expired", K.QUOTA_EXHAUSTED),
    ],
)
def test_limits_in_words_are_told_apart(message: str, kind: ErrorKind) -> None:
    assert kind_of("any", 429, e(message)) is kind


def test_seconds_until_an_allowance_is_back_are_its_wait() -> None:
    body = json.dumps(e("Used up.", type="usage_limit_reached", resets_in_seconds=7139)).encode()
    read = read_error("OpenAI", 429, {}, body, NOW)
    assert (read.kind, read.wait_s) == (K.QUOTA_EXHAUSTED, 7139.0)


@pytest.mark.parametrize(
    ("message", "wait"),
    [
        ("Try again in 59 minutes, 30 seconds", 3570.0),
        ("Try again in 2 minutes and 3 seconds", 123.0),
        ("Your limit resets in ~30s", 30.0),
        ("Please try again after 20 s.", 20.0),
        ("Slow down. Retry-After: 12", 12.0),
        ("限流，5秒后重试", 5.0),
        ("It will reset at 2025-10-09 17:01:00 +0800", 60.0),  # sent at 09:00:00 UTC
    ],
)
def test_further_spellings_of_a_wait(message: str, wait: float) -> None:
    body = json.dumps(e(message, "rate_limit_exceeded"), ensure_ascii=False).encode()
    assert read_error("any", 429, {}, body, 1760000400.0).wait_s == wait


def test_the_words_that_are_looked_for_first_leave_nothing_out() -> None:
    def slowly(text: str) -> ErrorKind | None:
        return next((kind for pattern, kind, _ in _compiled() if pattern.search(text.lower())), None)

    texts = [read_told(b if isinstance(b, bytes) else json.dumps(b).encode(), {}).text for _, _, b, _ in ALL]
    texts += [
        "Payload too large",
        "the tokens must be <= 4096",
        "Please top up",
        "in arrears",
        "Unauthorised",
        "real name needed",
        "账户被冻结",
        "输入内容过长",
        "套餐已到期",
        "IP is not in the whitelist",
        "your plan: enable billing",
        "the country is not supported",
    ]
    looked_for = [text for text in texts if not text.lower().startswith("rate")]
    assert [kind_of_text(text) for text in looked_for] == [slowly(text) for text in looked_for]
    assert len(looked_for) > 150
