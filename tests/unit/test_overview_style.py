"""Do the right words of ``brandvane status`` stand out on a terminal, and does their text stay as it is?"""

from __future__ import annotations

import pytest

from brandvane.cli.overview_style import BAD, COLUMNS, DOUBTFUL, GOOD, styled
from brandvane.cli.overview_view import overview_lines
from screens.example import busy, quiet


def marked(make: object, style: str, width: int = 160) -> list[str]:
    """The words in one style."""
    assert callable(make)
    text = styled(overview_lines(make(), width))
    return [text.plain[span.start : span.end] for span in text.spans if span.style == style]


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("make", [busy, quiet])
def test_the_text_is_that_of_a_pipe(make: object, width: int) -> None:
    assert callable(make)
    lines = overview_lines(make(), width)

    assert styled(lines).plain == "\n".join(lines)


def test_what_is_wrong_is_red() -> None:
    first, dead, pause, stuck, *rest = marked(busy, BAD, 240)
    assert first == "2 alarms in ALARM, 3 tasks stuck, 1 run will miss the deadline"
    assert dead.startswith(
        "  brandvane-prod-dead-letters since 06:21: P0: a message is on a dead-letter queue. Runbook:"
    )
    assert pause.startswith(
        "  brandvane-prod-豆包-platform-paused since 06:13: P1: the platform or one of its models is paused"
    )
    assert stuck.startswith("  3 tasks of 腾讯混元 in RUNNING, the oldest for 4 min")
    assert rest == ["41 min late", "paused", "brandvane dead-letters redrive calls-腾讯混元"]


def test_what_is_doubtful_is_yellow() -> None:
    assert marked(busy, DOUBTFUL) == ["slowed"]


def test_a_quiet_screen_has_nothing_red_and_says_in_green_that_all_is_well() -> None:
    assert (marked(quiet, BAD), marked(quiet, DOUBTFUL)) == ([], [])
    assert marked(quiet, GOOD) == ["nothing rings, nothing is stuck"]


def test_the_columns_names_are_dim() -> None:
    assert [line.split()[0] for line in marked(busy, COLUMNS, 80)] == ["run", "platform", "queue"]
