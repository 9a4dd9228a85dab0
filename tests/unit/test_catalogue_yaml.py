"""Which YAML is read, and which is refused before it can do harm?"""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from brandvane.catalogue_files.faults import Findings
from brandvane.catalogue_files.nodes import ListNode, MapNode, plain_value
from brandvane.catalogue_files.yaml_file import read_yaml
from unit.catalogue_samples import brands, good, only, place


def test_a_syntax_error_is_a_fault_with_its_row() -> None:
    fault = only(brands("- id: nike\n  name: Nike\n  aliases: [Air\n"))
    assert (fault.file, fault.row) == ("brands.yaml", 4)
    assert fault.message.startswith("not valid YAML: ")


def test_a_tab_is_told_to_be_spaces() -> None:
    fault = only(brands("- id: nike\n\tname: Nike\n"))
    assert (fault.row, fault.remedy) == (2, "Indent with spaces instead of tabs")


def test_a_key_that_stands_twice_is_a_fault_that_names_both_rows() -> None:
    fault = only(brands("- id: nike\n  name: Nike\n  name: Nike Inc\n"))
    assert place(fault) == ("brands.yaml", 3, "name", "")
    assert fault.message == "the key stands twice; first in row 2"


def test_a_few_lines_that_would_grow_into_billions_are_refused_at_once() -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    fault = only(brands("\n".join(lines) + "\n"))
    assert fault.message == "aliases would expand to more than 10,000 values"
    assert (fault.row, fault.value) == (4, "*a2")


def test_an_alias_of_itself_is_refused() -> None:
    message = "the alias refers to nothing that is complete at this point"
    assert only(brands("- &a [*a]\n")).message == message
    assert only(brands("- *nowhere\n")).message == message


def test_a_small_alias_is_read() -> None:
    text = "- {id: a, name: A, topics: &t [shoes, socks]}\n- {id: b, name: B, topics: *t}\n"
    assert [brand.topics for brand in good(brands(text)).brands] == [("shoes", "socks")] * 2


def test_nesting_is_refused_beyond_20_levels() -> None:
    assert only(brands("[" * 21 + "]" * 21)).message == "nested more than 20 levels deep"


def test_a_hundred_thousand_brackets_are_a_fault_like_any_other() -> None:
    assert only(brands("[" * 100_000)).file == "brands.yaml"


def test_the_parser_that_is_written_in_python_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "- {id: a, name: ~x, aliases: ['1', null]}\n"
    nodes = read_yaml(text, "f", Findings())
    monkeypatch.setattr("brandvane.catalogue_files.yaml_file._LOADER", yaml.SafeLoader)
    assert read_yaml(text, "f", Findings()) == nodes
    assert only(brands("[" * 21)).message == "nested more than 20 levels deep"


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system ['true']", "!!binary aGk=", "!mine {a: b}", "!!set {a}"]
)
def test_tags_are_refused(tag: str) -> None:
    assert only(brands(f"- {tag}\n")).message == "tags are not used here"


def test_a_second_document_is_refused() -> None:
    fault = only(brands("- {id: a, name: A}\n---\n- {id: b, name: B}\n"))
    assert (fault.row, fault.message) == (2, "a second document begins")


@pytest.mark.parametrize("text", ["- <<: {a: b}\n", "- {<<: {a: b}}\n"])
def test_merge_keys_are_refused(text: str) -> None:
    assert only(brands(text)).message == "merge keys are not used here"


def test_a_key_that_is_a_list_is_refused() -> None:
    assert only(brands("- ? [a]\n  : b\n")).message == "a key must be a word"


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_an_empty_file_is_a_fault(text: str) -> None:
    assert only(brands(text)).file == "brands.yaml"


def test_free_values_are_plain_data() -> None:
    text = "a: [1, -2, 1.5, 1e3, true, False, null, ~, '1', yes, 22:00, 2026-11-29, 0x10]\nb: {c: }\n"
    node = read_yaml(text, "f", Findings())
    assert isinstance(node, MapNode)
    assert plain_value(node) == {
        "a": [1, -2, 1.5, 1000.0, True, False, None, None, "1", "yes", "22:00", "2026-11-29", "0x10"],
        "b": {"c": None},
    }


def test_rows_count_from_one() -> None:
    node = read_yaml("\n- a\n-\n  b\n", "f", Findings())
    assert isinstance(node, ListNode)
    assert [item.row for item in node.items] == [2, 4]


@given(st.text(alphabet="-:[]{}&*!|>'\"#%@` \nab,?~<", max_size=80))
def test_no_text_raises_anything(text: str) -> None:
    reading = brands(text)
    assert (reading.catalogue is None) == bool(reading.faults)


@pytest.mark.parametrize(
    ("escape", "shown"), [("\\0", "\\x00"), ("\\e", "\\x1b"), ("\\x7f", "\\x7f"), ("\\x9b", "\\x9b"), ("\\N", "\\x85")]
)
def test_an_escape_for_a_control_character_is_refused(escape: str, shown: str) -> None:
    fault = only(brands(f'- id: nike\n  name: "x{escape}y"\n'))
    assert (fault.row, fault.message, fault.value) == (2, "an escape stands for a control character", shown)
