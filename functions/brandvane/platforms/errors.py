"""What does an error answer mean? By code and type before text, by text before status (research/visibility §4.0, §4.2).

The tables hold the codes of the OpenAI-compatible platforms. The same word can mean different things on two platforms
(``insufficient_quota`` is an empty wallet at OpenAI and a per-minute limit at DashScope), so a platform's own row wins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from brandvane.answer import Failure, Scope
from brandvane.platforms.retry_after import body_wait, retry_after
from brandvane.policy import PAUSES_PLATFORM, PAUSES_TARGET, ErrorKind

MESSAGE_MAX = 200
_K = ErrorKind

_BY_CODE: Mapping[str, ErrorKind] = {
    "insufficient_quota": _K.QUOTA_EXHAUSTED,
    "credit_balance_exhausted": _K.QUOTA_EXHAUSTED,
    "organization_spend_limit_exceeded": _K.QUOTA_EXHAUSTED,
    "project_spend_limit_exceeded": _K.QUOTA_EXHAUSTED,
    "organization_usage_limit_exceeded": _K.QUOTA_EXHAUSTED,
    "billing_not_active": _K.QUOTA_EXHAUSTED,
    "billing_error": _K.QUOTA_EXHAUSTED,
    "arrearage": _K.QUOTA_EXHAUSTED,
    "allocationquota.freetieronly": _K.QUOTA_EXHAUSTED,
    "prepaidbilloverdue": _K.QUOTA_EXHAUSTED,
    "postpaidbilloverdue": _K.QUOTA_EXHAUSTED,
    "commoditynotpurchased": _K.QUOTA_EXHAUSTED,
    "budgetlimitexceeded": _K.QUOTA_EXHAUSTED,
    "accountoverdueerror": _K.QUOTA_EXHAUSTED,
    "setlimitexceeded": _K.QUOTA_EXHAUSTED,
    "quotaexceeded": _K.QUOTA_EXHAUSTED,
    "operationdenied.serviceoverdue": _K.QUOTA_EXHAUSTED,
    "exceeded_current_quota_error": _K.QUOTA_EXHAUSTED,
    "401007": _K.QUOTA_EXHAUSTED,
    "401008": _K.QUOTA_EXHAUSTED,
    "403004": _K.QUOTA_EXHAUSTED,
    "rate_limit_exceeded": _K.RATE_LIMITED,
    "rate_limit_error": _K.RATE_LIMITED,
    "rate_limit_reached_error": _K.RATE_LIMITED,
    "request_rate_limit_exceeded": _K.RATE_LIMITED,
    "too_many_requests": _K.RATE_LIMITED,
    "slow_down": _K.RATE_LIMITED,
    "limit_requests": _K.RATE_LIMITED,
    "limitrequests": _K.RATE_LIMITED,
    "429001": _K.RATE_LIMITED,
    "accountratelimitexceeded": _K.RATE_LIMITED,
    "inflightbatchsizeexceeded": _K.RATE_LIMITED,
    "requestbursttoofast": _K.RATE_LIMITED,
    "resource_exhausted": _K.RATE_LIMITED,
    "invalid_api_key": _K.AUTH_ERROR,
    "invalidapikey": _K.AUTH_ERROR,
    "authentication_error": _K.AUTH_ERROR,
    "authenticationerror": _K.AUTH_ERROR,
    "invalid_authentication_error": _K.AUTH_ERROR,
    "permission_error": _K.AUTH_ERROR,
    "permission_denied": _K.AUTH_ERROR,
    "accessdenied": _K.AUTH_ERROR,
    "401002": _K.AUTH_ERROR,
    "model_not_found": _K.MODEL_GONE,
    "modelnotfound": _K.MODEL_GONE,
    "modelnotopen": _K.MODEL_GONE,
    "invalidendpointormodel.notfound": _K.MODEL_GONE,
    "invalid_model": _K.MODEL_GONE,
    "model_deprecated": _K.MODEL_GONE,
    "context_length_exceeded": _K.CONTEXT_TOO_LONG,
    "content_filter": _K.CONTENT_FILTERED,
    "content_filter_error": _K.CONTENT_FILTERED,
    "content_policy_violation": _K.CONTENT_FILTERED,
    "data_inspection_failed": _K.CONTENT_FILTERED,
    "datainspectionfailed": _K.CONTENT_FILTERED,
    "sensitivecontentdetected": _K.CONTENT_FILTERED,
    "451001": _K.CONTENT_FILTERED,
    "server_error": _K.SERVER_ERROR,
    "internal_error": _K.SERVER_ERROR,
    "internalserviceerror": _K.SERVER_ERROR,
    "serveroverloaded": _K.SERVER_ERROR,
    "overloaded_error": _K.SERVER_ERROR,
    "engine_overloaded_error": _K.SERVER_ERROR,
    "upstream_error": _K.SERVER_ERROR,
}
_BY_PLATFORM_CODE: Mapping[tuple[str, str], ErrorKind] = {("qwen", "insufficient_quota"): _K.RATE_LIMITED}
_BY_PREFIX: tuple[tuple[str, ErrorKind], ...] = (
    ("throttling", _K.RATE_LIMITED),
    ("ratelimitexceeded", _K.RATE_LIMITED),
    ("modelaccount", _K.RATE_LIMITED),
    ("inputtextsensitive", _K.CONTENT_FILTERED),
    ("outputtextsensitive", _K.CONTENT_FILTERED),
    ("internalerror", _K.SERVER_ERROR),
)
_BY_TEXT: tuple[tuple[re.Pattern[str], ErrorKind], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"insufficient balance|balance.{0,20}not enough|credit balance is too low|余额不足|欠费", _K.QUOTA_EXHAUSTED),
        (r"credits? (are|is) depleted|out of credits|exceeded your current quota", _K.QUOTA_EXHAUSTED),
        (r"maximum context length|context window|request too large|prompt is too long", _K.CONTEXT_TOO_LONG),
        (r"(incorrect|invalid|expired).{0,20}api[ _-]?key|api key not valid", _K.AUTH_ERROR),
        (r"model.{0,80}(does not exist|not found|has been deprecated|is deprecated|no longer)", _K.MODEL_GONE),
        (r"rate[\s_-]*limit|too many requests|访问频率|请求过于频繁", _K.RATE_LIMITED),
        (r"content (management )?policy|content.?filter|inappropriate content|敏感|违规", _K.CONTENT_FILTERED),
        (r"overloaded|server is busy|服务繁忙", _K.SERVER_ERROR),
    )
)
_BY_STATUS: Mapping[int, ErrorKind] = {
    401: _K.AUTH_ERROR,
    402: _K.QUOTA_EXHAUSTED,
    403: _K.AUTH_ERROR,
    408: _K.TIMEOUT,
    409: _K.SERVER_ERROR,
    413: _K.CONTEXT_TOO_LONG,
    425: _K.SERVER_ERROR,
    429: _K.RATE_LIMITED,
    451: _K.CONTENT_FILTERED,
    504: _K.TIMEOUT,
}
_WAITING_HELPS = frozenset({_K.RATE_LIMITED, _K.SERVER_ERROR, _K.QUOTA_EXHAUSTED})


def classify(platform: str, status: int, headers: Mapping[str, str], body: bytes, now: float) -> Failure:
    """Read an HTTP answer that is an error. ``headers`` have lower-case names."""
    codes, text = _told(body)
    kind = _kind(platform, status, codes, text)
    wait = None
    if kind in _WAITING_HELPS:
        told = retry_after(headers, now)
        wait = body_wait(body) if told is None else told
    shown = ", ".join(codes) or text[:MESSAGE_MAX]
    return failure(kind, f"HTTP {status}: {_safe(shown)}", retry_after=wait, status=status, body=body)


def failure(
    kind: ErrorKind,
    message: str,
    *,
    retry_after: float | None = None,
    status: int | None = None,
    body: bytes = b"",
) -> Failure:
    """A failure with the scope that its kind has."""
    scope: Scope = "platform" if kind in PAUSES_PLATFORM else "target" if kind in PAUSES_TARGET else "task"
    raw = body[:20_000].decode("utf-8", "replace")
    return Failure(kind, message[:MESSAGE_MAX], scope, retry_after, status, raw)


def _kind(platform: str, status: int, codes: tuple[str, ...], text: str) -> ErrorKind:
    for code in codes:
        known = _BY_PLATFORM_CODE.get((platform, code)) or _BY_CODE.get(code)
        if known is not None:
            return known
        for prefix, kind in _BY_PREFIX:
            if code.startswith(prefix):
                return kind
    for pattern, kind in _BY_TEXT:
        if pattern.search(text):
            return kind
    return _by_status(_told_status(codes, status))


def _told_status(codes: tuple[str, ...], status: int) -> int:
    """Gateways put the upstream's status into the body's code, inside HTTP 200 too."""
    numbers = [int(code) for code in codes if code.isascii() and code.isdigit() and len(code) == 3]
    return next((n for n in numbers if 400 <= n < 600), status)


def _by_status(status: int) -> ErrorKind:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status < 300:
        return _K.MALFORMED  # an error that calls itself a success and names no reason we know
    return _K.SERVER_ERROR if status >= 500 else _K.CLIENT_ERROR


def _told(body: bytes) -> tuple[tuple[str, ...], str]:
    """Codes and types (lower case, the most specific first) and the text of an error body, whatever its shape."""
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return (), body[:2000].decode("utf-8", "replace")
    if isinstance(document, list) and document:
        document = document[0]
    if not isinstance(document, dict):
        return (), str(document)[:2000]
    error = document.get("error", document)
    if not isinstance(error, dict):
        return (), str(error)[:2000]
    told = [error.get(name) for name in ("upstream_code", "code", "type", "status")]
    codes = tuple(str(value).lower() for value in told if isinstance(value, (str, int)) and str(value) != "")
    return codes, str(error.get("message", ""))[:2000]


def _safe(text: str) -> str:
    """One line, with anything that looks like a key struck out."""
    return re.sub(r"(sk|key|Bearer)[-_ ][A-Za-z0-9*_\-]{6,}", "[key]", " ".join(text.split()))
