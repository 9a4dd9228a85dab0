"""``brandvane run start``: is what will be asked shown, asked about, and then started?"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from brandvane.cli.run_commands import run
from brandvane.run import RunState
from builders import NOW, catalogue, platform, schedule
from operator_desk import Office, office

REAL = "https://api.example/v1"
GIVEN = catalogue(questions=6, platforms=(platform("openai"), platform("hunyuan")))
LARGE = catalogue(questions=60, platforms=(platform("openai", base_url=REAL, price_output=1.0), platform("hunyuan")))
TWO_MODELS = catalogue(
    questions=60, platforms=(platform("openai", base_url=REAL, price_output=1.0, models=("m1", "m2")),)
)


def _runs(here: Office) -> list[str]:
    return sorted(here.world.runs.runs)


def test_starting_asks_the_planner_for_the_days_run() -> None:
    here = office(GIVEN)

    result = here.say(run, "start")

    assert result.exit_code == 0, result.output
    assert here.planned == [
        {
            "start": {
                "schedule_id": None,
                "date": None,
                "label": None,
                "version": "v1",
                "selection": {"platforms": [], "brands": [], "questions": [], "limit": None},
            }
        }
    ]
    assert _runs(here) == ["core-2025-10-09"]
    assert "run core-2025-10-09: 12 tasks" in result.stdout
    assert "brandvane run watch core-2025-10-09" in result.stdout


def test_a_filtered_start_is_a_run_of_its_own_and_named_before_the_planner_is_asked() -> None:
    here = office(GIVEN)

    here.say(run, "start", "--platform", "openai", "--brand", "acme", "--question", "q1", "--question", "q1")

    assert here.planned[0]["start"] == {
        "schedule_id": None,
        "date": None,
        "label": "adhoc-20251009t085320z",
        "version": "v1",
        "selection": {"platforms": ["openai"], "brands": ["acme"], "questions": ["q1"], "limit": None},
    }
    assert here.world.runs.runs["adhoc-20251009t085320z"].planned == {"openai": 1}


def test_a_limit_takes_the_platforms_in_turn() -> None:
    here = office(GIVEN)

    assert here.json(run, "start", "--limit", "3")["planned"] == {"openai": 2, "hunyuan": 1}


def test_schedule_date_and_label_are_passed_on() -> None:
    given = catalogue(schedules=(schedule(), schedule(id="rest")))
    here = office(given)

    here.say(run, "start", "--schedule", "rest", "--date", "2025-10-10", "--label", "try")

    start = here.planned[0]["start"]
    assert (start["schedule_id"], start["date"], start["label"]) == ("rest", "2025-10-10", "try")


def test_a_second_start_of_the_day_reports_the_run_that_is_there() -> None:
    here = office(GIVEN)
    here.say(run, "start")

    again = here.say(run, "start")

    assert again.exit_code == 0
    assert "run core-2025-10-09 is there already: OPEN, 12 tasks; nothing was started" in again.stdout
    assert len(here.planned) == 1
    assert here.json(run, "start")["created"] is False


def test_a_label_taken_by_a_run_that_asks_something_else_is_refused() -> None:
    here = office(GIVEN)
    here.say(run, "start", "--label", "try", "--limit", "3")

    same = here.say(run, "start", "--label", "try", "--limit", "3")
    other = here.say(run, "start", "--label", "try", "--limit", "4")

    assert same.exit_code == 0
    assert other.exit_code == 2
    assert "label 'try' is taken by a run that asks something else" in other.stderr


def test_a_dry_run_plans_on_paper() -> None:
    here = office(GIVEN)

    result = here.say(run, "start", "--dry-run")

    assert result.exit_code == 0
    assert (here.planned, _runs(here)) == ([], [])
    lines = result.stdout.splitlines()
    assert lines[0] == "run core-2025-10-09 would have 12 tasks"
    # 11,180 s from 08:53:40 to noon, a sixth of it between two tasks.
    assert lines[2].split() == ["openai", "6", "0.0322", "2025-10-09", "11:28:57", "UTC", "yes", "$0.00"]
    assert "begins 2025-10-09 08:53:40 UTC, deadline 2025-10-09 14:00 UTC" in lines
    assert sum(line.startswith("  asks: Which maker is number") for line in lines) == 5


def test_a_dry_run_as_json_has_prompts_and_what_the_estimate_rests_on() -> None:
    here = office(LARGE)

    told = here.json(run, "start", "--dry-run")

    assert (told["dry_run"], told["created"], told["total"]) == (True, False, 120)
    assert told["estimate"]["usd_by_platform"] == {"openai": 0.048, "hunyuan": 0.0}
    assert told["estimate"]["real_calls"] == 60
    assert told["estimate"]["basis"].startswith("estimate: list prices")
    assert len(told["first_prompts"]) == 5
    assert told["deadline"] == "2025-10-09T14:00:00Z"


def test_a_plan_that_does_not_fit_says_by_how_much() -> None:
    given = catalogue(
        questions=100,
        platforms=(platform(rate=0.01),),
        schedules=(schedule(start="08:00", end="08:55", deadline="09:00"),),
    )

    result = office(given).say(run, "start", "--dry-run")

    # One every 1 / (0.9 × 0.01) s: the last is 11,000 s after 08:53:40, and 09:00 is 380 s after that.
    assert "2 h 57 min too late" in result.stdout
    assert "the plan does not fit before the deadline" in result.stdout
    assert office(given).json(run, "start", "--dry-run")["late_by_s"] == {"openai": 10620.0}


def test_up_to_100_real_calls_start_without_a_question() -> None:
    here = office(LARGE)

    assert here.say(run, "start").exit_code == 0
    assert len(here.planned) == 1


def test_more_than_100_real_calls_need_yes_where_nobody_can_be_asked() -> None:
    here = office(TWO_MODELS)

    refused = here.say(run, "start")
    started = here.say(run, "start", "--yes")

    assert refused.exit_code == 2
    assert "Start core-2025-10-09 with 120 calls, about $0.0960" in refused.stderr
    assert "say --yes" in refused.stderr
    assert started.exit_code == 0
    assert len(here.planned) == 1


@pytest.mark.parametrize(("typed", "code", "asked"), [("y\n", 0, 1), ("n\n", 1, 0), ("\n", 1, 0)])
def test_on_a_terminal_more_than_100_real_calls_are_asked_about(typed: str, code: int, asked: int) -> None:
    here = office(TWO_MODELS, interactive=True)

    result = here.say(run, "start", stdin=typed)

    assert result.exit_code == code
    assert "Start core-2025-10-09 with 120 calls" in result.stderr
    assert len(here.planned) == asked


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--platform", "openia"), "the catalogue has no platform 'openia'; did you mean openai?"),
        (("--brand", "acmé"), "the catalogue has no brand 'acmé'; did you mean acme?"),
        (("--question", "q99"), "the catalogue has no question 'q99'"),
        (("--schedule", "night"), "there is no schedule 'night'; the catalogue has: core"),
        (("--label", "My run"), "--label: 'My run' is no name"),
        (("--label", "x" * 65), "is no name"),
        (("--label", "core-2025-10-10"), "is how schedule 'core' names its own runs"),
        (("--date", "2025-10-08"), "was due until 2025-10-08 14:00 UTC"),
        (("--date", "yesterday"), "does not match the format"),
        (("--limit", "0"), "0 is not in the range"),
    ],
)
def test_wrong_input_ends_with_2_and_starts_nothing(words: tuple[str, ...], says: str) -> None:
    here = office(GIVEN)

    result = here.say(run, "start", *words)

    assert result.exit_code == 2
    assert says in result.stderr
    assert here.planned == []


def test_without_a_catalogue_it_says_what_to_do() -> None:
    result = office().say(run, "start")

    assert result.exit_code == 2
    assert "brandvane catalogue push DIR" in result.stderr


def test_what_the_planner_refuses_is_passed_on_with_its_code() -> None:
    here = office(GIVEN)
    here.reply = {"error": "the catalogue was rolled back", "code": 2}

    result = here.say(run, "start")

    assert result.exit_code == 2
    assert result.stderr == "brandvane: the catalogue was rolled back\n"


def test_real_targets_without_a_price_are_named() -> None:
    given = catalogue(questions=2, platforms=(platform("openai", base_url=REAL),))

    result = office(given).say(run, "start", "--dry-run")

    assert "no price is known for openai/m1: the cost is more than that" in result.stdout


def test_json_after_a_start_is_the_run_as_it_was_created() -> None:
    here = office(GIVEN)

    told: dict[str, Any] = json.loads(here.say(run, "start", "--json").stdout)

    assert (told["run_id"], told["created"], told["state"]) == ("core-2025-10-09", True, RunState.OPEN)
    assert told["planned"] == {"openai": 6, "hunyuan": 6}
    assert told["window_start"] == "2025-10-09T08:53:40Z"
    assert here.world.runs.runs["core-2025-10-09"].created_at == NOW


def test_a_dry_run_after_the_days_deadline_shows_the_next_days_run_and_its_price() -> None:
    here = office(LARGE)
    asyncio.run(here.world.clock.advance_to(NOW + 8 * 3600))  # the deadline was 14:00

    result = here.say(run, "start", "--dry-run")

    assert (result.exit_code, result.stderr) == (0, "today's run is over; this is the next one\n")
    assert "run core-2025-10-10 would have 120 tasks" in result.stdout
    assert "begins 2025-10-10 08:00 UTC, deadline 2025-10-10 14:00 UTC" in result.stdout
    assert "cost about $" in result.stdout
    assert here.planned == []
