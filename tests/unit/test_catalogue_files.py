"""What is read from a folder, and which folders are refused?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brandvane.catalogue_files.faults import Fault
from brandvane.catalogue_files.folder import FILE_MAX_BYTES, read_folder
from unit.catalogue_samples import BRANDS, SAMPLE, good, only, read

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sample catalogue on disk."""
    for name, text in SAMPLE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_folder_is_read_like_its_bytes(folder: Path) -> None:
    assert read_folder(folder) == read({})


def test_a_folder_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    assert only(read_folder(tmp_path / "nowhere")).message == "there is no such folder"


def test_a_file_in_place_of_a_folder_is_a_fault(folder: Path) -> None:
    assert only(read_folder(folder / "brands.yaml")).message == "not a folder"


def test_an_empty_folder_has_one_fault_a_missing_file(tmp_path: Path) -> None:
    assert [(f.file, f.message) for f in read_folder(tmp_path).faults] == [
        ("brands.yaml", "the file is missing"),
        ("monitor.yaml", "the file is missing"),
        ("questions.yaml", "the file is missing"),
    ]


def test_brands_as_yaml_and_as_csv_together_are_a_fault(folder: Path) -> None:
    (folder / "brands.csv").write_text("id,name\na,A\n")
    fault = only(read_folder(folder))
    assert (fault.file, fault.message) == ("brands.csv", "brands.yaml is there too")


def test_a_yml_ending_is_pointed_out(folder: Path) -> None:
    (folder / "monitor.yaml").rename(folder / "monitor.yml")
    faults = read_folder(folder).faults
    assert [(f.file, f.remedy) for f in faults][1] == ("monitor.yml", "Rename it to monitor.yaml")


def test_a_file_of_50_mb_is_refused_before_it_is_read(folder: Path) -> None:
    with (folder / "questions.yaml").open("wb") as file:
        file.truncate(50 * 1024 * 1024)  # sparse: it takes no room
    fault = only(read_folder(folder))
    assert (fault.file, fault.message) == ("questions.yaml", "50.0 MB, and at most 8 MB are read")


def test_bytes_beyond_the_cap_are_refused_without_a_disk() -> None:
    assert only(read({"questions.yaml": b"#" * (FILE_MAX_BYTES + 1)})).message == "8.0 MB, and at most 8 MB are read"


def test_what_is_not_a_file_is_a_fault(folder: Path) -> None:
    (folder / "brands.yaml").unlink()
    (folder / "brands.yaml").mkdir()
    (folder / "monitor.yaml").unlink()
    os.mkfifo(folder / "monitor.yaml")
    assert [(f.file, f.message) for f in read_folder(folder).faults] == [
        ("brands.yaml", "not a file"),
        ("monitor.yaml", "not a file"),
    ]


def test_a_link_to_nowhere_is_a_fault(folder: Path) -> None:
    (folder / "brands.yaml").unlink()
    (folder / "brands.yaml").symlink_to("gone.yaml")
    fault = only(read_folder(folder))
    assert (fault.file, fault.message) == ("brands.yaml", "cannot be read: No such file or directory")


def test_a_fault_reads_as_one_line_with_file_row_field_value_and_remedy() -> None:
    fault = Fault("brands.csv", "an empty item", "Remove it", 4, "aliases", "x")
    assert str(fault) == "brands.csv, row 4: aliases 'x': an empty item. Remove it."


def test_a_long_value_is_cut_and_escaped_where_it_is_shown() -> None:
    fault = only(read({"brands.yaml": BRANDS.replace("id: nike", f'id: "x\\n{"y" * 80}"')}))
    assert fault.value == "x\\n" + "y" * 56 + "…"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shipped_examples_have_no_faults_and_the_promised_size(language: str) -> None:
    reading = read_folder(EXAMPLES / language)
    found = good(reading)
    assert reading.warnings == ()
    assert len(found.brands) >= 8
    assert len(found.questions) >= 30
    assert any(question.branded for question in found.questions)
    assert found.monitor.platform_names == ("openai", "hunyuan", "deepseek")


def test_the_chinese_example_is_what_a_spreadsheet_writes() -> None:
    for name in ("brands.csv", "questions.csv"):
        assert (EXAMPLES / "zh" / name).read_bytes().startswith(b"\xef\xbb\xbf")
