"""What is a recorded response whose protocol nobody names? Streams, lists of answers, and successes that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brandvane.platforms.any_answer import judge
from builders import NOW


def frames(*rows: Any, before: str = "") -> str:
    """A stream of server-sent events."""
    return before + "".join(f"data: {row if isinstance(row, str) else json.dumps(row)}\n\n" for row in rows)


def piece(text: str, finish: str | None) -> dict[str, Any]:
    """A chunk of a chat completion."""
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


def kind_of(body: Any, platform: str = "any") -> str:
    """The kind of a body that came with 200."""
    text = body if isinstance(body, str) else json.dumps(body)
    return str(judge(platform, 200, {}, text.encode(), NOW).kind)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (frames(piece("Acme.", None), piece("", "stop"), "[DONE]"), "ok"),
        (frames(piece("Acme.", "stop"), "[DONE]", before=": keep-alive\n\n: keep-alive\n\n"), "ok"),
        (frames(piece("Ac", None)), "malformed"),
        (frames(piece("Ac", None)) + 'data: {"choices": [{"del', "malformed"),
        (frames(piece("", "content_filter"), "[DONE]"), "filtered"),
        (frames({"Choices": [{"Delta": {"Content": ""}, "FinishReason": "sensitive"}]}), "filtered"),
        (frames({"type": "message_delta", "delta": {"stop_reason": "refusal"}}), "filtered"),
        (frames({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}), "ok"),
        (
            frames({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}}),
            "content_filtered",
        ),
        (frames({"output": {"choices": [{"message": {"content": "A."}, "finish_reason": "stop"}]}}), "ok"),
        (frames({"output": {"choices": [{"message": {"content": "A"}, "finish_reason": "null"}]}}), "malformed"),
        (frames(piece("A", None), {"error": {"code": 503, "status": "UNAVAILABLE", "message": "No."}}), "server_error"),
    ],
)
def test_a_stream_is_judged_by_how_it_ends(body: str, kind: str) -> None:
    assert kind_of(body) == kind


def test_geminis_stream_may_come_as_one_list() -> None:
    said = {"candidates": [{"content": {"parts": [{"text": "Acme."}]}}]}
    ended = {"candidates": [{"finishReason": "STOP"}]}
    assert kind_of([said, ended]) == "ok"
    assert kind_of([said]) == "malformed"
    assert kind_of([said, {"candidates": [{"finishReason": "SAFETY"}]}]) == "filtered"
    assert (
        kind_of([said, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Slow."}}]) == "rate_limited"
    )


def test_a_frame_whose_type_is_no_text_has_not_ended() -> None:
    assert kind_of([{"type": []}, {"candidates": [], "type": {}}]) == "malformed"


def test_minimax_says_in_a_success_that_it_is_none() -> None:
    good = {"choices": [{"message": {"content": "Acme."}, "finish_reason": "stop"}]}
    assert kind_of({**good, "base_resp": {"status_code": 0, "status_msg": ""}}, "MiniMax") == "ok"
    assert kind_of({**good, "base_resp": {"status_code": 1002, "status_msg": "slow"}}, "MiniMax") == "rate_limited"
    assert (
        kind_of({"choices": None, "base_resp": {"status_code": 1027, "status_msg": "x"}}, "MiniMax")
        == "content_filtered"
    )


def test_a_finish_that_names_a_lost_connection_is_no_answer() -> None:
    assert kind_of({"choices": [{"message": {"content": "Ac"}, "finish_reason": "network_error"}]}) == "server_error"
