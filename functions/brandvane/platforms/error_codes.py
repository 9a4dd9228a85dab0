"""Which error code means what? Tables by vendor, read from their documentation; a vendor's own meaning goes before the general one.

Codes are in lower case. A dotted code that is not listed means what its parent means (``throttling.ratequota`` → ``throttling``).
Sources: OpenAI and Azure OpenAI error references; Anthropic *Errors*; Google ``google.rpc`` codes and ``ErrorInfo`` reasons;
Perplexity Agent API; Alibaba Model Studio *Error codes*; Volcengine Ark 82379/1299023; Kimi *Errors*; DeepSeek *Error codes*;
Tencent Cloud 1729 and 1823/131595 and its public SDK's list; SiliconFlow *error-code*; OpenRouter *Errors*; Z.ai *api-code*;
MiniMax *errorcode*; Baidu Qianfan Om9b4yj3w; iFlytek Spark; AWS Bedrock; what the open-source gateways answer themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from brandvane.policy import ErrorKind

_K = ErrorKind


def _table(rows: Mapping[ErrorKind, str]) -> dict[str, ErrorKind]:
    return {code: kind for kind, codes in rows.items() for code in codes.split()}


# Codes that decide by themselves.
CODES: Mapping[str, ErrorKind] = _table(
    {
        _K.QUOTA_EXHAUSTED: """
            insufficient_quota credit_balance_exhausted organization_spend_limit_exceeded project_spend_limit_exceeded
            organization_usage_limit_exceeded billing_not_active billing_hard_limit_reached billing_error
            enforced_spend_limit_reached insufficient_credits insufficient_funds insufficient_balance insufficient_user_quota
            pre_consume_token_quota_failed budget_exceeded quota_exceeded quota_exhausted quotaexceeded quotaexhausted
            creditserror payment_required payment_error billing_disabled
            openrouter_credits openrouter_key_limit
            arrearage allocationquota.freetieronly throttling.freetieronly prepaidbilloverdue postpaidbilloverdue
            commoditynotpurchased budgetlimitexceeded
            accountoverdueerror setlimitexceeded operationdenied.serviceoverdue invalidsubscription
            exceeded_current_quota_error
            failedoperation.freeresourcepackexhausted failedoperation.resourcepackexhausted
            failedoperation.servicestoparrears failedoperation.servicestop failedoperation.servicenotactivated
            failedoperation.setpaymodeexceed resourceunavailable.inarrears resourceunavailable.lowbalance
            resourceunavailable.stopusing resourceunavailable.notexist resourceinsufficient.chargeresourceexhaust
            free_quota_exhausted 401007 401008 403004
            servicequotaexceededexception account_overdue no_balance err_insufficient_balance
        """,
        _K.RATE_LIMITED: """
            rate_limit_exceeded rate_limit_reached rate_limit_reached_error rate_limit_error rate_limited ratelimitexceeded
            ratelimitreached rate_limit request_rate_limit_exceeded too_many_requests slow_down requests_limit
            resource_unavailable capacity_exceeded throttling throttlingexception throttling_error limit_requests
            limitrequests limit_burst_rate accountratelimitexceeded inflightbatchsizeexceeded requestbursttoofast
            requestlimitexceeded limitexceeded failedoperation.engineserverlimitexceeded
            resource_exhausted rpm_rate_limit_exceeded tpm_rate_limit_exceeded
            service_tier_capacity_exceeded openrouter_in_flight_budget 429001 err_rate_limited
        """,
        _K.AUTH_ERROR: """
            invalid_api_key invalidapikey invalid_key api_key_invalid invalid_authentication_error incorrect_api_key_error
            authentication_error authenticationerror unauthenticated unauthorized_error unauthorized
            permission_error permission_denied permission_denied_error forbidden_error
            accessdenied access_denied accessdeniedexception app.accessdenied workspace.accessdenied apikey.accessdenied
            not_authorized access_terminated access_terminated_error account_deactivated account_disabled
            invalid_organization mismatched_organization ip_not_authorized missing_scope unsupported_country_region_territory
            invalid_subscription_key invalidauthenticationtoken permissiondenied
            api_key_service_blocked api_key_http_referrer_blocked api_key_ip_address_blocked service_disabled
            consumer_suspended consumer_invalid access_token_expired credentials_missing
            authfailure unauthorizedoperation ipinblacklist ipnotinwhitelist failedoperation.userunautherror
            failedoperation.partneraccountunsupport 401002 invalid_iam_token invalid_appid signaturedoesnotmatch
            unrecognizedclientexception incompletesignature missingauthenticationtoken expiredtokenexception
            channel:invalid_key err_auth_failed
        """,
        _K.MODEL_GONE: """
            model_not_found modelnotfound model_not_supported model_not_exist modelnotopen model_deprecated model_unavailable
            invalid_model invalid_model_error model_not_available deploymentnotfound deployment_not_found
            model_access_denied model.accessdenied accessdenied.unpurchased
            invalidendpointormodel invalidendpoint unsupportedmodel operationdenied.servicenotopen
            invalidparametervalue.model resource_not_found_error resourcenotfoundexception not_found_error
            model_decommissioned
        """,
        _K.CONTEXT_TOO_LONG: """
            context_length_exceeded context_window_exceeded contextwindowexceedederror string_above_max_length
            max_tokens_exceeded token_limit_exceeded string_too_long prompt_too_long text_too_long request_too_large
            tokens_too_long characters_too_long requestsizelimitexceeded badrequest.toolarge
            requestentitytoolarge err_prompt_exceeded err_token_exceeded
        """,
        _K.CONTENT_FILTERED: """
            content_filter content_filter_error content_filtered content_policy_violation content_policy_violation_error
            contentpolicyviolation responsibleaipolicyviolation moderation_blocked safety_violation
            invalid_prompt cyber_policy cyber_policy_violation content_blocked prompt_blocked sensitive_words_detected
            data_inspection_failed datainspectionfailed internalerror.algo.datainspectionfailed
            invalidparameter.datainspection custom_role_blocked
            ipinfringementsuspect sensitivecontentdetected inputtextsensitivecontentdetected outputtextsensitivecontentdetected
            inputtextriskdetection outputtextriskdetection riskdetection
            operationdenied.textillegaldetected operationdenied.imageillegaldetected failedoperation.generateimagefailed
            451001 err_safety_breach
        """,
        _K.TIMEOUT: """
            timeout_error request_timeout requesttimeout requesttimeouterror responsetimeout
            deadline_exceeded gateway_timeout gatewaytimeout
            failedoperation.enginerequesttimeout internalerror.timeout modeltimeoutexception channel:response_time_exceeded
        """,
        _K.SERVER_ERROR: """
            server_error internal_error internal_server_error internalservererror
            server_unavailable overloaded_error overloaded engine_overloaded_error engineoverloaded model_overloaded serveroverloaded
            internalserviceerror internalerror systemerror modelservicefailed modelservingerror modelunavailable
            modelloading modelloadingerror modelnotreadyexception modelerrorexception modelstreamerrorexception
            bad_gateway empty_response read_response_body_failed get_channel_failed channel:no_available_key
            unavailable internal failedoperation.engineservererror failedoperation.consoleservererror
            dispatch_internal_error unexpected_output nocapacity no_capacity insufficient_system_resource
            contentsecuritydetectionerror invokepluginfailed rewritefailed retrivalfailed appprocessfailed
        """,
    }
)

# Codes so general that what the message says goes before them.
WEAK_CODES: Mapping[str, ErrorKind] = _table(
    {
        _K.SERVER_ERROR: """
            api_error apierror failedoperation resourceinsufficient resourceunavailable aborted unknown
            serviceunavailable service_unavailable serviceunavailableexception service_unavailable_error
            upstream_error upstream_provider_error bad_response bad_response_status_code do_request_failed
        """,
        _K.AUTH_ERROR: "forbidden operationdenied",
        _K.RATE_LIMITED: "toomanyrequests",
        _K.MODEL_GONE: "notfound not_found notfounderror resourcenotfound actionoffline",
        _K.TIMEOUT: "timeout",
        _K.CLIENT_ERROR: """
            invalid_request_error invalid_request invalid_argument invalidargumenterror invalidparameter
            invalid_parameter invalid_parameter_error invalidparametervalue invalidrequest missingparameter unknownparameter
            unsupportedoperation internalerror.algo.invalidparameter badrequest
            badrequesterror bad_request validationexception failed_precondition
            out_of_range unprocessable_entity unsupported_parameter unsupported_value
            invalidaction nosuchversion nosuchproduct dryrunoperation unsupportedprotocol unsupportedregion resourceinuse
        """,
    }
)

# What the same word or number means on one vendor's platform.
DIALECT_CODES: Mapping[str, Mapping[str, ErrorKind]] = {
    # A per-minute allowance that is back within the minute; no other platform means that by this word.
    "dashscope": _table(
        {_K.RATE_LIMITED: "insufficient_quota throttling.allocationquota", _K.SERVER_ERROR: "conflict"}
    ),
    "tencent": _table({_K.SERVER_ERROR: "4000 4001"}),
    "zhipu": _table(
        {
            _K.AUTH_ERROR: "1000 1001 1002 1003 1004 1100 1110 1111 1112 1121 1220",
            _K.QUOTA_EXHAUSTED: "1113 1304 1308 1309 1310 1313 1316",
            _K.SERVER_ERROR: "500 1120 1200 1230 1234 1312",
            _K.CLIENT_ERROR: "1210 1212 1213 1214 1215 1231",
            _K.MODEL_GONE: "1211 1221 1222 1311",
            _K.CONTEXT_TOO_LONG: "1261",
            _K.CONTENT_FILTERED: "1300 1301",
            _K.RATE_LIMITED: "1302 1303 1305",
        }
    ),
    "minimax": _table(
        {
            _K.SERVER_ERROR: "1000 1013 1024 1033 2048",
            _K.TIMEOUT: "1001",
            _K.RATE_LIMITED: "1002 1039 1041 2045",
            _K.AUTH_ERROR: "1004 2049",
            _K.QUOTA_EXHAUSTED: "1008 1028 1030 2056",
            _K.CONTENT_FILTERED: "1026 1027",
            _K.CLIENT_ERROR: "1042 2013",
            _K.MODEL_GONE: "2061",
        }
    ),
    "siliconflow": _table(
        {
            _K.MODEL_GONE: "20012 30003",
            _K.QUOTA_EXHAUSTED: "30001 30011",
            _K.SERVER_ERROR: "50505 50507 50508 50601 50602 50603",
            _K.RATE_LIMITED: "50604",
            _K.TIMEOUT: "50504",
        }
    ),
    "baidu": _table(
        {
            _K.SERVER_ERROR: "1 2 15 336000 336100 336200",
            _K.RATE_LIMITED: "4 18 336501 336502",
            _K.AUTH_ERROR: "6 13 14 100 110 111",
            _K.QUOTA_EXHAUSTED: "17 19",
            _K.CLIENT_ERROR: "3 336001 336002 336003",
            _K.CONTEXT_TOO_LONG: "336007 336103",
        }
    ),
    "spark": _table(
        {
            _K.RATE_LIMITED: "10007 11202 11203",
            _K.SERVER_ERROR: "10008 10009 10010 10012 10110 10222",
            _K.CONTENT_FILTERED: "10013 10014 10019",
            _K.AUTH_ERROR: "10015 10016 11200",
            _K.CONTEXT_TOO_LONG: "10907",
            _K.QUOTA_EXHAUSTED: "11201",
            _K.CLIENT_ERROR: "10003 10004 10005 10006 10021 10163 10404",
        }
    ),
}

# How codes are built that stand in no table. The first pattern that is found decides.
SHAPES: tuple[tuple[str, ErrorKind], ...] = (
    (r"sensitive|contentfilter|content_filter|moderation|inspection|riskdetect|illegaldetect", _K.CONTENT_FILTERED),
    (r"context_?(length|window)|prompt_?too_?long|(token|input)s?_?too_?(long|large)", _K.CONTEXT_TOO_LONG),
    (r"rate_?limit|too_?many_?req|throttl|[rtq]p[ms]_?(rate_?)?(limit_?)?exceeded", _K.RATE_LIMITED),
    (r"overdue|arrear|out_of_credit|low_?balance", _K.QUOTA_EXHAUSTED),
    (
        r"(insufficient|exhaust|no|low|exceed|reached|not_?enough)\w*(quota|balance|credit|fund|budget)",
        _K.QUOTA_EXHAUSTED,
    ),
    (
        r"(quota|balance|credit|spend|budget|billing|usage)\w*(insufficient|exhaust|exceed|reached|limit|not_?enough)",
        _K.QUOTA_EXHAUSTED,
    ),
    (r"(invalid|incorrect|missing|expired|wrong|bad)_?(api)?_?(key|token|credential|auth)", _K.AUTH_ERROR),
    (r"model_?(not|un|no|does)_?\w*(found|exist|available|support|open)|(unknown|no_such)_?model", _K.MODEL_GONE),
    (r"time_?d?_?out", _K.TIMEOUT),
    (r"overload|server_?error|internal_?error|unavailable", _K.SERVER_ERROR),
)

# A fault of one model, although its kind is one of the whole account.
TARGET_ONLY = frozenset({"setlimitexceeded", "allocationquota.freetieronly"})

STATUSES: Mapping[int, ErrorKind] = {
    401: _K.AUTH_ERROR,
    402: _K.QUOTA_EXHAUSTED,
    403: _K.AUTH_ERROR,
    404: _K.MODEL_GONE,
    407: _K.AUTH_ERROR,
    408: _K.TIMEOUT,
    409: _K.SERVER_ERROR,
    410: _K.MODEL_GONE,
    413: _K.CONTEXT_TOO_LONG,
    414: _K.CONTEXT_TOO_LONG,
    424: _K.SERVER_ERROR,
    425: _K.SERVER_ERROR,
    429: _K.RATE_LIMITED,
    451: _K.CONTENT_FILTERED,
    460: _K.TIMEOUT,
    499: _K.TIMEOUT,
    504: _K.TIMEOUT,
    522: _K.TIMEOUT,
    524: _K.TIMEOUT,
    598: _K.TIMEOUT,
    599: _K.TIMEOUT,
}

_DIALECT_WORDS: Mapping[str, str] = {
    "dashscope": "dashscope qwen alibaba aliyun aliyuncs bailian tongyi modelstudio maas",
    "tencent": "tencent hunyuan tokenhub tencentcloudapi tencentmaas tencentcloudmaas",
    "ark": "ark volcengine volces doubao",
    "zhipu": "zhipu bigmodel glm z.ai chatglm zai",
    "minimax": "minimax minimaxi abab",
    "siliconflow": "siliconflow siliconcloud",
    "baidu": "baidu qianfan ernie wenxin baidubce",
    "spark": "spark iflytek xfyun xf-yun xunfei",
}
_DIALECT_OF: Mapping[str, str] = {word: name for name, words in _DIALECT_WORDS.items() for word in words.split()}
_WORD = re.compile(r"[a-z0-9]+(?:[-][a-z0-9]+)*")


def dialects_of(platform: str) -> tuple[str, ...]:
    """Whose codes are spoken there? From a platform's name, protocol or address, in any mixture of them."""
    text = platform.lower()
    words = [*_WORD.findall(text), *re.findall(r"[a-z0-9]+", text)]
    if "z.ai" in text:
        words.append("z.ai")
    return tuple(dict.fromkeys(_DIALECT_OF[word] for word in words if word in _DIALECT_OF))


def kind_of_code(code: str, dialects: tuple[str, ...]) -> ErrorKind | None:
    """What a code says by itself; None when that is nothing, or too little."""
    candidate = code
    while candidate:
        for dialect in dialects:
            own = DIALECT_CODES.get(dialect, {}).get(candidate)
            if own is not None:
                return own
        if candidate in CODES:
            return CODES[candidate]
        if candidate in WEAK_CODES and candidate == code:
            return None
        candidate = candidate.rpartition(".")[0]
    if code.isdigit() or code in WEAK_CODES:
        return None
    plain = code.replace(".", "_").replace("-", "_")
    return next((kind for shape, kind in SHAPES if re.search(shape, plain)), None)  # re keeps what it has compiled


def weak_kind_of_code(code: str) -> ErrorKind | None:
    """What a general code says when nothing else does."""
    candidate = code
    while candidate:
        if candidate in WEAK_CODES:
            return WEAK_CODES[candidate]
        candidate = candidate.rpartition(".")[0]
    return None
