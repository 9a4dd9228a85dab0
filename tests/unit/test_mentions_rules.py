"""How the rules of a brand are read, and every fault that they can have."""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.catalogue_files.folder import read_brand_folder
from brandvane.mentions.rules import read_rules
from unit.catalogue_samples import brands, good

TERMS = ("Volkswagen", "大众", "VW")


def test_all_rules_are_read_folded() -> None:
    rules, faults = read_rules(
        {
            "case_sensitive": ["VW"],
            "exclude_phrases": ["大众化", "大众 Media"],
            "require_context": {"大众": ["汽车", "SUV"]},
            "exclude_context": ["公众"],
            "exclude_aliases": ["Volkswagen"],
        },
        TERMS,
    )
    assert faults == []
    assert (rules.minds_case("vw"), rules.minds_case("大众")) == (True, False)
    assert rules.exclude_phrases == ("大众化", "大众 media")
    assert (rules.required("大众"), rules.required("vw")) == (("汽车", "suv"), ())
    assert (rules.excluded("大众"), rules.excluded("vw")) == (("公众",), ("公众",))
    assert rules.exclude_aliases == {"volkswagen"}


@pytest.mark.parametrize(
    ("value", "minds", "free"), [(True, True, False), ("true", True, False), (False, False, True), (None, False, False)]
)
def test_case_sensitive_is_true_false_or_left_out(value: object, minds: bool, free: bool) -> None:
    rules, faults = read_rules({"case_sensitive": value}, TERMS)
    assert (rules.minds_case("vw"), rules.case_free, faults) == (minds, free, [])


@pytest.mark.parametrize(
    ("raw", "key", "value", "message"),
    [
        ({"exclude_phrase": ["大众化"]}, "exclude_phrase", "", "not a rule"),
        ({"case_sensitive": 3}, "case_sensitive", "3", "neither true or false nor a list"),
        ({"case_sensitive": ["Audi"]}, "case_sensitive", "Audi", "not a name or alias of this brand"),
        ({"exclude_phrases": ["公众"]}, "exclude_phrases", "公众", "holds none of the brand's names"),
        ({"exclude_phrases": ["大众"]}, "exclude_phrases", "大众", "is itself a name of the brand"),
        ({"exclude_phrases": {"a": 1}}, "exclude_phrases", "{'a': 1}", "not a list"),
        ({"exclude_phrases": [""]}, "exclude_phrases", "", "an entry that is empty or no text"),
        ({"require_context": {"Audi": ["x"]}}, "require_context", "Audi", "not a name or alias of this brand"),
        ({"require_context": [["x"]]}, "require_context", "['x']", "an entry that is empty or no text"),
        ({"exclude_context": ["x" * 101]}, "exclude_context", "x" * 101, "longer than 100 characters"),
        ({"exclude_context": [str(n) for n in range(201)]}, "exclude_context", "", "more than 200 entries"),
        ({"exclude_aliases": ["Audi"]}, "exclude_aliases", "Audi", "not a name or alias of this brand"),
        ({"exclude_aliases": list(TERMS)}, "exclude_aliases", "", "nothing is left to look for"),
    ],
)
def test_what_is_wrong_is_told_with_its_rule_and_value(raw: dict[str, Any], key: str, value: str, message: str) -> None:
    _, (fault,) = read_rules(raw, TERMS)
    assert (fault.key, fault.value, fault.message) == (key, value, message)
    assert fault.remedy


def test_a_number_among_the_words_stays_as_it_was_typed() -> None:
    text = "- {id: bond, name: Bond, rules: {case_sensitive: true, require_context: [007, 1.50], exclude_context: [1e3]}}\n"
    brand = good(brands(text)).brands[0]
    assert brand.rules == {"case_sensitive": True, "require_context": ["007", "1.50"], "exclude_context": ["1e3"]}
    assert read_rules(brand.rules, brand.terms)[0].required("bond") == ("007", "1.50")


def test_all_faults_are_told_at_once_and_the_rest_is_kept() -> None:
    rules, faults = read_rules({"x": 1, "exclude_context": ["公众", ""], "case_sensitive": 3}, TERMS)
    assert len(faults) == 3
    assert rules.excluded("大众") == ("公众",)


def test_a_catalogue_names_the_row_and_the_field_of_a_wrong_rule(tmp_path: Any) -> None:
    (tmp_path / "brands.yaml").write_text(
        "- id: vw\n  name: 大众\n  rules:\n    exclude_phrase: [大众化]\n", encoding="utf-8"
    )
    (fault,) = read_brand_folder(tmp_path).faults
    assert (fault.file, fault.row, fault.field, fault.remedy) == (
        "brands.yaml",
        4,
        "rules.exclude_phrase",
        "Did you mean 'exclude_phrases'",
    )


def test_a_folder_without_brands_is_a_fault(tmp_path: Any) -> None:
    assert [fault.message for fault in read_brand_folder(tmp_path).faults] == ["the file is missing"]
    assert [fault.message for fault in read_brand_folder(tmp_path / "none").faults] == ["there is no such folder"]
