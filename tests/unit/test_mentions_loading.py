"""What is loaded by whom: the matcher by those who read answers, its word list by the first Chinese name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUNCTIONS = Path(__file__).resolve().parents[2] / "functions"


def told(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], cwd=FUNCTIONS, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["worker", "planner", "dispatcher", "writeback", "scanner"])
def test_functions_that_read_no_answer_do_not_load_the_matcher(name: str) -> None:
    assert told(f"import sys, {name}; print([m for m in sys.modules if m.startswith('brandvane.mentions')])") == "[]"


def test_the_word_list_is_read_with_the_first_chinese_name() -> None:
    program = (
        "from brandvane.catalogue import Brand; from brandvane.mentions.matcher import BrandMatcher;"
        "from brandvane.mentions import words; matcher = BrandMatcher([Brand(id='a', name='Acme', aliases=('小米',))]);"
        "matcher.read('Acme 是品牌。'); before = words._words.cache_info().currsize;"
        "matcher.read('我用小米手机'); print(before, words._words.cache_info().currsize)"
    )
    assert told(program) == "0 1"
