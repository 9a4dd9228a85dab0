"""Which text are these bytes?"""

from __future__ import annotations

import pytest

from unit.catalogue_samples import brands, brands_csv, good, only

TABLE = "id,name\nxiaomi,小米\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk"])
def test_utf8_with_or_without_a_mark_and_gb18030_are_read(encoding: str) -> None:
    assert good(brands_csv(TABLE.encode(encoding))).brands[0].name == "小米"


def test_reading_as_gb18030_is_a_warning() -> None:
    (warning,) = brands_csv(TABLE.encode("gb18030")).warnings
    assert (warning.file, warning.message) == ("brands.csv", "read as GB18030")
    assert brands_csv(TABLE.encode("utf-8")).warnings == ()


def test_yaml_may_be_gb18030_too() -> None:
    assert good(brands("- {id: a, name: 华为}\n".encode("gb18030"))).brands[0].name == "华为"


def test_bytes_that_are_neither_are_a_fault_with_both_byte_offsets() -> None:
    # b"id,name\n" are 8 bytes, then "a," and 0xff: no encoding has it, so both stop at byte 10, in row 2.
    fault = only(brands_csv(b"id,name\na,\xff\xff\n"))
    assert fault.message == "neither UTF-8 (byte offset 10) nor GB18030 (byte offset 10)"
    assert (fault.row, fault.value) == (2, "0xffff0a")


def test_the_offset_of_a_broken_byte_counts_the_mark() -> None:
    fault = only(brands_csv(b"\xef\xbb\xbfid,name\na,\xff\n"))
    assert fault.message == "not valid UTF-8 at byte offset 13"


def test_a_file_with_a_mark_is_never_read_as_gb18030() -> None:
    # The mark, the first row and "xiaomi," are 18 bytes; 小 (d0 a1) happens to be valid UTF-8 too, 米 (c3 d7) is not.
    data = b"\xef\xbb\xbf" + TABLE.encode("gb18030")
    assert only(brands_csv(data)).message == "not valid UTF-8 at byte offset 20"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16_is_a_fault_that_says_so(encoding: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    assert only(brands_csv(mark + TABLE.encode(encoding))).message == "the file is UTF-16 (byte offset 0)"


def test_a_control_character_is_a_fault_with_its_byte_offset() -> None:
    fault = only(brands_csv("id,name\na,小\x00\n"))
    assert (fault.row, fault.message, fault.value) == (2, "a control character at byte offset 13", "\\x00")


@pytest.mark.parametrize("name", ["Citroën", "Hermès", "Kärcher", "Österreich", "L’Oréal", "BJÖRN"])
def test_western_letters_in_windows_1252_are_not_taken_for_chinese(name: str) -> None:
    fault = only(brands_csv(f"id,name\na,{name} x\n".encode("cp1252")))
    assert "looks like a Western letter (Windows-1252), not like Chinese" in fault.message
    assert (fault.row, fault.remedy) == (2, "Save it as UTF-8 (in Excel: CSV UTF-8)")


@pytest.mark.parametrize(
    "name",
    [
        "小米",
        "朱镕基",
        "镕",
        "Acer宏碁",
        "iPhone手机",
        "ASUS 華碩電腦",
        "國際電話電報公司",
        "Haier海尔 Group集团",
        "李宁Li-Ning",
    ],
)
@pytest.mark.parametrize("encoding", ["gb18030", "gbk"])
def test_chinese_names_beside_latin_letters_stay_readable(name: str, encoding: str) -> None:
    assert good(brands_csv(f"id,name\na,{name}\n".encode(encoding))).brands[0].name == name
