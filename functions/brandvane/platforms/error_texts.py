"""What does the message of an error say, where its code says nothing? Patterns over words that platforms use, English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from brandvane.policy import ErrorKind

_K = ErrorKind

_TEXTS: tuple[tuple[ErrorKind, tuple[str, ...]], ...] = (
    (
        _K.CONTEXT_TOO_LONG,
        (
            r"request too large|request entity too large|payload too large|max_seq_len",
            r"(maximum|max|model).{0,15} context (length|window)",
            r"context.?(window|length|limit).{0,40}(exceed|too|limit)",
            r"(prompt|input|message|tokens?|text)s?( token)?( length)?( is| are)? too (long|large)",
            r"too long.{0,20}tokens",
            r"exceed\w*( the)?( model'?s?)?( maximum| max| context)+.{0,30}(token|length|context|input)",
            r"exceed(s|ed)? context limit",
            r"(token count|number of tokens|input length|model token limit).{0,60}(exceed|limit|maximum|range)",
            r"exceeded model token limit|range of input length|reduce the length",
            r"must be <= ?\d+.{0,40}token|tokens.{0,40}must be <=",
            r"输入.{0,12}(过长|超出|超过|太长)|超[过出].{0,16}(上下文|最大长度|长度限制|token)|(上下文|内容|文本)(长度)?(过长|超[过出限])",
        ),
    ),
    (
        _K.CONTENT_FILTERED,
        (
            r"content (management )?polic|content.?filter",
            r"content.?moderation|(inappropriate|unsafe) content|content exists risk",
            r"(response|output|input|prompt|content)( was| has been| is) (filtered|blocked)",
            r"(flagged|blocked|rejected|refused).{0,60}(safety|moderation|polic|sensitive|guidelines|high risk|harmful)",
            r"safety (system|filter|polic|reasons)",
            r"violat\w+.{0,40}(usage|content|safety|our) (polic|guidelines)|prohibited content",
            r"considered high risk|sensitive (content|information|words?)|may contain sensitive|risk control reject",
            r"敏感|违规|违法|不适当|不合规|不当内容|内容安全|安全审核|审核不通过|涉政|涉黄|风险内容",
        ),
    ),
    (
        _K.QUOTA_EXHAUSTED,
        (
            r"(insufficient|not enough|no|low|negative).{0,12}(balance|credits?|funds|quota)\b",
            r"insufficient_(balance|quota)",
            r"(balance|quota|credits?).{0,25}(not enough|insufficient|too low|exhausted|is 0|negative)",
            r"(in )?arrears|overdue (balance|payment|bill)",
            r"(credits?|quota|free tier|allowance|resource pack).{0,40}(deplet|exhaust|used up|run out|ran out|been reached)",
            r"(out of|more|all available|purchase|add|buy) credits",
            r"out of (call volume )?quota|exceeded your (current|allocated) quota",
            r"(spend|spending|billing|budget|usage|monthly|weekly|daily|key|credit)s? (hard )?(limit|cap|quota).{0,40}(reach|exceed|hit)",
            r"(reached|exceeded|hit|used up).{0,40}(spend(ing)?|billing|budget|usage|monthly|weekly|credit)s? (hard )?(limit|cap|quota)s?",
            r"budget.{0,20}exceeded|(enable|check your plan and|activate|update your) billing",
            r"payment required|account is not active",
            r"trial.{0,20}expired|extra usage is required|purchase extra usage",
            r"(使用|今日|当日|本月|月度)(调用|用量|次数|额度)?的?上限|调用(次数)?上限",
            r"top.?up|please recharge|specified api usage limits|subscription.{0,20}(expired|inactive)|good standing",
            r"余额不足|余额.{0,6}(用尽|耗尽|不够)|欠费|充值|额度.{0,6}(不足|用完|用尽|耗尽|超)",
            r"配额.{0,6}(不足|用完|用尽|耗尽|超)|超[出过].{0,4}配额|资源包.{0,8}(用尽|耗尽|用完)|套餐.{0,8}(到期|过期|用完)|停服",
        ),
    ),
    (
        _K.MODEL_GONE,
        (
            r"model.{0,120}(does not exist|doesn't exist|do not exist|not exist|not found|decommissioned|discontinued|retired|deprecated)",
            r"model.{0,120}(no longer (available|supported)|has been (removed|shut ?down|disabled)|is not (available|supported)|offline)",
            r"(unknown|unsupported|no such|invalid) model|not a valid model",
            r"not found the model|no endpoints found|model disabled",
            r"deployment.{0,60}(does not exist|not found)|endpoint.{0,40}(does not exist|not found|closed)",
            r"not activated the model|模型.{0,30}(不存在|已下线|下线|未开通|不支持|未找到|已停用)|无可用渠道|未开通.{0,10}模型",
        ),
    ),
    (
        _K.RATE_LIMITED,
        (
            r"rate[\s_-]*limit|too many (requests|tokens|concurrent)",
            r"(requests|tokens) (per|/) ?(second|minute|min|day)|throttl",
            r"\b(rpm|tpm|qps|rps|rpd|tpd)\b|concurren(t|cy).{0,40}(limit|exceed|max|high)",
            r"too (quickly|fast|frequent)|slow down",
            r"(calls|requests) ?/ ?(minute|second)|tier capacity exceeded|burst",
            r"访问频率|请求过于频繁|过于频繁|频率.{0,6}(过快|过高|超|限制)|限流|并发.{0,10}(过高|超|限制)|请求.{0,6}(过多|太快|超限)|超过.{0,6}(qps|rpm|tpm)",
        ),
    ),
    (
        _K.AUTH_ERROR,
        (
            (
                r"(incorrect|invalid|expired|missing|wrong|bad|no|unauthorized|provide an?) "
                r".{0,24}(api[ _-]?key|(?<![a-z_])token(?![a-z_])|credentials?|subscription key)"
            ),
            (
                r"(api[ _-]?key|access token|bearer token|credentials?).{0,60}"
                r"(invalid|not valid|expired|not found|disabled|revoked|missing|required|incorrect)"
            ),
            r"(authentication|authorization)[ _]?(error|fail|required)",
            r"authentication fails|invalid (x-api-key|authentication|authorization)",
            r"\bunauthori[sz]ed|not authori[sz]ed|permission.?denied|access denied",
            r"(does|do) not have (access|permission)|insufficient permissions?",
            r"(account|organization|user|project).{0,40}(deactivated|suspended|disabled|banned|terminated|locked)",
            r"signature.{0,30}(expired|mismatch|not match)",
            r"(country|region|territory|location).{0,20}(is )?not supported",
            r"ip.{0,20}not (allowed|authorized|in the whitelist)|real.?name",
            r"密钥.{0,12}(无效|错误|不存在|失效|过期)|鉴权|认证失败|身份验证|无效的令牌",
            r"令牌.{0,8}(无效|过期|不可用)|无权|没有权限|账[号户].{0,10}(封禁|锁定|冻结)|未授权|实名",
        ),
    ),
    (
        _K.SERVER_ERROR,
        (
            r"overload|server (is )?busy|system (is )?(too )?busy",
            r"high demand|service (temporarily |is )?unavailable|bad gateway",
            r"internal (server )?error|temporarily unavailable",
            r"no healthy upstream|upstream (connect )?error|currently loading",
            r"服务繁忙|系统繁忙|服务器繁忙|过载|负载.{0,6}(过高|高)|内部错误|服务异常|服务不可用",
        ),
    ),
    (_K.TIMEOUT, (r"timed? ?out|timeout|deadline exceeded|超时",)),
)


# The dearest patterns are asked only where one of these stands in the text: whatever they match holds one of them.
_NEEDLES: Mapping[ErrorKind, tuple[str, ...]] = {
    _K.CONTEXT_TOO_LONG: (
        *("large", "max", "context", "long", "exceed", "length", "limit", "range", "reduce", "<="),
        *("输入", "超", "过长"),
    ),
    _K.QUOTA_EXHAUSTED: (
        *(
            "balance",
            "credit",
            "fund",
            "quota",
            "arrear",
            "overdue",
            "tier",
            "allowance",
            "pack",
            "limit",
            "cap",
            "budget",
        ),
        *("billing", "payment", "not active", "top", "recharge", "subscription", "standing"),
        *("extra usage", "trial", "余额", "欠费", "充值", "额度", "配额", "上限", "资源包", "套餐", "停服"),
    ),
    _K.AUTH_ERROR: (
        *(
            "key",
            "token",
            "credential",
            "authent",
            "authori",
            "permission",
            "access",
            "account",
            "organization",
            "user",
        ),
        *("project", "signature", "country", "region", "territory", "location", "ip", "real"),
        *("密钥", "鉴权", "认证", "身份", "令牌", "无权", "权限", "账", "授权", "实名"),
    ),
}


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], ErrorKind, tuple[str, ...]], ...]:
    """When first needed: compiling takes longer than a worker's start may be delayed by."""
    return tuple((re.compile("|".join(patterns)), kind, _NEEDLES.get(kind, ())) for kind, patterns in _TEXTS)


TOO_LARGE_FOR_LIMIT = re.compile(r"request too large", re.IGNORECASE)
_DAYS = re.compile(
    r"(per[ _-]?|/ ?)(day|month|week)\b|\b(tpd|rpd)\b|\bdaily\b|weekly|monthly|\btoday's|\btomorrow\b"
    r"|每[日天周月]|当[日天]|日(调用|请求|用)?(量|额度|限额)",
    re.IGNORECASE,
)
_RATE_FIRST = re.compile(r"\W*rate[ _-]?limit", re.IGNORECASE)
_ZERO = re.compile(r"\blimit:? ?0\b(?![.,]?\d)", re.IGNORECASE)


def kind_of_text(text: str) -> ErrorKind | None:
    """What the words say; None when they say nothing known."""
    if _RATE_FIRST.match(text):
        return _K.RATE_LIMITED  # further on, such a message speaks of plans and payments (OpenAI)
    small = text.lower()  # once, and not by each pattern: twice as fast
    for pattern, kind, needles in _compiled():
        if (not needles or any(needle in small for needle in needles)) and pattern.search(small):
            return kind
    return None


def by_the_day(text: str) -> bool:
    """Is it a limit of a day or longer that was reached?"""
    return _DAYS.search(text) is not None


def nothing_allowed(text: str) -> bool:
    """Is the limit itself zero, or all of a longer allowance gone?"""
    return _ZERO.search(text) is not None
