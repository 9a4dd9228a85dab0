"""Error bodies of many platforms, of our own writing after their documentation (named by group), and how they are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brandvane.platforms.errors import read_error
from brandvane.policy import ErrorKind
from builders import NOW

K = ErrorKind
Case = tuple[str, int, Any, ErrorKind]


def e(message: str = "No.", kind: Any = None, code: Any = None, **more: Any) -> dict[str, Any]:
    """``{"error": {message, type, code}}``."""
    return {"error": {"message": message, "type": kind, "code": code, **more}}


def google(code: int, status: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    """Google's shape."""
    return {"error": {"code": code, "status": status, "message": message, "details": list(details)}}


def info(reason: str) -> dict[str, Any]:
    """Google's ErrorInfo."""
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}


def quota(quota_id: str) -> dict[str, Any]:
    """Google's QuotaFailure."""
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota_id}]}


def tc3(code: str) -> dict[str, Any]:
    """Tencent Cloud API 3.0."""
    return {"Response": {"Error": {"Code": code, "Message": "It failed."}, "RequestId": "r-1"}}


def anthropic(kind: str, message: str, **more: Any) -> dict[str, Any]:
    """Anthropic's shape."""
    return {"type": "error", "error": {"type": kind, "message": message, **more}, "request_id": "req_1"}


OPENAI: list[Case] = [  # platform.openai.com/docs/guides/error-codes
    ("OpenAI", 401, e("You must be a member of an organization to use the API", "invalid_request_error"), K.AUTH_ERROR),
    ("OpenAI", 401, e("You didn't provide an API key.", "invalid_request_error"), K.AUTH_ERROR),
    (
        "OpenAI",
        403,
        e("Country not supported", "request_forbidden", "unsupported_country_region_territory"),
        K.AUTH_ERROR,
    ),
    ("OpenAI", 429, e("Quota.", "insufficient_quota", "billing_hard_limit_reached"), K.QUOTA_EXHAUSTED),
    (
        "OpenAI",
        429,
        e("Your account is not active, please check your billing details", "billing_not_active"),
        K.QUOTA_EXHAUSTED,
    ),
    (
        "OpenAI",
        404,
        e("The model `m9` does not exist or you do not have access to it.", "invalid_request_error"),
        K.MODEL_GONE,
    ),
    (
        "OpenAI",
        429,
        e("Request too large for m9 on tokens per min (TPM): Limit 10, Requested 20.", "tokens", "rate_limit_exceeded"),
        K.CONTEXT_TOO_LONG,
    ),
    (
        "OpenAI",
        400,
        e(
            "Your prompt was flagged as potentially violating our usage policy.",
            "invalid_request_error",
            "invalid_prompt",
        ),
        K.CONTENT_FILTERED,
    ),
    (
        "OpenAI",
        400,
        e("Unsupported parameter: 'max_tokens'.", "invalid_request_error", "unsupported_parameter"),
        K.CLIENT_ERROR,
    ),
    ("OpenAI", 400, e("'m' tokens exceed.", "invalid_request_error", "string_above_max_length"), K.CONTEXT_TOO_LONG),
    ("OpenAI", 503, e("Slow down.", "server_error", "slow_down"), K.RATE_LIMITED),
    ("OpenAI", 429, e("Resource unavailable", "invalid_request_error", "resource_unavailable"), K.RATE_LIMITED),
    ("OpenAI", 401, e("Your IP is not authorized.", None, "ip_not_authorized"), K.AUTH_ERROR),
    (
        "OpenAI",
        429,
        e("Rate limit reached on requests per day (RPD): Limit 200, Used 200.", "requests", "rate_limit_exceeded"),
        K.QUOTA_EXHAUSTED,
    ),
    (
        "OpenAI",
        429,
        e(
            "Rate limit reached on requests per day (RPD): Limit 200. Please try again in 7m12s.",
            "requests",
            "rate_limit_exceeded",
        ),
        K.RATE_LIMITED,
    ),
]
AZURE: list[Case] = [  # learn.microsoft.com, Azure OpenAI
    (
        "Azure OpenAI",
        404,
        e("The API deployment for this resource does not exist.", None, "DeploymentNotFound"),
        K.MODEL_GONE,
    ),
    (
        "Azure OpenAI",
        401,
        e("Access denied due to invalid subscription key or wrong API endpoint.", None, "401"),
        K.AUTH_ERROR,
    ),
    (
        "Azure OpenAI",
        401,
        {"statusCode": 401, "message": "Unauthorized. Access token is missing, invalid, audience is incorrect."},
        K.AUTH_ERROR,
    ),
    (
        "Azure OpenAI",
        429,
        e(
            "Requests have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 20 seconds. Please go here to increase the default rate limit.",  # noqa: E501
            None,
            "429",
        ),
        K.RATE_LIMITED,
    ),
    (
        "Azure OpenAI",
        403,
        {"statusCode": 403, "message": "Out of call volume quota. Quota will be replenished in 2.12:34:56."},
        K.QUOTA_EXHAUSTED,
    ),
    ("Azure OpenAI", 429, e("No capacity.", None, "NoCapacity"), K.SERVER_ERROR),
    (
        "Azure OpenAI",
        400,
        e("Filtered.", None, "content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}),
        K.CONTENT_FILTERED,
    ),
    ("Azure OpenAI", 500, e("The server had an error.", None, "InternalServerError"), K.SERVER_ERROR),
    ("Azure OpenAI", 408, e("The operation was timeout.", None, "Timeout"), K.TIMEOUT),
]
ANTHROPIC: list[Case] = [  # docs.claude.com/en/api/errors
    (
        "Anthropic",
        400,
        anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
        K.QUOTA_EXHAUSTED,
    ),
    (
        "Anthropic",
        400,
        anthropic(
            "invalid_request_error",
            "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
        ),
        K.QUOTA_EXHAUSTED,
    ),
    (
        "Anthropic",
        429,
        anthropic("rate_limit_error", "Limit.", details={"error_code": "enforced_spend_limit_reached"}),
        K.QUOTA_EXHAUSTED,
    ),
    ("Anthropic", 402, anthropic("billing_error", "Pay."), K.QUOTA_EXHAUSTED),
    ("Anthropic", 401, anthropic("authentication_error", "invalid x-api-key"), K.AUTH_ERROR),
    ("Anthropic", 403, anthropic("permission_error", "Your API key does not have permission."), K.AUTH_ERROR),
    ("Anthropic", 404, anthropic("not_found_error", "model: claude-9"), K.MODEL_GONE),
    ("Anthropic", 413, anthropic("request_too_large", "Request exceeds the maximum size"), K.CONTEXT_TOO_LONG),
    (
        "Anthropic",
        400,
        anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        K.CONTEXT_TOO_LONG,
    ),
    (
        "Anthropic",
        400,
        anthropic("invalid_request_error", "Output blocked by content filtering policy"),
        K.CONTENT_FILTERED,
    ),
    ("Anthropic", 400, anthropic("invalid_request_error", "max_tokens: Field required"), K.CLIENT_ERROR),
    ("Anthropic", 500, anthropic("api_error", "Internal server error"), K.SERVER_ERROR),
    ("Anthropic", 504, anthropic("timeout_error", "Took too long"), K.TIMEOUT),
    (
        "Anthropic",
        429,
        anthropic(
            "rate_limit_error", "This request would exceed your organization's rate limit of 50 requests per minute"
        ),
        K.RATE_LIMITED,
    ),
    ("Anthropic", 400, anthropic("invalid_request_error", "This organization has been disabled."), K.AUTH_ERROR),
]
GEMINI: list[Case] = [  # ai.google.dev/gemini-api/docs/troubleshooting; google.rpc.Code; ErrorInfo
    ("Gemini API", 400, google(400, "INVALID_ARGUMENT", "API key not valid.", info("API_KEY_INVALID")), K.AUTH_ERROR),
    (
        "Gemini API",
        403,
        google(403, "PERMISSION_DENIED", "API has not been used in project.", info("SERVICE_DISABLED")),
        K.AUTH_ERROR,
    ),
    (
        "Gemini API",
        400,
        google(
            400,
            "FAILED_PRECONDITION",
            "Free tier is not available in your country. Please enable billing on your project.",
        ),
        K.QUOTA_EXHAUSTED,
    ),
    (
        "Gemini API",
        400,
        google(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
        K.AUTH_ERROR,
    ),
    ("Gemini API", 404, google(404, "NOT_FOUND", "models/gemini-0 is not found for API version v1beta"), K.MODEL_GONE),
    (
        "Gemini API",
        400,
        google(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        K.CONTEXT_TOO_LONG,
    ),
    (
        "Gemini API",
        400,
        google(400, "INVALID_ARGUMENT", 'Invalid JSON payload received. Unknown name "foo"'),
        K.CLIENT_ERROR,
    ),
    ("Gemini API", 503, google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."), K.SERVER_ERROR),
    ("Gemini API", 500, google(500, "INTERNAL", "An internal error has occurred."), K.SERVER_ERROR),
    (
        "Gemini API",
        504,
        google(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
        K.TIMEOUT,
    ),
    ("Gemini API", 429, google(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."), K.QUOTA_EXHAUSTED),
    (
        "Gemini API",
        429,
        google(
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota.",
            quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "22s"},
        ),
        K.QUOTA_EXHAUSTED,
    ),
    (
        "Gemini API",
        429,
        google(
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota.",
            quota("GenerateRequestsPerMinutePerProjectPerModel"),
        ),
        K.RATE_LIMITED,
    ),
    (
        "Gemini API",
        429,
        google(
            429,
            "RESOURCE_EXHAUSTED",
            "Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: m\nPlease retry in 44.3s.",
        ),
        K.QUOTA_EXHAUSTED,
    ),
    (
        "Gemini API",
        403,
        google(403, "PERMISSION_DENIED", "Billing is disabled.", info("BILLING_DISABLED")),
        K.QUOTA_EXHAUSTED,
    ),
]
PERPLEXITY: list[Case] = [  # Perplexity Agent API
    ("Perplexity", 401, e("You have insufficient credits.", "insufficient_credits", 401), K.QUOTA_EXHAUSTED),
    ("Perplexity", 401, e("Invalid API key provided.", "unauthorized", 401), K.AUTH_ERROR),
    (
        "Perplexity",
        429,
        e("Request rate limit exceeded, please try again later.", "request_rate_limit_exceeded", 429),
        K.RATE_LIMITED,
    ),
    ("Perplexity", 400, e("Invalid model 'x'.", "invalid_model", 400), K.MODEL_GONE),
    ("Perplexity", 400, e('unknown field "stop"', "invalid_request", 400), K.CLIENT_ERROR),
    ("Perplexity", 502, e("Upstream.", "bad_gateway", 502), K.SERVER_ERROR),
    ("Perplexity", 504, e("Slow.", "gateway_timeout", 504), K.TIMEOUT),
    ("Perplexity", 401, b"<html><head><title>401 Authorization Required</title></head></html>", K.AUTH_ERROR),
]
DASHSCOPE: list[Case] = [  # alibabacloud.com/help/en/model-studio/error-code
    ("DashScope", 429, {"code": "Throttling.BurstRate", "message": "Too fast.", "request_id": "r"}, K.RATE_LIMITED),
    (
        "DashScope",
        429,
        {
            "code": "Throttling.AllocationQuota",
            "message": "Allocated quota exceeded, please increase your quota limit.",
            "request_id": "r",
        },
        K.RATE_LIMITED,
    ),
    (
        "Alibaba DashScope",
        429,
        e(
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
            "insufficient_quota",
        ),
        K.RATE_LIMITED,
    ),
    ("DashScope", 429, {"code": "PostpaidBillOverdue", "message": "Bill.", "request_id": "r"}, K.QUOTA_EXHAUSTED),
    ("DashScope", 429, {"code": "CommodityNotPurchased", "message": "Buy.", "request_id": "r"}, K.QUOTA_EXHAUSTED),
    ("DashScope", 401, e("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"), K.AUTH_ERROR),
    ("DashScope", 403, {"code": "AccessDenied", "message": "Access denied.", "request_id": "r"}, K.AUTH_ERROR),
    ("DashScope", 404, e("The model `q` does not exist.", "invalid_request_error", "model_not_found"), K.MODEL_GONE),
    (
        "DashScope",
        400,
        {"code": "InvalidParameter", "message": "Range of input length should be [1, 30720]", "request_id": "r"},
        K.CONTEXT_TOO_LONG,
    ),
    (
        "DashScope",
        400,
        {"code": "InvalidParameter", "message": "This model does not support enable_search.", "request_id": "r"},
        K.CLIENT_ERROR,
    ),
    (
        "DashScope",
        400,
        e("Output data may contain inappropriate content.", "data_inspection_failed", "data_inspection_failed"),
        K.CONTENT_FILTERED,
    ),
    (
        "DashScope",
        500,
        {"code": "RequestTimeOut", "message": "Request timed out, please try again later.", "request_id": "r"},
        K.TIMEOUT,
    ),
    (
        "DashScope",
        503,
        {"code": "ModelUnavailable", "message": "Model is unavailable, please try again later.", "request_id": "r"},
        K.SERVER_ERROR,
    ),
    (
        "DashScope",
        500,
        {"code": "InternalError.Algo", "message": "An internal error.", "request_id": "r"},
        K.SERVER_ERROR,
    ),
]
ARK: list[Case] = [  # volcengine.com/docs/82379/1299023
    (
        "Volcengine Ark",
        401,
        e("The API key is missing or invalid.", "Unauthorized", "AuthenticationError"),
        K.AUTH_ERROR,
    ),
    ("Volcengine Ark", 403, e("No access.", "Forbidden", "AccessDenied"), K.AUTH_ERROR),
    ("Volcengine Ark", 404, e("Gone.", "NotFound", "InvalidEndpointOrModel.ModelIDAccessDisabled"), K.MODEL_GONE),
    ("Volcengine Ark", 404, e("Not activated.", "NotFound", "ModelNotOpen"), K.MODEL_GONE),
    ("Volcengine Ark", 400, e("Closed.", "BadRequest", "InvalidEndpoint.ClosedEndpoint"), K.MODEL_GONE),
    (
        "Volcengine Ark",
        400,
        e("May contain.", "BadRequest", "SensitiveContentDetected.SevereViolation"),
        K.CONTENT_FILTERED,
    ),
    ("Volcengine Ark", 400, e("May contain.", "BadRequest", "OutputTextSensitiveContentDetected"), K.CONTENT_FILTERED),
    ("Volcengine Ark", 400, e("Risk.", "BadRequest", "InputTextRiskDetection"), K.CONTENT_FILTERED),
    (
        "Volcengine Ark",
        429,
        e("Exceeded.", "TooManyRequests", "RateLimitExceeded.FoundationModelRPMExceeded"),
        K.RATE_LIMITED,
    ),
    ("Volcengine Ark", 429, e("Exceeded.", "TooManyRequests", "ModelAccountIpmRateLimitExceeded"), K.RATE_LIMITED),
    ("Volcengine Ark", 429, e("Too fast.", "TooManyRequests", "RequestBurstTooFast"), K.RATE_LIMITED),
    ("Volcengine Ark", 429, e("Trial used.", "TooManyRequests", "QuotaExceeded"), K.QUOTA_EXHAUSTED),
    ("Volcengine Ark", 429, e("Busy.", "TooManyRequests", "ServerOverloaded"), K.SERVER_ERROR),
    ("Volcengine Ark", 500, e("Oops.", "InternalServerError", "InternalServiceError"), K.SERVER_ERROR),
    (
        "Volcengine Ark",
        400,
        e("Total tokens of text exceed max message tokens.", "BadRequest", "InvalidParameter"),
        K.CONTEXT_TOO_LONG,
    ),
    (
        "Volcengine Ark",
        400,
        e("A parameter is not valid.", "BadRequest", "InvalidParameter.temperature"),
        K.CLIENT_ERROR,
    ),
]
CHINA: list[
    Case
] = [  # platform.kimi.com errors; api-docs.deepseek.com error_codes; docs.siliconflow.cn; docs.z.ai; minimax; qianfan; xfyun
    ("Moonshot", 404, e("Not found the model kimi-0 or Permission denied", "resource_not_found_error"), K.MODEL_GONE),
    ("Moonshot", 400, e("Your request exceeded model token limit: 8192", "invalid_request_error"), K.CONTEXT_TOO_LONG),
    ("Moonshot", 400, e("Input token length too long", "invalid_request_error"), K.CONTEXT_TOO_LONG),
    ("Moonshot", 401, e("Incorrect API key provided", "incorrect_api_key_error"), K.AUTH_ERROR),
    ("Moonshot", 403, e("Denied.", "permission_denied_error"), K.AUTH_ERROR),
    (
        "Moonshot",
        429,
        e("Your account reached organization max RPM: 3, please try again after 1 seconds", "rate_limit_reached_error"),
        K.RATE_LIMITED,
    ),
    (
        "Moonshot",
        429,
        e("The engine is currently overloaded, please try again later", "engine_overloaded_error"),
        K.SERVER_ERROR,
    ),
    (
        "DeepSeek",
        401,
        e("Authentication Fails, Your api key is invalid", "authentication_error", "invalid_request_error"),
        K.AUTH_ERROR,
    ),
    ("DeepSeek", 400, e("Model Not Exist", "invalid_request_error", "invalid_request_error"), K.MODEL_GONE),
    ("DeepSeek", 400, e("Content Exists Risk", "invalid_request_error", "invalid_request_error"), K.CONTENT_FILTERED),
    (
        "DeepSeek",
        422,
        e("Failed to deserialize the JSON body", "invalid_request_error", "invalid_request_error"),
        K.CLIENT_ERROR,
    ),
    (
        "DeepSeek",
        503,
        e("Service is too busy.", "service_unavailable_error", "service_unavailable_error"),
        K.SERVER_ERROR,
    ),
    (
        "SiliconFlow",
        400,
        {"code": 20012, "message": "Model does not exist. Please check it carefully.", "data": None},
        K.MODEL_GONE,
    ),
    (
        "SiliconFlow",
        403,
        {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None},
        K.QUOTA_EXHAUSTED,
    ),
    (
        "SiliconFlow",
        429,
        {"message": "Request was rejected due to rate limiting. Details: TPM limit reached.", "data": None},
        K.RATE_LIMITED,
    ),
    ("SiliconFlow", 401, b'"Invalid token"', K.AUTH_ERROR),
    (
        "SiliconFlow",
        503,
        {"code": 50505, "message": "Model service overloaded. Please try again later.", "data": None},
        K.SERVER_ERROR,
    ),
    ("Zhipu GLM", 429, e("余额不足或无可用资源包,请充值。", None, "1113"), K.QUOTA_EXHAUSTED),
    ("Zhipu GLM", 400, e("系统检测到输入或生成内容可能包含不安全或敏感内容", None, "1301"), K.CONTENT_FILTERED),
    ("Zhipu GLM", 401, e("Token expired", None, "1003"), K.AUTH_ERROR),
    ("Zhipu GLM", 400, e("模型不存在，请检查模型代码。", None, "1211"), K.MODEL_GONE),
    ("Zhipu GLM", 429, e("您的账户已达到速率限制，请您控制请求频率", None, "1303"), K.RATE_LIMITED),
    ("MiniMax", 200, {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, K.QUOTA_EXHAUSTED),
    ("MiniMax", 200, {"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, K.RATE_LIMITED),
    ("MiniMax", 200, {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}, K.CONTENT_FILTERED),
    (
        "Baidu Qianfan",
        400,
        e("Prompt tokens too long", "invalid_request_error", "tokens_too_long", id="as-1"),
        K.CONTEXT_TOO_LONG,
    ),
    ("Baidu Qianfan", 401, e("invalid iam token", "invalid_request_error", "invalid_iam_token"), K.AUTH_ERROR),
    ("Baidu ERNIE", 200, {"error_code": 18, "error_msg": "Open api qps request limit reached"}, K.RATE_LIMITED),
    ("Baidu ERNIE", 200, {"error_code": 110, "error_msg": "Access token invalid or no longer valid"}, K.AUTH_ERROR),
    ("iFlytek Spark", 200, {"code": 11202, "message": "over qps"}, K.RATE_LIMITED),
    ("iFlytek Spark", 200, {"header": {"code": 10013, "message": "input"}}, K.CONTENT_FILTERED),
]
TENCENT: list[Case] = [  # cloud.tencent.com/document/product/1729, 1823/131595; the public SDK's list of codes
    ("Tencent Hunyuan", 200, tc3("RequestLimitExceeded.UinLimitExceeded"), K.RATE_LIMITED),
    ("Tencent Hunyuan", 200, tc3("LimitExceeded"), K.RATE_LIMITED),
    ("Tencent Hunyuan", 200, tc3("AuthFailure.SignatureExpire"), K.AUTH_ERROR),
    ("Tencent Hunyuan", 200, tc3("UnauthorizedOperation"), K.AUTH_ERROR),
    ("Tencent Hunyuan", 200, tc3("ResourceUnavailable.InArrears"), K.QUOTA_EXHAUSTED),
    ("Tencent Hunyuan", 200, tc3("ResourceUnavailable.LowBalance"), K.QUOTA_EXHAUSTED),
    ("Tencent Hunyuan", 200, tc3("FailedOperation.FreeResourcePackExhausted"), K.QUOTA_EXHAUSTED),
    ("Tencent Hunyuan", 200, tc3("ResourceInsufficient.ChargeResourceExhaust"), K.QUOTA_EXHAUSTED),
    ("Tencent Hunyuan", 200, tc3("FailedOperation.EngineServerLimitExceeded"), K.RATE_LIMITED),
    ("Tencent Hunyuan", 200, tc3("InternalError"), K.SERVER_ERROR),
    ("Tencent Hunyuan", 200, tc3("InvalidParameterValue.Model"), K.MODEL_GONE),
    ("Tencent Hunyuan", 200, tc3("InvalidParameterValue"), K.CLIENT_ERROR),
    ("Tencent Hunyuan", 200, tc3("MissingParameter"), K.CLIENT_ERROR),
    ("Tencent Hunyuan", 200, tc3("OperationDenied.TextIllegalDetected"), K.CONTENT_FILTERED),
    ("Tencent Hunyuan", 200, {"Response": {"ErrorMsg": {"Msg": "engine", "Code": 4001}}}, K.SERVER_ERROR),
    ("Tencent TokenHub", 429, e("rate limit exceeded on dimension: rpm", "rate_limit_error", "429001"), K.RATE_LIMITED),
    ("Tencent TokenHub", 402, e("model service not activated", "billing", "401008"), K.QUOTA_EXHAUSTED),
    ("Tencent TokenHub", 451, e("no", "content_filter_error", "451001"), K.CONTENT_FILTERED),
    (
        "Tencent TokenHub",
        502,
        e("no", "upstream_error", "502001", source="upstream", upstream_status=500),
        K.SERVER_ERROR,
    ),
    ("Tencent TokenHub", 401, e("no", "authentication_error", "401001"), K.AUTH_ERROR),
]
GATEWAYS: list[
    Case
] = [  # openrouter.ai/docs/api/reference/errors; docs.x.ai; Mistral, Groq, Ollama, vLLM, LiteLLM; nginx; Cloudflare; AWS
    ("OpenRouter", 402, e("Insufficient credits. Add more using the website", None, 402), K.QUOTA_EXHAUSTED),
    (
        "OpenRouter",
        403,
        e("Your input was flagged", None, 403, metadata={"reasons": ["violence"], "flagged_input": "…"}),
        K.CONTENT_FILTERED,
    ),
    ("OpenRouter", 404, e("No endpoints found for x/y.", None, 404), K.MODEL_GONE),
    ("OpenRouter", 400, e("x/y is not a valid model ID", None, 400), K.MODEL_GONE),
    (
        "OpenRouter",
        429,
        e(
            "Provider returned error",
            None,
            429,
            metadata={"raw": "x/y is temporarily rate-limited upstream. Please retry shortly.", "provider_name": "P"},
        ),
        K.RATE_LIMITED,
    ),
    (
        "OpenRouter",
        200,
        e("Provider returned error", None, 502, metadata={"raw": "", "provider_name": "P"}),
        K.SERVER_ERROR,
    ),
    (
        "OpenRouter",
        503,
        e("No available model provider that meets your routing requirements", None, 503),
        K.SERVER_ERROR,
    ),
    ("OpenRouter", 401, e("No auth credentials found", None, 401), K.AUTH_ERROR),
    (
        "OpenRouter",
        400,
        e(
            "Provider returned error",
            None,
            400,
            metadata={"raw": json.dumps(e("Too long", "invalid_request_error", "context_length_exceeded"))},
        ),
        K.CONTEXT_TOO_LONG,
    ),
    (
        "xAI",
        429,
        {
            "code": "Some resource has been exhausted",
            "error": "Your team has either used all available credits or reached its monthly spending limit.",
        },
        K.QUOTA_EXHAUSTED,
    ),
    (
        "xAI",
        400,
        {"code": "Client specified an invalid argument", "error": "Incorrect API key provided: xa***1."},
        K.AUTH_ERROR,
    ),
    (
        "Mistral",
        429,
        {
            "object": "error",
            "message": "Service tier capacity exceeded for this model.",
            "type": "service_tier_capacity_exceeded",
            "code": "3505",
        },
        K.RATE_LIMITED,
    ),
    ("Mistral", 401, {"detail": "Unauthorized"}, K.AUTH_ERROR),
    (
        "Mistral",
        422,
        {"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required"}]},
        K.CLIENT_ERROR,
    ),
    ("Ollama", 404, {"error": "model 'm9' not found"}, K.MODEL_GONE),
    (
        "vLLM",
        404,
        {"object": "error", "message": "The model `m9` does not exist.", "type": "NotFoundError", "code": 404},
        K.MODEL_GONE,
    ),
    (
        "vLLM",
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens.",
            "type": "BadRequestError",
            "code": 400,
        },
        K.CONTEXT_TOO_LONG,
    ),
    ("one-api", 403, e("用户额度不足, 剩余额度: 0", "new_api_error", "insufficient_user_quota"), K.QUOTA_EXHAUSTED),
    ("one-api", 503, e("当前分组 default 下对于模型 m9 无可用渠道", "new_api_error", "model_not_found"), K.MODEL_GONE),
    (
        "LiteLLM",
        400,
        e("Budget has been exceeded! Current cost: 5, Max budget: 4", "budget_exceeded", "400"),
        K.QUOTA_EXHAUSTED,
    ),
    (
        "Bedrock",
        429,
        {"__type": "com.amazon#ThrottlingException", "message": "Too many tokens, please wait before trying again."},
        K.RATE_LIMITED,
    ),
    ("Bedrock", 403, {"__type": "AccessDeniedException", "message": "You don't have access."}, K.AUTH_ERROR),
    ("Bedrock", 400, {"__type": "ValidationException", "message": "Malformed input request"}, K.CLIENT_ERROR),
    ("Hugging Face", 503, {"error": "Model x is currently loading", "estimated_time": 20.0}, K.SERVER_ERROR),
    (
        "gateway",
        502,
        b"<html>\r\n<head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>",
        K.SERVER_ERROR,
    ),
    ("gateway", 413, b"<html><head><title>413 Request Entity Too Large</title></head></html>", K.CONTEXT_TOO_LONG),
    (
        "gateway",
        429,
        b"<!DOCTYPE html><html><head><title>Access denied | example.net used Cloudflare to restrict access</title></head></html>",
        K.RATE_LIMITED,
    ),
    ("gateway", 524, b"error code: 524", K.TIMEOUT),
    ("gateway", 521, b"<html><title>521: Web server is down</title></html>", K.SERVER_ERROR),
    (
        "gateway",
        503,
        b"upstream connect error or disconnect/reset before headers. reset reason: overflow",
        K.SERVER_ERROR,
    ),
    ("gateway", 503, b"no healthy upstream", K.SERVER_ERROR),
    ("gateway", 408, b"", K.TIMEOUT),
    ("gateway", 403, b"<html><title>Attention Required! | Cloudflare</title></html>", K.AUTH_ERROR),
    ("gateway", 500, b"Internal Server Error", K.SERVER_ERROR),
    ("gateway", 504, b"stream timeout", K.TIMEOUT),
]
MIXED: list[Case] = [  # what users of these platforms meet besides
    (
        "OpenAI",
        429,
        e("Rate limit reached for m9 in organization org-1. Please add a payment method to your account.", "requests"),
        K.RATE_LIMITED,
    ),
    (
        "Cohere",
        429,
        {"message": "You are using a Trial key, which is limited to 1000 API calls / month."},
        K.QUOTA_EXHAUSTED,
    ),
    (
        "Cohere",
        429,
        {"message": "You are using a Trial key, which is limited to 10 API calls / minute."},
        K.RATE_LIMITED,
    ),
    (
        "LiteLLM",
        429,
        e(
            "litellm.RateLimitError: You exceeded your current quota, please check your plan.",
            "throttling_error",
            "429",
        ),
        K.QUOTA_EXHAUSTED,
    ),
    (
        "Groq",
        413,
        e("Request too large for model m9 on tokens per minute (TPM): Limit 6000", "tokens", "rate_limit_exceeded"),
        K.CONTEXT_TOO_LONG,
    ),
    ("one-api", 403, e("token quota is not enough", "one_api_error"), K.QUOTA_EXHAUSTED),
    ("Together", 429, e("You have reached the rate limit specific to this model", "model_rate_limit"), K.RATE_LIMITED),
    (
        "Hugging Face",
        429,
        {"error": "Rate limit reached. You reached free usage limit (reset hourly)."},
        K.RATE_LIMITED,
    ),
    ("Azure OpenAI", 404, e("Resource not found", None, "404"), K.MODEL_GONE),
    (
        "Moonshot",
        403,
        e("Your account is not active, consider checking your account balance", "permission_denied_error"),
        K.QUOTA_EXHAUSTED,
    ),
    ("gateway", 520, b"error code: 520", K.SERVER_ERROR),
    ("gateway", 499, b"", K.TIMEOUT),
]
ALL = [*MIXED, *OPENAI, *AZURE, *ANTHROPIC, *GEMINI, *PERPLEXITY, *DASHSCOPE, *ARK, *CHINA, *TENCENT, *GATEWAYS]


@pytest.mark.parametrize(("platform", "status", "body", "kind"), ALL, ids=[f"{c[0]}-{n}" for n, c in enumerate(ALL)])
def test_every_dialect_is_read(platform: str, status: int, body: Any, kind: ErrorKind) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    assert read_error(platform, status, {}, raw, NOW).kind is kind


@pytest.mark.parametrize(
    ("message", "wait"),
    [
        ("Please try again in 6m0s.", 360.0),
        ("Rate limit is exceeded. Try again in 2 seconds.", 2.0),
        ("Please retry after 20 seconds.", 20.0),
        ("Please wait 1 minute", 60.0),
        ("please try again after 1 seconds", 1.0),
        ("Your quota will reset after 3m20s.", 200.0),
        ("Quota will be replenished in 01:02:03.", 3723.0),
        ("请求过于频繁，请在30秒后重试", 30.0),
        ("请 2 分钟后再试", 120.0),
        ("Please retry in 44.3s.", 44.3),
    ],
)
def test_a_wait_in_words_is_read(message: str, wait: float) -> None:
    body = json.dumps(e(message, None, "rate_limit_exceeded"), ensure_ascii=False).encode()
    assert read_error("any", 429, {}, body, NOW).wait_s == pytest.approx(wait)


def test_a_field_of_the_body_may_be_the_wait() -> None:
    body = json.dumps(e("Slow.", None, 429, metadata={"retry_after_seconds": 12})).encode()
    assert read_error("OpenRouter", 429, {}, body, NOW).wait_s == 12.0


def test_an_instant_is_measured_by_the_responses_own_clock() -> None:
    headers = {"retry-after": "Thu, 09 Oct 2025 09:00:30 GMT", "date": "Thu, 09 Oct 2025 09:00:00 GMT"}
    assert read_error("any", 429, headers, b"", NOW).wait_s == 30.0


def test_anthropics_unified_limit_is_waited_for_when_it_rejected() -> None:
    headers = {"anthropic-ratelimit-unified-reset": "1760000090", "anthropic-ratelimit-unified-status": "rejected"}
    assert read_error("Anthropic", 429, headers, b"", NOW).wait_s == 90.0
    allowed = {**headers, "anthropic-ratelimit-unified-status": "allowed"}
    assert read_error("Anthropic", 429, allowed, b"", NOW).wait_s is None


def test_of_anthropics_limits_only_those_used_up_are_waited_for() -> None:
    headers = {
        "date": "Thu, 09 Oct 2025 09:00:00 GMT",
        "anthropic-ratelimit-requests-remaining": "3",
        "anthropic-ratelimit-requests-reset": "2025-10-09T09:10:00Z",
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": "2025-10-09T09:00:07Z",
    }
    assert read_error("Anthropic", 429, headers, b"", NOW).wait_s == 7.0
