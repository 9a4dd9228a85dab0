"""``make screens``: ``status`` and ``watch`` at 80 and at 160 columns, as SVG, into docs/screens/."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from rich.text import Text

from brandvane.cli.overview_style import styled
from brandvane.cli.overview_view import overview_lines, watch_lines
from brandvane.cli.status_command import INTERVAL_S
from screens.example import busy, quiet

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "screens"
WIDTHS = (80, 160)


def screens(width: int) -> dict[str, list[str]]:
    """Lines by name."""
    return {"status": overview_lines(busy(), width), "watch": watch_lines(quiet(), width, INTERVAL_S)}


def picture(lines: list[str], width: int, title: str) -> str:
    """The screen as SVG; the same lines give the same bytes."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text(f"$ {title}", style="bold"))
    console.print(styled(lines), soft_wrap=True)
    return console.export_svg(title=title, unique_id=title.replace(" ", "-"))


def main() -> None:
    """Write them."""
    FOLDER.mkdir(exist_ok=True)
    for width in WIDTHS:
        for name, lines in screens(width).items():
            path = FOLDER / f"{name}-{width}.svg"
            path.write_text(picture(lines, width, f"brandvane {name}"), encoding="utf-8")
            print(path.relative_to(FOLDER.parents[1]))


if __name__ == "__main__":
    main()
