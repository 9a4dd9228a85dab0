"""Which faults does a file of brands have?"""

from __future__ import annotations

import pytest

from brandvane.catalogue import Brand
from unit.catalogue_samples import brands, good, only, place


def test_a_brand_is_read_with_all_its_fields() -> None:
    text = """\
- id: nike
  name: " Nike "
  aliases: [Nike Running, Nike Running]
  domains: [www.Nike.com, nike.de]
  competitors: [bose]
  topics: [shoes]
  priority: High
  rules: {case_sensitive: true}
- {id: bose, name: Bose}
"""
    assert good(brands(text)).brands == (
        Brand(
            "nike",
            "Nike",
            aliases=("Nike Running",),
            domains=("nike.com", "nike.de"),
            competitors=("bose",),
            topics=("shoes",),
            priority="high",
            rules={"case_sensitive": True},
        ),
        Brand("bose", "Bose"),
    )


def test_words_that_yaml_takes_for_values_are_names_here() -> None:
    text = "- {id: a, name: No, aliases: [On, 1688, 3.10, 22:00]}\n"
    assert good(brands(text)).brands[0].terms == ("No", "On", "1688", "3.10", "22:00")


def test_a_second_brand_with_an_id_is_a_fault_that_names_the_first() -> None:
    fault = only(brands("- {id: nike, name: Nike}\n- {id: nike, name: Other}\n"))
    assert place(fault) == ("brands.yaml", 2, "id", "nike")
    assert fault.remedy == "Choose another; the first one is in row 1"


@pytest.mark.parametrize(
    ("written", "proposed"),
    [("Nike", "nike"), ("nike_air", "nike-air"), ("-nike", "nike"), ("Levi’s 501", "levi-s-501")],
)
def test_an_id_of_the_wrong_form_is_a_fault_that_proposes_one(written: str, proposed: str) -> None:
    fault = only(brands(f'- {{id: "{written}", name: Nike}}\n'))
    assert place(fault) == ("brands.yaml", 1, "id", written)
    assert f"'{proposed}'" in fault.remedy


def test_an_id_of_65_characters_is_a_fault() -> None:
    assert only(brands(f"- {{id: {'a' * 65}, name: A}}\n")).field == "id"
    assert good(brands(f"- {{id: {'a' * 64}, name: A}}\n")).brands[0].id == "a" * 64


def test_all_is_no_brands_id() -> None:
    assert only(brands("- {id: all, name: All}\n")).message == "not a valid id: it means every brand"


def test_a_missing_name_and_a_missing_id_are_two_faults() -> None:
    faults = brands("- {id: nike}\n- {name: Bose}\n").faults
    assert [place(f) for f in faults] == [("brands.yaml", 1, "name", ""), ("brands.yaml", 2, "id", "")]


@pytest.mark.parametrize("alias", ['""', '"  "', "null", "~", ""])
def test_an_empty_alias_is_a_fault_in_its_own_row(alias: str) -> None:
    fault = only(brands(f"- id: nike\n  name: Nike\n  aliases:\n    - Air\n    - {alias}\n"))
    assert place(fault) == ("brands.yaml", 5, "aliases", "")
    assert fault.message == "an empty item"


def test_an_alias_shared_by_two_brands_is_a_fault() -> None:
    fault = only(brands("- {id: a, name: A, aliases: [Air]}\n- {id: b, name: B, aliases: [Air]}\n"))
    assert place(fault) == ("brands.yaml", 2, "aliases", "Air")
    assert fault.message == "also a name of 'a' (row 1)"


@pytest.mark.parametrize("other", ["oppo", "ＯＰＰＯ", "Oppo"])
def test_an_alias_is_shared_in_any_letter_case_and_width(other: str) -> None:
    assert only(brands(f"- {{id: a, name: OPPO}}\n- {{id: b, name: B, aliases: [{other}]}}\n")).value == other


@pytest.mark.parametrize(
    ("name", "other"), [("华为", "華為"), ("Nestlé", "Nestle"), ("Levi's", "Levi’s"), ("Coca-Cola", "Coca\u2010Cola")]
)
def test_two_names_that_are_one_to_the_matcher_are_a_fault(name: str, other: str) -> None:
    fault = only(brands(f'- {{id: a, name: "{name}"}}\n- {{id: b, name: "{other}"}}\n'))
    assert (*place(fault), fault.message) == ("brands.yaml", 2, "name", other, "also a name of 'a' (row 1)")


@pytest.mark.parametrize("name", [".", "\u200b", "™", "+-", "。"])
def test_a_name_without_a_letter_or_digit_is_a_fault(name: str) -> None:
    fault = only(brands(f'- {{id: a, name: A, aliases: ["{name}"]}}\n'))
    assert (*place(fault)[:3], fault.message) == ("brands.yaml", 1, "aliases", "a name without a letter or digit")


def test_an_alias_that_repeats_the_brands_own_name_is_no_fault() -> None:
    assert good(brands("- {id: a, name: Nike, aliases: [NIKE, nike]}\n")).brands[0].aliases == ("NIKE", "nike")


def test_an_unknown_competitor_is_a_fault_that_names_a_close_one() -> None:
    fault = only(brands("- {id: nike, name: Nike}\n- {id: bose, name: Bose, competitors: [nikee]}\n"))
    assert (*place(fault), fault.remedy) == ("brands.yaml", 2, "competitors", "nikee", "Did you mean 'nike'")


def test_a_competitor_named_by_its_name_is_told_its_id() -> None:
    text = "- {id: new-balance, name: New Balance}\n- {id: bose, name: Bose, competitors: [new balance]}\n"
    assert only(brands(text)).remedy == "Write its id: 'new-balance'"


def test_a_brand_is_not_its_own_competitor() -> None:
    assert only(brands("- {id: nike, name: Nike, competitors: [nike]}\n")).message == "a brand's own id"


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("https://www.nike.com/de", "Write 'nike.com'"),
        ("nike", "Write a host such as example.com"),
        ("nike..com", "Write a host such as example.com"),
    ],
)
def test_a_domain_that_is_none_is_a_fault(written: str, remedy: str) -> None:
    fault = only(brands(f"- {{id: nike, name: Nike, domains: ['{written}']}}\n"))
    assert (fault.field, fault.value, fault.remedy) == ("domains", written, remedy)


def test_a_domain_in_other_letters_is_right() -> None:
    assert good(brands("- {id: a, name: A, domains: [例子.中国]}\n")).brands[0].domains == ("例子.中国",)


def test_an_unknown_field_is_a_fault_that_guesses_what_was_meant() -> None:
    fault = only(brands("- id: nike\n  name: Nike\n  alias: [Air]\n"))
    assert (*place(fault), fault.remedy) == ("brands.yaml", 3, "alias", "", "Did you mean 'aliases'")


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("name: [Nike]", "a list where a single value is wanted"),
        ("name: {en: Nike}", "a mapping where a single value is wanted"),
        ("name: N\n  aliases: Air", "a single value where a list is wanted"),
        ("name: N\n  aliases: [[Air]]", "a list inside a list of texts"),
        ("name: N\n  rules: 3", "a single value where a mapping is wanted"),
    ],
)
def test_a_field_of_the_wrong_kind_is_a_fault(field: str, message: str) -> None:
    assert only(brands(f"- id: nike\n  {field}\n")).message == message


def test_a_priority_that_is_none_is_a_fault() -> None:
    fault = only(brands("- {id: nike, name: Nike, priority: urgent}\n"))
    assert (fault.field, fault.value) == ("priority", "urgent")


@pytest.mark.parametrize("text", ["brands: []\n", "[]\n"])
def test_a_file_without_brands_is_a_fault(text: str) -> None:
    assert brands(text).faults[0].message == "there are no brands"


@pytest.mark.parametrize("text", ["nike\n", "brands: nike\n"])
def test_a_file_that_holds_no_list_is_a_fault(text: str) -> None:
    assert only(brands(text)).message == "a single value where a list of brands is wanted"


def test_a_wrong_key_at_the_top_is_a_fault_that_guesses() -> None:
    fault = only(brands("brand:\n  - {id: nike, name: Nike}\n"))
    assert (fault.field, fault.remedy) == ("brand", "Did you mean 'brands'")
