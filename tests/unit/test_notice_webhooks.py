"""Does each chat get the form it takes, signed as it asks, and nothing that somebody smuggled into a text?"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from brandvane.notices.webhooks import FORMS, BadHook, Hook, dingtalk, feishu, parse_hook, refusal, slack
from unit.notice_samples import RUNBOOK, notice

HOOK = Hook("https://chat.example.com/hook?access_token=t")
NOW = 1_700_000_000.123


def test_slack_gets_a_bold_title_lines_commands_as_code_and_a_link() -> None:
    post = slack(notice(), HOOK, NOW)
    assert post.url == HOOK.url
    assert post.body["text"].splitlines()[0] == "*[P1] Tasks fail · openai*"
    assert (
        "```brandvane status\nbrandvane logs --platform openai --level warning\nbrandvane platform list```"
        in post.body["text"]
    )
    assert post.body["text"].endswith(f"<{RUNBOOK}#success-rate|Runbook>")


def test_slack_reads_no_mention_no_link_and_no_markup_in_somebody_elses_text() -> None:
    post = slack(notice(NewStateReason="<!channel> <https://evil.example|click> *b* `c` & _d_"), HOOK, NOW)
    line = next(row for row in post.body["text"].splitlines() if row.startswith("Reason"))
    assert line == "Reason: &lt;!channel&gt; &lt;https://evil.example|click&gt; ∗b∗ ʼcʼ &amp; ＿d＿"


def test_feishu_gets_rich_text_in_the_readers_language() -> None:
    body = feishu(notice("zh"), HOOK, NOW).body
    assert body["msg_type"] == "post"
    post = body["content"]["post"]["zh_cn"]
    assert post["title"] == "[P1] 任务成功率低 · openai"
    assert post["content"][-1] == [{"tag": "a", "text": "处理手册", "href": f"{RUNBOOK}#success-rate"}]
    assert {element["tag"] for row in post["content"] for element in row} == {"text", "a"}
    assert "sign" not in body


def test_feishu_is_signed_with_seconds_in_the_body() -> None:
    post = feishu(notice(), replace(HOOK, secret="topsecret"), NOW)
    assert post.url == HOOK.url
    assert post.body["timestamp"] == "1700000000"
    assert post.body["sign"] == "YYwhpW0DojOMeEoJw+vpuvaw1aHMCx3kPEmfSlnJ6rA="


def test_dingtalk_gets_plain_text_that_pings_nobody() -> None:
    body = dingtalk(notice(NewStateReason="@all look"), HOOK, NOW).body
    assert body["msgtype"] == "text"
    assert body["at"] == {"isAtAll": False}
    lines = body["text"]["content"].splitlines()
    assert lines[0] == "[P1] Tasks fail · openai"
    assert "Reason: ＠all look" in lines
    assert lines[-1] == f"Runbook: {RUNBOOK}#success-rate"


def test_dingtalk_is_signed_with_milliseconds_in_the_address() -> None:
    post = dingtalk(notice(), replace(HOOK, secret="SECabc"), NOW)
    assert post.url == f"{HOOK.url}&timestamp=1700000000123&sign=IqXBU%2FaLfwMA3S%2FtDcfRmHx5vWHw9Y1aOgFLBr1Ti9w%3D"


@pytest.mark.parametrize("chat", FORMS)
def test_a_runbook_without_an_address_is_named_and_no_link(chat: str) -> None:
    text = json.dumps(FORMS[chat](replace(notice(), link="docs/runbook.md#backlog"), HOOK, NOW).body)
    assert "Runbook: docs/runbook.md#backlog" in text
    assert "href" not in text


@pytest.mark.parametrize(
    ("chat", "status", "body", "why"),
    [
        ("slack", 200, b"ok", None),
        ("slack", 404, b"no_service", "HTTP 404"),
        ("slack", 302, b"", "HTTP 302"),
        ("feishu", 200, b'{"code":0,"msg":"success"}', None),
        ("feishu", 200, b'{"StatusCode":0}', None),
        ("feishu", 200, b'{"code":19021,"msg":"sign match fail"}', "code 19021"),
        ("dingtalk", 200, b'{"errcode":0,"errmsg":"ok"}', None),
        ("dingtalk", 200, b'{"errcode":310000,"errmsg":"sign not match"}', "code 310000"),
        ("dingtalk", 200, b"<html>", "no JSON came back"),
        ("dingtalk", 200, b"[]", "no JSON came back"),
    ],
)
def test_a_chat_has_taken_a_message_only_when_it_says_so(chat: str, status: int, body: bytes, why: str | None) -> None:
    assert refusal(chat, status, body) == why


def test_a_hook_is_an_address_and_perhaps_a_secret() -> None:
    assert parse_hook(" https://a.example/x \n SECabc\n") == Hook("https://a.example/x", "SECabc")
    assert parse_hook("http://127.0.0.1:9/x") == Hook("http://127.0.0.1:9/x")


@pytest.mark.parametrize("stored", ["", "a b c", "http://a.example/x", "ftp://a.example", "https:///x", "https://[x"])
def test_a_hook_that_is_none_is_refused_without_being_shown(stored: str) -> None:
    with pytest.raises(BadHook) as refused:
        parse_hook(stored)
    assert "example" not in str(refused.value)


def test_a_hook_has_no_readable_form() -> None:
    hook = Hook("https://a.example/token", "SECabc")
    assert "token" not in repr(hook)
    assert "token" not in repr(slack(notice(), hook, NOW))
