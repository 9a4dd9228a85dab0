"""DashScope's own protocol. Bodies of our own writing after Alibaba Model Studio's API reference and *Web search*."""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.answer import Citation, Usage
from brandvane.policy import ErrorKind
from unit.protocol_reading import Speaker

K = ErrorKind
SPEAKER = Speaker("dashscope", base_url="https://dashscope.aliyuncs.com/api/v1")
ROWS = [
    {"index": 1, "title": "Acme", "url": "https://acme.example/", "site_name": "acme"},
    {"index": 2, "title": "Zeta", "url": "https://zeta.example/", "site_name": "zeta"},
]


def body(content: Any = "Acme leads[ref_1].", finish: str = "stop", rows: Any = None) -> dict[str, Any]:
    """A response."""
    output: dict[str, Any] = {
        "choices": [{"finish_reason": finish, "message": {"role": "assistant", "content": content}}]
    }
    if rows is not None:
        output["search_info"] = {"search_results": rows}
    usage = {"input_tokens": 11, "output_tokens": 22, "output_tokens_details": {"reasoning_tokens": 4}}
    return {"output": output, "usage": usage, "request_id": "r-1"}


def test_a_question_goes_into_the_input_and_parameters_beside_it() -> None:
    assert SPEAKER.asks(system="Be brief.", enable_thinking=False) == {
        "model": "m1",
        "input": {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who leads?"}]},
        "parameters": {"result_format": "message", "enable_thinking": False},
    }
    assert SPEAKER.module.path(SPEAKER.settings, "m1") == "/services/aigc/text-generation/generation"


def test_the_search_switch_forces_a_search_and_asks_for_its_sources() -> None:
    parameters = SPEAKER.asks(search=True)["parameters"]
    assert parameters["enable_search"] is True
    assert parameters["search_options"]["enable_source"] is True


def test_an_answer_is_read_with_its_sources() -> None:
    reply = SPEAKER.answer(body(rows=ROWS))
    assert (reply.status, reply.text, reply.provider_request_id) == ("ok", "Acme leads[ref_1].", "r-1")
    assert reply.citations == (
        Citation("https://acme.example/", "Acme", "cited", 10),
        Citation("https://acme.example/", "Acme", "retrieved", 1),
        Citation("https://zeta.example/", "Zeta", "retrieved", 2),
    )
    assert reply.usage == Usage(11, 22, 4, 1)


def test_the_older_shape_has_a_plain_text() -> None:
    assert SPEAKER.answer({"output": {"text": "Acme.", "finish_reason": "stop"}}).text == "Acme."


def test_a_cut_answer_is_truncated() -> None:
    assert SPEAKER.answer(body(finish="length")).status == "truncated"


def test_text_in_parts_is_put_together() -> None:
    assert SPEAKER.answer(body([{"text": "Acme "}, {"text": "wins."}])).text == "Acme wins."


@pytest.mark.parametrize(
    ("document", "status", "kind"),
    [
        (body(""), 200, K.EMPTY),
        ({"output": {}}, 200, K.MALFORMED),
        ({}, 200, K.MALFORMED),
        ({"code": "Throttling.RateQuota", "message": "slow", "request_id": "r"}, 429, K.RATE_LIMITED),
        ({"code": "Throttling.RateQuota", "message": "slow", "request_id": "r"}, 200, K.RATE_LIMITED),
        ({"code": "Arrearage", "message": "pay", "request_id": "r"}, 400, K.QUOTA_EXHAUSTED),
        ({"code": "InvalidApiKey", "message": "no", "request_id": "r"}, 401, K.AUTH_ERROR),
        ({"code": "DataInspectionFailed", "message": "no", "request_id": "r"}, 400, K.CONTENT_FILTERED),
        ({"code": "ModelNotFound", "message": "no", "request_id": "r"}, 404, K.MODEL_GONE),
        ({"code": "InternalError", "message": "no", "request_id": "r"}, 500, K.SERVER_ERROR),
    ],
)
def test_what_is_no_answer_is_a_failure_of_its_kind(document: Any, status: int, kind: ErrorKind) -> None:
    assert SPEAKER.kind(document, status) is kind
