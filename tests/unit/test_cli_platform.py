"""``brandvane platform``: are limits, pauses and spending shown, and changed as told?"""

from __future__ import annotations

from typing import Any

import pytest

from brandvane.cli.platform_commands import platform as command
from brandvane.control import Act, Control, Pause
from brandvane.ports import Deployed
from brandvane.simulation.memory_world import StatedDeployment
from brandvane.task import State
from builders import NOW, catalogue, platform, run_of
from operator_desk import Office, laid_out, office

GIVEN = catalogue(
    platforms=(
        platform(
            "openai",
            models=("m1", "m2"),
            day_calls=5000,
            day_budget_usd=20.0,
            origins={"rate": "platforms.toml", "day_calls": "monitor.yaml", "day_budget_usd": "monitor.yaml"},
        ),
        platform("hunyuan", rate=1.0, in_flight=2, origins={"rate": "monitor.yaml", "in_flight": "platforms.toml"}),
    ),
    time_zone="Europe/Berlin",
)


def _office(**control: Any) -> Office:
    here = office(GIVEN)
    if control:
        here.world.control.items["openai"] = Control("openai", 1, **control)
    return here


def _control(here: Office, name: str = "openai") -> Control:
    return here.world.control.items[name]


@pytest.fixture(autouse=True)
def _named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ada")


def test_the_list_shows_each_limit_with_the_file_it_comes_from() -> None:
    here = _office(day="2025-10-09", day_calls=1234, day_microusd=2_500_000)

    lines = here.say(command, "list").stdout.splitlines()

    assert lines[1].split() == ["openai", "10", "platforms.toml", "10", "10", "1,234", "$2.50", "asked"]
    assert lines[2].split() == ["hunyuan", "1", "monitor.yaml", "2", "10", "0", "asked"]
    assert lines[3:] == [
        "openai: at most 5,000 calls a day (monitor.yaml)",
        "openai: at most $20.00 a day (monitor.yaml)",
    ]


def test_a_rate_set_by_hand_is_shown_as_such() -> None:
    told = _office(rate_override=3.0).json(command, "list")

    assert told[0]["rate"] == {"value": 3.0, "origin": "platform rate"}
    assert told[1]["rate"] == {"value": 1.0, "origin": "monitor.yaml"}


def test_the_list_as_json_has_budgets_origins_and_slots() -> None:
    told = _office(day="2025-10-08", day_calls=99).json(command, "list")

    assert told[0]["day_calls_budget"] == {"value": 5000, "origin": "monitor.yaml"}
    assert told[0]["day_budget_usd"] == {"value": 20.0, "origin": "monitor.yaml"}
    assert told[1]["in_flight"] == {"value": 2, "origin": "platforms.toml"}
    assert told[1]["day_budget_usd"] == {"value": None, "origin": "default"}
    assert told[0]["deployed"] == {"slots": 10, "invocations": 5, "batch_size": 2, "call_timeout_s": 60}
    assert (told[0]["day"], told[0]["day_calls"]) == ("2025-10-09", 0)  # yesterday's calls are not today's


def test_pauses_are_shown_with_why_who_and_until_when() -> None:
    here = _office(
        paused=Pause("auth_error", "worker", NOW - 60),
        targets={"openai/m2": Pause("model_gone", "worker", NOW, NOW + 3600), "openai/m1": Pause("x", "y", 0.0, NOW)},
    )

    shown, told = here.say(command, "list").stdout.splitlines(), here.json(command, "list")

    assert shown[1].endswith("paused")
    assert shown[3] == (
        "openai: paused by worker (auth_error) since 2025-10-09 10:52:20 Europe/Berlin, until somebody resumes it"
    )
    assert shown[4].startswith("openai/m2: paused by worker (model_gone)")
    assert shown[4].endswith("until 2025-10-09 11:53:20 Europe/Berlin")
    assert list(told[0]["paused_targets"]) == ["openai/m2"]
    assert told[0]["paused"]["until"] is None


def test_a_rate_lowered_by_refusals_is_shown() -> None:
    assert "openai: lowered to 25% of its rate after refusals" in _office(factor=0.25).say(command, "list").stdout


def test_platforms_without_a_worker_or_outside_the_monitor_are_shown_too() -> None:
    here = _office()
    here.world.deployment = StatedDeployment(Deployed("openai", 5, 2, 60), Deployed("kimi", 2, 1, 60))

    lines = here.say(command, "list").stdout.splitlines()

    assert lines[2].endswith("none            0               no worker is deployed")
    assert lines[3].split()[0] == "kimi"
    assert lines[3].endswith("not in the monitor")


def test_pausing_a_platform_says_who_why_and_until_when() -> None:
    here = _office()

    result = here.say(command, "pause", "openai", "--why", "invoice", "--until", "12:00", "--yes")

    assert _control(here).paused == Pause("invoice", "operator ada", NOW, NOW + 4000)
    assert result.exit_code == 0
    assert "until 2025-10-09 12:00 Europe/Berlin" in result.stdout


def test_pausing_begins_a_new_epoch_so_that_slots_granted_before_are_void() -> None:
    here = _office(epoch=7)

    here.say(command, "pause", "openai", "--yes")

    assert _control(here).epoch == 8
    assert _control(here).paused == Pause("by hand", "operator ada", NOW)


@pytest.mark.parametrize("given", ["m2", "openai/m2"])
def test_one_model_can_be_paused(given: str) -> None:
    here = _office()

    here.say(command, "pause", "openai", "--target", given, "--yes")

    assert _control(here).paused is None
    assert list(_control(here).targets) == ["openai/m2"]


def test_a_pause_that_holds_until_somebody_resumes_is_not_shortened_and_that_is_said() -> None:
    here = _office(paused=Pause("auth_error", "worker", NOW - 60))

    result = here.say(command, "pause", "openai", "--until", "+1h", "--yes")

    assert _control(here).paused == Pause("auth_error", "worker", NOW - 60)
    assert "openai is paused already, and not for a shorter time: paused by worker (auth_error)" in result.stdout


def test_resuming_lifts_every_pause_and_begins_anew_a_second_from_now() -> None:
    here = _office(paused=Pause("auth_error", "worker", NOW), targets={"openai/m1": Pause("x", "worker", NOW)}, epoch=7)

    result = here.say(command, "resume", "openai", "--yes")

    control = _control(here)
    assert (control.paused, control.targets, control.epoch, control.clock) == (None, {}, 8, NOW + 1)
    assert [line.split(" is ")[0] for line in result.stdout.splitlines()] == ["openai", "openai/m1"]


def test_resuming_what_is_not_paused_changes_nothing() -> None:
    here = _office(epoch=7)

    result = here.say(command, "resume", "openai", "--yes")

    assert result.exit_code == 0
    assert "openai is not paused" in result.stdout
    assert _control(here).epoch == 7


def test_a_rate_is_set_and_taken_back() -> None:
    here = _office(factor=0.5, epoch=7)

    first = here.say(command, "rate", "openai", "2.5", "--yes")
    assert (_control(here).rate_override, _control(here).factor, _control(here).epoch) == (2.5, 1.0, 8)
    assert "openai: 2.5 calls/s in place of the configured 10" in first.stdout

    second = here.say(command, "rate", "openai", "default", "--yes")
    assert _control(here).rate_override is None
    assert "openai: back to the configured rate, 10 calls/s" in second.stdout


@pytest.mark.parametrize("given", ["0", "-1", "fast", "nan", "inf", "1001"])
def test_what_is_no_rate_is_wrong_input(given: str) -> None:
    here = _office()

    result = here.say(command, "rate", "openai", "--yes", "--", given)

    assert result.exit_code == 2
    assert f"RATE: '{given}' is no rate" in result.stderr
    assert "openai" not in here.world.control.items


@pytest.mark.parametrize("words", [("pause", "openia"), ("resume", "openia"), ("rate", "openia", "1")])
def test_an_unknown_platform_is_named_with_those_near_it(words: tuple[str, ...]) -> None:
    result = _office().say(command, *words)

    assert result.exit_code == 2
    assert result.stderr == "brandvane: there is no platform 'openia'; did you mean openai?\n"


def test_an_unknown_model_is_named_with_those_near_it() -> None:
    result = _office().say(command, "pause", "openai", "--target", "m3")

    assert result.exit_code == 2
    assert "--target: openai is not asked for model 'm3'" in result.stderr


def test_a_pause_that_would_end_before_it_begins_is_wrong_input() -> None:
    result = _office().say(command, "pause", "openai", "--until", "2025-10-09T08:00Z")

    assert result.exit_code == 2
    assert "--until: '2025-10-09T08:00Z' is past" in result.stderr


@pytest.mark.parametrize("words", [("pause", "openai"), ("resume", "openai"), ("rate", "openai", "2")])
def test_a_change_as_json_shows_the_platform_as_it_is_then(words: tuple[str, ...]) -> None:
    assert _office().json(command, *words, "--yes")["platform"] == "openai"


OPEN = {"breaker_wait_s": 120.0, "breaker_at": NOW + 60}


def test_an_open_breaker_is_shown_with_since_when_it_waits_and_its_next_probe() -> None:
    here = _office(**OPEN)

    shown, told = here.say(command, "list").stdout.splitlines(), here.json(command, "list")

    assert shown[1].endswith("breaker open")
    assert shown[3] == (
        "openai: too many calls failed: its breaker is open since 2025-10-09 10:52:20 Europe/Berlin, waits 2 min;"
        " next probe 2025-10-09 10:54:20 Europe/Berlin"
    )
    assert told[0]["breaker"] == {
        "since": "2025-10-09T08:52:20Z",
        "wait_s": 120.0,
        "next_probe": "2025-10-09T08:54:20Z",
        "probing": False,
    }
    assert told[1]["breaker"] is None


@pytest.mark.parametrize(
    ("control", "says"),
    [
        ({"breaker_at": NOW}, "waits 2 min; its next task is the probe"),
        (
            {"breaker_at": NOW - 1, "probe_owner": "x", "probe_until": NOW + 75},
            "a probe is under way, until 2025-10-09 10:54:35 Europe/Berlin at most",
        ),
    ],
)
def test_a_probe_that_is_due_or_under_way_is_shown(control: dict[str, Any], says: str) -> None:
    assert says in _office(**OPEN | control).say(command, "list").stdout


def test_resuming_closes_an_open_breaker_and_says_so() -> None:
    here = _office(**OPEN, epoch=7)

    result = here.say(command, "resume", "openai", "--yes")

    assert (_control(here).breaker_wait_s, _control(here).epoch) == (0.0, 8)
    assert result.stdout.startswith("openai is resumed (it was held back: too many calls failed: its breaker is open")


def test_who_resumed_and_who_set_the_rate_is_kept_with_the_reason_and_shown() -> None:
    here = _office(paused=Pause("auth_error", "worker", NOW - 60))

    here.say(command, "resume", "openai", "--reason", "invoice paid", "--yes")
    here.say(command, "rate", "openai", "2.5", "--why", "many 429s", "--yes")
    shown, told = here.say(command, "list").stdout, here.json(command, "list")

    assert _control(here).resumed == Act("resumed", "operator ada", "invoice paid", NOW)
    assert "openai: resumed by operator ada (invoice paid) at 2025-10-09 10:53:20 Europe/Berlin" in shown
    assert "openai: rate set to 2.5 calls/s by operator ada (many 429s) at 2025-10-09 10:53:20" in shown
    assert told[0]["rated"] == {
        "what": "rate set to 2.5 calls/s",
        "who": "operator ada",
        "why": "many 429s",
        "at": "2025-10-09T08:53:20Z",
    }
    assert told[1]["resumed"] is None


def _with_tasks(interactive: bool = False) -> Office:
    """Twenty questions of two models wait for openai, and twenty for hunyuan; one of openai's is under way."""
    given = catalogue(
        platforms=(platform("openai", models=("m1", "m2"), price_output=10.0), platform("hunyuan")),
        time_zone="Europe/Berlin",
    )
    here = office(given, interactive=interactive)
    laid_out(here, run_of(given, "day"), given, State.RUNNING)
    return here


def test_pausing_says_how_many_tasks_wait_and_what_they_would_cost_and_asks() -> None:
    here = _with_tasks(interactive=True)

    result = here.say(command, "pause", "openai", "--until", "12:00", stdin="n\n")

    assert "Pause openai until 2025-10-09 12:00 Europe/Berlin? 39 tasks wait for it" in result.stderr
    assert "would cost about $0.3120 (estimate" in result.stderr
    assert (result.exit_code, here.world.control.items) == (1, {})


@pytest.mark.parametrize("words", [("pause", "openai"), ("rate", "openai", "2")])
def test_where_nobody_can_be_asked_a_change_needs_yes(words: tuple[str, ...]) -> None:
    here = _with_tasks()

    result = here.say(command, *words)

    assert (result.exit_code, here.world.control.items) == (2, {})
    assert "Nobody is here to answer: say --yes" in result.stderr


def test_a_dry_run_of_a_models_pause_counts_that_models_tasks_and_changes_nothing() -> None:
    here = _with_tasks()

    result = here.say(command, "pause", "openai", "--target", "m2", "--dry-run")

    assert result.stdout.startswith("would pause openai/m2 until somebody resumes it: 20 tasks wait for it")
    assert result.stdout.endswith("nothing was changed\n")
    assert (result.exit_code, here.world.control.items) == (0, {})


def test_a_count_that_stopped_at_its_cap_is_said_to_be_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brandvane.cli.waiting.COUNT_CAP", 5)

    assert "at least " in _with_tasks().say(command, "pause", "openai", "--dry-run").stdout


def test_a_dry_run_as_json_counts_and_says_that_it_was_one() -> None:
    told = _with_tasks().json(command, "rate", "openai", "2", "--dry-run")

    assert (told["dry_run"], told["waiting"]["tasks"], told["waiting"]["at_least"]) == (True, 39, False)
    assert (told["rate"]["value"], told["rated"]) == (10.0, None)


def test_a_dry_run_of_a_resume_lifts_nothing() -> None:
    here = _office(paused=Pause("auth_error", "worker", NOW - 60))

    result = here.say(command, "resume", "openai", "--dry-run")

    assert result.stdout.startswith("would resume openai: openai is paused by worker (auth_error)")
    assert _control(here).paused == Pause("auth_error", "worker", NOW - 60)


def test_a_dry_run_and_a_yes_exclude_each_other() -> None:
    assert _office().say(command, "pause", "openai", "--dry-run", "--yes").exit_code == 2


def test_a_pause_that_ends_sooner_than_the_one_there_is_not_made_and_that_is_said() -> None:
    there = Pause("budget", "worker", NOW - 60, NOW + 36_000)
    here = _office(paused=there)

    result = here.say(command, "pause", "openai", "--until", "+5m", "--yes")

    assert _control(here).paused == there
    assert "openai is paused already, and not for a shorter time: paused by worker (budget)" in result.stdout


def test_nothing_deployed_and_nothing_pushed_is_said() -> None:
    assert "no platform is deployed" in office().say(command, "list").stdout
