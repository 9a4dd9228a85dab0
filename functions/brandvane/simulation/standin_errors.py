"""How does a stand-in say that something is wrong? The error dialects of the platforms, after their documentation.

A dialect is a table of (status, code, type) and a shape. Where a platform answers a filtered question with an error, its table has
a row for that too. Sources: those of ``platforms/error_codes.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from brandvane.simulation.standin_http import as_json
from brandvane.simulation.standin_reply import Reply


class Wrong(Enum):
    """What can be wrong with a call."""

    RATE = auto()
    SERVER = auto()
    BUSY = auto()
    CREDIT = auto()
    KEY = auto()
    MODEL = auto()
    FILTER = auto()
    REQUEST = auto()


Row = tuple[int, str | None, str]  # status, code, type
WORDS: Mapping[Wrong, str] = {
    Wrong.RATE: "The platform is busy; slow down.",
    Wrong.SERVER: "The server had an error while processing your request.",
    Wrong.BUSY: "The engine is overloaded.",
    Wrong.CREDIT: "Insufficient balance: the account has no credit left.",
    Wrong.KEY: "The API key is not valid.",
    Wrong.MODEL: "The model does not exist.",
    Wrong.FILTER: "The content was blocked by the content filter.",
}


def _flat(row: Row, message: str, wait: int) -> dict[str, Any]:
    """``{"error": {"message", "type", "param", "code"}}``."""
    return {"error": {"message": message, "type": row[2], "param": None, "code": row[1]}}


def _anthropic(row: Row, message: str, wait: int) -> dict[str, Any]:
    return {"type": "error", "error": {"type": row[2], "message": message}, "request_id": "req_standin"}


def _google(row: Row, message: str, wait: int) -> dict[str, Any]:
    details: list[dict[str, Any]] = []
    if row[1]:
        details.append(
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": row[1], "domain": "googleapis.com"}
        )
    if wait:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{wait}s"})
    return {"error": {"code": row[0], "message": message, "status": row[2], "details": details}}


def _perplexity(row: Row, message: str, wait: int) -> dict[str, Any]:
    return {"error": {"message": message, "type": row[2], "code": row[0]}}


def _dashscope(row: Row, message: str, wait: int) -> dict[str, Any]:
    return {"code": row[1], "message": message, "request_id": "standin"}


def _tencent(row: Row, message: str, wait: int) -> dict[str, Any]:
    return {"Response": {"Error": {"Code": row[1], "Message": message}, "RequestId": "standin"}}


def _failed_response(row: Row, message: str, wait: int) -> dict[str, Any]:
    """The Responses protocols end a response as failed inside a success."""
    error = {"code": row[1] or row[2], "message": message}
    return {"id": "resp_standin", "object": "response", "status": "failed", "error": error, "output": []}


@dataclass(frozen=True, slots=True)
class ErrorDialect:
    """A platform's way to say it. ``inside``: the shape of an error inside HTTP 200, where it is another one."""

    rows: Mapping[Wrong, Row]
    shape: Callable[[Row, str, int], dict[str, Any]] = _flat
    inside: Callable[[Row, str, int], dict[str, Any]] | None = None
    tells_wait: bool = True  # in a header

    def reply(self, wrong: Wrong, message: str = "", wait: int = 0) -> Reply:
        """The error. ``wait``: seconds that a rate limit asks for."""
        row = self.rows[wrong]
        body = as_json(self.shape(row, message or WORDS[wrong], wait))
        told = wrong is Wrong.RATE and self.tells_wait
        return Reply(row[0], body, headers={"Retry-After": str(wait)} if told else None)

    def inside_success(self) -> Reply:
        """A server's error with HTTP 200."""
        shape = self.inside or self.shape
        return Reply(200, as_json(shape(self.rows[Wrong.SERVER], WORDS[Wrong.SERVER], 0)))


_INVALID = "invalid_request_error"
_OPENAI: dict[Wrong, Row] = {
    Wrong.RATE: (429, "rate_limit_exceeded", "requests"),
    Wrong.SERVER: (500, None, "server_error"),
    Wrong.BUSY: (503, None, "server_error"),
    Wrong.CREDIT: (429, "insufficient_quota", "insufficient_quota"),
    Wrong.KEY: (401, "invalid_api_key", _INVALID),
    Wrong.MODEL: (404, "model_not_found", _INVALID),
    Wrong.REQUEST: (400, None, _INVALID),
}
OPENAI = ErrorDialect(_OPENAI)
RESPONSES = ErrorDialect(_OPENAI, inside=_failed_response)
ANTHROPIC = ErrorDialect(
    {
        Wrong.RATE: (429, None, "rate_limit_error"),
        Wrong.SERVER: (500, None, "api_error"),
        Wrong.BUSY: (503, None, "overloaded_error"),
        Wrong.CREDIT: (400, None, _INVALID),
        Wrong.KEY: (401, None, "authentication_error"),
        Wrong.MODEL: (404, None, "not_found_error"),
        Wrong.REQUEST: (400, None, _INVALID),
    },
    _anthropic,
)
GEMINI = ErrorDialect(
    {
        Wrong.RATE: (429, "RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED"),
        Wrong.SERVER: (500, None, "INTERNAL"),
        Wrong.BUSY: (503, None, "UNAVAILABLE"),
        Wrong.CREDIT: (403, "BILLING_DISABLED", "PERMISSION_DENIED"),
        Wrong.KEY: (400, "API_KEY_INVALID", "INVALID_ARGUMENT"),
        Wrong.MODEL: (404, None, "NOT_FOUND"),
        Wrong.REQUEST: (400, None, "INVALID_ARGUMENT"),
    },
    _google,
    tells_wait=False,
)
PERPLEXITY = ErrorDialect(
    {
        Wrong.RATE: (429, None, "request_rate_limit_exceeded"),
        Wrong.SERVER: (500, None, "internal_error"),
        Wrong.BUSY: (503, None, "bad_gateway"),
        Wrong.CREDIT: (401, None, "insufficient_credits"),
        Wrong.KEY: (401, None, "unauthorized"),
        Wrong.MODEL: (400, None, "invalid_model"),
        Wrong.REQUEST: (400, None, "invalid_request"),
    },
    _perplexity,
    inside=_failed_response,
)
DASHSCOPE = ErrorDialect(
    {
        Wrong.RATE: (429, "Throttling.RateQuota", ""),
        Wrong.SERVER: (500, "InternalError", ""),
        Wrong.BUSY: (503, "ModelUnavailable", ""),
        Wrong.CREDIT: (400, "Arrearage", ""),
        Wrong.KEY: (401, "InvalidApiKey", ""),
        Wrong.MODEL: (404, "ModelNotFound", ""),
        Wrong.FILTER: (400, "DataInspectionFailed", ""),
        Wrong.REQUEST: (400, "InvalidParameter", ""),
    },
    _dashscope,
)
TENCENT = ErrorDialect(  # all of them come with HTTP 200
    {
        Wrong.RATE: (200, "RequestLimitExceeded", ""),
        Wrong.SERVER: (200, "InternalError", ""),
        Wrong.BUSY: (200, "FailedOperation.EngineServerError", ""),
        Wrong.CREDIT: (200, "FailedOperation.ResourcePackExhausted", ""),
        Wrong.KEY: (200, "AuthFailure.SignatureFailure", ""),
        Wrong.MODEL: (200, "InvalidParameterValue.Model", ""),
        Wrong.FILTER: (200, "OperationDenied.TextIllegalDetected", ""),
        Wrong.REQUEST: (200, "InvalidParameter", ""),
    },
    _tencent,
    tells_wait=False,
)
# Who speaks the OpenAI chat protocol with errors of his own, by a word in the platform's name.
_VENDORS: Mapping[str, Mapping[Wrong, Row]] = {
    "azure": {
        Wrong.RATE: (429, "429", ""),
        Wrong.CREDIT: (403, "QuotaExceeded", ""),
        Wrong.KEY: (401, "401", ""),
        Wrong.MODEL: (404, "DeploymentNotFound", ""),
        Wrong.FILTER: (400, "content_filter", ""),
    },
    "deepseek": {
        Wrong.RATE: (429, "rate_limit_reached", "rate_limit_error"),
        Wrong.BUSY: (503, "service_unavailable_error", "service_unavailable_error"),
        Wrong.CREDIT: (402, _INVALID, "unknown_error"),
        Wrong.KEY: (401, _INVALID, "authentication_error"),
        Wrong.MODEL: (400, _INVALID, _INVALID),
    },
    "qwen": {
        Wrong.RATE: (429, "limit_requests", "limit_requests"),
        Wrong.SERVER: (500, "internal_error", "internal_error"),
        Wrong.BUSY: (503, "ServiceUnavailable", "ServiceUnavailable"),
        Wrong.CREDIT: (400, "Arrearage", "Arrearage"),
        Wrong.FILTER: (400, "data_inspection_failed", "data_inspection_failed"),
    },
    "doubao": {
        Wrong.RATE: (429, "ModelAccountRpmRateLimitExceeded", "TooManyRequests"),
        Wrong.SERVER: (500, "InternalServiceError", "InternalServerError"),
        Wrong.BUSY: (503, "ServerOverloaded", "ServiceUnavailable"),
        Wrong.CREDIT: (403, "AccountOverdueError", "Forbidden"),
        Wrong.KEY: (401, "AuthenticationError", "Unauthorized"),
        Wrong.MODEL: (404, "InvalidEndpointOrModel.NotFound", "NotFound"),
        Wrong.FILTER: (400, "OutputTextSensitiveContentDetected", "BadRequest"),
    },
    "kimi": {
        Wrong.RATE: (429, None, "rate_limit_reached_error"),
        Wrong.BUSY: (503, None, "engine_overloaded_error"),
        Wrong.CREDIT: (429, None, "exceeded_current_quota_error"),
        Wrong.KEY: (401, None, "invalid_authentication_error"),
        Wrong.MODEL: (404, None, "resource_not_found_error"),
        Wrong.FILTER: (400, None, "content_filter"),
    },
    "hunyuan": {
        Wrong.RATE: (429, "429001", "rate_limit_error"),
        Wrong.SERVER: (500, "500001", "upstream_error"),
        Wrong.BUSY: (503, "503001", "server_error"),
        Wrong.CREDIT: (402, "401007", "payment_error"),
        Wrong.KEY: (401, "401002", "authentication_error"),
        Wrong.MODEL: (404, "404001", "not_found_error"),
        Wrong.FILTER: (451, "451001", "content_filter_error"),
    },
}


def chat_errors(platform: str) -> ErrorDialect:
    """The errors of a platform that speaks the OpenAI chat protocol, by its name."""
    own = next((rows for word, rows in _VENDORS.items() if word in platform), {})
    return ErrorDialect({**_OPENAI, **own}) if own else OPENAI
