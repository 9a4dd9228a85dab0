"""What does a catalogue ask?"""

from __future__ import annotations

from brandvane.catalogue import Brand, Prompt, Question, Selection, chosen_platforms, prompts
from brandvane.task import PRIORITIES, prompt_hash_of
from unit.catalogue_samples import catalogue

NIKE, BOSE, SONY = Brand("nike", "Nike"), Brand("bose", "Bose", priority="low"), Brand("sony", "Sony", priority="high")


def _texts(found: tuple[Prompt, ...]) -> list[str]:
    return [prompt.text for prompt in found]


def test_an_unbranded_question_is_one_prompt_whatever_the_number_of_brands() -> None:
    asked = prompts(catalogue(questions=(Question("q", "Which shoes?", brands=("nike", "bose")),)), Selection())
    assert asked == (Prompt("Which shoes?", prompt_hash_of("Which shoes?"), "en", ("q",), "nike", "normal"),)


def test_a_branded_question_is_one_prompt_a_tracking_brand_with_its_name() -> None:
    asked = prompts(
        catalogue(questions=(Question("q", "Is {brand} like {brand}?", brands=("bose", "nike")),)), Selection()
    )
    assert [(p.text, p.brand_group) for p in asked] == [("Is Bose like Bose?", "bose"), ("Is Nike like Nike?", "nike")]


def test_questions_that_render_to_the_same_text_are_one_prompt_with_both_ids() -> None:
    rows = (
        Question("a", "Is {brand} good?", brands=("nike",)),
        Question("b", "Is Nike good?", brands=("nike", "bose")),
    )
    assert [p.question_ids for p in prompts(catalogue(questions=rows), Selection())] == [("a", "b")]


def test_the_same_text_in_two_locales_is_two_prompts() -> None:
    rows = (Question("a", "Which?", brands=("nike",)), Question("b", "Which?", locale="de", brands=("nike",)))
    assert [p.locale for p in prompts(catalogue(questions=rows), Selection())] == ["en", "de"]


def test_a_selection_of_brands_asks_only_what_they_track() -> None:
    rows = (
        Question("a", "Nobody's?", brands=()),
        Question("b", "Shoes?", brands=("nike",)),
        Question("c", "Sound?", brands=("bose",)),
        Question("d", "Is {brand} good?", brands=("nike", "bose")),
    )
    asked = prompts(catalogue(questions=rows), Selection(brands=("bose",)))
    assert [(p.text, p.brand_group) for p in asked] == [("Sound?", "bose"), ("Is Bose good?", "bose")]


def test_a_selection_of_questions_keeps_the_catalogues_order() -> None:
    rows = tuple(Question(name, f"{name}?", brands=("nike",)) for name in ("a", "b", "c"))
    assert _texts(prompts(catalogue(questions=rows), Selection(questions=("c", "a")))) == ["a?", "c?"]


def test_a_brand_without_a_priority_of_its_own_has_the_schedules() -> None:
    rows = (Question("q", "Shoes?", brands=("nike",)),)
    for priority in PRIORITIES:
        found = prompts(catalogue(questions=rows, brands=(NIKE,)), Selection(), priority)
        assert found[0].priority == priority


def test_a_brands_own_priority_goes_before_the_schedules() -> None:
    rows = (Question("q", "Is {brand} good?", brands=("nike", "bose", "sony")),)
    asked = prompts(catalogue(questions=rows, brands=(NIKE, BOSE, SONY)), Selection(), "normal")
    assert [p.priority for p in asked] == ["normal", "low", "high"]


def test_the_highest_of_the_tracking_brands_speaks_for_an_unbranded_question() -> None:
    rows = (Question("q", "Which?", brands=("bose", "nike", "sony")),)
    (asked,) = prompts(catalogue(questions=rows, brands=(NIKE, BOSE, SONY)), Selection())
    assert (asked.brand_group, asked.priority) == ("sony", "high")


def test_a_merged_prompt_has_the_highest_priority_of_all_its_questions() -> None:
    rows = (Question("a", "Which?", brands=("bose",)), Question("b", "Which?", brands=("sony",)))
    (asked,) = prompts(catalogue(questions=rows, brands=(BOSE, SONY)), Selection())
    assert (asked.question_ids, asked.brand_group, asked.priority) == (("a", "b"), "bose", "high")


def test_five_hundred_brands_and_five_thousand_questions_expand_to_what_arithmetic_says() -> None:
    many = tuple(Brand(f"b{n}", f"Brand {n}") for n in range(500))
    ids = tuple(brand.id for brand in many)
    rows = tuple(Question(f"q{n}", f"Question {n}?", brands=ids) for n in range(4_900))
    branded = tuple(Question(f"r{n}", f"Is {{brand}} good at {n}?", brands=ids[:50]) for n in range(100))
    assert len(prompts(catalogue(questions=rows + branded, brands=many), Selection())) == 4_900 + 100 * 50


def test_a_selection_of_platforms_keeps_the_others_out() -> None:
    assert chosen_platforms(catalogue(), Selection(platforms=("hunyuan",))) == ()
    assert [p.name for p in chosen_platforms(catalogue(), Selection())] == ["openai"]
