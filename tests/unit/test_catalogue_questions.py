"""Which faults does a file of questions have, and who tracks a question?"""

from __future__ import annotations

import pytest

from unit.catalogue_samples import good, only, place, questions, read


def _tracking(text: str) -> list[tuple[str, ...]]:
    return [question.brands for question in good(questions(text)).questions]


def test_a_question_is_tracked_by_every_brand_that_shares_a_topic() -> None:
    assert _tracking("- {id: q, text: Which?, topics: [headphones, SHOES]}\n") == [("nike", "bose")]


def test_named_brands_go_before_topics() -> None:
    assert _tracking("- {id: q, text: Which?, topics: [shoes], brands: [bose]}\n") == [("bose",)]


@pytest.mark.parametrize("word", ["all", "[all]", "All", "全部"])
def test_all_means_every_brand(word: str) -> None:
    assert _tracking(f"- {{id: q, text: Which?, brands: {word}}}\n") == [("nike", "bose")]


def test_a_lone_brand_needs_no_brackets() -> None:
    assert _tracking("- {id: q, text: Which?, brands: bose}\n") == [("bose",)]


def test_questions_of_the_same_topics_share_one_set_of_brands() -> None:
    text = "- {id: a, text: Which?, topics: [shoes]}\n- {id: b, text: What?, topics: [Shoes]}\n"
    first, second = good(questions(text)).questions
    assert first.brands is second.brands


def test_a_question_that_no_brand_tracks_is_a_fault() -> None:
    fault = only(questions("- {id: q, text: Which?, topics: [cars]}\n"))
    assert place(fault) == ("questions.yaml", 1, "brands", "")
    assert fault.message == "no brand tracks this question: no brand has the topic cars"


def test_a_question_with_neither_brands_nor_topics_is_a_fault() -> None:
    message = "no brand tracks this question: it names neither brands nor topics"
    assert only(questions("- {id: q, text: Which?}\n")).message == message


def test_an_empty_list_of_brands_is_a_fault() -> None:
    fault = only(questions("- {id: q, text: Which?, topics: [shoes], brands: []}\n"))
    assert fault.message == "no brand tracks this question"


def test_an_unknown_brand_is_a_fault_in_its_own_row() -> None:
    fault = only(questions("- id: q\n  text: Which?\n  brands:\n    - nike\n    - bosee\n"))
    assert (*place(fault), fault.remedy) == ("questions.yaml", 5, "brands", "bosee", "Did you mean 'bose'")


@pytest.mark.parametrize("text", ['""', "'   '", "null"])
def test_an_empty_text_is_a_fault(text: str) -> None:
    fault = only(questions(f"- id: q\n  text: {text}\n  brands: all\n"))
    assert place(fault) == ("questions.yaml", 2, "text", "")


def test_a_second_question_with_an_id_is_a_fault() -> None:
    fault = only(questions("- {id: q, text: Which?, brands: all}\n- {id: q, text: What?, brands: all}\n"))
    assert place(fault) == ("questions.yaml", 2, "id", "q")


@pytest.mark.parametrize(
    "slot",
    [
        "{Brand}",
        "{BRAND}",
        "{ brand }",
        "{brands}",
        "{brand_name}",
        "{band}",
        "{barnd}",
        "{{brand}}",
        "｛brand｝",
        "{品牌}",
    ],
)
def test_a_slot_that_is_not_quite_the_brands_is_a_fault(slot: str) -> None:
    fault = only(questions(f'- id: q\n  text: "Is {slot} good?"\n  brands: all\n'))
    assert (fault.row, fault.field, fault.message) == (2, "text", "not the slot for the brand's name")


def test_other_braces_are_sent_as_they_are_with_a_warning() -> None:
    reading = questions("- {id: q, text: 'What does {} or {city} mean?', brands: all}\n")
    assert [w.value for w in reading.warnings] == ["{}", "{city}"]
    assert good(reading).questions[0].text == "What does {} or {city} mean?"


def test_a_text_of_4001_characters_is_a_fault() -> None:
    assert only(questions(f"- {{id: q, text: {'x' * 4_001}, brands: all}}\n")).message == "4,001 characters long"
    assert good(questions(f"- {{id: q, text: {'x' * 4_000}, brands: all}}\n"))


def test_language_and_locale_are_tags() -> None:
    text = "- {id: q, text: Which?, brands: all, language: zh, locale: zh_CN}\n"
    (question,) = good(questions(text)).questions
    assert (question.language, question.locale) == ("zh", "zh-CN")
    assert only(questions("- {id: q, text: Which?, brands: all, locale: Deutschland!}\n")).field == "locale"


@pytest.mark.parametrize("word", ["all", "All"])
def test_no_language_is_called_what_figures_say_for_every_one(word: str) -> None:
    fault = only(questions(f"- {{id: q, text: Which?, brands: all, language: {word}}}\n"))
    assert (fault.field, fault.value, fault.message) == ("language", word, "not a language: it means every one")


def test_brands_that_cannot_be_read_do_not_make_questions_wrong() -> None:
    fault = only(read({"brands.yaml": "- {id: [\n"}))
    assert fault.file == "brands.yaml"


def test_a_brand_whose_id_is_at_fault_does_not_make_its_questions_wrong() -> None:
    text = "- {id: Nike, name: Nike, topics: [shoes]}\n- {id: bose, name: Bose, competitors: [Nike]}\n"
    named = "- {id: a, text: Which?, topics: [shoes]}\n- {id: b, text: What?, brands: [Nike]}\n"
    assert place(only(read({"brands.yaml": text, "questions.yaml": named}))) == ("brands.yaml", 1, "id", "Nike")


def test_faults_of_all_files_are_reported_at_once_in_order() -> None:
    reading = read(
        {
            "brands.yaml": "- {id: Nike, name: Nike}\n",
            "questions.yaml": "- {id: q, text: '', brands: all}\n- {id: q, text: Which?, brands: [x]}\n",
            "monitor.yaml": "platforms: [opnai]\nschedules: [{id: d, window: 25:00-26:00, deadline: x}]\n",
        }
    )
    assert [(f.file, f.row, f.field, f.value) for f in reading.faults] == [
        ("brands.yaml", 1, "id", "Nike"),
        ("monitor.yaml", 1, "platforms", "opnai"),
        ("monitor.yaml", 2, "schedules.window", "25:00"),
        ("monitor.yaml", 2, "schedules.window", "26:00"),
        ("monitor.yaml", 2, "schedules.deadline", "x"),
        ("questions.yaml", 1, "text", ""),
        ("questions.yaml", 2, "id", "q"),
    ]


def test_a_topic_has_one_spelling_in_the_whole_catalogue() -> None:
    text = "- {id: a, text: Which?, topics: [Headphones, HEADPHONES]}\n- {id: b, text: What?, topics: [ｓｈｏｅｓ]}\n"
    assert [question.topics for question in good(questions(text)).questions] == [("headphones",), ("shoes",)]


def test_the_word_that_means_every_topic_is_no_topic() -> None:
    fault = only(questions("- {id: q, text: Which?, topics: [All], brands: all}\n"))
    assert place(fault) == ("questions.yaml", 1, "topics", "All")
