"""A small number of what ``python -m tests.fuzz`` does a million times."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import brandvane.platforms
from fuzz.readers import harmless, read_one

NUMBER = 2000


def test_no_body_makes_a_reader_or_the_classifier_raise() -> None:
    for number in range(NUMBER):
        read_one(random.Random(f"suite/{number}"))


def test_error_bodies_keep_their_kind_when_what_does_not_decide_is_changed() -> None:
    rng = random.Random(7)
    kept = [ok for _ in range(400) for ok, _ in harmless(rng)]
    assert sum(kept) >= 0.95 * len(kept)


def test_no_reader_catches_everything() -> None:
    """A bug in a reader must be seen, not read as a broken body."""
    for path in Path(brandvane.platforms.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                caught = "" if node.type is None else ast.unparse(node.type)
                assert caught not in ("", "Exception", "BaseException"), f"{path.name}, line {node.lineno}"
