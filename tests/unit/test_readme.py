"""Do the README's examples work as they stand, and do both languages say the same?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from brandvane.catalogue_files.folder import read_catalogue
from brandvane.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]


def yaml_files(text: str) -> dict[str, bytes]:
    """The YAML blocks, by the file name in their first line."""
    blocks = re.findall(r"```yaml\n# (\S+)\n(.*?)```", text, re.DOTALL)
    return {name: body.encode() for name, body in blocks}


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_the_catalogue_of_the_readme_has_no_fault(readme: Path) -> None:
    reading = read_catalogue(yaml_files(readme.read_text(encoding="utf-8")))

    assert [str(fault) for fault in reading.faults] == []
    assert reading.catalogue is not None
    assert [q.branded for q in reading.catalogue.questions] == [False, True]


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_the_readme_names_commands_that_exist(readme: Path) -> None:
    named = set(re.findall(r"`?brandvane ([a-z-]+)", readme.read_text(encoding="utf-8")))

    assert named <= set(COMMANDS)


def test_both_readmes_have_the_same_sections_tables_and_commands() -> None:
    english, chinese = (path.read_text(encoding="utf-8") for path in READMES)

    for pattern in (r"^#+ ", r"^\|", r"^```"):
        assert len(re.findall(pattern, english, re.MULTILINE)) == len(re.findall(pattern, chinese, re.MULTILINE)), (
            pattern
        )
    assert set(re.findall(r"(?:brandvane|make) [a-z-]+", english)) == set(
        re.findall(r"(?:brandvane|make) [a-z-]+", chinese)
    )
