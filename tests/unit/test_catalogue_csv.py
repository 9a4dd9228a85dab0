"""What is read from a spreadsheet's table?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brandvane.catalogue import Brand
from unit.catalogue_samples import brands_csv, good, only, place, questions_csv


def test_a_table_of_brands_is_read() -> None:
    text = "id,name,aliases,domains,competitors,priority,topics\nnike,Nike,Air|Jordan,nike.com,bose,high,shoes\nbose,Bose,,,,,\n"
    assert good(brands_csv(text)).brands == (
        Brand("nike", "Nike", ("Air", "Jordan"), ("nike.com",), ("bose",), ("shoes",), "high"),
        Brand("bose", "Bose"),
    )


def test_chinese_headers_mean_the_same() -> None:
    text = "编号,品牌,别名,域名,竞品,优先级,话题\nxiaomi,小米,红米、Redmi,mi.com,,高,手机|汽车\n"
    assert good(brands_csv(text)).brands == (
        Brand("xiaomi", "小米", ("红米", "Redmi"), ("mi.com",), (), ("手机", "汽车"), "high"),
    )


def test_a_table_of_questions_in_chinese_is_read() -> None:
    (question,) = good(questions_csv("编号,问题,语言,话题,品牌\nq,买什么好？,中文,,全部\n")).questions
    assert (question.text, question.language, question.brands) == ("买什么好？", "zh", ("nike", "bose"))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_cells_are_separated_by_comma_semicolon_or_tab(separator: str) -> None:
    text = separator.join(("id", "name", "aliases")) + "\n" + separator.join(("a", "A", "x|y")) + "\n"
    assert good(brands_csv(text)).brands == (Brand("a", "A", ("x", "y")),)


def test_a_semicolon_separates_aliases_in_a_table_of_commas() -> None:
    assert good(brands_csv("id,name,aliases\na,A,x; y\n")).brands[0].aliases == ("x", "y")


@pytest.mark.parametrize(
    ("cell", "aliases"),
    [
        ("x，y", ("x", "y")),
        ("x, y,z", ("x", "y", "z")),
        ("x；y、z", ("x", "y", "z")),
        ("x，y、z", ("x", "y", "z")),
        ("x, y|z", ("x, y", "z")),
        ("A, Inc.", ("A, Inc.",)),
        ("A Co., Ltd., 甲", ("A Co., Ltd.", "甲")),
        ("1,000 Things", ("1,000 Things",)),
    ],
)
def test_commas_separate_aliases_where_nothing_else_does(cell: str, aliases: tuple[str, ...]) -> None:
    assert good(brands_csv(f'id,name,aliases\na,Name,"{cell}"\n')).brands[0].aliases == aliases


def test_commas_that_separate_aliases_are_told_once_for_the_file() -> None:
    (warning,) = brands_csv('id,name,aliases\na,A,"x,y"\nb,B,"v,w"\n').warnings
    assert (*place(warning), warning.message) == ("brands.csv", 2, "aliases", "x,y", "separated at its commas")


def test_every_comma_that_counts_as_a_piece_of_a_name_is_told() -> None:
    (warning,) = brands_csv('id,name,aliases\na,A,"A, Inc.；甲"\n').warnings
    assert place(warning) == ("brands.csv", 2, "aliases", "A, Inc.")
    assert warning.message == "the comma counts as a piece of this item"


def test_excels_own_first_line_names_the_separator() -> None:
    assert good(brands_csv("sep=;\r\nid;name\r\na;A\r\n")).brands == (Brand("a", "A"),)


def test_a_quoted_cell_may_span_lines_and_rows_are_counted_by_lines() -> None:
    text = 'id,text,brands\nq1,"One,\r\ntwo ""three""",all\nq2,,all\n'
    assert place(only(questions_csv(text))) == ("questions.csv", 4, "text", "")
    (question,) = good(questions_csv(text.replace("q2,,all\n", ""))).questions
    assert question.text == 'One,\ntwo "three"'


def test_empty_rows_and_empty_surplus_cells_are_passed_over() -> None:
    assert good(brands_csv("id,name\n,,\n\na,A,,,\n")).brands == (Brand("a", "A"),)


def test_a_row_with_too_many_cells_is_a_fault() -> None:
    fault = only(brands_csv("id,name\na,A,stray\n"))
    assert place(fault) == ("brands.csv", 2, "", "stray")
    assert fault.message == "3 cells, but the header names 2 columns"


def test_a_cell_below_no_header_is_a_fault() -> None:
    assert only(brands_csv("id,,name\na,stray,A\n")).message == "a cell in a column without a name"


def test_an_unknown_column_is_a_fault_that_guesses() -> None:
    fault = only(brands_csv("id,name,aliasses\na,A,x\n"))
    assert (*place(fault), fault.remedy) == ("brands.csv", 1, "aliasses", "", "Did you mean 'aliases'")


def test_two_columns_of_one_meaning_are_a_fault() -> None:
    assert only(brands_csv("id,name,品牌\na,A,B\n")).message == "a second column for name"


def test_a_table_without_the_columns_it_needs_is_one_fault() -> None:
    assert only(brands_csv("品牌,别名\nA,x\nB,y\n")).message == "no column id"


def test_an_empty_alias_between_separators_is_a_fault() -> None:
    assert place(only(brands_csv("id,name,aliases\na,A,x||y\n"))) == ("brands.csv", 2, "aliases", "")


def test_a_quote_that_is_never_closed_is_a_fault_in_the_row_where_it_opens() -> None:
    fault = only(brands_csv('id,name\na,A\nb,"B\nc,C\n'))
    assert (fault.row, fault.message) == (3, "not valid CSV: a quote that opens in this row is never closed")


def test_text_after_a_closing_quote_is_a_fault() -> None:
    assert only(brands_csv('id,name\na,"A"x\n')).row == 2


def test_a_field_longer_than_any_may_be_is_a_fault() -> None:
    fault = only(brands_csv(f"id,name,{'x' * 131_073}\na,A,\n"))
    assert (fault.row, fault.message) == (1, "not valid CSV: field larger than field limit (131072)")


@pytest.mark.parametrize("text", ["", "\n\n", ",,\n"])
def test_an_empty_table_is_a_fault(text: str) -> None:
    assert only(brands_csv(text)).message == "the file is empty"


def test_a_table_with_a_header_only_is_a_fault() -> None:
    assert only(brands_csv("id,name\n")).message == "there are no brands"


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything(data: bytes) -> None:
    reading = brands_csv(data)
    assert (reading.catalogue is None) == bool(reading.faults)


@given(st.text(alphabet='id,name;\t|"\n\r、 aé品', max_size=120))
def test_no_table_raises_anything(text: str) -> None:
    reading = brands_csv("id,name,aliases\n" + text)
    assert (reading.catalogue is None) == bool(reading.faults)
