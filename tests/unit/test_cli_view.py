"""How are tables, amounts and questions put to people?"""

from __future__ import annotations

import pytest

from brandvane.cli.errors import CliError
from brandvane.cli.view import ask, dollars, number, shown, table


def test_columns_are_aligned_and_wide_characters_count_as_two() -> None:
    assert table(("name", "n"), [("混元", 5), ("openai", 1234)], frozenset({1})) == [
        "name       n",
        "混元       5",
        "openai  1234",
    ]


def test_no_line_ends_with_blanks() -> None:
    assert table(("a", "b"), [("x", "")]) == ["a  b", "x"]


@pytest.mark.parametrize(
    ("usd", "text"), [(0.0, "$0.00"), (0.01234, "$0.0123"), (1.0, "$1.00"), (12345.678, "$12,345.68")]
)
def test_dollars_have_as_many_places_as_they_need(usd: float, text: str) -> None:
    assert dollars(usd) == text


def test_numbers_agree_with_their_nouns() -> None:
    assert [number(1, "task"), number(2000, "task"), number(0, "reply", "replies")] == [
        "1 task",
        "2,000 tasks",
        "0 replies",
    ]


def test_somebody_elses_text_is_shown_on_one_line_and_cut() -> None:
    assert shown("a\nb\x1b[0m") == "a\\nb\\x1b[0m"
    assert len(shown("x" * 1000)) == 300


def test_a_yes_that_was_given_asks_nobody() -> None:
    ask("Sure?", yes=True, interactive=False)


def test_nobody_to_ask_is_wrong_usage() -> None:
    with pytest.raises(CliError) as caught:
        ask("Sure?", yes=False, interactive=False)
    assert caught.value.exit_code == 2
