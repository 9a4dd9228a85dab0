"""Tencent Cloud API 3.0. Bodies of our own writing after *ChatCompletions*; the signature is checked with *Signature v3*'s example."""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.answer import Citation, Usage
from brandvane.platforms.tencent_tc3 import authorization
from brandvane.policy import ErrorKind
from unit.protocol_reading import Speaker

K = ErrorKind
SPEAKER = Speaker("tencent_tc3", base_url="https://hunyuan.tencentcloudapi.com")
# cloud.tencent.com/document/api/213/30654: its key is 32 asterisks, its parameters are these, its signature is that of the page.
HIDDEN = "*" * 32
PARAMETERS = b'{"Limit": 1, "Filters": [{"Values": ["\\u672a\\u547d\\u540d"], "Name": "instance-name"}]}'


def response(content: Any = "Acme leads [1](@ref).", finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A response."""
    choice = {"Message": {"Role": "assistant", "Content": content}, "FinishReason": finish}
    usage = {"PromptTokens": 11, "CompletionTokens": 22, "TotalTokens": 33}
    return {"Response": {"Choices": [choice], "Usage": usage, "Id": "i-1", "RequestId": "r-1", **more}}


def test_the_signature_is_the_documented_one() -> None:
    signed = authorization(
        "AKID" + HIDDEN,
        HIDDEN,
        "cvm",
        "cvm.tencentcloudapi.com",
        "DescribeInstances",
        PARAMETERS,
        1551113065.9,
        "application/json; charset=utf-8",
    )
    assert signed == (
        f"TC3-HMAC-SHA256 Credential=AKID{HIDDEN}/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host;x-tc-action, "
        "Signature=10b1a37a7301a02ca19a647ad722d5e43b4b3cff309d421d85b46093f6ab6c4f"
    )


def test_the_headers_name_action_version_and_instant_and_show_no_secret() -> None:
    headers = SPEAKER.module.headers(SPEAKER.settings, "the-id:the-secret", b"{}", 1551113065.0)
    assert (headers["X-TC-Action"], headers["X-TC-Version"], headers["X-TC-Timestamp"]) == (
        "ChatCompletions",
        "2023-09-01",
        "1551113065",
    )
    assert "Credential=the-id/2019-02-25/hunyuan/tc3_request" in headers["Authorization"]
    assert "the-secret" not in str(headers)


def test_a_question_has_tencents_capitals() -> None:
    assert SPEAKER.asks(system="Be brief.", temperature=0.5) == {
        "Model": "m1",
        "Messages": [{"Role": "system", "Content": "Be brief."}, {"Role": "user", "Content": "Who leads?"}],
        "Stream": False,
        "Temperature": 0.5,
    }
    assert SPEAKER.asks(search=True)["SearchInfo"] is True


def test_an_answer_is_read_with_its_sources() -> None:
    rows = [
        {"Index": 1, "Title": "Acme", "Url": "https://acme.example/"},
        {"Index": 2, "Title": "Zeta", "Url": "https://zeta.example/"},
    ]
    reply = SPEAKER.answer(response(SearchInfo={"SearchResults": rows}))
    assert (reply.status, reply.text, reply.provider_request_id) == ("ok", "Acme leads [1](@ref).", "r-1")
    assert reply.citations == (
        Citation("https://acme.example/", "Acme", "cited", 11),
        Citation("https://acme.example/", "Acme", "retrieved", 1),
        Citation("https://zeta.example/", "Zeta", "retrieved", 2),
    )
    assert reply.usage == Usage(11, 22, 0, 1)


@pytest.mark.parametrize(("finish", "status"), [("stop", "ok"), ("sensitive", "filtered"), ("length", "truncated")])
def test_the_finish_reason_says_how_the_answer_ended(finish: str, status: str) -> None:
    assert SPEAKER.answer(response("Acme", finish)).status == status


def failed(code: str, where: str = "Error") -> dict[str, Any]:
    """An error, as always inside HTTP 200."""
    return {"Response": {where: {"Code": code, "Message": "It failed."}, "RequestId": "r-1"}}


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (failed("RequestLimitExceeded"), K.RATE_LIMITED),
        (failed("FailedOperation.EngineServerLimitExceeded"), K.RATE_LIMITED),
        (failed("FailedOperation.EngineRequestTimeout"), K.TIMEOUT),
        (failed("FailedOperation.ResourcePackExhausted"), K.QUOTA_EXHAUSTED),
        (failed("ResourceUnavailable.InArrears"), K.QUOTA_EXHAUSTED),
        (failed("AuthFailure.SecretIdNotFound"), K.AUTH_ERROR),
        (failed("OperationDenied.TextIllegalDetected"), K.CONTENT_FILTERED),
        (failed("InvalidParameterValue.Model"), K.MODEL_GONE),
        (failed("InvalidParameter"), K.CLIENT_ERROR),
        (failed("FailedOperation.EngineServerError", "ErrorMsg"), K.SERVER_ERROR),
        (response("", "stop"), K.EMPTY),
        (response("", "error"), K.SERVER_ERROR),
        ({"Response": {"RequestId": "r-1"}}, K.MALFORMED),
        ({"Response": []}, K.MALFORMED),
    ],
)
def test_what_is_no_answer_is_a_failure_of_its_kind(document: Any, kind: ErrorKind) -> None:
    assert SPEAKER.kind(document) is kind
