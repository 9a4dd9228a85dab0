"""How is a question asked of Tencent Cloud API 3.0 (``ChatCompletions``), and how is the answer read?

A legacy adapter: the hosted Hunyuan models moved to TokenHub in 2026 (Tencent's document 1729/131925). Shape: ``POST`` to the host's
root with ``X-TC-*`` headers and a TC3-HMAC-SHA256 signature over method, ``content-type``, ``host``, ``x-tc-action`` and the body;
answers and errors both come with HTTP 200, as ``{"Response": {…}}`` (Tencent Cloud, *Signature v3*; *ChatCompletions*, version
2023-09-01). The key is ``SecretId:SecretKey``; a signature holds for five minutes.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from brandvane.answer import Answer, AnswerStatus, Citation, Failure, Usage
from brandvane.catalogue import PlatformSettings
from brandvane.platforms.reading import Received, count, first, listed, mapping, reader, retrieved, spoken, word
from brandvane.platforms.request import chat_messages, wishes
from brandvane.policy import ErrorKind

ACTION = "ChatCompletions"
VERSION = "2023-09-01"
CONTENT_TYPE = "application/json"
_ALGORITHM = "TC3-HMAC-SHA256"
_SIGNED = "content-type;host;x-tc-action"
_FINISH: Mapping[str, AnswerStatus] = {"sensitive": "filtered", "length": "truncated"}
_SEARCH = {"EnableEnhancement": True, "ForceSearchEnhancement": True, "SearchInfo": True, "Citation": True}
_NAMES = {"temperature": "Temperature", "top_p": "TopP", "seed": "Seed"}


def path(settings: PlatformSettings, model: str) -> str:
    """The root of the host."""
    return "/"


def request_body(settings: PlatformSettings, model: str, prompt: str) -> dict[str, Any]:
    """The JSON to send."""
    wish = wishes(settings)
    messages = [{name.title(): said for name, said in row.items()} for row in chat_messages(wish.system, prompt)]
    body: dict[str, Any] = {"Model": model, "Messages": messages, "Stream": False}
    if wish.search:
        body |= {**_SEARCH, **settings.search_body}
    return {**body, **{_NAMES.get(name, name): value for name, value in wish.plain.items()}}


def headers(settings: PlatformSettings, key: str, content: bytes, now: float) -> dict[str, str]:
    """Signature and common parameters."""
    secret_id, _, secret = key.partition(":")
    host = urlsplit(settings.base_url).netloc
    service = host.partition(".")[0]
    return {
        "Authorization": authorization(secret_id, secret, service, host, ACTION, content, now, CONTENT_TYPE),
        "X-TC-Action": ACTION,
        "X-TC-Version": VERSION,
        "X-TC-Timestamp": str(int(now)),
    }


def authorization(
    secret_id: str, secret: str, service: str, host: str, action: str, content: bytes, now: float, content_type: str
) -> str:
    """The Authorization header of a ``POST /`` at ``now`` (Tencent Cloud, *Signature v3*)."""
    date = f"{datetime.fromtimestamp(int(now), UTC):%Y-%m-%d}"
    scope = f"{date}/{service}/tc3_request"
    signed = f"content-type:{content_type}\nhost:{host}\nx-tc-action:{action.lower()}\n"
    canonical = f"POST\n/\n\n{signed}\n{_SIGNED}\n{_sha256(content)}"
    to_sign = f"{_ALGORITHM}\n{int(now)}\n{scope}\n{_sha256(canonical.encode())}"
    signing = f"TC3{secret}".encode()
    for part in (date, service, "tc3_request"):
        signing = hmac.new(signing, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(signing, to_sign.encode(), hashlib.sha256).hexdigest()
    return f"{_ALGORITHM} Credential={secret_id}/{scope}, SignedHeaders={_SIGNED}, Signature={signature}"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _answer(got: Received, document: dict[str, Any]) -> Answer | Failure:
    response = document.get("Response", document)
    if not isinstance(response, dict):
        return got.malformed("the body has no Response")
    error = response.get("Error") or response.get("ErrorMsg") or response.get("error")
    if error:
        return got.told_error(error)
    choice = first(response.get("Choices"))
    message = mapping(choice.get("Message"))
    if not message:
        return got.malformed("the body has no Choices[0].Message")
    finish = word(choice.get("FinishReason"))
    if finish == "error":
        return got.failed(ErrorKind.SERVER_ERROR, "FinishReason error")
    usage = mapping(response.get("Usage"))
    search = mapping(response.get("SearchInfo"))
    rows = listed(search.get("SearchResults"))
    text = spoken(word(message.get("Content")))
    return got.answered(
        _FINISH.get(finish, "ok"),
        text,
        model=response.get("Model"),
        finish=finish,
        request_id=response.get("RequestId") or response.get("Id"),
        usage=Usage(count(usage.get("PromptTokens")), count(usage.get("CompletionTokens")), 0, 1 if rows else 0),
        citations=[*_marked(text, rows), *retrieved(rows, url="Url", title="Title")],
    )


read = reader(_answer)


def _marked(text: str, rows: list[Any]) -> Iterator[Citation]:
    """Sources that the text points at: ``[1](@ref)`` with ``Citation`` on."""
    for row in rows:
        number = mapping(row).get("Index")
        at = text.find(f"[{number}](@ref)") if isinstance(number, int) else -1
        if at >= 0:
            for source in retrieved([row], url="Url", title="Title"):
                yield Citation(source.url, source.title, "cited", at)
