"""Putting mentions right by hand: what is stored, that it survives, and that it shows in what it touches."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json
from typing import Any

import pytest

from brandvane.cli.correct_commands import correct, corrections, export
from brandvane.cli.reparse_command import reparse
from brandvane.engine.counted import counted
from brandvane.engine.scored_objects import mentions_key, mentions_table_key
from brandvane.mentions.roles import Role
from brandvane.run import RunState
from brandvane.task import bucket_of, prompt_hash_of
from operator_desk import Office
from unit.scored_samples import GENERIC, RUN_ID, TARGET, Case, row

ROWS = [
    row("Oolong is a kind of tea. Try Oolong.", sample=1),
    row("Nothing but Senca House.", sample=2),
    row("Senca House, Senca House.", sample=3),
]
FIRST, SECOND, THIRD = (each.task_id for each in ROWS)
BUCKET = bucket_of(prompt_hash_of(GENERIC))
WHO = ("--by", "Kim", "--reason", "the kind of tea")


def desk() -> tuple[Case, Office]:
    """A reported case and a desk on its world."""
    case = Case()
    asyncio.run(case.reported(ROWS))
    return case, Office(case.world)


def figures(case: Case, brand: str) -> tuple[int, int, int]:
    """Answers that mention a brand, of how many, and how many were corrected, in the run's present pass."""
    run = asyncio.run(case.run())
    cell = asyncio.run(counted(RUN_ID, run.pass_no, case.world.blobs)).tally.cell(Role.UNBRANDED, TARGET, brand)
    return cell.mentioned, cell.answers, cell.corrected


def mentions(case: Case) -> list[dict[str, Any]]:
    """The lines of the present pass's mentions."""
    run = asyncio.run(case.run())
    packed = case.world.blobs.objects[mentions_key(RUN_ID, run.pass_no, BUCKET)]
    return [json.loads(line) for line in gzip.decompress(packed).splitlines()]


def test_every_mention_of_a_brand_can_be_marked_false_at_once() -> None:
    case, here = desk()
    assert figures(case, "oolong") == (1, 3, 0)
    result = here.say(correct, f"{RUN_ID}/{FIRST}", "--brand", "oolong", "--false", *WHO)
    assert result.exit_code == 0, result.stderr
    assert figures(case, "oolong") == (0, 3, 1)
    gone = [line for line in mentions(case) if line["brand"] == "oolong"]
    assert [(line["start"], line["visible"], line["correction"] is not None) for line in gone] == [
        (0, False, True),
        (29, False, True),
    ]


def test_one_of_two_mentions_can_be_marked_false() -> None:
    case, here = desk()
    words = ("--brand", "oolong", "--false", "--text", "Oolong", "--occurrence", "1")
    told = here.json(correct, f"{RUN_ID}/{FIRST}", *words, *WHO)
    assert [(c["start"], c["end"], c["quote"], c["by"], c["reason"]) for c in told["corrections"]] == [
        (0, 6, "Oolong", "Kim", "the kind of tea")
    ]
    assert figures(case, "oolong") == (1, 3, 1)


def test_a_missing_mention_counts_from_then_on() -> None:
    case, here = desk()
    assert figures(case, "sencha") == (0, 3, 0)
    words = ("--brand", "sencha", "--missing", "--text", "Senca House")
    assert here.say(correct, f"{RUN_ID}/{SECOND}", *words, *WHO).exit_code == 0
    assert figures(case, "sencha") == (1, 3, 1)
    line = next(line for line in mentions(case) if line["brand"] == "sencha")
    assert (line["alias"], line["start"], line["end"], line["visible"]) == ("Senca House", 12, 23, True)
    assert line["sentence"] == "Nothing but Senca House."


def test_corrections_survive_another_reading() -> None:
    case, here = desk()
    here.say(correct, f"{RUN_ID}/{FIRST}", "--brand", "oolong", "--false", *WHO)
    assert here.json(reparse, RUN_ID)["changed"] == []
    assert asyncio.run(case.run()).pass_no == 3
    assert figures(case, "oolong") == (0, 3, 1)


def test_a_correction_can_wait_for_the_next_reading() -> None:
    case, here = desk()
    result = here.say(correct, f"{RUN_ID}/{FIRST}", "--brand", "oolong", "--false", "--later", *WHO)
    assert "until 'brandvane reparse" in result.stdout
    assert figures(case, "oolong") == (1, 3, 0)
    assert [each["state"] for each in here.json(corrections, RUN_ID)] == ["waiting", "waiting"]
    here.say(reparse, RUN_ID)
    assert figures(case, "oolong") == (0, 3, 1)


def test_a_correction_can_be_taken_back_and_stays_on_the_list() -> None:
    case, here = desk()
    words = ("--brand", "sencha", "--missing", "--text", "Senca House")
    made = here.json(correct, f"{RUN_ID}/{SECOND}", *words, *WHO)["corrections"][0]["id"]
    result = here.say(correct, RUN_ID, "--withdraw", made, "--by", "Lee", "--reason", "a typo is no mention")
    assert result.exit_code == 0, result.stderr
    assert figures(case, "sencha") == (0, 3, 0)
    assert [(each["id"], each["state"]) for each in here.json(corrections, RUN_ID)] == [(made, "withdrawn")]


def test_the_report_shows_who_corrected_what_and_marks_the_figures() -> None:
    case, here = desk()
    words = ("--brand", "sencha", "--missing", "--text", "Senca House", "--by", "<b>Kim</b>", "--reason", "a typo")
    here.say(correct, f"{RUN_ID}/{SECOND}", *words)
    run = asyncio.run(case.run())
    page = case.world.blobs.objects[f"{run.report_prefix}report.html"].decode()
    listed = page.split('<section id="corrections">')[1].split("</section>")[0]
    assert "&lt;b&gt;Kim&lt;/b&gt;" in listed
    assert "a mention that was missed: <q>Senca House</q>" in listed
    assert "in force" in listed
    visibility = page.split('<section id="visibility">')[1].split("</section>")[0]
    assert "1 corrected by hand" in visibility
    assert "<mark>Senca House</mark>" in page


def test_a_page_without_corrections_has_no_such_section() -> None:
    case, _ = desk()
    run = asyncio.run(case.run())
    assert '<section id="corrections">' not in case.world.blobs.objects[f"{run.report_prefix}report.html"].decode()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((f"{RUN_ID}/{FIRST}", "--brand", "oolong"), "say one of --false, --missing and --withdraw ID"),
        ((RUN_ID, "--brand", "oolong", "--false"), "RUN/TASK: say which answer"),
        ((f"{RUN_ID}/{FIRST}", "--false"), "--brand: say the id"),
        ((f"{RUN_ID}/{FIRST}", "--false", "--brand", "Oolong"), "--brand: catalogue v1 has no brand 'Oolong'"),
        ((f"{RUN_ID}/gone", "--false", "--brand", "oolong"), "has no result of a task 'gone'"),
        ((f"{RUN_ID}/{SECOND}", "--false", "--brand", "oolong"), "no mention of oolong that could be false"),
        ((f"{RUN_ID}/{FIRST}", "--false", "--brand", "oolong", "--text", "tea"), "its mentions are: 'Oolong'"),
        ((f"{RUN_ID}/{FIRST}", "--missing", "--brand", "sencha"), "--text: a missing mention needs the words"),
        (
            (f"{RUN_ID}/{FIRST}", "--missing", "--brand", "sencha", "--text", "Zen"),
            "'Zen' does not stand in this answer",
        ),
        (
            (f"{RUN_ID}/{THIRD}", "--missing", "--brand", "sencha", "--text", "Senca House"),
            "2 times; say which, from 1 to 2",
        ),
        (
            (f"{RUN_ID}/{THIRD}", "--missing", "--brand", "sencha", "--text", "Senca House", "--occurrence", "3"),
            "2 times, not 3",
        ),
        (
            (f"{RUN_ID}/{FIRST}", "--missing", "--brand", "oolong", "--text", "Try Oolong"),
            "already: nothing is missing",
        ),
        ((RUN_ID, "--withdraw", "c9"), "has no standing correction 'c9'"),
        (("gone/x", "--false", "--brand", "oolong"), "there is no run 'gone'"),
    ],
)
def test_wrong_input_is_told_in_one_sentence_and_corrects_nothing(words: tuple[str, ...], says: str) -> None:
    case, here = desk()
    result = here.say(correct, *words, *WHO)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stderr.count("\n") == 1
    assert asyncio.run(case.run()).corrections_key == ""


def test_a_correction_needs_a_name_and_a_reason() -> None:
    _, here = desk()
    result = here.say(correct, f"{RUN_ID}/{FIRST}", "--false", "--brand", "oolong", "--by", " ", "--reason", "x")
    assert result.exit_code == 2
    assert "--by: must not be blank" in result.stderr


def test_a_run_that_is_being_read_is_not_corrected() -> None:
    case, here = desk()
    asyncio.run(case.world.runs.change(RUN_ID, {}, {"state": RunState.SCORING}))
    result = here.say(correct, f"{RUN_ID}/{FIRST}", "--false", "--brand", "oolong", *WHO)
    assert result.exit_code == 1
    assert "try again when it is REPORTED" in result.stderr


def test_of_two_people_at_once_neither_loses_the_others_correction() -> None:
    case, here = desk()
    put = case.world.blobs.put

    async def another_first(key: str, body: bytes, content_type: str) -> None:
        await put(key, body, content_type)
        if key.startswith("corrections/"):
            await case.world.runs.change(RUN_ID, {}, {"corrections_key": "corrections/another"})

    case.world.blobs.put = another_first  # type: ignore[method-assign]
    result = here.say(correct, f"{RUN_ID}/{FIRST}", "--false", "--brand", "oolong", "--later", *WHO)
    assert result.exit_code == 1
    assert "nothing was corrected; try again" in result.stderr
    assert asyncio.run(case.run()).corrections_key == "corrections/another"


def test_mentions_can_be_had_as_a_table_and_as_lines() -> None:
    _, here = desk()
    table = here.say(export, RUN_ID, "--output", "-").stdout_bytes.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert [(each["brand"], each["start"], each["end"], each["visible"]) for each in rows] == [
        ("oolong", "0", "6", "yes"),
        ("oolong", "29", "35", "yes"),
    ]
    lines = here.say(export, RUN_ID, "--output", "-", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["sentence"] for line in lines] == ["Oolong is a kind of tea.", "Try Oolong."]


def test_a_sentence_that_looks_like_a_formula_is_guarded_in_the_table() -> None:
    case = Case()
    asyncio.run(case.reported([row("=1+1 Oolong")]))
    packed = case.world.blobs.objects[mentions_table_key(RUN_ID, 1, BUCKET)]
    rows = list(csv.DictReader(io.StringIO(gzip.decompress(packed).decode("utf-8-sig"), newline="")))
    assert rows[0]["sentence"] == "'=1+1 Oolong"


def test_mentions_that_were_removed_are_told_to_be() -> None:
    case, here = desk()
    del case.world.blobs.objects[mentions_table_key(RUN_ID, 1, 5)]
    result = here.say(export, RUN_ID, "--output", "-")
    assert result.exit_code == 1
    assert "bucket-05.csv.gz" in result.stderr


def test_the_new_report_shows_what_the_reading_changed() -> None:
    case, here = desk()
    here.say(correct, f"{RUN_ID}/{FIRST}", "--brand", "oolong", "--false", *WHO)
    page = case.world.blobs.objects[f"reports/{RUN_ID}/pass-2/report.html"].decode()
    changed = page.split('<section id="reread">')[1].split("</section>")[0]
    assert "figures that differ: 1" in changed
    assert "1 of 3" in changed
    assert "0 of 3" in changed
    assert '<section id="reread">' not in case.world.blobs.objects[f"reports/{RUN_ID}/pass-1/report.html"].decode()
