"""Do the operator's screens keep their width, also with Chinese names, and do the pictures in docs/ show what they say now?"""

from __future__ import annotations

import re
from html import unescape

import pytest
from rich.cells import cell_len

from brandvane.cli.overview_view import overview_lines
from screens.__main__ import FOLDER, WIDTHS, picture, screens
from screens.example import busy, quiet


@pytest.mark.parametrize("width", [40, 79, *WIDTHS, 200])
@pytest.mark.parametrize("make", [busy, quiet])
def test_no_line_is_wider_than_the_screen(make: object, width: int) -> None:
    assert callable(make)
    too_wide = [line for line in overview_lines(make(), width) if cell_len(line) > width]

    assert too_wide == []


@pytest.mark.parametrize("width", WIDTHS)
def test_at_80_and_160_columns_nothing_is_cut(width: int) -> None:
    assert [line for lines in screens(width).values() for line in lines if line.endswith("…")] == []


def test_columns_stand_below_each_other_whatever_the_names_are() -> None:
    lines = overview_lines(busy(), 80)
    first = lines.index("platforms") + 1

    ends = [cell_len(line[: line.index(word) + len(word)]) for line, word in zip(
        lines[first : first + 4], ("calls/s", "9.1/10", "2.3/2.5", "0.0/5"), strict=True
    )]  # fmt: skip
    # Two of indent, eight of the longest name (four Chinese characters), two of gap, seven of the column.
    assert ends == [19, 19, 19, 19]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["status", "watch"])
def test_the_pictures_in_the_documents_are_of_today(name: str, width: int) -> None:
    stored = (FOLDER / f"{name}-{width}.svg").read_text(encoding="utf-8")
    made = picture(screens(width)[name], width, f"brandvane {name}")

    assert _texts(stored) == _texts(made), "make screens"


def _texts(svg: str) -> list[str]:
    return [unescape(text) for text in re.findall(r">([^<]+)</text>", svg)]
