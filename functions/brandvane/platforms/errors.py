"""What does an error answer mean? By code and type before text, by text before status (DESIGN §4.6, §5).

One reading for all platforms: ``read_error`` says kind, scope and the wait that was asked for; ``classify`` makes a failure of it.
A platform's own codes go before the general ones, because the same word can mean different things on two platforms
(``insufficient_quota`` is an empty wallet at OpenAI and a per-minute limit at DashScope).
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from brandvane.answer import Failure, Scope
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.error_body import Told, read_told
from brandvane.platforms.error_codes import STATUSES, TARGET_ONLY, dialects_of, kind_of_code, weak_kind_of_code
from brandvane.platforms.error_texts import TOO_LARGE_FOR_LIMIT, by_the_day, kind_of_text, nothing_allowed
from brandvane.platforms.retry_after import retry_after, told_wait
from brandvane.policy import PAUSES_PLATFORM, PAUSES_TARGET, RETRY_AFTER_MAX_S, ErrorKind

MESSAGE_MAX = 200
NO_CONNECTION = "no connection"
_K = ErrorKind
_WAITING_HELPS = frozenset({_K.RATE_LIMITED, _K.SERVER_ERROR, _K.QUOTA_EXHAUSTED, _K.TIMEOUT})
RETRYABLE = frozenset({_K.RATE_LIMITED, _K.TIMEOUT, _K.SERVER_ERROR, _K.MALFORMED, _K.EMPTY})
# Only a page of a gateway says these in its heading, with whatever status it was passed on.
_PAGES: tuple[tuple[re.Pattern[str], ErrorKind], ...] = (
    (re.compile(r"being rate limited|too many requests", re.IGNORECASE), _K.RATE_LIMITED),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What an error means. ``wait_s``: seconds that the platform asks to wait; ``message`` is safe to log."""

    kind: ErrorKind
    scope: Scope
    wait_s: float | None
    message: str
    daily: bool = False  # an allowance of a day or longer, which comes back by itself

    @property
    def retryable(self) -> bool:
        """May the same call be sent again without a person acting first?"""
        return self.kind in RETRYABLE


def hint(settings: PlatformSettings) -> str:
    """What tells whose codes a platform speaks: its name and its address."""
    return f"{settings.name} {settings.base_url}"


def read_error(platform: str, status: int, headers: Mapping[str, str], body: bytes, now: float) -> Reading:
    """Read an HTTP answer that is an error. ``headers`` have lower-case names; ``platform``: name, address, or both."""
    told = read_told(body, headers)
    wait = retry_after(headers, now)
    if wait is None:
        wait = told_wait(told.documents, told.text, now)
    kind, code = _kind(dialects_of(platform), status, told)
    daily = False
    soon = wait is not None and wait <= RETRY_AFTER_MAX_S
    if kind is _K.QUOTA_EXHAUSTED and code == "" and soon and not _MONEY.search(told.text):
        kind = _K.RATE_LIMITED  # who names a short wait means an allowance that comes back, not an empty wallet
    if kind is _K.QUOTA_EXHAUSTED and status == 429 and _per_minute(told) and not _MONEY.search(told.text):
        kind = _K.RATE_LIMITED  # Cerebras calls a minute's allowance a quota
    if kind is _K.AUTH_ERROR and _MONEY.search(told.text):
        kind = _K.QUOTA_EXHAUSTED  # Perplexity and relays say 401 when the credits are used up
    if kind is _K.AUTH_ERROR and code in _DENIALS:
        said = kind_of_text(told.text)  # Kimi denies with 403 what exceeds a week's allowance, or the calls at a time
        kind = said if said in (_K.QUOTA_EXHAUSTED, _K.RATE_LIMITED) else kind
    if kind is _K.RATE_LIMITED:
        kind, daily = _rate_or_quota(told, code, headers, wait)
    shown = ", ".join(told.codes[:4]) or told.text[:MESSAGE_MAX]
    message = f"HTTP {status}: {_safe(shown)}"[:MESSAGE_MAX]
    return Reading(kind, _scope(kind, code), wait if kind in _WAITING_HELPS else None, message, daily)


def classify(platform: str, status: int, headers: Mapping[str, str], body: bytes, now: float) -> Failure:
    """Read an HTTP answer that is an error, as a failure."""
    found = read_error(platform, status, headers, body, now)
    wait = found.wait_s
    if found.daily:
        # What a platform asks to wait when a day's allowance is gone is the wait of its minute's (Gemini): look again in an hour.
        wait = max(wait or 0.0, RETRY_AFTER_MAX_S + 1)
    return failure(found.kind, found.message, retry_after=wait, status=status, body=body, scope=found.scope)


def failure(
    kind: ErrorKind,
    message: str,
    *,
    retry_after: float | None = None,
    status: int | None = None,
    body: bytes = b"",
    scope: Scope | None = None,
) -> Failure:
    """A failure with the scope that its kind has, unless another is given."""
    raw = body[:20_000].decode("utf-8", "replace")
    return Failure(kind, message[:MESSAGE_MAX], scope or _scope(kind, ""), retry_after, status, raw)


_NO_NAME = "the host's name cannot be resolved (DNS)"
_NOT_SECURE = "no secure connection (TLS)"
_NOT_REACHED = (
    NO_CONNECTION,
    *(f"connection lost: {why}" for why in (_NO_NAME, _NOT_SECURE, "ConnectError", "ConnectTimeout")),
)


def not_reached(failed: Failure) -> bool:
    """Was there no connection at all, so that most likely the address is wrong or nobody listens there?"""
    return failed.kind is _K.TIMEOUT and failed.message in _NOT_REACHED


def transport_failure(error: Exception) -> Failure:
    """What an exception of the connection means: nothing of it is the question's fault, so the call may be made again."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and len(chain) < 8 and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    name = type(error).__name__
    if any(isinstance(e, socket.gaierror) for e in chain):
        return failure(_K.TIMEOUT, f"connection lost: {_NO_NAME}")
    if any(isinstance(e, ssl.SSLError) for e in chain) or "CERTIFICATE" in str(error).upper():
        return failure(_K.TIMEOUT, f"connection lost: {_NOT_SECURE}")
    if name == "DecodingError":
        return failure(_K.MALFORMED, "the body's compression is broken")
    if name in ("InvalidURL", "UnsupportedProtocol"):
        return failure(_K.CLIENT_ERROR, "base_url is not a URL that can be called")
    if name == "LocalProtocolError":
        return failure(_K.CLIENT_ERROR, "the request cannot be sent as it is (LocalProtocolError)")
    return failure(_K.TIMEOUT, f"connection lost: {name}")


def _scope(kind: ErrorKind, code: str) -> Scope:
    if kind in PAUSES_TARGET or (kind in PAUSES_PLATFORM and code in TARGET_ONLY):
        return "target"
    return "platform" if kind in PAUSES_PLATFORM else "task"


def _kind(dialects: tuple[str, ...], status: int, told: Told) -> tuple[ErrorKind, str]:
    """The kind, and the code that decided it ("" when none did)."""
    if told.flagged:
        return _K.CONTENT_FILTERED, ""
    inside = _MINIMAX.search(told.text) if "minimax" in dialects else None  # its own number, behind a general type
    for code in (inside[1], *told.codes) if inside else told.codes:
        known = kind_of_code(code, dialects)
        if known is not None:
            return known, code
    if told.markup:
        page = next((kind for pattern, kind in _PAGES if pattern.search(told.text)), None)
        return page or _by_status(status), ""
    said = kind_of_text(told.text)
    if said is not None:
        return said, ""
    upstream = _told_status(told.codes, status)
    if upstream == status:
        for code in told.codes:
            weak = weak_kind_of_code(code)
            if weak is not None and not (weak is _K.CLIENT_ERROR and _speaks(status)):
                return weak, ""
    return _by_status(upstream), ""


def _speaks(status: int) -> bool:
    """Does the status say more than that the request was wrong?"""
    return status in STATUSES or status >= 500


def _rate_or_quota(told: Told, code: str, headers: Mapping[str, str], wait: float | None) -> tuple[ErrorKind, bool]:
    """A limit of a day, of zero, or one that this request alone exceeds: no wait of minutes helps. And: is it a daily one?"""
    if told.zero or nothing_allowed(told.text):
        return _K.QUOTA_EXHAUSTED, False
    if any("perday" in each or "permonth" in each for each in told.codes):
        return _K.QUOTA_EXHAUSTED, True
    if TOO_LARGE_FOR_LIMIT.search(told.text) and wait is None:
        return _K.CONTEXT_TOO_LONG, False
    if by_the_day(told.text) and wait is None:
        return _K.QUOTA_EXHAUSTED, True
    if _FREE_GONE.search(told.text):
        return _K.QUOTA_EXHAUSTED, False
    if "exhausted your capacity" in told.text and wait is not None and wait > RETRY_AFTER_MAX_S:
        return _K.QUOTA_EXHAUSTED, True
    if headers.get("x-should-retry", "").lower() == "false":
        return _K.QUOTA_EXHAUSTED, False
    empty = wait is None and kind_of_text(told.text) is _K.QUOTA_EXHAUSTED and not _per_minute(told)
    if code in _VAGUE and (empty or _MONEY.search(told.text)):
        return _K.QUOTA_EXHAUSTED, False
    return _K.RATE_LIMITED, False


_MINIMAX = re.compile(r"\((\d{4})\)\s*$")
# Codes that say no more than that the call is not allowed.
_DENIALS = frozenset({"access_terminated_error", "permission_error", "permission_denied_error", "forbidden_error"})
# Codes of a rate limit under which an empty wallet or a used-up month is told as well.
_VAGUE = frozenset(
    {
        "",
        "rate_limit_error",
        "rate_limit",
        "rate_limited",
        "resource_exhausted",
        "too_many_requests",
        "throttling_error",
    }
)
_MONEY = re.compile(
    r"balance|credits? (are|is|have)|out of credits|insufficient (credit|fund)|recharge|spend(ing)? limit|arrears|余额|欠费|充值",
    re.IGNORECASE,
)
_FREE_GONE = re.compile(
    r"free (allocated |tier |trial )?quota.{0,20}(exceed|exhaust|used up)", re.IGNORECASE
)  # DashScope
_MINUTE = re.compile(r"per[ _-]?(minute|second|min)\b|\b[rtq]p[ms]\b|check quota", re.IGNORECASE)


def _per_minute(told: Told) -> bool:
    return _MINUTE.search(told.text) is not None or any("perminute" in code for code in told.codes)


def _told_status(codes: tuple[str, ...], status: int) -> int:
    """Gateways put the upstream's status into the body's code, inside HTTP 200 too; longer numbers begin with one (TokenHub)."""
    for code in codes:
        if code.isascii() and code.isdigit() and len(code) in (3, 6):
            number = int(code[:3])
            if 400 <= number < 600:
                return number
    return status


def _by_status(status: int) -> ErrorKind:
    if status in STATUSES:
        return STATUSES[status]
    if status < 300:
        return _K.MALFORMED  # an error that calls itself a success and names no reason we know
    return _K.SERVER_ERROR if status >= 500 else _K.CLIENT_ERROR


_SECRETS = re.compile(
    r"(?:sk|ak|rk|pk|key|Bearer|AIza|AKID)[-_ ]?[A-Za-z0-9*_\-]{6,}|\b(?=[A-Za-z_\-]*\d)[A-Za-z0-9_\-]{28,}\b"
)


def _safe(text: str) -> str:
    """One line, with anything that looks like a key struck out."""
    return _SECRETS.sub("[key]", " ".join(text.split()))
