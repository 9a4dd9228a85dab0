"""What stand-ins answer: generated sentences and replayed records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brandvane.simulation.standin_answers import generated_answer, is_chinese
from brandvane.simulation.standin_behaviour import StandinFault
from brandvane.simulation.standin_replay import Recorded, read_recorded, recorded, stand_for
from recorded import corpus_file

BRANDS = ("Acme", "Globex", "Initech", "甲牌", "乙牌", "丙牌")


def lines(*rows: tuple[str | None, str, str]) -> list[str]:
    """JSONL of (question, model, answer)."""
    return [json.dumps({"question": q, "model": m, "answer": a}) for q, m, a in rows]


def test_an_answer_is_the_same_for_the_same_seed_platform_and_prompt() -> None:
    assert generated_answer(1, "gpt", "Which kettle?") == generated_answer(1, "gpt", "Which kettle?")


def test_seed_platform_and_prompt_each_change_the_answer() -> None:
    answers = {
        generated_answer(1, "gpt", "Which kettle?"),
        generated_answer(2, "gpt", "Which kettle?"),
        generated_answer(1, "qwen", "Which kettle?"),
        generated_answer(1, "gpt", "Which oven?"),
    }
    assert len(answers) == 4


def test_a_chinese_question_is_answered_in_chinese_and_with_chinese_names() -> None:
    answers = [generated_answer(k, "gpt", "哪个牌子的空调好？", BRANDS) for k in range(40)]
    assert all(is_chinese(answer) for answer in answers)
    assert not any("Acme" in answer for answer in answers)


def test_an_english_question_is_answered_in_english() -> None:
    answers = [generated_answer(k, "gpt", "Which kettle?", BRANDS) for k in range(40)]
    assert not any(is_chinese(answer) for answer in answers)


def test_most_answers_name_brands_some_as_a_numbered_list_and_some_name_none() -> None:
    answers = [generated_answer(k, "gpt", "Which kettle?", BRANDS) for k in range(200)]
    naming = [answer for answer in answers if any(brand in answer for brand in BRANDS)]
    listed = [answer for answer in naming if "\n1. " in answer]
    assert 150 < len(naming) < 200
    assert 50 < len(listed) < len(naming) - 50


def test_a_brand_that_the_question_names_comes_first_in_the_answer() -> None:
    answers = [generated_answer(k, "gpt", "Is Initech any good?", BRANDS) for k in range(50)]
    listed = [answer for answer in answers if "\n1. " in answer]
    assert listed
    assert all("Initech" in answer.split("\n1. ")[1].split("\n")[0] for answer in listed)


def test_models_are_ordered_by_number_of_answers_then_by_name() -> None:
    found = recorded(lines(("q1", "b", "x"), ("q2", "b", "x"), ("q1", "c", "x"), ("q1", "a", "x")), "f")
    assert found.models == ("b", "a", "c")


def test_a_platform_gives_the_answer_of_its_model() -> None:
    found = recorded(lines(("q1", "a", "from a"), ("q1", "b", "from b")), "f")
    assert found.answer(0, "gpt", "b", "q1") == "from b"


def test_white_space_around_and_within_a_question_does_not_matter() -> None:
    found = recorded(lines(("Which  kettle\nis best? ", "a", "this")), "f")
    assert found.answer(0, "gpt", "a", " Which kettle is best?") == "this"


def test_where_the_model_was_not_asked_another_models_answer_is_taken_always_the_same() -> None:
    found = recorded(lines(("q1", "a", "from a"), ("q1", "b", "from b")), "f")
    chosen = {found.answer(seed, "gpt", "z", "q1") for seed in range(20)}
    assert chosen == {"from a", "from b"}
    assert found.answer(5, "gpt", "z", "q1") == found.answer(5, "gpt", None, "q1")


def test_a_question_that_is_not_recorded_has_no_answer() -> None:
    assert recorded(lines(("q1", "a", "x")), "f").answer(0, "gpt", "a", "q2") is None


def test_rows_without_a_question_and_blank_answers_are_left_out() -> None:
    found = recorded([*lines((None, "a", "x"), ("q1", "a", "  ")), '{"model": "a", "answer": "x"}', "\n"], "f")
    assert found == Recorded({})


def test_platforms_take_in_order_the_models_with_the_most_answers() -> None:
    found = recorded(lines(("q1", "a", "x"), ("q2", "a", "x"), ("q1", "b", "x")), "f")
    assert stand_for(("one", "two", "three"), found, {}) == {"one": "a", "two": "b", "three": None}


def test_a_wish_takes_its_model_from_the_others() -> None:
    found = recorded(lines(("q1", "a", "x"), ("q2", "a", "x"), ("q1", "b", "x")), "f")
    assert stand_for(("one", "two"), found, {"two": "a"}) == {"one": "b", "two": "a"}


def test_a_wish_for_an_unknown_model_or_platform_is_named() -> None:
    found = recorded(lines(("q1", "a", "x")), "f")
    with pytest.raises(StandinFault, match="--model-of one=z: no recorded model 'z'; there are a"):
        stand_for(("one",), found, {"one": "z"})
    with pytest.raises(StandinFault, match="--model-of two=a: no platform 'two'; there are one"):
        stand_for(("one",), found, {"two": "a"})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "f, line 2: not valid JSON"),
        ("[]", "f, line 2: not a JSON object"),
        ('{"question": "q", "model": 3, "answer": "x"}', "f, line 2: field 'model' must be text, not 3"),
        ('{"question": "q", "model": "a"}', "f, line 2: field 'answer' must be text, not None"),
    ],
)
def test_a_bad_line_is_named_with_its_number(line: str, message: str) -> None:
    with pytest.raises(StandinFault, match=message):
        recorded([*lines(("q1", "a", "x")), line], "f")


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(
        json.dumps({"question": "空调", "model": "a", "answer": "x"}, ensure_ascii=False).encode("gb18030")
    )
    with pytest.raises(StandinFault, match=r"answers\.jsonl: not UTF-8"):
        read_recorded(path)


def test_every_question_of_the_corpus_has_an_answer_of_the_file() -> None:
    path = corpus_file("answers.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    found = read_recorded(path)
    models = stand_for(("one", "two", "three"), found, {})
    texts: dict[str, set[str]] = {}
    for row in rows:
        if row["question"] is not None:
            texts.setdefault(row["question"], set()).add(row["answer"])
    for platform, model in models.items():
        assert all(found.answer(0, platform, model, question) in answers for question, answers in texts.items())
