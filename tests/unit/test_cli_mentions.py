"""``brandvane mentions show`` and ``score``: what they print, and how they end when the input is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from brandvane.cli.mentions_commands import mentions, wrong_text
from unit.catalogue_samples import SAMPLE

BRANDS = """\
- {id: ash, name: Ash, rules: {case_sensitive: true}}
- {id: midea, name: Midea, aliases: [美的]}
"""
TEXT = "1. Ash: good\n一个完美的圆，不推荐美的。\x1b[31m"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "brands.yaml").write_text(BRANDS, encoding="utf-8")
    return tmp_path


def show(folder: Path, text: str | bytes, *options: str) -> Result:
    return CliRunner().invoke(mentions, ["show", "--catalogue", str(folder), *options], input=text)


def test_show_prints_the_text_and_the_reason_for_each_hit(folder: Path) -> None:
    assert show(folder, TEXT).output.splitlines() == [
        "1. Ash: good",
        "一个完美的圆，不推荐美的。\ufffd[31m",
        "",
        "+ 3-6 Ash  ash, list item, rank 1",
        "- 16-18 美的  midea, a piece of '完美'",
        "+ 23-25 美的  midea, prose, stance negative",
        "2 mentioned, 1 rejected",
    ]


def test_show_marks_spans_with_colours_where_they_are_wanted(folder: Path) -> None:
    result = CliRunner().invoke(
        mentions, ["show", "--catalogue", str(folder), "--colour"], input="I see Ash", color=True
    )
    assert result.output.splitlines()[0] == "I see \x1b[32m\x1b[1mAsh\x1b[0m"


def test_show_says_when_no_brand_is_named(folder: Path) -> None:
    assert show(folder, "nothing").output.splitlines()[-1] == "no brand of the catalogue is named"


def test_show_prints_every_field_as_json(folder: Path) -> None:
    found = json.loads(show(folder, "I see Ash. I see ash.", "--json", "--prompt", "Is Ash good?").output)
    assert found["mentions"] == [
        {
            "brand": "ash",
            "alias": "Ash",
            "start": 6,
            "end": 9,
            "sentence": "I see Ash.",
            "sentence_start": 0,
            "visible": True,
            "kind": "prose",
            "rank": None,
            "order": 1,
            "stance": "neutral",
            "self_mention": False,
            "echo": True,
            "doubtful": False,
            "reason": "",
        }
    ]
    assert [(hit["start"], hit["visible"]) for hit in found["rejected"]] == [(17, False)]


def test_text_that_is_not_utf8_ends_with_its_place(folder: Path) -> None:
    result = show(folder, b"ab\xff")
    assert (result.exit_code, result.output) == (
        2,
        "brandvane: standard input: not UTF-8 at byte 2; save the answer as UTF-8\n",
    )


def test_a_wrong_catalogue_ends_with_its_faults(folder: Path) -> None:
    (folder / "brands.yaml").write_text("- {id: ash, name: Ash, rules: {near: 3}}\n", encoding="utf-8")
    result = show(folder, "x", "--json")
    assert result.exit_code == 2
    assert [fault["field"] for fault in json.loads(result.output)["faults"]] == ["rules.near"]


def score(folder: Path, truth: list[object], *options: str) -> Result:
    answers = folder / "answers.jsonl"
    answers.write_text('{"id": "a", "question": "?", "answer": "1. Ash: x. Ash\\n2. 美的: x"}\n', encoding="utf-8")
    rows = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in truth)
    (folder / "truth.jsonl").write_text(rows, encoding="utf-8")
    files = ["--answers", str(answers), "--truth", str(folder / "truth.jsonl")]
    return CliRunner().invoke(mentions, ["score", "--catalogue", str(folder), *files, *options])


def row(brand: str, count: int, first: int | None, rank: int | None, **more: object) -> dict[str, object]:
    return {
        "answer_id": "a",
        "brand": brand,
        "mentioned": count > 0,
        "count": count,
        "first_offset": first,
        "rank": rank,
        **more,
    }


def test_score_prints_shares_over_pairs_and_every_error(folder: Path) -> None:
    found = json.loads(score(folder, [row("Ash", 1, 3, 1), row("美的", 0, None, None)], "--json").output)
    assert found == {
        "pairs": 2,
        "mentioned": {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3)},
        "exact_counts": 0.0,
        "exact_first_offsets": 1.0,
        "exact_ranks": 1.0,
        "no_rank_where_none": 0.0,
        "errors": [
            {"answer_id": "a", "brand": "Ash", "what": "count", "truth": 1, "found": 2},
            {"answer_id": "a", "brand": "美的", "what": "mentioned", "truth": False, "found": 18},
            {"answer_id": "a", "brand": "美的", "what": "count", "truth": 0, "found": 1},
            {"answer_id": "a", "brand": "美的", "what": "rank", "truth": None, "found": 2},
        ],
    }


def test_score_leaves_doubtful_rows_out(folder: Path) -> None:
    found = json.loads(score(folder, [row("Ash", 2, 3, 1), row("midea", 9, 9, 9, doubtful=True)], "--json").output)
    assert (found["pairs"], found["mentioned"]["f1"], found["errors"]) == (1, 1.0, [])


def test_score_prints_lines_for_people(folder: Path) -> None:
    assert score(folder, [row("Ash", 1, 3, 1)]).output.splitlines() == [
        "1 pairs of answer and brand",
        "mentioned            precision 1.0000  recall 1.0000  F1 1.0000",
        "exact counts         0.0000",
        "exact first offsets  1.0000",
        "exact ranks          1.0000",
        "no rank where none   1.0000",
        "  a Ash: count 2, should be 1",
    ]


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ("{", "row 1: not JSON; write one object on each line"),
        ("[]", "row 1: not a JSON object; write one on each line"),
        ({"answer_id": "a"}, "row 1: brand is missing or not a text; write it as a text"),
        (
            {**row("Ash", 1, 3, 1), "count": "1"},
            "row 1: count is missing or not a whole number; write it as a whole number",
        ),
        (
            {**row("Ash", 1, 3, 1), "answer_id": "b"},
            "row 1: answer_id 'b' is not in --answers; add it there or remove the row",
        ),
        (row("Oak", 1, 3, 1), "row 1: brand 'Oak' is not in the catalogue; add it there or remove the row"),
    ],
)
def test_wrong_truth_ends_with_its_row(folder: Path, truth: object, message: str) -> None:
    result = score(folder, [truth])
    assert (result.exit_code, result.output.strip().endswith(message)) == (2, True)


def test_a_missing_file_ends_with_its_name(folder: Path) -> None:
    files = ["--answers", str(folder / "none"), "--truth", str(folder / "none")]
    result = CliRunner().invoke(mentions, ["score", "--catalogue", str(folder), *files])
    assert result.exit_code == 2
    assert "cannot be read (No such file or directory); --answers names a JSONL file" in result.output


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ({"what": "mentioned", "found": 14, "truth": False}, "found at character 14, but people do not read it there"),
        ({"what": "mentioned", "found": False, "truth": True}, "not found, but people read it there"),
        ({"what": "first_offset", "found": 3, "truth": 5}, "first offset 3, should be 5"),
    ],
)
def test_an_error_of_the_matcher_is_told_in_words(error: dict[str, Any], says: str) -> None:
    assert wrong_text(error) == says


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"doubtful": "false"}, "row 1: doubtful is missing or not true or false; write it as true or false"),
        ({"count": -1}, "row 1: count is -1; write a whole number from 0"),
        ({"first_offset": -1}, "row 1: first_offset is -1; write a whole number from 0"),
        ({"rank": 0}, "row 1: rank is 0; write a whole number from 1"),
    ],
)
def test_a_reading_that_cannot_be_is_a_fault_of_its_row(folder: Path, more: dict[str, object], message: str) -> None:
    result = score(folder, [{**row("Ash", 1, 3, 1), **more}])
    assert (result.exit_code, result.output.strip().endswith(message)) == (2, True)


@pytest.mark.parametrize("truth", [[], [row("Ash", 2, 3, 1, doubtful=True)]])
def test_nothing_to_compare_is_no_perfect_score(folder: Path, truth: list[object]) -> None:
    result = score(folder, truth)
    assert result.exit_code == 2
    assert "no row to compare that is not doubtful" in result.output


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ('{"id": "a", "answer": "x", "question": 5}', "row 1: question is missing or not a text; write it as a text"),
        (
            '{"id": "a", "answer": "x"}\n{"id": "a", "answer": "y"}',
            "row 2: a second answer with the id 'a'; remove one, or give it another id",
        ),
    ],
)
def test_wrong_answers_end_with_their_row(folder: Path, answers: str, message: str) -> None:
    (folder / "answers.jsonl").write_text(answers, encoding="utf-8")
    (folder / "truth.jsonl").write_text(json.dumps(row("Ash", 1, 3, 1)), encoding="utf-8")
    files = ["--answers", str(folder / "answers.jsonl"), "--truth", str(folder / "truth.jsonl")]
    result = CliRunner().invoke(mentions, ["score", "--catalogue", str(folder), *files])
    assert (result.exit_code, result.output.strip().endswith(message)) == (2, True)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_id_with_half_a_character_is_printed_as_its_escape(folder: Path, options: tuple[str, ...]) -> None:
    (folder / "answers.jsonl").write_text(r'{"id": "\ud800", "answer": "Ash"}', encoding="utf-8")
    truth = json.dumps({**row("Ash", 9, 0, None), "answer_id": "\ud800"})
    (folder / "truth.jsonl").write_text(truth, encoding="utf-8")
    files = ["--answers", str(folder / "answers.jsonl"), "--truth", str(folder / "truth.jsonl")]
    result = CliRunner().invoke(mentions, ["score", "--catalogue", str(folder), *files, *options])
    assert result.exit_code == 0
    assert r"\ud800" in result.output


def test_a_table_in_gb18030_is_read_with_a_warning(folder: Path) -> None:
    (folder / "brands.yaml").unlink()
    (folder / "brands.csv").write_bytes("id,name\nmidea,美的\n".encode("gb18030"))
    result = show(folder, "美的")
    assert result.exit_code == 0
    assert "read as GB18030" in result.stderr


def samples(folder: Path, *options: str) -> Result:
    for name, text in SAMPLE.items():
        (folder / name).write_text(text, encoding="utf-8")
    return CliRunner().invoke(mentions, ["samples", "--catalogue", str(folder), *options])


@pytest.mark.parametrize("width", ["1e-200", "0", "100", "nan"])
def test_a_width_that_no_interval_has_is_wrong_usage(folder: Path, width: str) -> None:
    result = samples(folder, "--width", width)
    assert result.exit_code == 2
    assert "points is no width to ask for; say at least 0.01 and less than 100" in result.output


def test_more_samples_than_a_monitor_may_ask_are_told(folder: Path) -> None:
    told = "samples is at most 100 in monitor.yaml: 1 brand needs more questions, or a greater width"
    assert samples(folder, "--width", "1").output.splitlines()[-1] == told
    assert "at most 100" not in samples(folder, "--width", "50").output
