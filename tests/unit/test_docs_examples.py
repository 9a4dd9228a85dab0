"""Do the examples in the documents run, and say what the page says of them?"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from brandvane.catalogue_files.brands import COLUMNS as BRAND_COLUMNS
from brandvane.catalogue_files.brands import FIELDS as BRAND_FIELDS
from brandvane.catalogue_files.monitor import FIELDS as MONITOR_FIELDS
from brandvane.catalogue_files.monitor import SCHEDULE_FIELDS
from brandvane.catalogue_files.questions import COLUMNS as QUESTION_COLUMNS
from brandvane.catalogue_files.questions import FIELDS as QUESTION_FIELDS
from unit.catalogue_samples import brands, good, monitor

DOCS = Path(__file__).resolve().parents[2] / "docs"
SAID = {
    "reserved_concurrency.py": [
        "reserved concurrency alone: 10 of 60 messages worked on, 50 dead letters that never ran",
        "MaximumConcurrency below it: 60 of 60 messages worked on, 0 dead letters that never ran",
    ],
    "stalled_worker.py": [
        "state alone: kept is the answer of the stalled worker",
        "with a fence: the late write is lost; kept is the answer of the worker that has the task",
    ],
    "partial_batch.py": [
        "all marked when the call returns: 3 of 10 tasks wait for ever for a message never sent",
        "marked when SQS names them: 3 stay PENDING, the next tick sends them, 0 without message",
    ],
}


@pytest.mark.parametrize("name", SAID)
def test_an_example_shows_the_naive_shape_and_this_one(name: str) -> None:
    shown = subprocess.run(
        [sys.executable, str(DOCS / "examples" / name)], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout.splitlines() == SAID[name]


def test_the_page_links_every_example() -> None:
    page = (DOCS / "faults.md").read_text(encoding="utf-8")
    assert all(f"(examples/{name})" in page for name in SAID)


def test_the_rules_of_the_page_on_mentions_pass_the_check() -> None:
    page = (DOCS / "mentions.md").read_text(encoding="utf-8")
    found = good(brands("brands:\n" + page.split("```yaml\n")[1].split("```")[0]))
    assert [brand.id for brand in found.brands] == ["volkswagen", "toyota", "target"]


def test_the_page_on_the_catalogue_names_every_field_and_header() -> None:
    page = (DOCS / "catalogue.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in page.split("\n## ")}
    for section, columns, fields in (
        ("Brands", BRAND_COLUMNS, BRAND_FIELDS),
        ("Questions", QUESTION_COLUMNS, QUESTION_FIELDS),
    ):
        told = {word.strip("`") for word in re.split(r"[\s,()|]+", sections[section])}
        assert {*columns.fields, *fields} <= told
    for field in (*MONITOR_FIELDS, *SCHEDULE_FIELDS):
        assert f"| `{field}` |" in sections["Monitor"]


def test_the_rows_of_the_page_on_platforms_pass_the_check() -> None:
    page = (DOCS / "platforms.md").read_text(encoding="utf-8")
    rows = page.split("```yaml\n")[1].split("```")[0]
    schedule = "schedules: [{id: daily, window: 02:00-04:00, deadline: 06:00}]\n"
    found = good(monitor(rows + schedule)).monitor
    assert found.platform_names == ("azure", "openrouter", "siliconflow", "vllm", "ollama", "hunyuan-tc3")
