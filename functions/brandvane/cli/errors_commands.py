"""``brandvane errors``: what does this release make of a platform's response?"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from brandvane.cli.errors import CliError
from brandvane.cli.view import say

# The finer kinds of the product, as those who compare several tools name them.
FOLDED = {
    "empty": "malformed",
    "context_too_long": "client_error",
    "model_gone": "client_error",
    "refused": "content_filtered",
    "filtered": "content_filtered",
    "truncated": "ok",
}


@click.group()
def errors() -> None:
    """See how responses of AI platforms are read."""


@errors.command()
@click.option("--cases", type=Path, required=True, metavar="FILE", help="JSONL: id, platform, status, headers, body.")
def classify(cases: Path) -> None:
    """Read recorded responses, and print for each what it means.

    Prints a JSON line for each case: id, kind, retryable (may the same call be sent again without a person acting first?), wait_s
    (the seconds that the platform asks to wait, or null). Kinds: rate_limited, quota_exhausted, timeout, server_error, client_error,
    content_filtered, auth_error, malformed, ok.
    """
    for case in _cases(cases):
        say(json.dumps(verdict_of(case), ensure_ascii=False))


def verdict_of(case: dict[str, Any]) -> dict[str, Any]:
    """What one case means."""
    from brandvane.platforms.any_answer import judge

    headers = {str(name).lower(): str(value) for name, value in case["headers"].items()}
    found = judge(case["platform"], case["status"], headers, case["body"].encode("utf-8", "replace"), time.time())
    return {
        "id": case["id"],
        "kind": FOLDED.get(found.kind, str(found.kind)),
        "retryable": found.retryable,
        "wait_s": found.wait_s,
    }


def _cases(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CliError(f"{path}: cannot be read ({reason}); --cases names a JSONL file", 2) from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _case(line, f"{path}, row {number}")


def _case(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise CliError(f"{where}: not a JSON object; write one on each line", 2) from None
    if not isinstance(row, dict):
        raise CliError(f"{where}: not a JSON object; write one on each line", 2)
    case = {
        "id": row.get("id"),
        "platform": row.get("platform") or "",
        "status": row.get("status"),
        "headers": row.get("headers") or {},
        "body": row.get("body") or "",
    }
    if isinstance(case["body"], dict | list):
        case["body"] = json.dumps(case["body"], ensure_ascii=False)
    wanted = {"platform": str, "status": int, "headers": dict, "body": str}
    for name, kind in wanted.items():
        if not isinstance(case[name], kind) or isinstance(case[name], bool):
            raise CliError(f"{where}: {name} is missing or not {_WORDS[kind]}", 2)
    status = int(row["status"])
    if not 100 <= status <= 999:
        raise CliError(f"{where}: status is {status}, which no HTTP response has; write a number from 100 to 999", 2)
    return case


_WORDS = {str: "a text", int: "a number", dict: "a mapping of names and values"}
