"""A file of faults is read whole or refused with a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brandvane.simulation.faults import ARTICLE, Faults, FaultsError, Trouble, read_faults


def written(folder: Path, document: Any) -> Path:
    path = folder / "mine.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_what_is_not_said_is_as_in_a_healthy_cloud(tmp_path: Path) -> None:
    assert read_faults(written(tmp_path, {"kill": 0.1})) == Faults(name="mine", kill=0.1)


def test_a_base_gives_the_rest(tmp_path: Path) -> None:
    faults = read_faults(written(tmp_path, {"base": "article", "deaths_a_day": 24}))
    assert (faults.first_fails, faults.deaths_a_day) == (ARTICLE.first_fails, 24.0)


def test_troubles_are_read_with_their_numbers(tmp_path: Path) -> None:
    row = {"what": "platform", "start": 60, "end": 120, "how": "busy", "name": "platform-1", "retry_after": 30}
    assert read_faults(written(tmp_path, {"troubles": [row]})).troubles == (
        Trouble("platform", 60.0, 120.0, 1.0, "busy", "platform-1", 30.0),
    )


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{", "not JSON"),
        ([], "must be a JSON object"),
        ({"kil": 0.1}, "unknown field 'kil'"),
        ({"kill": 1.5}, "kill is 1.5; it is a share"),
        ({"kill": "often"}, "kill is 'often'; it must be a number"),
        ({"kill": True}, "kill is True; it must be a number"),
        ({"retry_failed": 1}, "retry_failed is 1; it must be true or false"),
        ({"stall_s": 70}, "stall_s is 70; it must be two numbers"),
        ({"base": "chaos"}, "base is 'chaos'; it must be one of none, article"),
        ({"base": []}, r"base is \[\]; it must be one of none, article"),
        ({"name": 5}, "name is 5; it must be a text"),
        ({"stall_before": "sleep"}, "stall_before is 'sleep'; it must be one of"),
        ({"most_receives": 0.5}, "most_receives is 0.5; it must be a whole number of at least 1"),
        ({"most_receives": 0}, "most_receives is 0; it must be a whole number of at least 1"),
        ({"ticks_at_once": 1.5}, "ticks_at_once is 1.5; it must be a whole number of at least 0"),
        ({"troubles": [{"what": [], "start": 0, "end": 1}]}, r"what is \[\]; it must be one of dynamodb"),
        ({"troubles": [{"what": "sqs", "start": 9, "end": 1}]}, "end is 1; it must not be before start, 9"),
        (
            {"troubles": [{"what": "sqs", "start": 0, "end": 1, "how": "nope"}]},
            "how is 'nope'; it must be one of refused",
        ),
        (
            {"troubles": [{"what": "platform", "start": 0, "end": 1, "how": "lost"}]},
            "how is 'lost'; it must be one of hangs",
        ),
        ({"troubles": {}}, "troubles must be a list"),
        ({"troubles": [{"what": "sqs"}]}, r"troubles\[0\]: must be an object of what, start, end"),
        ({"troubles": [{"what": "sun", "start": 0, "end": 1}]}, "what is 'sun'; it must be one of dynamodb"),
        ({"troubles": [{"what": "sqs", "start": 0, "end": 1, "share": 2}]}, "share is 2; it is a share"),
    ],
)
def test_a_wrong_file_is_refused_with_field_and_value(tmp_path: Path, document: Any, said: str) -> None:
    with pytest.raises(FaultsError, match=said):
        read_faults(written(tmp_path, document))


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FaultsError, match="name a file, or none, article or chaos"):
        read_faults(tmp_path / "nothing.json")


def test_deep_nesting_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(FaultsError, match="nested too deep"):
        read_faults(written(tmp_path, "[" * 100_000))


@pytest.mark.parametrize("how", ["busy", "hangs", "server_error"])
def test_what_a_platform_may_do_is_read(tmp_path: Path, how: str) -> None:
    row = {"what": "platform", "start": 60, "end": 120, "how": how}
    assert read_faults(written(tmp_path, {"troubles": [row]})).troubles[0].how == how
