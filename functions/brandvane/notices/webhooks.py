"""In which form does each chat take a message, how is it signed, and what does it answer when it has taken it?

Slack: ``{"text"}`` with ``&<>`` as entities (api.slack.com, "Formatting text for app surfaces"); it answers ``ok``.
Feishu: ``msg_type`` ``post``, whose text elements know no markup; with a secret, ``timestamp`` (seconds) and ``sign`` =
Base64(HMAC-SHA256(key: timestamp + newline + secret, of nothing)) in the body; ``code`` 0 (open.feishu.cn, custom bots).
DingTalk: ``msgtype`` ``text``; with a secret, ``timestamp`` (milliseconds) and ``sign`` = Base64(HMAC-SHA256(key: secret,
of timestamp + newline + secret)) in the address; ``errcode`` 0 (open.dingtalk.com, custom robots; 20 messages a minute).
The last two refuse with HTTP 200.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus, urlsplit

from brandvane.notices.notice import Notice
from brandvane.platforms.registry import is_loopback


@dataclass(frozen=True, slots=True, repr=False)
class Hook:
    """A webhook's address and, where messages are signed, its secret. It has no readable form: both are secrets."""

    url: str
    secret: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Post:
    """What to send where."""

    url: str
    body: Mapping[str, Any]


class BadHook(ValueError):
    """What was stored is no webhook; the text never holds any of it."""


def parse_hook(stored: str) -> Hook:
    """``URL`` or ``URL SECRET``, as an operator stores it.

    Raises:
        BadHook: neither.
    """
    parts = stored.split()
    if len(parts) not in (1, 2):
        raise BadHook("it is not 'URL' or 'URL SECRET'")
    try:
        address = urlsplit(parts[0])
        host = address.hostname or ""
    except ValueError:
        raise BadHook("its first word is no URL") from None
    if address.scheme != "https" and not (address.scheme == "http" and is_loopback(host)):
        raise BadHook("its first word is no https URL")
    if not host:
        raise BadHook("its URL names no host")
    return Hook(*parts)


def slack(notice: Notice, hook: Hook, now: float) -> Post:
    """Bold title, lines, commands as code."""
    lines = [f"*{_slack_text(notice.title)}*", *map(_slack_text, notice.lines)]
    if notice.commands:
        lines += [f"{notice.commands_label}:", f"```{_slack_escape(chr(10).join(notice.commands))}```"]
    link = _slack_escape(notice.link)
    lines.append(f"<{link}|{notice.link_label}>" if _is_link(notice.link) else f"{notice.link_label}: {link}")
    return Post(hook.url, {"text": "\n".join(lines), "unfurl_links": False})


def feishu(notice: Notice, hook: Hook, now: float) -> Post:
    """Rich text without markup: each line a text element, the runbook a link."""
    rows = [[{"tag": "text", "text": line}] for line in notice.lines]
    if notice.commands:
        rows.append([{"tag": "text", "text": "\n".join((f"{notice.commands_label}:", *notice.commands))}])
    if _is_link(notice.link):
        rows.append([{"tag": "a", "text": notice.link_label, "href": notice.link}])
    else:
        rows.append([{"tag": "text", "text": f"{notice.link_label}: {notice.link}"}])
    language = "zh_cn" if notice.language == "zh" else "en_us"
    body: dict[str, Any] = {
        "msg_type": "post",
        "content": {"post": {language: {"title": notice.title, "content": rows}}},
    }
    if hook.secret:
        stamp = str(int(now))
        body |= {"timestamp": stamp, "sign": _sign(f"{stamp}\n{hook.secret}", "")}
    return Post(hook.url, body)


def dingtalk(notice: Notice, hook: Hook, now: float) -> Post:
    """Plain text."""
    lines = [notice.title, *notice.lines]
    if notice.commands:
        lines += [f"{notice.commands_label}:", *notice.commands]
    lines.append(f"{notice.link_label}: {notice.link}")
    # Nobody is ever pinged by what a text says.
    body = {"msgtype": "text", "text": {"content": "\n".join(lines).replace("@", "＠")}, "at": {"isAtAll": False}}
    if not hook.secret:
        return Post(hook.url, body)
    stamp = str(int(now * 1000))
    sign = quote_plus(_sign(hook.secret, f"{stamp}\n{hook.secret}"))
    joint = "&" if urlsplit(hook.url).query else "?"
    return Post(f"{hook.url}{joint}timestamp={stamp}&sign={sign}", body)


Form = Callable[[Notice, Hook, float], Post]
FORMS: Mapping[str, Form] = {"slack": slack, "feishu": feishu, "dingtalk": dingtalk}


def refusal(chat: str, status: int, body: bytes) -> str | None:
    """Why a chat did not take the message, without anything secret; None: it took it."""
    if not 200 <= status < 300:
        return f"HTTP {status}"
    if chat == "slack":
        return None
    try:
        told = json.loads(body)
        code = told.get("errcode" if chat == "dingtalk" else "code", told.get("StatusCode"))
    except (AttributeError, ValueError):
        return "no JSON came back"
    return None if code == 0 else f"code {code!s:.20}"


def _sign(key: str, message: str) -> str:
    return base64.b64encode(hmac.new(key.encode(), message.encode(), hashlib.sha256).digest()).decode()


def _slack_text(text: str) -> str:
    """Somebody's text: no entity, no mention, no formatting."""
    return _slack_escape(text.translate(_MARKUP))


_MARKUP = str.maketrans({"*": "∗", "_": "＿", "~": "∼", "`": "ʼ"})


def _slack_escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _is_link(text: str) -> bool:
    return text.startswith("https://")
