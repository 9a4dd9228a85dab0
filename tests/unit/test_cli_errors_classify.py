"""``brandvane errors classify``: cases in, verdicts out, faults of the file in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from brandvane.cli.errors_commands import errors


def classified(tmp_path: Path, *lines: Any) -> Result:
    """The command's result for a file of these lines."""
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return CliRunner().invoke(errors, ["classify", "--cases", str(path)])


def case(status: int, body: Any, platform: str = "OpenAI", **headers: str) -> dict[str, Any]:
    """One row."""
    text = body if isinstance(body, str) else json.dumps(body)
    return {"id": "c1", "platform": platform, "status": status, "headers": headers, "body": text}


def verdict(tmp_path: Path, row: dict[str, Any]) -> dict[str, Any]:
    """What is printed for it."""
    result = classified(tmp_path, row)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.output)
    return found


def test_a_case_becomes_one_line_with_kind_retryable_and_wait(tmp_path: Path) -> None:
    row = case(429, {"error": {"code": "rate_limit_exceeded"}}, **{"Retry-After": "7"})
    assert verdict(tmp_path, row) == {"id": "c1", "kind": "rate_limited", "retryable": True, "wait_s": 7.0}


CHAT = {"choices": [{"message": {"content": "Acme."}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (200, CHAT, "ok", False),
        (200, {"choices": [{"message": {"content": "Ac"}, "finish_reason": "length"}]}, "ok", False),
        (200, {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}, "malformed", True),
        (200, {"choices": [{"message": {"content": None, "refusal": "No."}}]}, "content_filtered", False),
        (200, {"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}, "content_filtered", False),
        (200, {"status": "failed", "object": "response", "error": {"code": "server_error"}}, "server_error", True),
        (200, {"content": [{"type": "text", "text": "Acme."}], "stop_reason": "end_turn"}, "ok", False),
        (200, {"output": {"choices": [{"message": {"content": "Acme."}}]}}, "ok", False),
        (200, {"Response": {"Choices": [{"Message": {"Content": "Acme."}, "FinishReason": "stop"}]}}, "ok", False),
        (200, '\n\n: keep-alive\n\n{"choices": [{"message": {"content": "Acme."}}]}', "ok", False),
        (200, "<html><title>Sign in</title></html>", "malformed", True),
        (200, '{"choices": [{"mess', "malformed", True),
        (404, {"error": {"code": "model_not_found"}}, "client_error", False),
        (400, {"error": {"code": "context_length_exceeded"}}, "client_error", False),
        (
            200,
            'data: {"choices": [{"delta": {"content": "A"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n',
            "ok",
            False,
        ),
        (200, 'data: {"choices": [{"delta": {"content": "A"}, "finish_reason": null}]}\n\n', "malformed", True),
        (200, 'data: {"error": {"message": "slow", "code": 429}}\n\n', "rate_limited", True),
    ],
)
def test_kinds_are_folded_and_successes_are_read_by_their_shape(
    tmp_path: Path, status: int, body: Any, kind: str, retryable: bool
) -> None:
    found = verdict(tmp_path, case(status, body))
    assert (found["kind"], found["retryable"]) == (kind, retryable)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "row 1: not a JSON object; write one on each line"),
        ("[]", "row 1: not a JSON object; write one on each line"),
        ('{"id": "x", "platform": "p", "headers": {}}', "row 1: status is missing or not a number"),
        (
            '{"id": "x", "status": 400, "headers": [1]}',
            "row 1: headers is missing or not a mapping of names and values",
        ),
    ],
)
def test_a_broken_file_is_one_sentence(tmp_path: Path, line: str, sentence: str) -> None:
    result = classified(tmp_path, line)
    assert result.exit_code == 2
    assert sentence in result.output


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    result = CliRunner().invoke(errors, ["classify", "--cases", str(tmp_path / "none.jsonl")])
    assert result.exit_code == 2
    assert "cannot be read" in result.output


@pytest.mark.parametrize("status", [-1, 0, 99, 1000])
def test_a_status_that_no_response_has_is_one_sentence(tmp_path: Path, status: int) -> None:
    result = classified(tmp_path, case(status, "{}"))
    assert result.exit_code == 2
    assert f"row 1: status is {status}, which no HTTP response has" in result.output


def test_an_id_with_half_a_character_is_printed_as_its_escape(tmp_path: Path) -> None:
    result = classified(tmp_path, {**case(500, "{}"), "id": "\ud800"})
    assert (result.exit_code, json.loads(result.output)["id"]) == (0, "\ud800")
